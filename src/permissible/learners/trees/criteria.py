"""What a split of a node is worth, from its histogram alone: the impurity of phi, or the Newton gain of boosted trees.

A criterion knows no rows. The best split of a node does not depend on where its rows lie or when it is asked for.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from permissible.bins.binning import Binning
from permissible.kernels._core import mcboost, trees
from permissible.learners.trees.rows import Weighting, column_layout
from permissible.types import AnyArray, Codes, FloatArray, IntArray

Bounds = tuple[float, float]
"""The least and the largest value that monotone splits above allow a node."""
FREE: Bounds = (0.0, 1.0)
_COMPILED = {
    "logistic": (0, None),
    "matsushita": (1, None),
    "mu": (1, None),
    "exponential": (1, None),
    "squared": (2, None),
    "least_squares": (2, None),
    "power": (3, "upsilon"),
    "logcosh": (4, "zeta"),
}
_USER = 5
LEAST_GAIN = 1e-12
ROUNDING = 1e-12
"""Newton gains closer than this fraction are equal but for rounding."""
SEED_MASK = 2**64 - 1


class Split(NamedTuple):
    """The best split of a node. `rank` orders the leaves: the gain, or the gain without its last bits."""

    gain: float
    rank: float
    column: int
    test: int
    code: int
    left_set: Codes
    left_totals: IntArray


class Criterion(Protocol):
    """How splits are chosen."""

    @property
    def looks_ahead(self) -> bool:
        """Whether the split of a node does not depend on the order in which nodes are asked for."""
        ...

    @property
    def counts_rows(self) -> bool:
        """Whether the number of rows of every node is wanted, also where a node is not split any more."""
        ...

    @property
    def histogram_bytes(self) -> int:
        """The size of the histogram of a node."""
        ...

    def totals(self, histogram: IntArray) -> IntArray:
        """The sums of a node, from its histogram."""
        ...

    def size(self, totals: IntArray) -> int:
        """How heavy a node is: of two children the lighter one is asked for."""
        ...

    def best(self, histogram: IntArray, totals: IntArray, n_rows: int, bounds: Bounds, number: int) -> Split | None:
        """The best split of the node asked for as the `number`-th one; None where none is worth it."""
        ...

    def bounds(self, above: Bounds, split: Split, right_totals: IntArray) -> tuple[Bounds, Bounds]:
        """The bounds of the two children."""
        ...


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """When growth stops. None: no limit.

    `min_samples_leaf` counts rows, or examples when every weight is an integer (so that weight 2 is the row twice);
    `min_weight_fraction_leaf` is a fraction of the total weight; `min_gain` a decrease of the mean surrogate.
    """

    max_leaves: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    min_gain: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TreeTask:
    """Which tree to grow: its loss, its limits, the direction of each column (or None), and how leaves are smoothed."""

    loss: Any
    limits: TreeLimits = TreeLimits()
    monotone: AnyArray | None = None
    smoothing: float = 0.0
    n_threads: int = 1


@dataclass(frozen=True, eq=False)
class ImpurityCriterion:
    """The decrease (49) of the impurity of phi; `total` is the weight of all rows."""

    binning: Binning
    n_classes: int
    weighting: Weighting
    total: float
    task: TreeTask
    looks_ahead: bool = True
    counts_rows: bool = True

    @cached_property
    def layout(self) -> tuple[npt.NDArray[np.int32], Codes]:
        """Codes and kinds of the columns."""
        return column_layout(self.binning)

    @cached_property
    def phi(self) -> tuple[int, float, Any]:
        """How the kernel gets phi: the number of a compiled function and its parameter, or the user's function."""
        loss = self.task.loss
        rebuilt = getattr(loss, "rebuild", None) is not None  # made by from_phi: its name is the user's
        known = None if rebuilt else _COMPILED.get(loss.name)
        if known is None:
            return _USER, 0.0, lambda p: np.ascontiguousarray(loss.impurity(p), dtype=np.float64)
        functor, name = known
        return functor, abs(float(loss.params[name])) if name else 0.0, None

    @property
    def classes(self) -> int:
        """The number of classes as the kernels count them."""
        return max(self.n_classes, 2)

    @property
    def histogram_bytes(self) -> int:
        """The size of the histogram of a node."""
        return 8 * (self.classes + self.weighting.counted) * int((self.layout[0] + 1).sum())

    @property
    def directions(self) -> npt.NDArray[np.int8]:
        """-1, 0 or 1 for each column."""
        monotone = self.task.monotone
        return np.zeros(len(self.layout[0]), np.int8) if monotone is None else np.ascontiguousarray(monotone, np.int8)

    @property
    def leaf_limits(self) -> tuple[float, float, float]:
        """Least rows and weight of a leaf and least gain of a split, as sums."""
        limits = self.task.limits
        least_weight, least_gain = limits.min_weight_fraction_leaf * self.total, limits.min_gain * self.total
        return float(limits.min_samples_leaf), least_weight, least_gain

    def totals(self, histogram: IntArray) -> IntArray:
        """Channel sums: the weight of each class, and the rows where they are counted."""
        channels = self.classes + self.weighting.counted
        first_column = histogram[: (int(self.layout[0][0]) + 1) * channels]
        return np.asarray(first_column.reshape(channels, -1).sum(axis=1), dtype=np.int64)

    def size(self, totals: IntArray) -> int:
        """The sum of all channels."""
        return int(totals.sum())

    def best(self, histogram: IntArray, totals: IntArray, n_rows: int, bounds: Bounds, number: int) -> Split | None:
        """The best split of a node of two classes and two rows or more."""
        if (totals[: self.classes] > 0).sum() < 2 or n_rows < 2:
            return None
        found = trees.choose_cut(
            np.ascontiguousarray(histogram), np.ascontiguousarray(totals), self.classes, self.weighting.unit,
            self.weighting.counted, *self.layout, self.directions, *self.phi, *self.leaf_limits, *bounds,
            self.task.n_threads,
        )  # fmt: skip
        return None if found is None else Split(*found)

    def bounds(self, above: Bounds, split: Split, right_totals: IntArray) -> tuple[Bounds, Bounds]:
        """A monotone split keeps one side below the middle of the two probabilities, and the other above it."""
        direction = 0 if split.test == 1 else int(self.directions[split.column])
        if not direction:
            return above, above
        unit, sides = self.weighting.unit, (split.left_totals, right_totals)
        left, right = (float(side[1] * unit / (side[0] * unit + side[1] * unit)) for side in sides)
        middle = 0.5 * (left + right)
        below, beyond = (above[0], middle), (middle, above[1])
        return (below, beyond) if direction > 0 else (beyond, below)

    def impurities(self, weight: FloatArray) -> FloatArray:
        """The impurity of nodes with these class weights, (nodes, classes)."""
        return trees.node_impurities(np.ascontiguousarray(weight.T, dtype=np.float64), *self.phi)


@dataclass(frozen=True, slots=True, eq=False)
class NewtonCriterion:
    """The gain of Newton steps along one or several outputs; with `random_tests` one random test a column competes."""

    choices: mcboost.Choices
    histogram_bytes: int
    seed: int
    random_tests: bool = False
    counts_rows: bool = False

    @property
    def looks_ahead(self) -> bool:
        """Random tests depend on the order of the nodes."""
        return not self.random_tests

    def totals(self, histogram: IntArray) -> IntArray:
        """Gradients, curvature and weight."""
        return np.array(self.choices.total(np.ascontiguousarray(histogram)), dtype=np.int64)

    def size(self, totals: IntArray) -> int:
        """The weight."""
        return int(totals[-1])

    def found(self, histogram: IntArray, totals: IntArray, number: int) -> Any:
        """The best split as the kernel tells it: gain, column, code, whether the left side is covered, codes, sums."""
        seed = (self.seed + number) & SEED_MASK
        return self.choices.split(np.ascontiguousarray(histogram), totals.tolist(), seed)

    def best(self, histogram: IntArray, totals: IntArray, n_rows: int, bounds: Bounds, number: int) -> Split | None:
        """The best split, if it gains more than rounding."""
        found = self.found(histogram, totals, number)
        return None if found is None or not found[0] > LEAST_GAIN * (1 + ROUNDING) else self.split_of(found)

    def split_of(self, found: Any) -> Split:
        """The kernel's answer as a split."""
        gain, column, code, _, mask, left = found
        return Split(gain, gain, column, 0, code, np.frombuffer(mask, dtype=np.uint8), np.array(left, dtype=np.int64))

    def bounds(self, above: Bounds, split: Split, right_totals: IntArray) -> tuple[Bounds, Bounds]:
        """There are none."""
        return above, above
