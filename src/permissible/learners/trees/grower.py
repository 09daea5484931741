"""A tree grown best first from answers of parts: the same tree as the compiled growth, bit for bit.

The grower holds the tree; the parts hold the rows and the node of each row. One question serves a batch of nodes: split
some nodes, and sum the rows of others. A node's best split does not depend on the order of growth, so leaves that may
be needed are split ahead of time, and the best-first order is then replayed. A tree of 255 leaves takes about as many
questions as it is deep.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.learners.trees.criteria import FREE, BestSplit, Bounds, ImpurityCriterion
from permissible.learners.trees.rows import NodeSplit, NodeSums
from permissible.rows.source import Journal, NoJournal
from permissible.types import IntArray

BATCH_BYTES = 128 << 20
"""The largest size of the histograms in one answer."""
Ask = Callable[[tuple[NodeSplit, ...], tuple[int, ...]], NodeSums]
"""All splits of the tree so far and the requested nodes: the sums of these nodes."""


@dataclass(slots=True)
class TreeNode:
    """A node known to the grower, part of the tree or not; `place` is its number in the tree."""

    number: int
    depth: int
    totals: IntArray
    bounds: Bounds = FREE
    rows: int = 0
    place: int = 0
    histogram: IntArray | None = None
    split: BestSplit | None = None
    children: "tuple[TreeNode, TreeNode] | None" = None


@dataclass(frozen=True, slots=True)
class Weighed:
    """The result of one question: totals, rows and best split (or None) of some nodes. A journal keeps it."""

    nodes: tuple[tuple[Any, int, Any], ...]


@dataclass(slots=True)
class Grower:
    """Grows one tree: the leaf of the largest rank is split first; ties go to the oldest leaf.

    `most_together` is the largest number of nodes per question. The rows of the last leaves are counted as well.
    """

    ask: Ask
    criterion: ImpurityCriterion
    most_together: int
    journal: Journal = field(default_factory=NoJournal)
    leaves: list[tuple[float, int, TreeNode]] = field(default_factory=list)  # a heap
    sent: list[NodeSplit] = field(default_factory=list)
    known: int = 1

    def run(self) -> tuple[list[TreeNode], list[TreeNode]]:
        """Split the best leaf until no split has a gain or the limit of leaves is reached.

        The nodes of the tree in the order of their places, and those that were split, in order: the t-th split makes the
        nodes 2t + 1 (left) and 2t + 2 (right).
        """
        most, root = self.criterion.task.limits.max_leaf_nodes, TreeNode(0, 0, np.zeros(0, dtype=np.int64))
        self._find([root], lambda: self._ask_root(root))
        nodes, split = [root], list[TreeNode]()
        self._add(root)
        while self.leaves and (most is None or len(split) + 1 < most):
            node = heapq.heappop(self.leaves)[2]
            if node.children is None:
                self._split([node, *self._look_ahead(len(split))])
            assert node.children is not None
            split.append(node)
            for child in node.children:
                child.place = len(nodes)
                nodes.append(child)
                self._add(child)
        return nodes, split

    def _add(self, leaf: TreeNode) -> None:
        """Add a leaf if it can be split."""
        if leaf.split is not None:
            heapq.heappush(self.leaves, (-leaf.split.rank, leaf.place, leaf))

    def _look_ahead(self, made: int) -> list[TreeNode]:
        """The leaves that may be split next, at most as many as splits remain."""
        most, limit = self.most_together - 1, self.criterion.task.limits.max_leaf_nodes
        if limit is not None:
            most = min(most, limit - made - 2)
        if most <= 0:
            return []
        ranked: list[tuple[float, int, TreeNode]] = []
        waiting = [(np.inf, leaf) for *_, leaf in self.leaves]
        while waiting:
            least, leaf = waiting.pop()
            if leaf.split is None:
                continue
            rank = min(least, leaf.split.rank)  # a node can come only after those above it
            if leaf.children is None:
                ranked.append((-rank, leaf.number, leaf))
            else:
                waiting += [(rank, child) for child in leaf.children]
        return [leaf for _, _, leaf in sorted(ranked, key=lambda entry: entry[:2])[:most]]

    def _split(self, batch: list[TreeNode]) -> None:
        """Split nodes with one question, and find the splits of their children."""
        for node in batch:
            split = node.split
            assert split is not None
            rest = node.totals - split.left_totals
            left_bounds, right_bounds = self.criterion.bounds(node.bounds, split, rest)
            left = TreeNode(self.known, node.depth + 1, split.left_totals, left_bounds)
            right = TreeNode(self.known + 1, node.depth + 1, rest, right_bounds)
            self.known += 2
            node.children = left, right
            self.sent.append(NodeSplit(node.number, split.column, split.left_set.tobytes(), left.number, right.number))
        self._find([child for node in batch for child in node.children or ()], lambda: self._ask_children(batch))

    def _find(self, nodes: list[TreeNode], ask: Callable[[], None]) -> None:
        """Find the splits of nodes, or take them from the journal of an interrupted fit, which holds no histograms."""

        def found() -> Weighed:
            ask()
            return Weighed(tuple((node.totals, node.rows, node.split) for node in nodes))

        for node, (totals, rows, split) in zip(nodes, self.journal.recall(found).nodes, strict=True):
            node.totals, node.rows = np.asarray(totals, dtype=np.int64), int(rows)
            if split is not None:  # journals of earlier versions hold one more value
                left_set, left = np.asarray(split[-2], dtype=np.uint8), np.asarray(split[-1], dtype=np.int64)
                gain, rank, column, test, code = split[:5]
                node.split = BestSplit(gain, rank, column, test, code, left_set, left)

    def _ask_root(self, root: TreeNode) -> None:
        histograms, rows = self.ask((), (0,))
        root.totals, root.rows, root.histogram = self.criterion.totals(histograms[0]), int(rows[0]), histograms[0]
        self._examine(root)

    def _ask_children(self, batch: list[TreeNode]) -> None:
        """One histogram per node, of its lighter child; two if the histogram of the node is not available."""
        pairs = [_by_size(*node.children) for node in batch if node.children]
        requested: list[TreeNode] = []
        for node, (light, heavy) in zip(batch, pairs, strict=True):
            requested += [light] if node.histogram is not None else [light, heavy]
        histograms, rows = self.ask(tuple(self.sent), tuple(node.number for node in requested))
        answers = {node.number: answer for node, *answer in zip(requested, histograms, rows, strict=True)}
        for node, (light, heavy) in zip(batch, pairs, strict=True):
            light.histogram, count = answers[light.number]
            light.rows, heavy.rows = int(count), node.rows - int(count)
            heavy.histogram = answers[heavy.number][0] if node.histogram is None else node.histogram - light.histogram
            node.histogram = None
            for child in node.children or ():
                self._examine(child)

    def _examine(self, node: TreeNode) -> None:
        """Find the best split of a node, if it may be split; drop the histogram of a node without one."""
        deepest = self.criterion.task.limits.max_depth
        if node.histogram is not None and (deepest is None or node.depth < deepest):
            node.split = self.criterion.best(node.histogram, node.totals, node.rows, node.bounds)
        if node.split is None:
            node.histogram = None


def _by_size(left: TreeNode, right: TreeNode) -> tuple[TreeNode, TreeNode]:
    """The lighter child, then the heavier one."""
    return (left, right) if np.abs(left.totals).sum() <= np.abs(right.totals).sum() else (right, left)


def most_together(n_sums: int) -> int:
    """The largest number of nodes per question, for histograms of this many sums."""
    return max(BATCH_BYTES // (8 * n_sums), 1)
