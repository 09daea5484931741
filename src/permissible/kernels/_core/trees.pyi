from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from permissible.types import AnyArray, Codes, FloatArray, IntArray

Impurity = Callable[[FloatArray], FloatArray]

def grow_counts(
    blocks: Codes,
    n_columns: int,
    target: npt.NDArray[np.uint16],
    classes: int,
    weight: npt.NDArray[np.int32] | None,
    unit: float,
    counted: bool,
    codes: npt.NDArray[np.int32],
    categorical: npt.NDArray[np.uint8],
    monotone: npt.NDArray[np.int8],
    phi: int,
    parameter: float,
    function: Impurity | None,
    max_leaves: int,
    max_depth: int,
    min_samples: float,
    min_weight: float,
    min_gain: float,
    name_leaves: bool,
    threads: int,
) -> dict[str, AnyArray]: ...
def grow_weights(
    blocks: Codes,
    n_columns: int,
    target: npt.NDArray[np.uint16],
    classes: int,
    weight: IntArray | None,
    unit: float,
    counted: bool,
    codes: npt.NDArray[np.int32],
    categorical: npt.NDArray[np.uint8],
    monotone: npt.NDArray[np.int8],
    phi: int,
    parameter: float,
    function: Impurity | None,
    max_leaves: int,
    max_depth: int,
    min_samples: float,
    min_weight: float,
    min_gain: float,
    name_leaves: bool,
    threads: int,
) -> dict[str, AnyArray]: ...
def find_leaves(
    left: npt.NDArray[np.int32],
    right: npt.NDArray[np.int32],
    node_column: npt.NDArray[np.int32],
    threshold: FloatArray,
    test: npt.NDArray[np.int8],
    left_set: Codes,
    code_of_category: Codes,
    category_begin: IntArray,
    other: int,
    columns: list[Any],
    n_rows: int,
    threads: int,
) -> npt.NDArray[np.int32]: ...
