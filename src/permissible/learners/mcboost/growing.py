"""Trees and rules grown from answers alone: the rows are in parts, here or elsewhere, and answer with integer sums.

The choices are those of the compiled growth (cpp/mcboost/splits.hpp), so the tree is the same to the last bit. One question
serves a batch of nodes: cut these, and count the cells of those. The best test of a node does not depend on when it is asked
for, so nodes that may come next are cut ahead of time; only where tests are drawn at random is the order kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.layout import layout_of
from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.grown import Grown
from permissible.learners.mcboost.trees import Growth
from permissible.learners.trees.grower import Cut
from permissible.types import AnyArray, IntArray

SEED_MASK = 2**64 - 1
LEAST_GAIN = 1e-12
ROUNDING = 1e-12
"""Gains closer than this are equal but for rounding."""
BATCH_BYTES = 128 << 20
"""Cells that one answer may hold."""

Cells = Callable[[tuple[Cut, ...], tuple[int, ...]], tuple[IntArray, IntArray]]
"""All cuts of the tree so far and the nodes that are wanted: the cells of each, and the sizes of their gradients."""


class Sizes(NamedTuple):
    """The grids of gradients, curvatures and weights."""

    gradient: float
    curvature: float
    weight: float


class Test(NamedTuple):
    """The best test of a node: its gain, column, last code, whether the left side stays covered, mask, sums of the left."""

    gain: float
    column: int
    code: int
    side_left: bool
    mask: bytes
    left: list[int]


@dataclass(slots=True)
class Node:
    """A node as the coordinator knows it."""

    number: int
    depth: int
    total: list[int]
    cells: IntArray | None = None
    test: Test | None = None
    parent: int = -1
    is_left: bool = True
    children: "tuple[Node, Node] | None" = None


@dataclass(slots=True)
class TreeGrowing:
    """Grows one tree or rule."""

    cells: Cells
    binning: Binning
    growth: Growth
    grids: Sizes
    outputs: int
    seed: int
    column_share: float = 1.0
    cuts: list[Cut] = field(default_factory=list)
    made: int = 0
    known: int = 1
    choices: Any = None
    size: int = 0

    def run(self) -> Grown:
        """Ask for the root, then grow."""
        growth, layout = self.growth, layout_of(self.binning)
        self.choices = kernel.choices(
            layout.categorical, layout.n_codes, growth.max_literals, growth.min_leaf_weight, growth.l2, growth.random_tests,
            self.column_share, self.seed, *self.grids, self.outputs,
        )  # fmt: skip
        cells, sizes = self.cells((), (0,))
        self.size = int(sizes[0])
        root = Node(0, 0, self.choices.total(np.ascontiguousarray(cells[0])), cells[0])
        self.choices.set_everything(root.total)
        return self._rule(root) if growth.max_literals > 0 else self._tree(root)

    # -- trees -------------------------------------------------------------------------------------------------------

    def _tree(self, root: Node) -> Grown:
        most = self.growth.max_leaves
        split: list[Node] = []
        leaves = [root]
        self._prepare(root)
        while len(leaves) < most:
            pick = self._best(leaves)
            if pick < 0:
                break
            node = leaves[pick]
            last = len(leaves) + 1 >= most  # its children are the last leaves: nothing more is asked of them
            if node.children is None:
                self._expand([node] if last else [node, *self._ahead(leaves, pick)], last)
            assert node.children is not None
            for child in node.children:
                child.parent = len(split)
            split.append(node)
            leaves[pick] = node.children[0]
            leaves.append(node.children[1])
        return self._assembled(split, leaves)

    def _best(self, leaves: list[Node]) -> int:
        """The leaf of largest gain, the first among equals; -1 when none is worth a cut."""
        pick, gain = -1, LEAST_GAIN
        for place, node in enumerate(leaves):
            if node.test is not None and node.test.gain > gain * (1 + ROUNDING):
                pick, gain = place, node.test.gain
        return pick

    def _prepare(self, node: Node) -> None:
        self.made += 1
        deepest = self.growth.max_depth
        if node.cells is not None and (not deepest or node.depth < deepest):
            found = self.choices.split(
                np.ascontiguousarray(node.cells), node.total, (self.seed + self.made) & SEED_MASK
            )
            node.test = None if found is None else Test(*found)

    def _ahead(self, leaves: list[Node], pick: int) -> list[Node]:
        """Nodes that growth may come to, largest gain first: no more than there may still be splits that are asked for."""
        if self.growth.random_tests:
            return []
        most = self.growth.max_leaves - len(leaves) - 2
        first = leaves[pick].cells
        assert first is not None
        most = min(most, BATCH_BYTES // max(first.nbytes, 1) - 1)
        ranked: list[tuple[float, int, Node]] = []
        waiting = [(np.inf, node) for place, node in enumerate(leaves) if place != pick]
        while waiting:
            least, node = waiting.pop()
            if node.test is None or node.test.gain <= LEAST_GAIN:
                continue
            rank = min(least, node.test.gain)  # a node can come only after those above it
            if node.children is None:
                ranked.append((-rank, node.number, node))
            else:
                waiting += [(rank, child) for child in node.children]
        return [node for _, _, node in sorted(ranked, key=lambda entry: entry[:2])[: max(most, 0)]]

    def _expand(self, batch: list[Node], last: bool = False) -> None:
        """Cut nodes; one question for the cells of the lighter child of each, the other comes by subtraction."""
        wanted = []
        for node in batch:
            assert node.test is not None
            left = Node(self.known, node.depth + 1, node.test.left, is_left=True)
            rest = [a - b for a, b in zip(node.total, node.test.left, strict=True)]
            right = Node(self.known + 1, node.depth + 1, rest, is_left=False)
            node.children = left, right
            self.cuts.append(Cut(node.number, node.test.column, node.test.mask, left.number, right.number))
            self.known += 2
            wanted.append(left if left.total[-1] <= right.total[-1] else right)
        if last:
            return
        cells, _ = self.cells(tuple(self.cuts), tuple(node.number for node in wanted))
        for node, light, found in zip(batch, wanted, cells, strict=True):
            assert node.children is not None
            assert node.cells is not None
            heavy = node.children[1] if light is node.children[0] else node.children[0]
            light.cells, heavy.cells = found, node.cells - found
            node.cells = None
            for child in node.children:
                self._prepare(child)

    def _assembled(self, split: list[Node], leaves: list[Node]) -> Grown:
        children = np.zeros((2, len(split)), dtype=np.int32)
        for number, node in [*enumerate(split), *((~place, leaf) for place, leaf in enumerate(leaves))]:
            if node.parent >= 0:
                children[0 if node.is_left else 1, node.parent] = number
        value, edge = self.choices.finish([leaf.total for leaf in leaves], self.size, self.outputs)
        return _grown([node.test for node in split], children, value, edge)

    # -- rules -------------------------------------------------------------------------------------------------------

    def _rule(self, node: Node) -> Grown:
        """Literals one after the other; the rows that pass all of them are one leaf, all others the other."""
        everything, tests = node.total, list[Test]()
        reached = self.choices.score(everything)
        for literal in range(self.growth.max_literals):
            if literal:
                node.cells = self.cells(tuple(self.cuts), (node.number,))[0][0]
            seed = (self.seed + literal + 1) & SEED_MASK
            found = self.choices.split(np.ascontiguousarray(node.cells), node.total, seed)
            if found is None or not found[0] > reached * (1 + 1e-12) + 1e-12:
                break
            test = Test(*found)
            reached = test.gain
            tests.append(test)
            left, right = 2 * literal + 1, 2 * literal + 2
            self.cuts.append(Cut(node.number, test.column, test.mask, left, right))
            rest = [a - b for a, b in zip(node.total, test.left, strict=True)]
            node = Node(left, literal + 1, test.left) if test.side_left else Node(right, literal + 1, rest)
        children = np.full((2, len(tests)), ~0, dtype=np.int32)
        for place, test in enumerate(tests):
            inside = ~1 if place + 1 == len(tests) else place + 1
            children[0 if test.side_left else 1, place] = inside
        outside = [a - b for a, b in zip(everything, node.total, strict=True)]
        leaves = [outside, node.total] if tests else [everything]
        value, edge = self.choices.finish(leaves, self.size, self.outputs)
        return _grown(tests, children, value, edge)


def _grown(tests: list[Any], children: AnyArray, value: AnyArray, edge: float) -> Grown:
    masks = b"".join(test.mask for test in tests)
    return Grown(
        np.array([test.column for test in tests], dtype=np.int32), np.array([test.code for test in tests], dtype=np.int32),
        children[0], children[1], np.frombuffer(masks, dtype=np.uint8).reshape(-1, 32), value, edge,
    )  # fmt: skip


class Stumps(NamedTuple):
    """The packed search for stumps on many rows, from answers: cells of all rows, then exact sums of the chosen sides."""

    cells: Callable[[], IntArray]
    sums: Callable[[int, int, bool], IntArray]
    binning: Binning
    l2: float
    largest: list[float]
    n_rows: int

    def run(self) -> Grown:
        """Two questions, then the stump."""
        layout, cells = layout_of(self.binning), np.ascontiguousarray(self.cells())
        test = kernel.packed_test(cells, layout.categorical, layout.n_codes, self.l2, self.largest, self.n_rows)
        sums = np.ascontiguousarray(self.sums(*test))
        tree = kernel.packed_stump(*test, sums, self.l2, self.largest, self.n_rows)
        return replace(Grown(**tree), packed=True)
