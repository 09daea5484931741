"""The rows of a linear classifier in parts, the questions about them, and the objective (18) computed from the answers.

Answers are exact sums (kernels/_core/sums), so a fit is the same for any number of parts and workers. Only the matrix
of a Newton step is coarse: columns and curvatures are rounded to a few bits, whose products add exactly in double
precision. The matrix only gives a direction; value, gradient and certificate are computed in full precision.

The values of a block on disk are read for each question; the average slope of the sub-gradient method is stored, 8
bytes a row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from permissible.kernels._core import sums
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.objective import SEARCHES, TRIALS, At, halved, solved
from permissible.learners.boundary.problem import Penalty
from permissible.learners.boundary.surfaces import Surface
from permissible.rows.part import Part, Storage, weights_of
from permissible.rows.source import OpenRows, Question
from permissible.types import BoolArray, FloatArray, IntArray

COLUMN_BITS, CURVATURE_BITS = 15, 10
EXACT_ROWS = 1 << (52 - 2 * COLUMN_BITS - CURVATURE_BITS)
"""Rows whose rounded products add exactly in double precision."""


class Values(NamedTuple):
    """Values, classes and weights of the rows of a part."""

    X: FloatArray
    positive: BoolArray
    weight: FloatArray

    def take(self, chosen: IntArray) -> "Values":
        """Some of the rows."""
        return Values(self.X[chosen], self.positive[chosen], self.weight[chosen])

    def margins(self, point: FloatArray) -> FloatArray:
        """Y f of each row."""
        score = sums.linear_scores(self.X, np.ascontiguousarray(point[:-1]), float(point[-1]))
        return np.where(self.positive, score, -score)

    def pulls(self, dual: FloatArray) -> IntArray:
        """Exact sums of y c t x for each column, and of y c t."""
        return sums.exact_products(self.X, np.where(self.positive, 1.0, -1.0) * self.weight * dual)

    def masses(self, dual: FloatArray) -> FloatArray:
        """The terms c t of each class, 0 for the rows of the other."""
        mass = self.weight * dual
        return np.stack([np.where(self.positive, 0.0, mass), np.where(self.positive, mass, 0.0)])


@dataclass(frozen=True, slots=True)
class LinearRows:
    """The rows of one part, and their average slope."""

    part: Part
    average: Storage

    def values(self) -> Values:
        """Read the data of the part."""
        return Values(np.ascontiguousarray(self.part.values()), self.part.target() == 1, weights_of(self.part))


@dataclass(frozen=True, slots=True)
class LinearOpening:
    """All rows of a part."""

    def build(self, part: Part) -> LinearRows:
        """The rows of one part."""
        return LinearRows(part, part.storage())


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Exact sums, and the largest of something."""

    limbs: IntArray
    largest: FloatArray

    def __add__(self, other: "Sums") -> "Sums":
        """Merge two answers."""
        return Sums(self.limbs + other.limbs, np.maximum(self.largest, other.largest))


@dataclass(frozen=True, slots=True)
class ColumnSizes(Question[LinearRows, Sums]):
    """The total weight, and the largest absolute value of each column."""

    def answer(self, rows: LinearRows) -> Sums:
        """The answer of one part."""
        values = rows.values()
        return Sums(_limbs(values.weight[None, :]), np.abs(values.X).max(axis=0, initial=0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Evaluate(Question[LinearRows, Sums]):
    """The smooth loss, the mass of each class and the gradient sums at a point; the largest curvature of a row."""

    point: FloatArray
    surface: Surface

    def answer(self, rows: LinearRows) -> Sums:
        """The sums of one part."""
        values = rows.values()
        margin = values.margins(self.point)
        dual = self.surface.slope(values.positive, margin)
        loss = values.weight * self.surface.smooth(values.positive, margin)
        curvature = values.weight * self.surface.curvature(values.positive, margin)
        limbs = _limbs(np.vstack([loss[None, :], values.masses(dual)]))
        return Sums(np.vstack([limbs, values.pulls(dual)]), np.array([curvature.max(initial=0.0)]))


@dataclass(frozen=True, slots=True, eq=False)
class SmoothLosses(Question[LinearRows, IntArray]):
    """The smooth loss at several points."""

    points: FloatArray
    surface: Surface

    def answer(self, rows: LinearRows) -> IntArray:
        """The sums of one part."""
        values = rows.values()
        losses = [self.surface.smooth(values.positive, values.margins(point)) for point in self.points]
        return _limbs(values.weight * np.array(losses))


@dataclass(frozen=True, slots=True, eq=False)
class CurvatureMatrix(Question[LinearRows, IntArray]):
    """X' diag(curvature) X of rounded columns, the intercept last: integers, exact in any order."""

    point: FloatArray
    surface: Surface
    scales: FloatArray
    largest: float

    def answer(self, rows: LinearRows) -> IntArray:
        """The matrix of one part."""
        values = rows.values()
        curvature = values.weight * self.surface.curvature(values.positive, values.margins(self.point))
        levels = np.rint(np.minimum(curvature / self.largest, 1.0) * 2.0**CURVATURE_BITS)
        used = np.flatnonzero(levels)
        total = np.zeros((len(self.scales),) * 2, dtype=np.int64)
        for start in range(0, len(used), EXACT_ROWS):
            chosen = used[start : start + EXACT_ROWS]
            columns = np.full((len(chosen), len(self.scales)), 2.0**COLUMN_BITS)
            columns[:, :-1] = np.rint(values.X[chosen] / self.scales[:-1] * 2.0**COLUMN_BITS)
            total += ((columns * levels[chosen, None]).T @ columns).astype(np.int64)
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Certify(Question[LinearRows, IntArray]):
    """Loss, gain and gradient sums for a certificate; the dual point is the slope or, `averaged`, the average slope."""

    point: FloatArray
    surface: Surface
    factors: tuple[float, float]
    averaged: bool = False

    def answer(self, rows: LinearRows) -> IntArray:
        """The sums of one part."""
        values = rows.values()
        margin = values.margins(self.point)
        dual = rows.average.read() if self.averaged else self.surface.slope(values.positive, margin)
        balanced = np.where(values.positive, self.factors[1], self.factors[0]) * dual
        terms = [self.surface.loss(values.positive, margin), self.surface.gain(values.positive, balanced)]
        return np.vstack([_limbs(values.weight * np.stack(terms)), values.pulls(balanced)])


@dataclass(frozen=True, slots=True, eq=False)
class Extremes(Question[LinearRows, IntArray]):
    """The number of scores of at least this size, and the sums and sums of squares of the scaled columns."""

    point: FloatArray
    reach: float
    scales: FloatArray

    def answer(self, rows: LinearRows) -> IntArray:
        """The sums of one part."""
        values = rows.values()
        scaled, far = values.X.T / self.scales[:, None], np.abs(values.margins(self.point)) >= self.reach
        return _limbs(np.vstack([far.astype(np.float64), scaled, scaled**2]))


@dataclass(frozen=True, slots=True, eq=False)
class AverageSlope(Question[LinearRows, IntArray]):
    """Add slopes to the average as its `number`-th term: masses of the average, gradient sums of the slopes."""

    changes: ClassVar[bool] = True
    point: FloatArray
    surface: Surface
    number: int

    def answer(self, rows: LinearRows) -> IntArray:
        """The sums of one part."""
        values = rows.values()
        dual = self.surface.slope(values.positive, values.margins(self.point))
        before = rows.average.read() if self.number > 1 else dual
        average = before + (dual - before) / self.number
        rows.average.write(average)
        return np.vstack([_limbs(values.masses(average)), values.pulls(dual)])


@dataclass(frozen=True, slots=True, eq=False)
class InterceptPulls(Question[LinearRows, IntArray]):
    """The derivative by the intercept at several intercepts."""

    coef: FloatArray
    intercepts: FloatArray
    surface: Surface

    def answer(self, rows: LinearRows) -> IntArray:
        """The sums of one part."""
        values = rows.values()
        points = [np.append(self.coef, intercept) for intercept in self.intercepts]
        slopes = [self.surface.slope(values.positive, values.margins(point)) for point in points]
        return _limbs(np.where(values.positive, 1.0, -1.0) * values.weight * np.array(slopes))


@dataclass(frozen=True, slots=True, eq=False)
class SummedObjective:
    """(18) computed from sums over parts."""

    rows: OpenRows[LinearRows]
    total: float
    largest: FloatArray
    penalty: Penalty

    @classmethod
    def of(cls, rows: OpenRows[LinearRows], penalty: Penalty) -> "SummedObjective":
        """Ask for the total weight and the largest values."""
        found = rows.ask(ColumnSizes())
        return cls(rows, float(exact(found.limbs)[0]), found.largest, penalty)

    @property
    def scales(self) -> FloatArray:
        """The largest absolute value of each column, 1 for a column of zeros and for the intercept (last)."""
        return np.append(np.where(self.largest > 0, self.largest, 1.0), 1.0)

    @property
    def ridge(self) -> FloatArray:
        """Multiplier of the square of each coefficient, the intercept last."""
        return self.penalty.ridge(len(self.largest))

    def at(self, point: FloatArray, surface: Surface) -> At:
        """Asks two questions, since the dual point of the certificate must satisfy sum c t y = 0."""
        found = self.rows.ask(Evaluate(point, surface))
        loss, negative, positive, *pull = exact(found.limbs)
        gradient = self.ridge * point - np.array(pull) / self.total
        if not self.penalty.fit_intercept:
            gradient[-1] = 0.0
        value = loss / self.total + 0.5 * float(self.ridge @ (point * point))
        certificate = self.certificate(Certify(point, surface, self.penalty.balance(negative, positive)))
        return At(point, surface, value, gradient, certificate, np.zeros(0), found.largest)

    def certificate(self, question: Certify) -> Certificate:
        """Primal and dual value of (18)."""
        loss, gain, *pull = exact(self.rows.ask(question))
        pulled = (np.array(pull) / self.total)[: None if self.penalty.of_intercept else -1]
        upper = loss / self.total + 0.5 * float(self.ridge @ (question.point * question.point))
        return Certificate.of(upper, gain / self.total - float(pulled @ pulled) / (2 * self.penalty.alpha))

    def values(self, points: FloatArray, surface: Surface) -> FloatArray:
        """The smooth objective at all points, in one question."""
        means = exact(self.rows.ask(SmoothLosses(points, surface))) / self.total
        return np.asarray(means + 0.5 * np.array([float(self.ridge @ (point * point)) for point in points]))

    def trials(self, at: At) -> Iterator[FloatArray]:
        """The Newton step and its halves, then damped steps.

        Where halving does not help, some coordinate has hardly any curvature (a free intercept with no row near a
        kink). Damping bounds how far a step moves a margin: by a few widths at first, then by less and less.
        """
        matrix, damping = self._matrix(at), np.diag(self.scales**2)
        yield halved(solved(matrix, at.gradient))
        size, farthest = float(np.linalg.norm(at.gradient / self.scales)), 4.0 * (at.surface.width or 1.0)
        for search in range(SEARCHES - 1):
            reaches = farthest * 0.25 ** np.arange(search * TRIALS, (search + 1) * TRIALS)
            yield np.array([solved(matrix + size / reach * damping, at.gradient) for reach in reaches])

    def _matrix(self, at: At) -> FloatArray:
        """The rounded matrix of a Newton step."""
        largest, units = float(at.curvature[0]), self.scales / 2.0**COLUMN_BITS
        matrix = np.diag(self.ridge)
        if largest > 0:
            levels = self.rows.ask(CurvatureMatrix(at.point, at.surface, self.scales, largest)).astype(np.float64)
            matrix += levels * (largest / 2.0**CURVATURE_BITS / self.total) * units[:, None] * units[None, :]
        if not self.penalty.fit_intercept:
            matrix[-1, :] = matrix[:, -1] = 0.0
            matrix[-1, -1] = 1.0
        # Rounding may leave a column without curvature: the added term keeps its step finite, and is negligible
        # otherwise.
        matrix[np.diag_indices_from(matrix)] += 1e-14 * np.trace(matrix) / len(matrix) + 1e-300
        return matrix

    def extremes(self, point: FloatArray, reach: float, n_rows: int) -> tuple[FloatArray, float]:
        """The standard deviation of each column, and the fraction of rows whose score has at least this size."""
        scales = self.scales[:-1]
        far, *moments = exact(self.rows.ask(Extremes(point, reach, scales))) / max(n_rows, 1)
        mean, square = np.array(moments).reshape(2, -1)
        return scales * np.sqrt(np.maximum(square - mean**2, 0.0)), float(far)


def exact(limbs: IntArray) -> FloatArray:
    """Exact sums, rounded once."""
    return np.array(sums.exact_values(np.ascontiguousarray(limbs)))


def _limbs(terms: FloatArray) -> IntArray:
    """The exact sum of each row of a matrix."""
    return sums.exact_limbs(np.ascontiguousarray(terms))
