"""Readable twin of the tree kernel: best-first growth by (49).

The surrogate of a set of rows is W f(p), f(p) = (phi(p) - a) / b; the gain of a split is the decrease. Nothing is kept
between nodes: every node reads its own rows again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from permissible.types import AnyArray, BoolArray, Codes, FloatArray

MISSING = 255
ORDERS = 8
Impurity = Callable[[FloatArray], FloatArray]


@dataclass
class Leaf:
    """A leaf of a growing tree: its rows, and the bounds on its probability from monotone splits above."""

    rows: AnyArray
    depth: int = 0
    low: float = 0.0
    high: float = 1.0
    best: tuple[float, int, BoolArray] | None = None


@dataclass
class PartitionTask:
    """What is fixed while a tree grows."""

    codes: Codes  # (n_rows, n_columns)
    target: AnyArray
    weight: FloatArray
    n_classes: int
    impurity: Impurity
    categorical: BoolArray
    monotone: AnyArray
    max_depth: int | None = None
    min_samples: float = 1
    min_gain: float = 0.0

    def sums(self, rows: AnyArray) -> FloatArray:
        """Weight of each class among some rows."""
        counted = np.bincount(self.target[rows], weights=self.weight[rows], minlength=self.n_classes)
        return np.asarray(counted, dtype=np.float64)

    def value(self, sums: FloatArray) -> float:
        """W f(p), or with more than two classes its sum over each class against the rest."""
        total = sums.sum()
        if (sums > 0).sum() < 2:
            return 0.0
        shares = sums[1:] / total if self.n_classes == 2 else sums / total
        inner = shares[(shares > 0) & (shares < 1)]
        return float(total * self.impurity(inner).sum())

    def cuts(self, column: int, rows: AnyArray) -> Iterator[BoolArray]:
        """The codes that go left, for every split on a column, in the order that decides ties."""
        codes = self.codes[rows, column]
        present = np.unique(codes)
        if self.categorical[column]:
            yield from self._subsets(column, rows, present)
            return
        values = present[present != MISSING].astype(int)
        missing = MISSING in present
        for missing_left in [False, True] if missing else [False]:
            for low, high in pairwise(values):
                yield self._up_to((low + high - 1) // 2, missing_left)
            if missing and not missing_left and len(values):
                yield self._up_to(MISSING - 1, False)

    @staticmethod
    def _up_to(code: int, missing_left: bool) -> BoolArray:
        left = np.arange(256) <= code
        left[MISSING] = missing_left
        return left

    def _subsets(self, column: int, rows: AnyArray, present: Codes) -> Iterator[BoolArray]:
        codes = self.codes[rows, column]
        sums = np.array([self.sums(rows[codes == code]) for code in present])
        by_frequency = np.argsort(-self.sums(rows), kind="stable")
        for c in [1] if self.n_classes == 2 else by_frequency[:ORDERS]:
            order = np.argsort(sums[:, c] / sums.sum(axis=1), kind="stable")
            for size in range(1, len(order)):
                left = np.zeros(256, dtype=bool)
                left[present[order[:size]]] = True
                yield left

    def weigh(self, leaf: Leaf) -> None:
        """Find the best split of a leaf."""
        sums = self.sums(leaf.rows)
        if (sums > 0).sum() < 2 or (self.max_depth is not None and leaf.depth >= self.max_depth):
            return
        noise = 1e-14 * sums.sum()
        winner: tuple[float, int, BoolArray] | None = None
        for column in range(self.codes.shape[1]):
            best, threshold = None, max(noise, self.min_gain)
            for left in self.cuts(column, leaf.rows):
                gain = self.gain(leaf, column, left)
                if gain > threshold:
                    best, threshold = (gain, column, left), gain + 1e-12 * gain + noise
            if best is not None and (winner is None or best[0] > winner[0] * (1 + 1e-12) + noise):
                winner = best
        leaf.best = winner

    def gain(self, leaf: Leaf, column: int, left: BoolArray) -> float:
        """The decrease of the surrogate by a split; 0 if it is not allowed."""
        goes = left[self.codes[leaf.rows, column]]
        parts = [self.sums(leaf.rows[goes]), self.sums(leaf.rows[~goes])]
        if min(part.sum() for part in parts) < self.min_samples:
            return 0.0
        shares = [part[1] / part.sum() for part in parts]
        direction = self.direction(column, left)
        if min(shares) < leaf.low or max(shares) > leaf.high or (shares[1] - shares[0]) * direction < 0:
            return 0.0
        return self.value(self.sums(leaf.rows)) - (self.value(parts[0]) + self.value(parts[1]))

    def direction(self, column: int, left: BoolArray) -> int:
        """The monotone direction of a split; a split between present and missing values has none."""
        return 0 if left[:MISSING].all() else int(self.monotone[column])

    def split(self, leaf: Leaf) -> tuple[Leaf, Leaf]:
        """Apply the best split of a leaf."""
        assert leaf.best is not None
        _, column, left = leaf.best
        goes = left[self.codes[leaf.rows, column]]
        children = [Leaf(leaf.rows[side], leaf.depth + 1, leaf.low, leaf.high) for side in (goes, ~goes)]
        direction = self.direction(column, left)
        if direction:
            shares = [self.sums(child.rows)[1] / self.sums(child.rows).sum() for child in children]
            below, above = children if direction > 0 else children[::-1]
            below.high = above.low = 0.5 * (shares[0] + shares[1])
        return children[0], children[1]


def grow_partition(growth: PartitionTask, max_leaf_nodes: int | None) -> tuple[AnyArray, FloatArray]:
    """The leaf (node number) of each row, -1 for weight 0, and the gain of each split in order."""
    nodes = [Leaf(np.flatnonzero(growth.weight > 0))]
    growth.weigh(nodes[0])
    leaf_of_row = np.where(growth.weight > 0, 0, -1)
    open_nodes = [0]
    gains: list[float] = []
    while max_leaf_nodes is None or len(gains) + 1 < max_leaf_nodes:
        gain_of = {node: best[0] for node in open_nodes if (best := nodes[node].best) is not None}
        if not gain_of:
            break
        chosen = min(gain_of, key=lambda node: (-gain_of[node], node))
        gains.append(gain_of[chosen])
        open_nodes.remove(chosen)
        for child in growth.split(nodes[chosen]):
            growth.weigh(child)
            leaf_of_row[child.rows] = len(nodes)
            open_nodes.append(len(nodes))
            nodes.append(child)
    return leaf_of_row, np.array(gains)


def move_rows(codes: Codes, node_of_row: AnyArray, cuts: dict[int, tuple[int, BoolArray, int, int]]) -> AnyArray:
    """The node of each row after some nodes were split: node -> (column, codes that go left, left child, right child).

    Children have larger numbers than their node, and may be split themselves.
    """
    moved = node_of_row.copy()
    for node, (column, left, first, second) in sorted(cuts.items()):
        here = moved == node
        moved[here] = np.where(left[codes[here, column]], first, second)
    return moved


def part_histogram(codes: Codes, target: AnyArray, weight: AnyArray, n_classes: int, n_codes: AnyArray) -> AnyArray:
    """Class weights by code, column after column: for each class the codes in order, then the missing values."""
    runs = []
    for column, size in enumerate(n_codes):
        run = np.zeros((n_classes, size + 1), dtype=np.int64)
        slot = np.where(codes[:, column] == MISSING, size, codes[:, column].astype(np.int64))
        np.add.at(run, (target, slot), weight)
        runs.append(run.ravel())
    return np.concatenate(runs)
