"""Trees and rules as base learners: one is grown on the gradient along a direction, its values come from all rows.

Algorithm 1 of [B] takes a tree for each coordinate of the simplex in turn, with one value per leaf. Along the whole
gradient (`descent="gradient"`) one tree a round has a value for each class: it is grown on a random projection of the
gradients (a sign per class), its values are the Newton steps of every class over all rows. Trees are those of
cpp/trees/boosted, on all rows or on an importance sample; a rule is a conjunction of literals with two values.

A step s from the Newton steps G / (H + l2) lowers the surrogate for sure: along it the second derivative grows at most
by e^r, where r is the range of s over the classes, and begins at most at `excess` times the diagonal's. So steps of a
longer range than `longest_range` are scaled. `exact` takes the line search of Algorithm 1 along the tree instead.
"""

from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np
from scipy.optimize import brentq

from permissible.bins.binning import Binning
from permissible.kernels._core import boosted, sums
from permissible.kernels._core import mcboost as kernel
from permissible.learners.constraints.leaves import directions_of, in_order
from permissible.learners.mcboost.problem import CostTask
from permissible.learners.mcboost.rounds import CostRound, Sampling
from permissible.learners.mcboost.rows import MOST_SENT
from permissible.learners.mcboost.tree_rows import (
    LeafCells,
    LeafSums,
    Look,
    PartTrees,
    SearchSizes,
    Seen,
    SumOfRoots,
    TakeTree,
    TreeSlopes,
)
from permissible.learners.mcboost.tree_step import TreeRound, TreeStep, moves_of
from permissible.learners.trees.boosted import layout_of
from permissible.losses import get_multiclass
from permissible.models.kinds.simplex import codewords
from permissible.rows.source import Journal, OpenRows
from permissible.types import FloatArray, IntArray

MOST_LEAVES = 256
SUM_BITS, SEARCH_BITS = 40, 30
"""Bits of one term of a leaf's sums, and of a sum of the search."""
LEAST_CURVATURE = 0.2
"""Least curvature of a leaf, for each unit of its least weight."""
CATEGORY_L2 = 20.0
"""Added l2 of both sides of a set of categories, in units of l2."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The size of a tree or rule, and its regularisation. `max_literals` above 0 makes rules.

    `directions` are those of the score of the first of two classes with each column, none where it is empty; `groups` are the
    columns that may meet on a path, any where it is empty.
    """

    max_leaf_nodes: int = 31
    max_depth: int | None = None
    max_literals: int = 0
    min_leaf_weight: float = 1.0
    l2: float = 1.0
    exact: bool = False
    directions: tuple[int, ...] = ()
    groups: tuple[frozenset[int], ...] = ()

    def in_unit(self, scale: float) -> "Growth":
        """The same limits with all weights multiplied by a power of two: both limits are weights."""
        least, l2 = (min(value * scale, 2.0**1000) for value in (self.min_leaf_weight, self.l2))
        return replace(self, min_leaf_weight=least, l2=l2)

    def options(self, mean_curvature: float, n_columns: int, n_threads: int) -> boosted.TreeOptions:
        """The limits of one tree; `mean_curvature` is that of a unit of weight."""
        options = boosted.TreeOptions()
        options.rule = self.max_literals > 0
        options.max_leaf_nodes = self.max_literals + 1 if options.rule else min(self.max_leaf_nodes, MOST_LEAVES)
        options.max_depth = self.max_depth or 0
        options.min_samples_leaf = 0.0
        options.min_curvature = self.min_leaf_weight * max(LEAST_CURVATURE, mean_curvature)
        options.l2, options.threads = self.l2, n_threads
        options.category_smoothing, options.category_l2 = self.l2, CATEGORY_L2 * self.l2
        options.interactions = [[int(column in group) for column in range(n_columns)] for group in self.groups]
        return options


@cache
def longest_range(rate: float) -> float:
    """The r up to which rate (e^r - r - 1) / r^2 <= 3/4: a quarter of the promised decrease is sure."""
    rate = max(rate, 1e-20)
    return float(brentq(lambda r: rate * (np.expm1(r) - r) - 0.75 * r * r, 1e-3, 100.0))


def power_of_two(largest: float, bits: int) -> float:
    """The grid on which `largest` takes this many bits."""
    if not 0 < largest < np.inf:
        return 1.0
    mantissa, exponent = np.frexp(largest)
    return float(np.ldexp(1.0, bits - int(exponent) + int(mantissa == 0.5)))


@dataclass(slots=True, eq=False)
class TreeSteps:
    """Rounds of trees or rules, from questions to the rows, held by this process or by workers."""

    rows: OpenRows[PartTrees]
    binning: Binning
    task: CostTask
    growth: Growth
    descent: str
    rate: float
    sampling: Sampling
    total: float
    """The weight of the rows."""
    journal: Journal
    ranks: IntArray
    """The rank of each class, for its random signs."""
    n_threads: int = 1
    first_round: int = 0
    seen: Seen | None = None
    _mu: dict[int, float] = field(default_factory=dict)
    _target: float = 0.0
    _n_searched: float = np.inf

    @property
    def n_classes(self) -> int:
        """Number of classes M."""
        return self.task.n_classes

    @property
    def coordinates(self) -> list[int]:
        """The coordinates of a round, in turn; -1 is all at once."""
        return [-1] if self.descent == "gradient" else list(range(self.n_classes - 1))

    @property
    def _sends(self) -> bool:
        """Whether the rows of a search are gathered here, where the tree is grown: where they lie elsewhere and are few."""
        only = self.rows.only
        elsewhere = only is None or not only.part.in_memory
        return elsewhere and self._n_searched * (len(self.binning.columns) + 20) <= MOST_SENT

    # -- rounds ----------------------------------------------------------------------------------------------------------

    def begin_round(self) -> tuple[float, float, float]:
        """Sums of the surrogate, the cost and the errors of all rows."""
        if self.seen is None:
            self._begin()
        assert self.seen is not None
        surrogate, cost, error = sums.exact_values(np.ascontiguousarray(self.seen.sums))
        return surrogate, cost, error

    def step(self, number: int) -> CostRound:
        """One round: a tree for every coordinate in turn, or one for the gradient."""
        steps: list[TreeStep] = []
        order = self.coordinates
        for place, coordinate in enumerate(order):
            step = self.journal.recall(partial(self._chosen, coordinate, number))
            last = place + 1 == len(order)
            self._take(step, order[0] if last else order[place + 1], number + last, measured=last)
            steps.append(step)
        moved = any(bool(np.any(step.value)) for step in steps)
        return CostRound(
            TreeRound(tuple(steps)), max(step.edge for step in steps), any(step.capped for step in steps), moved
        )

    def _begin(self) -> None:
        """Count the rows, then look along the direction of the first tree."""
        if not self.sampling.row_share >= 1.0:
            everywhere = Look(np.zeros(self.n_classes), False)
            taken = float(self.rows.ask(TakeTree(None, everywhere, False)).taken)
            self._target = self.sampling.wanted(taken)
            self._n_searched = self._target or taken
        self._take(None, self.coordinates[0], self.first_round, measured=True)

    def _take(self, step: TreeStep | None, coordinate: int, number: int, measured: bool) -> None:
        """Take a step and look along the direction of the next tree."""
        key = int(np.random.SeedSequence([self.sampling.seed, number, coordinate + 1]).generate_state(1)[0])
        look = Look(self._along(coordinate, number), coordinate >= 0, key, self._mu.get(coordinate, 0.0))
        if self.seen is not None:
            self.seen = self.seen._replace(drawn=None)  # these rows give way to the next ones
        seen = self.rows.ask(TakeTree(step, look, measured, self._sends and (not self._target or look.mu > 0)))
        if self._target and not look.mu:  # the first look along this coordinate: find the mu, then draw
            largest = float(1.1 * seen.largest.max())
            roots = self.rows.ask(SumOfRoots(largest)) / power_of_two(largest, 20)
            look = look._replace(mu=float(np.float32(max(roots / self._target, 1e-30))))
            seen = self.rows.ask(TakeTree(None, look, False, self._sends))._replace(sums=seen.sums)
        if self._target:
            ratio = min(max(seen.taken / self._target, 0.5), 2.0)
            self._mu[coordinate] = float(np.float32(look.mu * ratio))
        self.seen, self._n_searched = seen, float(seen.taken)

    def _along(self, coordinate: int, number: int) -> FloatArray:
        """The direction of a search: a codeword's, or a random sign per class."""
        if coordinate >= 0:
            return np.ascontiguousarray(codewords(self.n_classes)[:, coordinate] / 2)
        if self.n_classes == 2:
            return np.array([1.0, -1.0])
        drawn = np.random.default_rng([self.sampling.seed, number, 7]).integers(0, 2, self.n_classes)
        if drawn.min() == drawn.max():  # the gradients of a row add up to 0 over the classes: no tree would be found
            drawn[number % self.n_classes] ^= 1
        return np.where(drawn[self.ranks] == 0, -1.0, 1.0)

    # -- one tree --------------------------------------------------------------------------------------------------------

    def _chosen(self, coordinate: int, number: int) -> TreeStep:
        """Grow a tree, then find the values of its leaves."""
        assert self.seen is not None
        splits, inside, size = self._grown(self.seen, number)
        rate = 1.0 if self.growth.exact else self.rate
        step, gradient = self._values(splits, inside, coordinate, self.seen, rate, self.growth.l2)
        along = gradient if coordinate >= 0 else gradient @ self._along(coordinate, number)
        edge = float(np.abs(along).sum()) / size if size > 0 else 0.0
        step = replace(step, edge=min(edge, 1.0))
        return self._searched(step) if self.growth.exact else step

    def _grown(self, seen: Seen, number: int) -> tuple[IntArray, int, float]:
        """Splits, the leaf inside of a rule, and the sum of |g|."""
        first = power_of_two(float(seen.largest[0]), SEARCH_BITS), power_of_two(float(seen.largest[1]), SEARCH_BITS)
        drawn = seen.drawn
        sizes = (self.rows.ask(SearchSizes(first)) if drawn is None else drawn.sizes(first)) / np.array(first)
        grids = power_of_two(float(sizes[0]), SEARCH_BITS), power_of_two(float(sizes[1]), SEARCH_BITS)
        used = self.sampling.columns(len(self.binning.columns), number)
        options = self.growth.options(float(sizes[1]) / self.total, len(used), self.n_threads)
        only, layout = self.rows.only, layout_of(self.binning, self.growth.directions)
        if drawn is not None:
            splits, inside = kernel.grow_gathered(drawn.blocks, drawn.packed(grids), layout, options, used, *grids)
        elif only is not None and only.part.in_memory:
            with only.open() as state:
                splits, inside = only.packed(state, grids).grow(options, used)
        else:

            def cells(splits: IntArray, leaf: int) -> IntArray:
                return np.ascontiguousarray(self.rows.ask(LeafCells(splits, leaf, used, grids)))

            splits, inside = kernel.grow_asked(cells, layout, options, used, *grids)
        return splits, inside, float(sizes[0])

    def _values(
        self, splits: IntArray, inside: int, coordinate: int, seen: Seen, rate: float, l2: float
    ) -> tuple[TreeStep, FloatArray]:
        """Safe Newton steps of all leaves, and the sums of their gradients."""
        bits = min(SUM_BITS, 61 - max(int(np.ceil(np.log2(max(self.total, seen.taken, 2.0)))), 1))
        grids = power_of_two(float(seen.terms[0]), bits), power_of_two(float(seen.terms[1]), bits)
        found = self.rows.ask(LeafSums(splits, inside, grids))
        n_classes, loss = self.n_classes, get_multiclass(self.task.loss)
        gradient, curvature = found[0] / grids[0], found[1] / grids[1]
        if coordinate < 0:
            gradient, curvature = gradient[:, :n_classes], curvature[:, :n_classes]
        excess = 1.0 if coordinate >= 0 else loss.excess
        below = curvature * max(1.0, excess * rate) + l2
        known = below > 0
        inverse = np.where(known, 1.0 / np.where(known, below, 1.0), 0.0)
        if coordinate < 0 and not loss.of_differences:  # the scores sum to 0: a multiplier keeps them so
            share = inverse.sum(axis=1, keepdims=True)
            multiplier = (gradient * inverse).sum(axis=1, keepdims=True) / np.where(share > 0, share, 1.0)
            gradient = gradient - multiplier
        value = np.where(known, rate * gradient * inverse, 0.0)
        if coordinate < 0:
            value = value - value.mean(axis=1, keepdims=True)
        if self.growth.directions:  # two classes: the value of the first one, the other's is its negative or not there
            ways = directions_of(splits, self.growth.directions, self.binning)
            value = in_order(splits, ways, value[:, 0] * below[:, 0], below[:, 0])[:, None]
            value = value if coordinate >= 0 else value * np.array([1.0, -1.0])
        moves = moves_of(value, coordinate, n_classes)
        reach = np.ptp(moves, axis=1) if loss.of_differences else np.abs(moves).max(axis=1)
        limit = longest_range(min(1.0, excess * rate))
        value = value * np.minimum(1.0, limit / np.where(reach > 0, reach, 1.0))[:, None]
        return TreeStep(splits, inside, value, coordinate), np.asarray(gradient)

    def _searched(self, step: TreeStep) -> TreeStep:
        """The step times its leverage (Algorithm 1) and the learning rate."""

        def slopes(alpha: float) -> tuple[float, float]:
            first, second = sums.exact_values(np.ascontiguousarray(self.rows.ask(TreeSlopes(step, alpha))))
            return first, second

        reach = float(np.abs(step.moves(self.n_classes)).max())
        leverage, capped = kernel.line_search(slopes, reach)
        return replace(step, value=self.rate * leverage * step.value, capped=capped)
