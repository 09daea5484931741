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
def move_rows(
    blocks: Codes,
    node_of_row: npt.NDArray[np.int32],
    nodes: npt.NDArray[np.int32],
    columns: npt.NDArray[np.int32],
    left_sets: Codes,
    left: npt.NDArray[np.int32],
    right: npt.NDArray[np.int32],
) -> None: ...
def part_histograms(
    blocks: Codes,
    n_columns: int,
    target: npt.NDArray[np.uint16],
    classes: int,
    weight: IntArray | None,
    counted: bool,
    codes: npt.NDArray[np.int32],
    node_of_row: npt.NDArray[np.int32],
    wanted: npt.NDArray[np.int32],
    threads: int,
) -> tuple[IntArray, IntArray]: ...
def choose_cut(
    histogram: IntArray,
    totals: IntArray,
    classes: int,
    unit: float,
    counted: bool,
    codes: npt.NDArray[np.int32],
    categorical: npt.NDArray[np.uint8],
    monotone: npt.NDArray[np.int8],
    phi: int,
    parameter: float,
    function: Impurity | None,
    min_samples: float,
    min_weight: float,
    min_gain: float,
    low: float,
    high: float,
    threads: int,
) -> tuple[float, float, int, int, int, Codes, IntArray] | None: ...
def node_impurities(sums: FloatArray, phi: int, parameter: float, function: Impurity | None) -> FloatArray: ...
