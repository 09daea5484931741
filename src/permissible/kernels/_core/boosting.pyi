from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from permissible.types import AnyArray, Codes, FloatArray, IntArray

Columns = npt.NDArray[np.int32]
FoundLiteral = tuple[int, int, int, bool, bytes | None]

MULTIPLICITY_LIMIT: int

class Grids:
    weight: float
    curvature: float
    value: float
    error: float
    def __init__(self, weight: float, curvature: float, value: float = 1.0, error: float = 1.0) -> None: ...

class Root:
    value: float
    done: bool
    @property
    def capped(self) -> bool: ...
    @property
    def passes(self) -> int: ...
    def retreat(self) -> None: ...
    def advance(self, f: float, first: float, second: float, smooth: bool, cap: float) -> None: ...

class LossTable:
    def __init__(
        self, breaks: FloatArray, weight: FloatArray, value: FloatArray, unit: float, largest_curvature: float
    ) -> None: ...

class LossFunction:
    def __init__(self, name: str, parameter: float = 0.0, table: LossTable | None = None) -> None: ...
    def bounds(self, low_state: float, high_state: float, reach: float) -> tuple[float, float, float]: ...
    def at(self, margin: FloatArray) -> FloatArray: ...
    def state_of(self, margin: float) -> float: ...
    @property
    def smooth(self) -> bool: ...
    @property
    def cap(self) -> float: ...
    @property
    def attained(self) -> bool: ...

class Rows:
    def __init__(
        self,
        blocks: Codes,
        n_columns: int,
        positive: Codes,
        sample_weight: FloatArray | None = None,
        whole: bool = False,
        loss: str = "logistic",
        parameter: float = 0.0,
        two_sums: bool = True,
        n_threads: int = 1,
        first_row: int = 0,
        state: FloatArray | None = None,
        table: LossTable | None = None,
    ) -> None: ...
    def reset(
        self, rules: Sequence[tuple[Columns, Codes]], coefficients: FloatArray, constant: float, grids: Grids
    ) -> tuple[IntArray, float, float]: ...
    def patterns(self, rules: Sequence[tuple[Columns, Codes]], grid: float = 1.0) -> tuple[Codes, IntArray]: ...
    def histogram(
        self,
        columns: Columns,
        members: Codes,
        weight_grid: float,
        curvature_grid: float,
        share: float = 1.0,
        seed: int = 0,
    ) -> IntArray: ...
    def measure(
        self, columns: Columns, members: Codes, value_in: float, value_out: float, grids: Grids
    ) -> IntArray: ...
    def apply(
        self, columns: Columns, members: Codes, value_in: float, value_out: float, grids: Grids
    ) -> tuple[IntArray, float, float]: ...
    def count(self, columns: Columns, members: Codes) -> int: ...

def histogram(
    blocks: Codes,
    n_columns: int,
    signed_weight: npt.NDArray[np.float32],
    curvature: npt.NDArray[np.float32] | None,
    multiplicity: npt.NDArray[np.float32] | None,
    mask: Codes | None,
    weight_grid: float,
    curvature_grid: float,
    share: float = 1.0,
    seed: int = 0,
    first_row: int = 0,
    n_threads: int = 1,
) -> IntArray: ...
def rule_mask(blocks: Codes, n_columns: int, columns: Columns, members: Codes) -> Codes: ...
def pattern_gradient(bits: Codes, first: FloatArray) -> FloatArray: ...
def pattern_hessian(bits: Codes, second: FloatArray) -> FloatArray: ...
def score_rules(
    columns: Sequence[AnyArray],
    literals: Sequence[tuple[int, int, float, bool, Codes | None]],
    rules: Sequence[Sequence[int]],
    coefficients: FloatArray,
    intercept: float,
    n_rows: int,
    n_threads: int = 1,
) -> FloatArray: ...
def pass_grid(largest: float) -> float: ...
def histogram_grids(
    weight_bound: float, curvature_bound: float, total_units: float, two_sums: bool
) -> tuple[float, float]: ...
def best_literals(
    layout: Columns,
    sums: IntArray,
    two_values: bool,
    l2: float,
    weight_unit: float,
    curvature_unit: float,
    total_weight: int,
    total_curvature: int,
    oriented: bool,
    used: Sequence[int],
    share: float = 1.0,
) -> list[tuple[float, int, int, FoundLiteral]]: ...
def boost(
    rows: Rows,
    validation: Rows | None,
    layout: Columns,
    *,
    n_rounds: int,
    max_literals: int,
    beam: int,
    fit_constant: bool,
    l2: float,
    learning_rate: float,
    share: float,
    tolerance: float,
    seed: int,
    first_round: int = 0,
    start_constant: bool = True,
    max_seconds: float = 0.0,
    start_scores: FloatArray | None = None,
    callback: Callable[[int], bool] | None = None,
) -> dict[str, Any]: ...
