"""Boosting rounds on rows in parts: what the coordinator asks, in which order. The loop around it is that of `boost.py`.

A tree costs one question for its root, about one for each of its levels, and one that takes the step; that last one also
answers with all the sums that the next tree begins with. Trees and leverages are choices, which a journal may remember.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from permissible.bins.binning import Binning
from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.learners.mcboost.growing import Sizes, Stumps, TreeGrowing
from permissible.learners.mcboost.grown import Grown, round_arrays
from permissible.learners.mcboost.rounds import Round, Sampling
from permissible.learners.mcboost.trees import Growth, layout_of, round_seed
from permissible.learners.udt_parts import Cut
from permissible.models.forest import Forest
from permissible.types import Codes, FloatArray, IntArray

GOLDEN = 0x9E3779B97F4A7C15


class Next(NamedTuple):
    """What comes after a step: the coordinate to derive along (-1: all), whether by Newton, the number of its round."""

    coordinate: int
    newton: bool
    number: int


class Standing(NamedTuple):
    """Where the rows are: exact sums at the start of a round, largest terms along the next coordinate, rows of its share."""

    sums: IntArray
    largest: FloatArray
    chosen: int

    @staticmethod
    def merged(parts: Any) -> "Standing":
        """Those of all parts together."""
        added = sum((part.sums for part in parts[1:]), parts[0].sums)
        largest = np.max([part.largest for part in parts], axis=0)
        return Standing(added, largest, sum(part.chosen for part in parts))


class PartedRows(Protocol):
    """The questions that parts answer (distributed/mcboost_rows.py)."""

    def begin(self, following: Next) -> Standing:
        """Begin at score zero."""
        ...

    def cells(
        self, tree: str, cuts: tuple[Cut, ...], wanted: tuple[int, ...], grids: Sizes, sampled: bool
    ) -> tuple[IntArray, IntArray]:
        """Cells of nodes of a tree."""
        ...

    def packed_cells(self, largest: list[float], n_rows: int) -> IntArray:
        """Packed cells of all rows."""
        ...

    def packed_sums(self, test: tuple[int, int, bool], largest: list[float], n_rows: int) -> IntArray:
        """Exact sums of the sides of a stump."""
        ...

    def slopes(self, tree: Grown, alpha: float) -> IntArray:
        """Exact slopes along a tree."""
        ...

    def take(self, tree: Grown, factor: float, following: Next) -> Standing:
        """Take a step, and begin the next."""
        ...


def made(choose: Callable[[], Any]) -> Any:
    """Make a choice: no journal."""
    return choose()


@dataclass(slots=True)
class PartedTrees:
    """Trees or rules on rows in parts; the learner and the state of `run_rounds` in one."""

    rows: PartedRows
    n_rows: int
    binning: Binning
    n_classes: int
    growth: Growth
    descent: str = "coordinate"
    rate: float = 1.0
    sampling: Sampling = field(default_factory=Sampling)
    recall: Callable[[Callable[[], Any]], Any] = made
    standing: Standing | None = None

    @property
    def coordinates(self) -> list[int]:
        """The coordinates of a round: each in turn, or all at once."""
        return [-1] if self.descent == "gradient" else list(range(self.n_classes - 1))

    def begin_round(self) -> tuple[float, float, float]:
        """Sums of the surrogate, the cost and the errors of all rows."""
        if self.standing is None:
            self.standing = self.rows.begin(self._next(self.coordinates[0], 0))
        surrogate, cost, error = sums.exact_values(np.ascontiguousarray(self.standing.sums))
        return surrogate, cost, error

    def _next(self, coordinate: int, number: int) -> Next:
        return Next(coordinate, not self.growth.exact, number)

    def step(self, state: Any, number: int) -> Round:
        """One round: a tree for every coordinate in turn, or one for the gradient."""
        trees: list[tuple[int, float, Grown]] = []
        order = self.coordinates
        for place, coordinate in enumerate(order):
            tree: Grown = self.recall(lambda: self._chosen(coordinate, number))  # noqa: B023 (called at once)
            factor = self.rate * tree.leverage
            last = place + 1 == len(order)
            following = self._next(order[0] if last else order[place + 1], number + last)
            self.standing = self.rows.take(tree, factor, following)
            trees.append((coordinate, factor, tree))
        terms = round_arrays(trees)
        edge = max(tree.edge for _, _, tree in trees)
        return Round(terms, float(edge), any(tree.capped for _, _, tree in trees), bool(np.any(terms["value"])))

    def _chosen(self, coordinate: int, number: int) -> Grown:
        """The tree of a coordinate, and its leverage where it is searched for."""
        tree = self._grown(coordinate, number)
        if not self.growth.exact:
            return tree
        largest = self._largest_move(tree, coordinate)
        leverage, capped = kernel.line_search(lambda alpha: self._slopes(tree, alpha), largest)
        return replace(tree, leverage=leverage, capped=capped)

    def _slopes(self, tree: Grown, alpha: float) -> tuple[float, float]:
        first, second = sums.exact_values(np.ascontiguousarray(self.rows.slopes(tree, alpha)))
        return first, second

    def _largest_move(self, tree: Grown, coordinate: int) -> float:
        """How far the scores of a row move at most for a unit of leverage, as the compiled search computes it."""
        outputs = 1 if coordinate >= 0 else self.n_classes - 1
        return float(kernel.largest_move(tree.values(outputs), coordinate, self.n_classes))

    def _grown(self, coordinate: int, number: int) -> Grown:
        assert self.standing is not None
        growth, outputs = self.growth, 1 if coordinate >= 0 else self.n_classes - 1
        *terms, weight = self.standing.largest.tolist()
        sampled = self.sampling.row_share < 1.0 and self.standing.chosen > 0
        packed = not growth.exact and kernel.packed_applies(
            layout_of(self.binning)[0], growth.max_leaves, growth.max_literals, growth.min_leaf_weight,
            growth.random_tests, self.sampling.column_share, sampled, self.n_rows,
        )  # fmt: skip
        if packed:
            return Stumps(
                lambda: self.rows.packed_cells(terms, self.n_rows),
                lambda *test: self.rows.packed_sums(test, terms, self.n_rows),
                self.binning, growth.l2, terms, self.n_rows,
            ).run()  # fmt: skip
        grids = Sizes(*(kernel.grid_of(of, self.n_rows) for of in (max(terms[:-1]), terms[-1], weight)))
        seed = round_seed(self.sampling, number)
        if coordinate >= 0:
            seed = (seed * GOLDEN + coordinate + 1) % 2**64
        name = f"{number}:{coordinate}"
        return TreeGrowing(
            lambda cuts, wanted: self.rows.cells(name, cuts, wanted, grids, sampled),
            self.binning, growth, grids, outputs, seed, self.sampling.column_share,
        ).run()  # fmt: skip

    def part(self, rounds: list[Round]) -> Forest:
        """The rounds as one part of a model."""
        return Forest.of(self.binning, self.n_classes, [round_.terms for round_ in rounds])

    def watch(self, table: Any) -> Codes:
        """Rows elsewhere are judged where they are."""
        raise NotImplementedError

    def scores(self, made: Round, watched: Any) -> FloatArray:
        """Rows elsewhere are judged where they are."""
        raise NotImplementedError
