"""How a round of affine terms is made from the answers of parts, with the results of `AffineLearner` on rows in one part.

A term takes one question and those of its line search. One more question takes the step and returns the sums
for the next one. Terms and leverages are choices, which a journal may record.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.learners.mcboost.linear.affine import AffineStep, affine_round
from permissible.learners.mcboost.linear.standardise import Standardised
from permissible.learners.mcboost.rounds import CostRound, Sampling
from permissible.learners.mcboost.rows import AffineSums, BoostRows, NextStep, Slopes, Standpoint, TakeStep
from permissible.rows.source import Journal, OpenRows


@dataclass(slots=True)
class AskedSteps:
    """Rounds from the answers of parts."""

    rows: OpenRows[BoostRows]
    n_rows: int
    standardised: Standardised
    n_classes: int
    coordinates: list[int]
    rate: float
    sampling: Sampling
    journal: Journal
    l2: float = 0.0
    at: Standpoint | None = None

    def begin_round(self) -> tuple[float, float, float]:
        """Sums of the surrogate, the cost and the errors of all rows."""
        if self.at is None:
            self.at = self.rows.ask(TakeStep(None, 0.0, NextStep(self.coordinates[0], 0)))
        surrogate, cost, error = sums.exact_values(np.ascontiguousarray(self.at.sums))
        return surrogate, cost, error

    def step(self, number: int) -> CostRound:
        """One round: a step for every coordinate in turn, or one for the gradient."""
        steps: list[AffineStep] = []
        order = self.coordinates
        for place, coordinate in enumerate(order):
            step = self.journal.recall(partial(self._searched, coordinate, number))
            last = place + 1 == len(order)
            following = NextStep(order[0] if last else order[place + 1], number + last)
            self.at = self.rows.ask(TakeStep(step, self.rate * step.leverage, following))
            steps.append(step)
        return affine_round(steps, self.rate, self.standardised.scale)

    def _searched(self, coordinate: int, number: int) -> AffineStep:
        """The term of a coordinate, with its leverage."""
        step = self._chosen(coordinate, number)

        def slopes(alpha: float) -> tuple[float, float]:
            first, second = sums.exact_values(np.ascontiguousarray(self.rows.ask(Slopes(step, alpha))))
            return first, second

        reach = kernel.affine_largest_move(step.record(), self.standardised.record(), coordinate, self.n_classes)
        penalty = self.l2 * kernel.affine_mean_square(step.record(), coordinate, self.n_classes) if self.l2 > 0 else 0.0
        leverage, capped = kernel.line_search(slopes, reach, penalty)
        return replace(step, leverage=leverage, capped=capped)

    def _chosen(self, coordinate: int, number: int) -> AffineStep:
        """Weighted least squares on the best attribute."""
        assert self.at is not None
        outputs, largest = 1 if coordinate >= 0 else self.n_classes - 1, self.at.largest
        sampled = self.sampling.draws and self.at.n_drawn > 0
        found = np.ascontiguousarray(self.rows.ask(AffineSums(largest, self.n_rows, sampled)))
        attributes, allowed = self.standardised.record(), self.sampling.columns(len(self.standardised.low), number)
        return AffineStep.of(kernel.affine_choice(found, attributes, allowed, outputs, largest, self.n_rows))
