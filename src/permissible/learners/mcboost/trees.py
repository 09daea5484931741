"""Trees and rules as base learners: regression on the boosting weights, on the shared bins.

A leaf holds -sum w / (sum h + l2), the Newton step of the surrogate there (h its second derivative), so every leaf has a
leverage of its own and the step is taken as it is; `exact` adds the line search of Algorithm 1 along it. Along the whole gradient
(`descent="gradient"`) one tree has a value for every coordinate, with the mean of their second derivatives as h (`exact`: least
squares in the norm |w|, and one leverage). A rule is a conjunction of literals with two values, where it holds and elsewhere.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from permissible.bins import BinnedTable, Binning, encode, layout_of
from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.rounds import Round, Sampling
from permissible.learners.trees.arrays import Grown, step_children
from permissible.learners.trees.criteria import BestSplit, NewtonCriterion
from permissible.learners.trees.grower import Ask, Grower, InOrder, most_together
from permissible.learners.trees.rows import NodeSplit
from permissible.models.kinds.forest import Forest, forest_values
from permissible.models.kinds.simplex import scores_of
from permissible.table.table import Table
from permissible.types import AnyArray, Codes, FloatArray, IntArray

UNLIMITED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Growth:
    """How large a tree or rule may be, and how its tests are found.

    `max_literals` above 0 makes rules. `random_tests`: one random test per column and node competes instead of the best one,
    which is what makes trees differ where rows are few.
    """

    max_leaves: int = 31
    max_depth: int | None = None
    max_literals: int = 0
    min_leaf_weight: float = 1.0
    l2: float = 1.0
    random_tests: bool = False
    exact: bool = False

    def in_unit(self, scale: float) -> "Growth":
        """The same where all weights are multiplied by a power of two: both limits are weights."""
        least, l2 = (min(value * scale, 2.0**1000) for value in (self.min_leaf_weight, self.l2))
        return replace(self, min_leaf_weight=least, l2=l2)


def round_seed(sampling: Sampling, number: int) -> int:
    """The seed of what is random in a round."""
    return int((sampling.seed * 1_000_003 + number) % 2**63)


@dataclass(slots=True, eq=False)
class TreeLearner:
    """Trees or rules on binned rows."""

    binned: BinnedTable
    n_classes: int
    growth: Growth
    descent: str = "coordinate"
    rate: float = 1.0
    sampling: Sampling = field(default_factory=Sampling)
    _bundles: kernel.Bundles | None = field(default=None, init=False, repr=False)
    """Columns of few values joined, for the histograms of stumps; made when the first round needs it."""

    def step(self, state: kernel.State, number: int) -> Round:
        """One round: a tree for every coordinate in turn, or one for the gradient."""
        growth = self.growth
        layout = layout_of(self.binned.binning)
        categorical, bins = layout.categorical, layout.n_codes
        options: dict[str, Any] = {
            "blocks": self.binned.blocks,
            "categorical": categorical,
            "bins": bins,
            "share": self.sampling.rows(number),
            "rate": self.rate,
            "exact": growth.exact,
            "max_leaves": growth.max_leaves,
            "max_depth": growth.max_depth or 0,
            "max_literals": growth.max_literals,
            "min_leaf_weight": growth.min_leaf_weight,
            "l2": growth.l2,
            "random_thresholds": growth.random_tests,
            "column_share": self.sampling.column_share,
            "seed": round_seed(self.sampling, number),
        }
        if self.descent == "gradient":
            made = state.round_trees_gradient(**options)
        else:
            made = state.round_trees(**options, bundles=self._joined(categorical, bins))
        notes = made.pop("notes")
        return Round(made, float(notes[:, 2].max()), bool(notes[:, 1].any()), bool(np.any(made["value"])))

    def _joined(self, categorical: Codes, bins: npt.NDArray[np.int32]) -> kernel.Bundles | None:
        growth, sampled = self.growth, self.sampling.row_share < 1.0
        packed = not growth.exact and kernel.packed_applies(
            categorical, growth.max_leaves, growth.max_literals, growth.min_leaf_weight, growth.random_tests,
            self.sampling.column_share, sampled, self.binned.blocks.shape[1],
        )  # fmt: skip
        if packed and self._bundles is None:
            self._bundles = kernel.Bundles(self.binned.blocks, categorical, bins)
        return self._bundles

    def part(self, rounds: list[Round]) -> Forest:
        """The rounds as one part of a model."""
        return Forest.of(self.binned.binning, self.n_classes, [made.terms for made in rounds])

    def watch(self, table: Table) -> Codes:
        """The codes of other rows."""
        return encode(self.binned.binning, table).blocks

    def scores(self, made: Round, watched: Codes) -> FloatArray:
        """What a round adds to the scores of the watched rows."""
        return scores_of(forest_values(made.terms, watched, self.binned.binning, self.n_classes))


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
        most = 1 if growth.random_tests else most_together(n_sums)  # random tests depend on the order of the nodes
        limits = growth.max_leaves, growth.max_depth or None, most
        grown = Grower(self.cells, criterion, InOrder(), *limits, counts_rows=False).run()
        children, leaves = step_children(grown)
        totals, root = [grown.nodes[place].totals for place in leaves], grown.nodes[0]
        return self._grown(criterion, [node.split for node in grown.split if node.split], children, totals, root.rows)

    def _rule(self, criterion: NewtonCriterion) -> Grown:
        """Literals one after the other; the rows that pass all of them are one leaf, all others the other."""
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
        return Grown.of(splits, children, value, edge)


class Stumps(NamedTuple):
    """The packed search for stumps on many rows, from answers: histograms of all rows, then exact sums of the two sides."""

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
