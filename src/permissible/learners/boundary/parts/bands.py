"""(18) on rows in parts, by the solver of memory: a few rows are gathered, and all others are summed without loss.

The loss of a class is piecewise linear in the margin. Rows of one class on the same line, together, have the loss of
one row: their mean, with their weight. So at a point all rows farther than a band from every kink become one row a class
and line, and only the rows of the band travel. By Jensen's inequality this reduced problem is nowhere above (18), and it
equals it as long as no summed row crosses a kink: its dual value is a lower bound on the optimum of (18), and one more
pass gives the objective at its solution. Rows beyond the last hinge have no loss and are left out.

The first point comes from a sample at equal distances, and the band from its sampling error. Few rows are gathered as a
whole, in the order of the table: then the fit is that of memory, bit for bit. Sums are exact, so that parts do not show.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from permissible.kernels._core import boundary as core
from permissible.kernels._core import sums
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.linear import solve_linear
from permissible.learners.boundary.parts.rows import LinearRows, SummedObjective, Values, exact
from permissible.learners.boundary.problem import Options, Penalty, Problem, Solution
from permissible.learners.boundary.segments import Segments
from permissible.rows.source import ByPart, Question, Source
from permissible.rows.totals import RowsByPart
from permissible.types import FloatArray, IntArray

SAMPLE_CELLS, LEAST_SAMPLE = 4_000_000, 10_000
"""Values of the sample, and its least number of rows; a table of at most as many is gathered as a whole."""
BAND_CELLS = 16_000_000
"""Values of the rows of a band, at most."""
LEVEL = 5
"""A sample grows by this factor, from one level to the next."""
WIDE = 2.2
"""The width of a band, in standard errors of the margins."""
LEAST_BAND = 20
"""Rows of a band for each coefficient, at least."""
ROUNDS = 12
ROUNDING = 1e-14
"""The least relative gap that a reduced problem is solved to."""

NumberedRows = dict[int, Values]
"""Rows by the number of their part."""


@dataclass(frozen=True, slots=True)
class Spaced:
    """Which rows of a table: `wanted` of `n_rows` at equal distances; `starts` are the first rows of the parts."""

    starts: Mapping[int, int]
    n_rows: int
    wanted: int

    def of(self, rows: LinearRows) -> Values:
        """Those of one part."""
        values = rows.values()
        if self.wanted >= self.n_rows:
            return values
        start = self.starts[rows.part.number]
        first, beyond = (-(-end * self.wanted // self.n_rows) for end in (start, start + len(values.weight)))
        return values.take(np.arange(first, beyond, dtype=np.int64) * self.n_rows // self.wanted - start)


@dataclass(frozen=True, slots=True)
class SampledRows(ByPart[LinearRows, Values]):
    """The rows of a sample."""

    spaced: Spaced

    def answer(self, rows: LinearRows) -> NumberedRows:
        """Those of one part."""
        return {rows.part.number: self.spaced.of(rows)}


class Reduced(NamedTuple):
    """Exact sums of the loss, and of the weight and the columns of each class and line; the rows of the band."""

    limbs: IntArray
    band: NumberedRows


@dataclass(frozen=True, slots=True, eq=False)
class Reduce(Question[LinearRows, Reduced]):
    """What is left of the rows at a point: those within a band around a kink, and sums of the others."""

    point: FloatArray
    segments: Segments
    band: float
    spaced: Spaced

    def answer(self, rows: LinearRows) -> Reduced:
        """That of one part."""
        values = self.spaced.of(rows)
        margin = values.margins(self.point)
        near = _distances(self.segments, values, margin) <= self.band
        loss = values.weight * self.segments.loss(values.positive, margin)
        limbs = [sums.exact_limbs(loss[None, :])]
        line = sum(margin < hinge for hinge, _ in self.segments.per_row(values.positive))
        for side in (False, True):
            for number in range(1, self.segments.count + 1):
                summed = (line == number) & (values.positive == side) & ~near
                limbs.append(sums.exact_products(values.X, np.where(summed, values.weight, 0.0)))
        return Reduced(np.vstack(limbs), {rows.part.number: values.take(np.flatnonzero(near))})

    def merge(self, answers: Sequence[Reduced]) -> Reduced:
        """That of all parts."""
        band = {number: values for answer in answers for number, values in answer.band.items()}
        return Reduced(np.sum([answer.limbs for answer in answers], axis=0), band)


def _distances(segments: Segments, values: Values, margin: FloatArray) -> FloatArray:
    """The distance of each margin to the nearest kink."""
    return np.asarray(np.min([np.abs(hinge - margin) for hinge, _ in segments.per_row(values.positive)], axis=0))


def joined(rows: NumberedRows) -> Values:
    """Rows of all parts, in the order of the table."""
    ordered = [rows[number] for number in sorted(rows)]
    return Values(*(np.ascontiguousarray(np.concatenate(columns)) for columns in zip(*ordered, strict=True)))


@dataclass(slots=True, eq=False)
class Bands:
    """The rows of a fit, and what is known of the optimum: the best point with its objective, and a lower bound."""

    objective: SummedObjective
    segments: Segments
    options: Options
    sample: Values
    spaced: Spaced
    point: FloatArray
    upper: float = math.inf
    lower: float = -math.inf
    n_iter: int = 0

    @property
    def solution(self) -> Solution:
        """The best point, certified."""
        certificate = Certificate.of(self.upper, self.lower)
        done = certificate.relative_gap <= self.options.tol
        coef, intercept = self.point[:-1].copy(), float(self.point[-1])
        return Solution(coef, intercept, np.zeros(0), certificate, self.n_iter, done, "newton")

    def solve(self) -> Solution | None:
        """Levels of samples, then all rows, until the gap is closed or a band no longer helps.

        None if more rows lie at a kink than can be gathered.
        """
        n_rows, level, error = self.spaced.n_rows, len(self.sample.weight), self._sampling_error()
        point = self.point
        while 2 * LEVEL * level < n_rows:
            level, band = LEVEL * level, self._band(WIDE * error, LEVEL * level)
            found = self.objective.rows.ask(Reduce(point, self.segments, band, replace(self.spaced, wanted=level)))
            point, _ = self._solved(found, point, 1e-3, level / n_rows)
            error /= math.sqrt(LEVEL)
        band, failures = self._band(WIDE * error, n_rows), 0
        distance = _distances(self.segments, self.sample, self.sample.margins(self.point))
        if float(np.mean(distance <= band)) * n_rows * len(self.point) > 2 * BAND_CELLS:
            return None
        for _ in range(ROUNDS):
            found = self.objective.rows.ask(Reduce(point, self.segments, band, self.spaced))
            upper = self._upper(found, point)
            if upper < self.upper:
                self.upper, self.point = upper, point
            elif failures == 2:
                break
            else:  # the band was too narrow
                failures, band, point = failures + 1, self._band(4.0 * band, n_rows), self.point
                found = self.objective.rows.ask(Reduce(point, self.segments, band, self.spaced))
            if self.solution.converged or (self.n_iter >= self.options.max_iter and self.lower > -math.inf):
                break
            point, lower = self._solved(found, point, max(0.4 * self.options.tol, ROUNDING))
            self.lower, band = max(self.lower, lower), self._band(0.25 * band, n_rows)
        return self.solution

    def _upper(self, found: Reduced, point: FloatArray) -> float:
        """The objective (18) at the point."""
        return float(exact(found.limbs[:1])[0]) / self.objective.total + self._penalty(point)

    def _penalty(self, point: FloatArray) -> float:
        return 0.5 * float(self.objective.ridge @ (point * point))

    def _solved(self, found: Reduced, point: FloatArray, tol: float, share: float = 1.0) -> tuple[FloatArray, float]:
        """The minimum of the reduced problem of a share of the rows, from a point, and its lower bound."""
        band, count = joined(found.band), self.segments.count
        sums_of = exact(found.limbs[1:]).reshape(2 * count, -1)
        sums_of, side = sums_of[sums_of[:, -1] > 0], np.repeat([False, True], count)[sums_of[:, -1] > 0]
        rows = Values(
            np.vstack([band.X, sums_of[:, :-1] / sums_of[:, -1:]]),
            np.concatenate([band.positive, side]),
            np.concatenate([band.weight, sums_of[:, -1]]),
        )
        penalty, scale = self.objective.penalty, share * self.objective.total
        problem = problem_of(rows, self.segments, replace(penalty, alpha=penalty.alpha * scale / rows.weight.sum()))
        start = core.Start(np.ascontiguousarray(point[:-1]), np.zeros(0), float(point[-1]), True, True)
        budget = max(self.options.max_iter - self.n_iter, 1)
        solved = core.solve_dense(rows.X, problem.record, start, tol, budget, self.options.n_threads)
        self.n_iter += solved.iterations
        return np.append(solved.coef, solved.intercept), solved.dual_value / scale

    def _sampling_error(self) -> float:
        """How far the margins of the sample's minimiser are from those of all rows: sqrt(d E[t^2] / m) / E[curvature]."""
        values, n_rows = self.sample, len(self.sample.weight)
        margin, share = values.margins(self.point), values.weight / values.weight.sum()
        slope, size = self.segments.slope(values.positive, margin), len(self.point)
        near = self._band(0.0, n_rows, max(LEAST_BAND * size, n_rows // 50))
        bent = sum(
            float(share @ (width * (np.abs(hinge - margin) <= near)))
            for hinge, width in self.segments.per_row(values.positive)
        )
        farthest = float(np.abs(self.segments.hinge).max()) or 1.0
        if not bent > 0:
            return farthest
        return min(farthest, math.sqrt(size * float(share @ slope**2) / n_rows) * 2.0 * near / bent)

    def _band(self, wanted: float, n_rows: int, least: int | None = None) -> float:
        """A band of so many of `n_rows` rows at least, and not more than can be gathered, by the margins of the sample."""
        size, m = len(self.point), len(self.sample.weight)
        distance = np.sort(_distances(self.segments, self.sample, self.sample.margins(self.point)))
        fewest = min((least or LEAST_BAND * size) * m // n_rows, m - 1)
        most = min(BAND_CELLS // size * m // n_rows, m - 1)
        tiny = 1e-12 * (float(np.abs(self.segments.hinge).max()) or 1.0)
        return float(min(max(wanted, distance[fewest], tiny), max(distance[most], tiny)))


def problem_of(rows: Values, segments: Segments, penalty: Penalty) -> Problem:
    """(18) on rows that were gathered."""
    flags = penalty.fit_intercept, penalty.penalize_intercept
    return Problem(segments, rows.positive, rows.weight, penalty.alpha, *flags)


def gathered(objective: SummedObjective, source: Source) -> tuple[Values, Spaced]:
    """All rows if they are few, else a sample; and which rows these are."""
    counts = source.survey(RowsByPart())
    starts = dict(zip(counts, np.cumsum([0, *counts.values()]).tolist(), strict=False))
    wanted = max(SAMPLE_CELLS // (len(objective.largest) + 1), LEAST_SAMPLE)
    spaced = Spaced(starts, source.n_rows, min(wanted, source.n_rows))
    return joined(objective.rows.ask(SampledRows(spaced))), replace(spaced, wanted=source.n_rows)


def solve_bands(
    objective: SummedObjective, segments: Segments, options: Options, sample: Values, spaced: Spaced
) -> Solution | None:
    """Solve (18) from the rows that were gathered, as memory does, and from sums of the others; None if that fails."""
    problem = problem_of(sample, segments, objective.penalty)
    if len(sample.weight) == spaced.n_rows:
        return replace(solve_linear(sample.X, problem, options), dual=np.zeros(0))
    first = solve_linear(sample.X, problem, replace(options, tol=max(options.tol, 1e-4)))
    point = np.append(first.coef, first.intercept)
    return Bands(objective, segments, options, sample, spaced, point, n_iter=first.n_iter).solve()
