"""The step of ULS along one rule: its leverage (35), and the rows of a fit as the loop sees them.

Along a rule with value v inside and u outside, f(v) = sum_in y w(margin + y v) - l2 v falls in v and is zero at the
minimum (the same outside for u); a +-1 rule alone has u = -v and one such equation. A pass over the rows gives f, f'
and f'' at trial steps; `Root` (cpp/rules/leverage.hpp) interpolates them, and goes on with Halley's method if need be.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.loss_rows import Opened, RowSizes
from permissible.learners.uls.rows import (
    Apply,
    Change,
    ChangeAndLook,
    Grids,
    HistogramRequest,
    Histograms,
    Measure,
    Reset,
    RulePart,
    SignedWeights,
    StepSums,
    Terms,
    Trial,
    value_of,
)
from permissible.losses.surrogate import Surrogate
from permissible.rows.source import OpenRows
from permissible.types import IntArray

Slopes: TypeAlias = tuple[float, float, float]
"""A derivative of the surrogate along a step, and its first and second derivative."""
FADED = 1e-9
"""Weights have vanished if their sum is below this fraction of the sum at score 0."""
COARSE = 256.0
"""Sums on a grid this many times coarser than necessary, which lose 8 of 46 bits, are computed again."""
LARGEST_BEND = 3.25
"""Of a row that is taken with probability p the curvature over p is at most this times the size of a sure weight."""


@dataclass(frozen=True, slots=True)
class FitState:
    """The sums after the last change, as real values: `surrogate` is the sum of b F, the others as in `StepSums`."""

    weight: float = 0.0
    curvature: float = 0.0
    surrogate: float = 0.0
    error: float = 0.0
    covered: float = 0.0
    covered_positive: float = 0.0
    low_state: float = 0.0
    high_state: float = 0.0


@dataclass(frozen=True, slots=True)
class Leverage:
    """Values of a step inside and outside, whether no side has a finite one within the cap, passes over the rows.

    `slope` is the sum of y h w over all rows, where the search saw a sample.
    """

    value_in: float
    value_out: float
    capped: bool
    passes: int
    slope: float = math.nan


@dataclass(slots=True)
class FitRows:
    """The rows of a fit, as seen by the loop: chooses the grids, and converts exact sums to real values.

    `everything` is the sample weight of all rows and of the positives; `ahead` the histogram that came with the last
    step, and the request that it answers.
    """

    rows: OpenRows[RulePart]
    surrogate: Surrogate
    sizes: RowSizes
    state: FitState
    everything: tuple[float, float] = (0.0, 0.0)
    ahead: tuple[HistogramRequest, IntArray] | None = None

    @property
    def faded(self) -> bool:
        """Whether every weight has vanished compared with score 0, so that nothing is left to gain."""
        at_zero = float(self.surrogate.at(np.zeros(1))[0, 1])
        return not self.state.weight > FADED * at_zero * self.sizes.total_weight

    @property
    def pure_sides(self) -> int:
        """The number of sides of the last rule whose rows are all of one class."""
        (total, positives), covered, positive = self.everything, self.state.covered, self.state.covered_positive
        sides = (covered, positive), (total - covered, positives - positive)
        return sum(weight > 0 and not 0 < inside < weight for weight, inside in sides)

    @staticmethod
    def start(opened: Opened, surrogate: Surrogate, terms: Terms) -> "FitRows":
        """The rows with the margins of a model."""
        rows = FitRows(opened.rows, surrogate, opened.sizes, FitState())
        rows.reset(terms)
        return rows

    def grids(self, reach: float) -> Grids:
        """Grids that hold every term after a step of at most `reach`."""
        weight, curvature, value = self.surrogate.bounds(self.state.low_state, self.state.high_state, reach)
        sample, of = self.sizes.largest_weight, kernels.pass_grid
        error = of(sample) if self.sizes.real_weights else 1.0
        return Grids(of(weight * sample), of(curvature * sample), of(value * sample), error)

    def request(self, two_sums: bool, fraction: float = 1.0, seed: int = 0) -> HistogramRequest:
        """A histogram of the current weights, over about a fraction of the rows."""
        weight, curvature, _ = self.surrogate.bounds(self.state.low_state, self.state.high_state, 0.0)
        sample, threshold = self.sizes.largest_weight, self._sure_size(two_sums, fraction) if fraction < 1.0 else 0.0
        bounds = max(weight * sample, threshold), max(curvature * sample, LARGEST_BEND * threshold)
        return HistogramRequest(*kernels.histogram_grids(*bounds, self.sizes.units, two_sums), threshold, seed)

    def _sure_size(self, two_sums: bool, fraction: float) -> float:
        """The size of a weight from which on a row is surely taken: their mean over the fraction, rounded up to four bits."""
        weight, curvature = self.state.weight, self.state.curvature if two_sums else 0.0
        sizes = math.sqrt(weight * weight + 0.1 * curvature * curvature)
        mantissa, exponent = math.frexp(sizes / (fraction * self.sizes.units))
        return math.ldexp(math.ceil(16.0 * mantissa) / 16.0, exponent)

    def slopes(self, rules: Sequence[Rule]) -> list[float]:
        """The sum of y h w of each +-1 rule."""
        question = self.signed_weights(rules)
        return question.slopes(self.rows.ask(question))

    def signed_weights(self, rules: Sequence[Rule]) -> SignedWeights:
        """The question of `slopes`."""
        return SignedWeights(((), *rules), self.request(False).weight_grid)

    def reset(self, terms: Terms) -> None:
        """Set the margins to those of a model."""
        change([self], [self.restart(terms)])

    def restart(self, terms: Terms) -> Reset:
        """Margins set to those of a model, with the grids of the answer."""
        reach = abs(terms.constant) + sum(abs(coefficient) for coefficient in terms.coefficients)
        low, high = sorted((self.surrogate.state_of(-reach), self.surrogate.state_of(reach)))
        self.state = FitState(low_state=low, high_state=high)
        return Reset(terms, self.grids(0.0))

    def histogram(self, request: HistogramRequest) -> IntArray:
        """The histogram of all rows: the one that came with the last step if it answers this request."""
        known, self.ahead = self.ahead, None
        if known is not None and known[0] == request:
            return known[1]
        found: IntArray = self.rows.ask(Histograms(((),), request))[0]
        return found

    def step(self, rule: Rule, value_in: float, value_out: float) -> Apply:
        """A step, with the grids of its answer."""
        return Apply(rule, value_in, value_out, self.grids(max(abs(value_in), abs(value_out))))

    def changed(self, step: Apply | Reset, sums: StepSums) -> None:
        """The rows have made a step."""
        self._set(sums, step.grids)
        if isinstance(step, Reset):
            self.everything = self.state.covered, self.state.covered_positive
        self._refine(step.grids)

    def _refine(self, grids: Grids) -> None:
        """Sum again if the margins are far from the bounds used for the grids (exponential losses)."""
        finer = self.grids(0.0)
        if any(new > COARSE * old for new, old in zip(finer[:3], grids[:3], strict=True)):
            before = self.state
            self._set(self.rows.ask(Apply((), 0.0, 0.0, finer)), finer)
            self.state = replace(self.state, covered=before.covered, covered_positive=before.covered_positive)

    def _set(self, step: StepSums, grids: Grids) -> None:
        scales = (grids.weight, grids.curvature, grids.value, grids.error, grids.error, grids.error)
        values = [value_of(pair, grid) for pair, grid in zip(step.sums, scales, strict=True)]
        weight, curvature, surrogate, error, covered, positive = values
        self.state = FitState(weight, curvature, surrogate, error, covered, positive, step.low_state, step.high_state)

    def derivatives(
        self, rule: Rule, trials: Sequence[Trial], l2: float, beside: Sequence[SignedWeights] = ()
    ) -> tuple[list[Slopes], list[Slopes], list[IntArray]]:
        """The derivative of the surrogate, and its next two, at trial steps: inside, and outside; and what is asked beside."""
        grids = self.grids(max(abs(value) for trial in trials for value in trial))
        scales = grids.weight, grids.curvature, grids.curvature
        found: tuple[list[Slopes], list[Slopes]] = [], []
        others = [(self.rows, question) for question in beside]
        measured, *told = self.rows.ask_beside(Measure(rule, tuple(trials), grids), others)
        for trial, sums in zip(trials, measured, strict=True):
            for side, value, own in zip(found, trial, (sums[:3], sums[3:]), strict=True):
                f, k, t = (value_of(pair, grid) for pair, grid in zip(own, scales, strict=True))
                side.append((f - l2 * value, -k - l2, -t))
        return *found, told

    def leverage(
        self, rule: Rule, two_values: bool, l2: float, start_in: float, start_out: float, sloped: bool = False
    ) -> Leverage:
        """The exact step along a rule, from a guess; `sloped`: with the slope on all rows."""
        remainder, cap = self.surrogate.remainder, self.surrogate.cap
        inner, outer = kernels.Root(), kernels.Root()
        inner.value, outer.value = min(max(start_in, -cap), cap), min(max(start_out, -cap), cap)
        outer.done = not rule
        passes, slope = 0, math.nan
        beside = [self.signed_weights([rule])] if sloped else []
        while not (inner.done and outer.done):
            values = inner.trials(remainder)
            opposite = outer.trials(remainder) if two_values else [-value for value in values]
            at_in, at_out, told = self.derivatives(rule, list(zip(values, opposite, strict=True)), l2, beside)
            passes += 1
            if beside:
                (slope,), beside = beside.pop().slopes(told[0]), []
            if two_values:
                inner.advance(at_in, remainder, cap)
                outer.advance(at_out, remainder, cap)
            else:
                pairs = zip(at_in, at_out, strict=True)
                inner.advance([(f - g, f1 + g1, f2 - g2) for (f, f1, f2), (g, g1, g2) in pairs], remainder, cap)
                outer.done = inner.done
        if two_values and not self.surrogate.attained:
            inner.retreat()
            outer.retreat()
        value_out = outer.value if two_values else -inner.value
        return Leverage(inner.value, value_out, inner.capped and (outer.capped or not two_values), passes, slope)


def apply(
    moved: Sequence[FitRows], rule: Rule, value_in: float, value_out: float, expected: HistogramRequest | None = None
) -> None:
    """Apply a step to training and held-out rows."""
    change(moved, [rows.step(rule, value_in, value_out) for rows in moved], expected)


def change(moved: Sequence[FitRows], steps: Sequence[Apply | Reset], expected: HistogramRequest | None = None) -> None:
    """Change training and held-out rows; with it comes the histogram that the next round is expected to need.

    Its grids are those of the last round: they are powers of two and seldom change. If they do, it is asked again.
    """
    first: Change | ChangeAndLook = steps[0] if expected is None else ChangeAndLook(steps[0], expected)
    others = [(rows.rows, step) for rows, step in zip(moved[1:], steps[1:], strict=True)]
    answers = moved[0].rows.ask_beside(first, others)
    if expected is not None:
        moved[0].ahead, answers[0] = (expected, answers[0].histogram[0]), answers[0].step
    for rows, step, sums in zip(moved, steps, answers, strict=True):
        rows.changed(step, sums)
