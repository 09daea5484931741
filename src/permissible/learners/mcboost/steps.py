"""Boosting rounds on rows in parts: what the coordinator asks, in which order. The loop around it is that of `boost.py`.

A tree costs one question for its root and about one for each of its levels, an affine term one question and those of its line
search; one more takes the step, and answers with all the sums that the next one begins with. Trees, terms and leverages are
choices, which a journal may remember.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.layout import layout_of
from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.learners.mcboost.growing import Sizes, Stumps, TreeGrowing
from permissible.learners.mcboost.linear import AffineStep, affine_part, affine_round
from permissible.learners.mcboost.rounds import Round, Sampling
from permissible.learners.mcboost.standardise import Space
from permissible.learners.mcboost.trees import Growth, round_seed
from permissible.learners.trees.arrays import Grown, round_arrays
from permissible.learners.trees.rows import NodeSplit
from permissible.models.kinds.affine import AffineTerms
from permissible.models.kinds.forest import Forest
from permissible.types import Codes, FloatArray, IntArray

GOLDEN = 0x9E3779B97F4A7C15
Step: TypeAlias = Grown | AffineStep


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
        self, tree: str, cuts: tuple[NodeSplit, ...], wanted: tuple[int, ...], grids: Sizes, sampled: bool
    ) -> tuple[IntArray, IntArray]:
        """Cells of nodes of a tree."""
        ...

    def packed_cells(self, largest: list[float], n_rows: int) -> IntArray:
        """Packed cells of all rows."""
        ...

    def packed_sums(self, test: tuple[int, int, bool], largest: list[float], n_rows: int) -> IntArray:
        """Exact sums of the sides of a stump."""
        ...

    def affine(self, largest: float, n_rows: int, sampled: bool) -> IntArray:
        """Sums of all attributes."""
        ...

    def slopes(self, step: Step, alpha: float) -> IntArray:
        """Exact slopes along a tree or term."""
        ...

    def take(self, step: Step, factor: float, following: Next) -> Standing:
        """Take a step, and begin the next."""
        ...


def made(choose: Callable[[], Any]) -> Any:
    """Make a choice: no journal."""
    return choose()


class Choices(Protocol):
    """How a step is chosen from answers, and what rounds of steps are in a model."""

    @property
    def newton(self) -> bool:
        """Whether steps come with their own lengths, from second derivatives."""
        ...

    def chosen(self, coordinate: int, number: int, standing: Standing) -> Step:
        """The step of a coordinate (-1: of all), without its leverage."""
        ...

    def reach(self, step: Any, coordinate: int) -> float | None:
        """How far a score moves at most for a unit of leverage; None where the step is taken as it is."""
        ...

    def round(self, steps: list[tuple[int, float, Any]]) -> Round:
        """The steps of a round, each with its coordinate and factor."""
        ...

    def part(self, rounds: list[Round]) -> Any:
        """The rounds as one part of a model."""
        ...


@dataclass(slots=True)
class PartedRounds:
    """Rounds on rows in parts; the learner and the state of `run_rounds` in one."""

    rows: PartedRows
    choices: Choices
    n_classes: int
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
        return Next(coordinate, self.choices.newton, number)

    def step(self, state: Any, number: int) -> Round:
        """One round: a step for every coordinate in turn, or one for the gradient."""
        steps: list[tuple[int, float, Step]] = []
        order = self.coordinates
        for place, coordinate in enumerate(order):
            step: Step = self.recall(lambda: self._chosen(coordinate, number))  # noqa: B023 (called at once)
            factor = self.rate * step.leverage
            last = place + 1 == len(order)
            following = self._next(order[0] if last else order[place + 1], number + last)
            self.standing = self.rows.take(step, factor, following)
            steps.append((coordinate, factor, step))
        return self.choices.round(steps)

    def _chosen(self, coordinate: int, number: int) -> Step:
        """The step of a coordinate, and its leverage where it is searched for."""
        assert self.standing is not None
        step = self.choices.chosen(coordinate, number, self.standing)
        reach = self.choices.reach(step, coordinate)
        if reach is None:
            return step
        leverage, capped = kernel.line_search(lambda alpha: self._slopes(step, alpha), reach)
        return replace(step, leverage=leverage, capped=capped)

    def _slopes(self, step: Step, alpha: float) -> tuple[float, float]:
        first, second = sums.exact_values(np.ascontiguousarray(self.rows.slopes(step, alpha)))
        return first, second

    def part(self, rounds: list[Round]) -> Any:
        """The rounds as one part of a model."""
        return self.choices.part(rounds)

    def watch(self, table: Any) -> Codes:
        """Rows elsewhere are judged where they are."""
        raise NotImplementedError

    def scores(self, made: Round, watched: Any) -> FloatArray:
        """Rows elsewhere are judged where they are."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class TreeChoices:
    """Trees or rules, grown from cells."""

    rows: PartedRows
    n_rows: int
    binning: Binning
    n_classes: int
    growth: Growth
    sampling: Sampling = field(default_factory=Sampling)

    @property
    def newton(self) -> bool:
        """Whether leaves take Newton steps."""
        return not self.growth.exact

    def reach(self, step: Grown, coordinate: int) -> float | None:
        """As the compiled search computes it."""
        if not self.growth.exact:
            return None
        return float(kernel.largest_move(step.values(self._outputs(coordinate)), coordinate, self.n_classes))

    def _outputs(self, coordinate: int) -> int:
        return 1 if coordinate >= 0 else self.n_classes - 1

    def chosen(self, coordinate: int, number: int, standing: Standing) -> Grown:
        """Grow a tree."""
        growth = self.growth
        *terms, weight = standing.largest.tolist()
        sampled = self.sampling.row_share < 1.0 and standing.chosen > 0
        packed = not growth.exact and kernel.packed_applies(
            layout_of(self.binning).categorical, growth.max_leaves, growth.max_literals, growth.min_leaf_weight,
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
            self.binning, growth, grids, self._outputs(coordinate), seed, self.sampling.column_share,
        ).run()  # fmt: skip

    def round(self, steps: list[tuple[int, float, Grown]]) -> Round:
        """The trees as arrays."""
        terms = round_arrays(steps)
        edge = max(tree.edge for _, _, tree in steps)
        return Round(terms, float(edge), any(tree.capped for _, _, tree in steps), bool(np.any(terms["value"])))

    def part(self, rounds: list[Round]) -> Forest:
        """The rounds as one part of a model."""
        return Forest.of(self.binning, self.n_classes, [round_.terms for round_ in rounds])


@dataclass(frozen=True, slots=True)
class LinearChoices:
    """Affine terms on the best attribute, from sums of all of them."""

    rows: PartedRows
    n_rows: int
    space: Space
    n_classes: int
    rate: float = 1.0
    sampling: Sampling = field(default_factory=Sampling)
    newton: bool = False

    def reach(self, step: AffineStep, coordinate: int) -> float | None:
        """The most that a unit of leverage moves a score, at an end of the attribute's range."""
        space = self.space
        return kernel.affine_largest_move(
            step.column, step.slope, step.level, space.low, space.high, coordinate, self.n_classes
        )

    def chosen(self, coordinate: int, number: int, standing: Standing) -> AffineStep:
        """Weighted least squares on the best attribute."""
        outputs = 1 if coordinate >= 0 else self.n_classes - 1
        largest = float(standing.largest[0 if coordinate >= 0 else outputs])
        sampled = self.sampling.row_share < 1.0 and standing.chosen > 0
        found = np.ascontiguousarray(self.rows.affine(largest, self.n_rows, sampled))
        space, allowed = self.space, self.sampling.columns(len(self.space.attributes), number)
        column, slope, level, edge = kernel.affine_choice(
            found, space.low, space.high, allowed, outputs, largest, self.n_rows
        )
        return AffineStep(column, slope, level, edge)

    def round(self, steps: list[tuple[int, float, AffineStep]]) -> Round:
        """The terms on the attributes' own scale."""
        return affine_round([step for _, _, step in steps], self.rate, self.space.scale)

    def part(self, rounds: list[Round]) -> AffineTerms:
        """The rounds as one part of a model."""
        return affine_part(self.space.attributes, self.n_classes, rounds)
