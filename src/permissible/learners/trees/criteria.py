"""The split criterion, computed from the histogram of a node: the impurity of phi.

It does not read rows. The best split of a node depends neither on which part holds its rows nor on the order of growth.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.layout import layout_of
from permissible.kernels._core import trees
from permissible.learners.trees.rows import Weighting, kernel_columns
from permissible.losses import Loss
from permissible.types import AnyArray, Codes, FloatArray, IntArray

Bounds = tuple[float, float]
"""The least and the largest value that monotone splits above allow a node."""
FREE: Bounds = (0.0, 1.0)


class BestSplit(NamedTuple):
    """The best split of a node. `rank` orders the leaves: the gain, or the gain without its last bits."""

    gain: float
    rank: float
    column: int
    test: int
    code: int
    left_set: Codes
    left_totals: IntArray


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """When growth stops. None: no limit.

    `min_samples_leaf` counts rows, or examples when every weight is an integer (so that weight 2 is the row twice);
    `min_weight_fraction_leaf` is a fraction of the total weight; `min_gain` a decrease of the mean surrogate.
    """

    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    min_gain: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TreeTask:
    """Which tree to grow: its loss, its limits, the direction of each column (or None), and how leaves are smoothed.

    `joint` says that several classes are counted by one entropy where the loss has one; `costs` (M, M) enter the splits,
    in units of the mean cost of a mistake. `groups` are the columns that may meet on a path.
    """

    loss: Loss
    limits: TreeLimits = TreeLimits()
    monotone: AnyArray | None = None
    smoothing: float = 0.0
    n_threads: int = 1
    joint: bool = True
    costs: FloatArray | None = None
    groups: tuple[frozenset[int], ...] | None = None


@dataclass(frozen=True, eq=False)
class ImpurityCriterion:
    """The decrease (49) of the impurity of phi; `total` is the weight of all rows."""

    binning: Binning
    n_classes: int
    weighting: Weighting
    total: float
    task: TreeTask

    @cached_property
    def finder(self) -> trees.SplitFinder:
        """The compiled search. A phi that it does not know is called once per node through `loss.impurity`."""
        task, limits, columns = self.task, self.task.limits, kernel_columns(self.binning, self.task.monotone)
        least = limits.min_weight_fraction_leaf * self.total, limits.min_gain * self.total
        known = trees.Limits(limits.max_leaf_nodes, limits.max_depth, limits.min_samples_leaf, *least)
        functor, unit, counted = task.loss.impurity_functor, self.weighting.unit, self.weighting.counted
        joint = bool(task.joint and task.loss.joint_entropy)
        name, parameter, call = (
            ("user", 0.0, partial(_called, task.loss)) if functor is None else (functor.name, functor.parameter, None)
        )
        impurity = trees.Impurity(name, parameter, call, joint, task.costs)
        return trees.SplitFinder(columns, self.classes, unit, counted, impurity, known, task.n_threads)

    @property
    def classes(self) -> int:
        """The number of classes as the kernels count them."""
        return max(self.n_classes, 2)

    @cached_property
    def shape(self) -> IntArray:
        """The size of the histogram of each column."""
        channels = self.classes + self.weighting.counted
        return np.asarray((layout_of(self.binning).n_codes + 1) * channels, dtype=np.int64)

    def totals(self, histogram: IntArray) -> IntArray:
        """Channel sums: the weight of each class, and the rows where they are counted."""
        channels = histogram[: self.shape[0]].reshape(self.classes + self.weighting.counted, -1)
        return np.asarray(channels.sum(axis=1), dtype=np.int64)

    def best(self, histogram: IntArray, totals: IntArray, n_rows: int, bounds: Bounds) -> BestSplit | None:
        """The best split of a node of two classes and two rows or more; None if no split has a gain."""
        if (totals[: self.classes] > 0).sum() < 2 or n_rows < 2:
            return None
        best = self.finder.best(np.ascontiguousarray(histogram), np.ascontiguousarray(totals), *bounds)
        if best is None:
            return None
        return BestSplit(best.gain, best.rank, best.column, best.test, best.code, best.left_set, best.left_totals)

    def bounds(self, above: Bounds, split: BestSplit, right_totals: IntArray) -> tuple[Bounds, Bounds]:
        """A monotone split keeps one side below the middle of the two probabilities, and the other above it."""
        monotone = self.task.monotone
        direction = 0 if monotone is None or split.test == 1 else int(monotone[split.column])
        if not direction:
            return above, above
        unit, sides = self.weighting.unit, (split.left_totals, right_totals)
        left, right = (float(side[1] * unit / (side[0] * unit + side[1] * unit)) for side in sides)
        middle = 0.5 * (left + right)
        below, beyond = (above[0], middle), (middle, above[1])
        return (below, beyond) if direction > 0 else (beyond, below)


def _called(loss: Loss, p: FloatArray) -> FloatArray:
    """The impurity of a user's phi; a function of the loss alone, since the compiled search that holds it is not collected."""
    return np.ascontiguousarray(loss.impurity(p), np.float64)
