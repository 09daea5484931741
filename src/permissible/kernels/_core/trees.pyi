from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from permissible.types import Codes, FloatArray, IntArray

_Int32 = npt.NDArray[np.int32]

class Impurity:
    def __init__(
        self,
        phi: str,
        parameter: float = 0.0,
        function: Callable[[FloatArray], FloatArray] | None = None,
        joint: bool = False,
        costs: FloatArray | None = None,
    ) -> None: ...

class Limits:
    def __init__(
        self,
        max_leaf_nodes: int | None,
        max_depth: int | None,
        min_samples: float = 1.0,
        min_weight: float = 0.0,
        min_gain: float = 0.0,
    ) -> None: ...

class Columns:
    def __init__(self, n_codes: _Int32, categorical: Codes, monotone: npt.NDArray[np.int8]) -> None: ...

class Rows:
    def __init__(
        self,
        blocks: Codes,
        columns: Columns,
        target: npt.NDArray[np.uint16],
        weight: _Int32 | IntArray | None,
        classes: int,
        counted: bool = False,
    ) -> None: ...
    mapped: bool
    def sums(self, node_of_row: _Int32, requested: _Int32, threads: int) -> tuple[IntArray, IntArray]: ...

class BestSplit:
    gain: float
    rank: float
    column: int
    test: int
    code: int
    left_set: Codes
    left_totals: IntArray

class Tree:
    left: _Int32
    right: _Int32
    column: _Int32
    code: _Int32
    test: npt.NDArray[np.int8]
    left_set: Codes
    weight: FloatArray
    impurity: FloatArray
    samples: IntArray
    split_order: _Int32
    gain: FloatArray
    leaf_of_row: _Int32

class SplitFinder:
    def __init__(
        self,
        columns: Columns,
        classes: int,
        unit: float,
        counted: bool,
        impurity: Impurity,
        limits: Limits,
        threads: int = 1,
    ) -> None: ...
    def best(self, histogram: IntArray, totals: IntArray, low: float, high: float) -> BestSplit | None: ...
    def grow(self, blocks: Sequence[Rows], name_leaves: bool = False) -> Tree: ...
    def impurities(self, sums: FloatArray) -> FloatArray: ...

def move_rows(blocks: Codes, node_of_row: _Int32, splits: _Int32, left_sets: Codes) -> None: ...
def find_leaves(
    left: _Int32,
    right: _Int32,
    node_column: _Int32,
    threshold: FloatArray,
    test: npt.NDArray[np.int8],
    left_set: Codes,
    code_of_category: Codes,
    category_begin: IntArray,
    other: int,
    columns: list[Any],
    n_rows: int,
    threads: int,
) -> _Int32: ...
