"""Values of the leaves of one tree in the order that the directions of its columns ask for.

Each split on a constrained column gets a middle between the values of its two sides, and the leaves of one side are kept at or
below it, those of the other at or above. That suffices: take two rows that differ in a constrained column only. The first split
that separates them is one on that column, so they reach leaves on the two sides of its middle.
"""

from collections.abc import Sequence

import numpy as np

from permissible.bins.binning import Binning
from permissible.types import BoolArray, FloatArray, IntArray


def directions_of(splits: IntArray, directions: Sequence[int], binning: Binning) -> list[int]:
    """The direction of each split; one on a set of categories, or between present and missing values, has none."""
    found = []
    for test, cut, column in splits[:, 1:4].tolist():
        present = test == 0 and cut + 1 >= binning.columns[column].n_bins
        found.append(0 if test == 2 or present else directions[column])
    return found


def in_order(splits: IntArray, ways: Sequence[int], gradient: FloatArray, curvature: FloatArray) -> FloatArray:
    """The values gradient / curvature of the leaves, kept in order.

    `splits` are in the order in which they were made: the leaf divided first; rows that fail the test go to a new leaf.
    The way of a split is 1 where the new leaf's side may not have smaller values. A curvature of 0 gives the value 0.
    """
    n_leaves = len(splits) + 1
    reached = np.eye(n_leaves, dtype=bool)  # of each leaf while the tree grows: those that come from it
    sides = []
    for number in range(len(splits) - 1, -1, -1):
        divided = int(splits[number, 0])
        sides.append((reached[divided].copy(), reached[number + 1].copy()))
        reached[divided] |= reached[number + 1]
    low, high = np.full(n_leaves, -np.inf), np.full(n_leaves, np.inf)
    for way, (kept, sent) in zip(ways, reversed(sides), strict=True):
        if not way:
            continue
        middle = 0.5 * (_value(gradient, curvature, kept) + _value(gradient, curvature, sent))
        first = int(np.flatnonzero(kept)[0])  # all leaves of both sides have the same bounds so far
        middle = min(max(middle, low[first]), high[first])
        lower, upper = (kept, sent) if way > 0 else (sent, kept)
        high[lower], low[upper] = middle, middle
    known = curvature > 0
    return np.clip(np.where(known, gradient / np.where(known, curvature, 1.0), 0.0), low, high)


def _value(gradient: FloatArray, curvature: FloatArray, leaves: BoolArray) -> float:
    below = float(curvature[leaves].sum())
    return float(gradient[leaves].sum()) / below if below > 0 else 0.0
