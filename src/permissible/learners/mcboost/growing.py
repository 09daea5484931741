"""Trees and rules grown from answers alone: the choices are those of the compiled growth (cpp/mcboost/splits.hpp).

Trees come from the grower of learners/trees with the Newton criterion; rules add one literal at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from permissible.bins import Binning, layout_of
from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.trees import Growth
from permissible.learners.trees.arrays import Grown
from permissible.learners.trees.criteria import BestSplit, NewtonCriterion
from permissible.learners.trees.grower import Ask, Grower, GrownNodes, InOrder, most_together
from permissible.learners.trees.rows import NodeSplit
from permissible.types import AnyArray, IntArray


class Sizes(NamedTuple):
    """The grids of gradients, curvatures and weights."""

    gradient: float
    curvature: float
    weight: float


@dataclass(frozen=True, slots=True)
class TreeGrowing:
    """Grows one tree or rule from answers; the choices are those of the compiled growth (cpp/mcboost/splits.hpp)."""

    cells: Ask
    binning: Binning
    growth: Growth
    grids: Sizes
    outputs: int
    seed: int
    column_share: float = 1.0

    def run(self) -> Grown:
        """Grow it."""
        growth, layout = self.growth, layout_of(self.binning)
        categorical, bins = layout.categorical, layout.n_codes
        limits = (growth.max_literals, growth.min_leaf_weight, growth.l2, growth.random_tests)
        choices = kernel.choices(categorical, bins, *limits, self.column_share, self.seed, *self.grids, self.outputs)
        criterion = NewtonCriterion(choices, self.seed)
        return self._rule(criterion) if growth.max_literals > 0 else self._tree(criterion)

    def _tree(self, criterion: NewtonCriterion) -> Grown:
        growth, layout = self.growth, layout_of(self.binning)
        n_sums = (self.outputs + 3) * int(np.where(layout.categorical, 256, layout.n_codes + 1).sum())
        most = 1 if growth.random_tests else most_together(n_sums)  # random splits depend on the order of the nodes
        limits = growth.max_leaf_nodes, growth.max_depth or None, most
        grown = Grower(self.cells, criterion, InOrder(), *limits, counts_rows=False).run()
        children, leaves = step_children(grown)
        totals, root = [grown.nodes[place].totals for place in leaves], grown.nodes[0]
        return self._grown(criterion, [node.split for node in grown.split if node.split], children, totals, root.rows)

    def _rule(self, criterion: NewtonCriterion) -> Grown:
        """Add one literal at a time; rows that satisfy all of them are one leaf, all other rows the second leaf."""
        histograms, sizes = self.cells((), (0,))
        histogram, everything = histograms[0], criterion.totals(histograms[0])
        criterion.choices.set_everything(everything.tolist())
        totals, node = everything, 0
        reached = criterion.choices.score(everything.tolist())
        found, is_left, splits = list[BestSplit](), list[bool](), list[NodeSplit]()
        for literal in range(self.growth.max_literals):
            if literal:
                histogram = self.cells(tuple(splits), (node,))[0][0]
            best = criterion.found(histogram, totals, literal + 1)
            if best is None or not best[0] > reached * (1 + 1e-12) + 1e-12:
                break
            split, inside_left = criterion.split_of(best), bool(best[3])
            reached = split.gain
            left, right = 2 * literal + 1, 2 * literal + 2
            splits.append(NodeSplit(node, split.column, split.left_set.tobytes(), left, right))
            found.append(split)
            is_left.append(inside_left)
            totals = split.left_totals if inside_left else totals - split.left_totals
            node = left if inside_left else right
        children = np.full((2, len(found)), ~0, dtype=np.int32)
        for place, inside_left in enumerate(is_left):
            children[0 if inside_left else 1, place] = ~1 if place + 1 == len(found) else place + 1
        leaves = [everything - totals, totals] if found else [everything]
        return self._grown(criterion, found, children, leaves, int(sizes[0]))

    def _grown(
        self, criterion: NewtonCriterion, splits: list[BestSplit], children: AnyArray, leaves: list[IntArray], size: int
    ) -> Grown:
        value, edge = criterion.choices.finish([totals.tolist() for totals in leaves], size, self.outputs)
        column, code = (np.array([split[k] for split in splits], dtype=np.int32) for k in (2, 4))
        mask = np.array([split.left_set for split in splits], dtype=np.uint8).reshape(-1, 32)
        return Grown(column, code, children[0], children[1], mask, value, edge)


class Stumps(NamedTuple):
    """The packed search for stumps on many rows, from answers: first histograms, then exact sums of the two sides."""

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


def step_children(grown: GrownNodes) -> tuple[AnyArray, list[int]]:
    """Children of the nodes that were split, (2, splits), and the place of each leaf.

    Nodes are numbered in the order of their splits. Of two new leaves the left one takes the number of its parent, the
    right one the next number.
    """
    places, position, number = [0], {0: 0}, {node.place: k for k, node in enumerate(grown.split)}
    for made, node in enumerate(grown.split):
        left, right = 2 * made + 1, 2 * made + 2
        position[left], position[right] = position.pop(node.place), len(places)
        places[position[left]] = left
        places.append(right)
    children = np.zeros((2, len(grown.split)), dtype=np.int32)
    for place in range(1, 2 * len(grown.split) + 1):
        children[(place + 1) % 2, (place - 1) // 2] = number[place] if place in number else ~position[place]
    return children, places
