"""Groups of columns that may meet on a path of a tree: at a node, only columns that share a group with all columns above it.

The columns above a node travel with its bounds. A column that may not join them is hidden: an empty histogram has no split.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from permissible.learners.constraints.rules import allowed_columns
from permissible.learners.trees.criteria import BestSplit, Bounds, ImpurityCriterion
from permissible.types import IntArray


class PathBounds(tuple[float, float]):
    """The bounds of a node, and the columns tested above it."""

    used: frozenset[int]

    @staticmethod
    def of(bounds: Iterable[float], used: frozenset[int]) -> "PathBounds":
        """Bounds with the columns of a path."""
        found = PathBounds(bounds)
        found.used = used
        return found


@dataclass(frozen=True, eq=False)
class GroupedCriterion(ImpurityCriterion):
    """The decrease of the impurity by splits on columns that may meet."""

    def best(self, histogram: IntArray, totals: IntArray, n_rows: int, bounds: Bounds) -> BestSplit | None:
        """The best permitted split of a node."""
        assert self.task.groups is not None
        used = bounds.used if isinstance(bounds, PathBounds) else frozenset[int]()
        allowed, ends = allowed_columns(self.task.groups, used), np.cumsum(self.shape)
        seen = histogram.copy()
        for column, end in enumerate(ends.tolist()):
            if used and column not in allowed:
                seen[end - int(self.shape[column]) : end] = 0
        return super().best(seen, totals, n_rows, bounds)

    def bounds(self, above: Bounds, split: BestSplit, right_totals: IntArray) -> tuple[Bounds, Bounds]:
        """Those of monotone splits, with the column of the split on the path."""
        used = above.used if isinstance(above, PathBounds) else frozenset[int]()
        left, right = super().bounds(above, split, right_totals)
        return PathBounds.of(left, used | {split.column}), PathBounds.of(right, used | {split.column})
