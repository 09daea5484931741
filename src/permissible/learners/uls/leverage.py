"""The leveraging step (35) of [T]: the values of a rule that minimise the surrogate along it, exact to 1e-10.

Along a rule with value v inside and u outside, f(v) = sum_in y w(margin + y v) - l2 v falls in v and is zero at the minimum
(the same outside for u); a +-1 rule alone has u = -v and one such equation. Every pass over the rows gives f, f' and f'' at
a trial step; `Root` (cpp/rules/leverage.hpp) turns them into the next one by Halley's method inside a bracket.
"""

from dataclasses import dataclass, replace

import numpy as np

from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.rows import Facts, Grids, Rows, Standing, Terms, value_of
from permissible.losses.surrogate import Surrogate

FADED = 1e-9
"""Weights whose sum is below this share of that at score 0 have vanished."""
COARSE = 256.0
"""Sums on a grid so many times coarser than the rows need are taken again: 8 of 46 bits are lost then."""


@dataclass(frozen=True, slots=True)
class State:
    """Real values of a standing: sums of |weight|, curvature and b F, misclassified and covered weight; extreme states."""

    weight: float
    curvature: float
    surrogate: float
    error: float
    covered: float
    covered_positive: float
    low_state: float
    high_state: float

    @staticmethod
    def between(low_state: float, high_state: float) -> "State":
        """What is known before the first answer: the states lie between two."""
        return State(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, low_state, high_state)


@dataclass(frozen=True, slots=True)
class Leverage:
    """Values of a step inside and outside; `capped` when no side has a finite one within the cap; passes over the rows."""

    value_in: float
    value_out: float
    capped: bool
    passes: int


@dataclass(slots=True)
class Field:
    """The rows of a fit as the coordinator handles them: it chooses the grids, and turns exact sums into real values."""

    rows: Rows
    surrogate: Surrogate
    facts: Facts
    now: State
    everything: tuple[float, float] = (0.0, 0.0)
    """Sample weight of all rows and of the positives."""

    @property
    def faded(self) -> bool:
        """Whether every weight has vanished, beside what it was at score 0: nothing is left to gain."""
        at_zero = float(self.surrogate.at(np.zeros(1))[0, 1])
        return not self.now.weight > FADED * at_zero * self.facts.total_weight

    @property
    def pure_sides(self) -> int:
        """On how many sides of the last rule all rows are of one class."""
        total, positives = self.everything
        inside = self.now.covered, self.now.covered_positive
        sides = inside, (total - inside[0], positives - inside[1])
        return sum(of > 0 and not 0 < positive < of for of, positive in sides)

    @staticmethod
    def start(rows: Rows, surrogate: Surrogate, terms: Terms = Terms()) -> "Field":  # noqa: B008 (a tuple of constants)
        """The rows with the margins of a model."""
        field = Field(rows, surrogate, rows.facts(), State.between(0.0, 0.0))
        field.reset(terms)
        return field

    def grids(self, reach: float) -> Grids:
        """Grids that hold every term after a step of at most `reach`."""
        weight, curvature, value = self.surrogate.bounds(self.now.low_state, self.now.high_state, reach)
        sample = self.facts.largest_sample
        return Grids(
            kernels.pass_grid(weight * sample), kernels.pass_grid(curvature * sample), kernels.pass_grid(value * sample),
            kernels.pass_grid(sample) if self.facts.real_weights else 1.0,
        )  # fmt: skip

    def reset(self, terms: Terms) -> None:
        """Set the margins to those of a model."""
        reach = abs(terms.constant) + sum(abs(coefficient) for coefficient in terms.coefficients)
        ends = sorted((self.surrogate.state_of(-reach), self.surrogate.state_of(reach)))
        self.now = State.between(ends[0], ends[1])
        grids = self.grids(0.0)
        self._stand(self.rows.reset(terms, grids), grids)
        self.everything = self.now.covered, self.now.covered_positive
        self._refine(grids)

    def apply(self, rule: Rule, value_in: float, value_out: float) -> None:
        """Take a step."""
        grids = self.grids(max(abs(value_in), abs(value_out)))
        self._stand(self.rows.apply(rule, value_in, value_out, grids), grids)
        self._refine(grids)

    def _refine(self, grids: Grids) -> None:
        """Sum again where the margins turned out far from the bounds that the grids were made for (exponential losses)."""
        finer = self.grids(0.0)
        if any(new > COARSE * old for new, old in zip(finer[:3], grids[:3], strict=True)):
            covered, hits = self.now.covered, self.now.covered_positive
            self._stand(self.rows.apply((), 0.0, 0.0, finer), finer)
            self.now = replace(self.now, covered=covered, covered_positive=hits)

    def _stand(self, standing: Standing, grids: Grids) -> None:
        scales = (grids.weight, grids.curvature, grids.value, grids.error, grids.error, grids.error)
        values = [value_of(pair, grid) for pair, grid in zip(standing.sums, scales, strict=True)]
        weight, curvature, surrogate, error, covered, hits = values
        self.now = State(weight, curvature, surrogate, error, covered, hits, standing.low_state, standing.high_state)

    def derivatives(self, rule: Rule, value_in: float, value_out: float) -> tuple[list[float], list[float]]:
        """Sums of y w, curvature and y slope at a trial step, inside and outside."""
        grids = self.grids(max(abs(value_in), abs(value_out)))
        sums = self.rows.measure(rule, value_in, value_out, grids)
        scales = (grids.weight, grids.curvature, grids.curvature)
        inside = [value_of(pair, grid) for pair, grid in zip(sums[:3], scales, strict=True)]
        outside = [value_of(pair, grid) for pair, grid in zip(sums[3:], scales, strict=True)]
        return inside, outside

    def leverage(self, rule: Rule, two_values: bool, l2: float, start_in: float, start_out: float) -> Leverage:
        """The exact step along a rule, from a guess."""
        smooth, cap = self.surrogate.smooth, self.surrogate.cap
        inner, outer = kernels.Root(), kernels.Root()
        inner.value, outer.value = min(max(start_in, -cap), cap), min(max(start_out, -cap), cap)
        outer.done = not rule
        passes = 0
        while not (inner.done and outer.done):
            v = inner.value
            u = outer.value if two_values else -v
            (f_in, k_in, t_in), (f_out, k_out, t_out) = self.derivatives(rule, v, u)
            passes += 1
            if two_values:
                inner.advance(f_in - l2 * v, -k_in - l2, -t_in, smooth, cap)
                outer.advance(f_out - l2 * u, -k_out - l2, -t_out, smooth, cap)
            else:
                inner.advance(f_in - f_out - 2.0 * l2 * v, -k_in - k_out - 2.0 * l2, t_out - t_in, smooth, cap)
                outer.done = inner.done
        if two_values and not self.surrogate.attained:
            inner.retreat()
            outer.retreat()
        value_out = outer.value if two_values else -inner.value
        return Leverage(inner.value, value_out, inner.capped and (outer.capped or not two_values), passes)
