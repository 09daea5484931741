"""Monotone constraints on the probabilities of a tree whose leaves are smoothed.

Growth accepts a test on a constrained column only where the fractions of the classes are in order. Smoothing moves the
fraction of a small leaf further than that of a large one, so it can reverse that order. Here it is restored. Each test
on a constrained column gets a middle: nodes on its lower side are kept at or below it, nodes on its upper side at or
above it.

That suffices. Take two rows that differ in one constrained column only. The first test that separates them is a test on
that column, so the row of the lower value reaches a leaf at or below its middle, the other one at or above.

Two leaves in the wrong order both get their pooled fraction, as in isotonic regression; others are unchanged.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from permissible.types import FloatArray

if TYPE_CHECKING:
    from permissible.models.kinds.tree import TreeModel


def in_order(tree: "TreeModel", weight: FloatArray, directions: Sequence[int]) -> FloatArray:
    """The probability of the positive class at each node, restricted by the middles of the tests above it.

    `weight` is the smoothed weight of each class, (n_nodes, 2); a direction, 1 or -1, is that in which the probability may move.
    """
    share: FloatArray = weight[:, 1] / weight.sum(axis=1)
    low, high = np.zeros(len(share)), np.ones(len(share))
    for node, literal in enumerate(tree.literals):
        share[node] = min(max(share[node], low[node]), high[node])
        if literal is None:
            continue
        children = [int(tree.left[node]), int(tree.right[node])]
        low[children], high[children] = low[node], high[node]
        direction = directions[literal.column] if literal.test in ("<=", ">") else 0
        if direction:
            lower, upper = children if (direction > 0) == (literal.test == "<=") else children[::-1]
            middle = 0.5 * (share[lower] + share[upper])
            if share[lower] > share[upper]:
                middle = weight[children, 1].sum() / weight[children].sum()
            high[lower] = low[upper] = min(max(middle, low[node]), high[node])
    return share
