"""How a round is made: compiled on rows in one part, or from answers of parts, with identical results.

From answers a tree takes one question for its root and about one for each level; an affine term takes one question and
those of its line search. One more question takes the step and returns the sums for the next one. Trees, terms and
leverages are choices, which a journal may record.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, Protocol, TypeVar

import numpy as np

from permissible.bins.binning import Binning
from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.learners.mcboost.affine import AffineStep, affine_round
from permissible.learners.mcboost.growing import Sizes, Stumps, TreeGrowing
from permissible.learners.mcboost.rounds import Round, Sampling
from permissible.learners.mcboost.rows import (
    AffineSums,
    BoostRows,
    NextStep,
    NodeHistograms,
    PackedHistogram,
    PackedSums,
    Slopes,
    Standpoint,
    TakeStep,
)
from permissible.learners.mcboost.standardise import Standardised
from permissible.learners.mcboost.trees import Growth, round_seed
from permissible.learners.trees.arrays import Grown, round_arrays
from permissible.learners.trees.rows import NodeSplit
from permissible.rows.source import Journal, OpenRows
from permissible.types import IntArray

GOLDEN = 0x9E3779B97F4A7C15
AnyStep = TypeVar("AnyStep", Grown, AffineStep)


class Learner(Protocol):
    """Makes a round on a compiled state."""

    def step(self, state: kernel.State, number: int) -> Round:
        """Make a round."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class CompiledSteps:
    """Rounds on rows in one part."""

    state: kernel.State
    learner: Learner

    def begin_round(self) -> tuple[float, float, float]:
        """Sums of the surrogate, the cost and the errors of all rows."""
        surrogate, cost, error = self.state.begin_round()
        return surrogate, cost, error

    def step(self, number: int) -> Round:
        """Make a round."""
        return self.learner.step(self.state, number)


class Choices(Protocol[AnyStep]):
    """How a step is chosen from answers."""

    @property
    def newton(self) -> bool:
        """Whether steps are Newton steps, without a line search."""
        ...

    def chosen(self, coordinate: int, number: int, at: Standpoint) -> AnyStep:
        """The step of a coordinate (-1: of all), without its leverage."""
        ...

    def reach(self, step: AnyStep, coordinate: int) -> float | None:
        """The largest change of a score per unit of leverage; None if there is no line search."""
        ...

    def round(self, steps: list[tuple[int, float, AnyStep]]) -> Round:
        """The steps of a round, each with its coordinate and factor."""
        ...


@dataclass(slots=True)
class AskedSteps(Generic[AnyStep]):
    """Rounds from the answers of parts."""

    rows: OpenRows[BoostRows]
    choices: Choices[AnyStep]
    coordinates: list[int]
    rate: float
    journal: Journal
    at: Standpoint | None = None

    def begin_round(self) -> tuple[float, float, float]:
        """Sums of the surrogate, the cost and the errors of all rows."""
        if self.at is None:
            self.at = self.rows.ask(TakeStep(None, 0.0, NextStep(self.coordinates[0], self.choices.newton, 0)))
        surrogate, cost, error = sums.exact_values(np.ascontiguousarray(self.at.sums))
        return surrogate, cost, error

    def step(self, number: int) -> Round:
        """One round: a step for every coordinate in turn, or one for the gradient."""
        steps: list[tuple[int, float, AnyStep]] = []
        order = self.coordinates
        for place, coordinate in enumerate(order):
            step = self.journal.recall(lambda: self._chosen(coordinate, number))  # noqa: B023 (called at once)
            last = place + 1 == len(order)
            following = NextStep(order[0] if last else order[place + 1], self.choices.newton, number + last)
            factor = self.rate * step.leverage
            self.at = self.rows.ask(TakeStep(step, factor, following))
            steps.append((coordinate, factor, step))
        return self.choices.round(steps)

    def _chosen(self, coordinate: int, number: int) -> AnyStep:
        """The step of a coordinate, and its leverage if there is a line search."""
        assert self.at is not None
        step = self.choices.chosen(coordinate, number, self.at)
        reach = self.choices.reach(step, coordinate)
        if reach is None:
            return step

        def slopes(alpha: float) -> tuple[float, float]:
            first, second = sums.exact_values(np.ascontiguousarray(self.rows.ask(Slopes(step, alpha))))
            return first, second

        leverage, capped = kernel.line_search(slopes, reach)
        return replace(step, leverage=leverage, capped=capped)


@dataclass(frozen=True, slots=True)
class TreeChoices:
    """Trees or rules, grown from histograms."""

    rows: OpenRows[BoostRows]
    n_rows: int
    binning: Binning
    n_classes: int
    growth: Growth
    sampling: Sampling

    @property
    def newton(self) -> bool:
        """Whether leaves take Newton steps."""
        return not self.growth.exact

    def reach(self, step: Grown, coordinate: int) -> float | None:
        """As the compiled search computes it."""
        if not self.growth.exact:
            return None
        return float(kernel.largest_move(step.values(self._outputs(coordinate)), coordinate, self.n_classes))

    def chosen(self, coordinate: int, number: int, at: Standpoint) -> Grown:
        """Grow a tree."""
        growth, sampling, n_rows = self.growth, self.sampling, self.n_rows
        *terms, weight = at.largest.tolist()
        sampled = sampling.row_share < 1.0 and at.n_drawn > 0
        if growth.packed(self.binning, sampling, sampled, n_rows):
            known = tuple(terms), n_rows
            histogram = partial(self.rows.ask, PackedHistogram(*known))

            def sums_of(column: int, code: int, missing_left: bool) -> IntArray:
                return self.rows.ask(PackedSums(column, code, missing_left, *known))

            return Stumps(histogram, sums_of, self.binning, growth.l2, terms, n_rows).run()
        grids = Sizes(*(kernel.grid_of(of, n_rows) for of in (max(terms[:-1]), terms[-1], weight)))
        seed = round_seed(sampling, number)
        if coordinate >= 0:
            seed = (seed * GOLDEN + coordinate + 1) % 2**64

        def histograms(splits: tuple[NodeSplit, ...], nodes: tuple[int, ...]) -> tuple[IntArray, IntArray]:
            return self.rows.ask(NodeHistograms(f"{number}:{coordinate}", splits, nodes, grids, sampled))

        outputs = self._outputs(coordinate)
        return TreeGrowing(histograms, self.binning, growth, grids, outputs, seed, sampling.column_share).run()

    def round(self, steps: list[tuple[int, float, Grown]]) -> Round:
        """The trees as arrays."""
        terms = round_arrays(steps)
        edge = max(tree.edge for _, _, tree in steps)
        return Round(terms, float(edge), any(tree.capped for _, _, tree in steps), bool(np.any(terms["value"])))

    def _outputs(self, coordinate: int) -> int:
        return 1 if coordinate >= 0 else self.n_classes - 1


@dataclass(frozen=True, slots=True)
class AffineChoices:
    """Affine terms on the best attribute, from sums of all of them."""

    rows: OpenRows[BoostRows]
    n_rows: int
    standardised: Standardised
    n_classes: int
    rate: float
    sampling: Sampling
    newton: bool = False

    def reach(self, step: AffineStep, coordinate: int) -> float | None:
        """The largest change of a score per unit of leverage, at an end of the attribute's range."""
        return kernel.affine_largest_move(step.record(), self.standardised.record(), coordinate, self.n_classes)

    def chosen(self, coordinate: int, number: int, at: Standpoint) -> AffineStep:
        """Weighted least squares on the best attribute."""
        outputs = 1 if coordinate >= 0 else self.n_classes - 1
        largest = float(at.largest[0 if coordinate >= 0 else outputs])
        sampled = self.sampling.row_share < 1.0 and at.n_drawn > 0
        found = np.ascontiguousarray(self.rows.ask(AffineSums(largest, self.n_rows, sampled)))
        attributes, allowed = self.standardised.record(), self.sampling.columns(len(self.standardised.low), number)
        return AffineStep.of(kernel.affine_choice(found, attributes, allowed, outputs, largest, self.n_rows))

    def round(self, steps: list[tuple[int, float, AffineStep]]) -> Round:
        """The terms on the original scale of the attributes."""
        return affine_round([step for _, _, step in steps], self.rate, self.standardised.scale)
