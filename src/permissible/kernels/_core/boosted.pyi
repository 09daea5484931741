from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from permissible.kernels._core.boosting import LossTable
from permissible.types import Codes as CodeArray
from permissible.types import FloatArray, IntArray

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

class TreeOptions:
    max_leaf_nodes: int
    max_depth: int
    min_samples_leaf: float
    min_curvature: float
    l2: float
    min_gain: float
    category_smoothing: float
    category_l2: float
    most_categories: int
    interactions: list[list[int]]
    rule: bool
    threads: int
    def __init__(self) -> None: ...

class FitOptions:
    n_trees: int
    tree: TreeOptions
    learning_rate: float
    l2: float
    exact: bool
    column_fraction: float
    numbers: list[int]
    search_rows: float
    seed: int
    patience: int
    rival: float
    rival_trees: int
    fit_constant: bool
    track_loss: bool
    bundle: bool
    threads: int
    def __init__(self) -> None: ...

class Codes:
    n_rows: int
    def __init__(self, blocks: CodeArray, n_columns: int, threads: int = 1, by_column: bool = True) -> None: ...
    def hashes(self, numbers: Words, threads: int = 1) -> npt.NDArray[np.uint32]: ...

class Rows:
    def __init__(
        self,
        codes: Codes,
        target: npt.NDArray[np.uint16],
        classes: int = 2,
        loss: str = "logistic",
        parameter: float = 0.0,
        table: LossTable | None = None,
        copies: Ints | None = None,
        weight: Floats | None = None,
        hashes: npt.NDArray[np.uint32] | None = None,
    ) -> None: ...

class Trees:
    outputs: int
    parent: CodeArray
    test: CodeArray
    cut: CodeArray
    column: Ints
    gain: FloatArray
    set: Words
    first_split: Ints
    values: FloatArray
    def __init__(
        self,
        parent: CodeArray,
        test: CodeArray,
        cut: CodeArray,
        column: Ints,
        set: Words,  # noqa: A002
        gain: FloatArray,
        first_split: Ints,
        values: FloatArray,
    ) -> None: ...
    def __len__(self) -> int: ...
    def add(self, codes: Codes, first: int, last: int, scores: FloatArray, threads: int = 1) -> None: ...
    def leaves(self, codes: Codes, tree: int, threads: int = 1) -> CodeArray: ...

class Fitted:
    trees: Trees
    constant: FloatArray
    loss: FloatArray
    held_out: FloatArray
    searched: IntArray
    best_round: int
    stop: int
    largest_gain: float

def fit(
    rows: Rows,
    held_out: Rows | None,
    layout: Ints,
    options: FitOptions,
    callback: Callable[[int], bool] | None = None,
) -> Fitted: ...

class Moved:
    gradient_most: float
    curvature_most: float
    taken: int
    losses: list[int]
    blocks: CodeArray
    gradient: Floats
    curvature: Floats
    copies: Ints
    def __init__(
        self,
        gradient_most: float,
        curvature_most: float,
        taken: int,
        losses: list[int],
        blocks: CodeArray | None,
        gradient: Floats | None,
        curvature: Floats | None,
        copies: Ints | None,
    ) -> None: ...

class Part:
    def __init__(self, rows: Rows, held_out: Rows | None, threads: int = 1) -> None: ...
    def sums(
        self,
        tree: Trees | None,
        step: FloatArray | None,
        leaves: int,
        gradient_grid: float,
        curvature_grid: float,
        exact: bool,
    ) -> tuple[IntArray, IntArray]: ...
    def move(
        self,
        step: FloatArray,
        leaves: int,
        signs: Floats,
        sampled: bool,
        key: int,
        mu: float,
        track_loss: bool,
        send: bool,
    ) -> Moved: ...
    def sizes(self, largest: float) -> int: ...

def fit_asked(
    asker: object,
    like: Rows,
    total: float,
    class_weight: list[float],
    held_out: bool,
    hashed: bool,
    layout: Ints,
    options: FitOptions,
    callback: Callable[[int], bool] | None = None,
) -> Fitted: ...
def grow_tree(
    codes: Codes,
    layout: Ints,
    gradient: Floats,
    curvature: Floats,
    copies: Ints | None,
    used: CodeArray,
    options: TreeOptions,
) -> Trees: ...
