"""The rows of a linear boundary classifier in parts: values, sides and weights, and exact sums over them as answers.

Rows in memory stay there; of a block on disk the values are read when a question comes, and the average slope of the sub-gradient
method is kept, 8 bytes a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from permissible.distributed.asked import Asked
from permissible.kernels._core import sums as kernel
from permissible.learners.boundary.parted import BEND_BITS, COLUMN_BITS, Sums, Surface
from permissible.rows.part import Part
from permissible.rows.source import Source
from permissible.types import BoolArray, FloatArray, IntArray

EXACT_ROWS = 1 << (52 - 2 * COLUMN_BITS - BEND_BITS)
"""Rows whose rounded products add exactly in double precision."""


class Rows(NamedTuple):
    """Values, sides and weights."""

    X: FloatArray
    positive: BoolArray
    weight: FloatArray

    def margins(self, point: FloatArray) -> FloatArray:
        """Y f of each row."""
        score = kernel.linear_scores(self.X, np.ascontiguousarray(point[:-1]), float(point[-1]))
        return np.where(self.positive, score, -score)

    def mass(self, dual: FloatArray) -> FloatArray:
        """Y c t of each row."""
        return np.where(self.positive, 1.0, -1.0) * self.weight * dual

    def masses(self, dual: FloatArray) -> FloatArray:
        """C t of the rows of each class, the others 0: (2, n)."""
        mass = self.weight * dual
        return np.stack([np.where(self.positive, 0.0, mass), np.where(self.positive, mass, 0.0)])


@dataclass(slots=True)
class LinearRows:
    """The rows of one part."""

    part: Part
    averaged: FloatArray | None = None

    def _rows(self) -> Rows:
        part = self.part
        values, weight, positive = np.ascontiguousarray(part.values()), part.weight(), part.target() == 1
        return Rows(values, positive, np.ones(len(positive)) if weight is None else weight)

    def facts(self) -> tuple[IntArray, FloatArray]:
        """The exact total weight, and the largest size of each column."""
        rows = self._rows()
        largest = np.abs(rows.X).max(axis=0, initial=0.0)
        return kernel.exact_limbs(np.ascontiguousarray(rows.weight[None, :])), largest

    def evaluate(self, point: FloatArray, surface: Surface) -> tuple[IntArray, IntArray, float]:
        """Sums of the smooth loss and of the mass of each class, pulls, and the largest curvature."""
        rows = self._rows()
        margin = rows.margins(point)
        dual = surface.slope(rows.positive, margin)
        loss = rows.weight * surface.smooth(rows.positive, margin)
        plain = kernel.exact_limbs(np.ascontiguousarray(np.vstack([loss[None, :], rows.masses(dual)])))
        bend = float((rows.weight * surface.bend(rows.positive, margin)).max(initial=0.0))
        return plain, kernel.exact_products(rows.X, rows.mass(dual)), bend

    def values(self, points: FloatArray, surface: Surface) -> IntArray:
        """The smooth loss at several points."""
        rows = self._rows()
        losses = [rows.weight * surface.smooth(rows.positive, rows.margins(point)) for point in points]
        return kernel.exact_limbs(np.ascontiguousarray(losses))

    def matrix(self, point: FloatArray, surface: Surface, scales: FloatArray, bend: float) -> IntArray:
        """X' diag(curvature) X of rounded columns, an intercept last: integers, exact in any order."""
        rows = self._rows()
        share = rows.weight * surface.bend(rows.positive, rows.margins(point)) / bend
        levels = np.rint(np.minimum(share, 1.0) * 2.0**BEND_BITS)
        used = np.flatnonzero(levels)
        total = np.zeros((len(scales) + 1,) * 2, dtype=np.int64)
        for start in range(0, len(used), EXACT_ROWS):
            chosen = used[start : start + EXACT_ROWS]
            columns = np.full((len(chosen), len(scales) + 1), 2.0**COLUMN_BITS)
            columns[:, :-1] = np.rint(rows.X[chosen] / scales * 2.0**COLUMN_BITS)
            total += ((columns * levels[chosen, None]).T @ columns).astype(np.int64)
        return total

    def certify(self, point: FloatArray, surface: Surface, factors: tuple[float, float]) -> tuple[IntArray, IntArray]:
        """Loss and gain, and the pulls of the dual point of the slopes, balanced."""
        rows = self._rows()
        return self._certified(rows, point, surface, surface.slope(rows.positive, rows.margins(point)), factors)

    def _certified(
        self, rows: Rows, point: FloatArray, surface: Surface, dual: FloatArray, factors: tuple[float, float]
    ) -> tuple[IntArray, IntArray]:
        balanced = np.where(rows.positive, factors[1], factors[0]) * dual
        loss = rows.weight * surface.loss(rows.positive, rows.margins(point))
        gain = rows.weight * surface.gain(rows.positive, balanced)
        return kernel.exact_limbs(np.stack([loss, gain])), kernel.exact_products(rows.X, rows.mass(balanced))

    def average(self, point: FloatArray, surface: Surface, number: int) -> IntArray:
        """Pulls of the slopes at a point, which join the average."""
        rows = self._rows()
        dual = surface.slope(rows.positive, rows.margins(point))
        self.averaged = dual if self.averaged is None else self.averaged + (dual - self.averaged) / number
        return kernel.exact_products(rows.X, rows.mass(dual))

    def average_masses(self) -> IntArray:
        """The mass of each class under the average."""
        assert self.averaged is not None
        return kernel.exact_limbs(self._rows().masses(self.averaged))

    def certify_average(
        self, point: FloatArray, surface: Surface, factors: tuple[float, float]
    ) -> tuple[IntArray, IntArray]:
        """As `certify`, with the average as the dual point."""
        assert self.averaged is not None
        return self._certified(self._rows(), point, surface, self.averaged, factors)

    def tilts(self, coef: FloatArray, intercepts: FloatArray, surface: Surface) -> IntArray:
        """The pull on the intercept at several of them."""
        rows = self._rows()
        points = [np.append(coef, intercept) for intercept in intercepts]
        masses = [rows.mass(surface.slope(rows.positive, rows.margins(point))) for point in points]
        return kernel.exact_limbs(np.ascontiguousarray(masses))

    def certain(self, point: FloatArray, reach: float) -> IntArray:
        """How many scores are at least this far from zero, and how many there are."""
        margin = self._rows().margins(point)
        return np.array([np.count_nonzero(np.abs(margin) >= reach), len(margin)], dtype=np.int64)

    def moments(self, scales: FloatArray) -> IntArray:
        """Of each scaled column the sum, then of each the sum of squares."""
        scaled = self._rows().X.T / scales[:, None]
        return kernel.exact_limbs(np.ascontiguousarray(np.vstack([scaled, scaled**2])))


class LinearKind:
    """Builds and merges the rows of linear boundary classifiers."""

    changes = frozenset({"average"})

    def build(self, part: Part, settings: Any) -> LinearRows:
        """The rows of one part."""
        return LinearRows(part)

    def merge(self, method: str, answers: Sequence[Any]) -> Any:
        """Sums add, sizes compare."""
        match method:
            case "facts":
                return _added(answers, 0), np.max([answer[1] for answer in answers], axis=0)
            case "evaluate":
                return _added(answers, 0), _added(answers, 1), max(answer[2] for answer in answers)
            case "certify" | "certify_average":
                return _added(answers, 0), _added(answers, 1)
            case _:
                return sum(answers[1:], answers[0])


def _added(answers: Sequence[Any], place: int) -> IntArray:
    total: IntArray = sum((answer[place] for answer in answers[1:]), answers[0][place])
    return total


class AskedLinear:
    """All parts as the rows that the solvers ask."""

    def __init__(self, source: Source) -> None:
        self.remote = Asked(source, "linear", None)

    def facts(self) -> tuple[float, FloatArray]:
        """The total weight, and the largest size of each column."""
        limbs, largest = self.remote.ask("facts")
        return _values(limbs)[0], largest

    def evaluate(self, point: FloatArray, surface: Surface) -> Sums:
        """Value, pulls, masses and the largest curvature at a point."""
        plain, pull, bend = self.remote.ask("evaluate", point, surface)
        value, negative, positive = _values(plain)
        return Sums(value, _values(pull), (negative, positive), bend)

    def values(self, points: FloatArray, surface: Surface) -> FloatArray:
        """The smooth loss at several points."""
        return _values(self.remote.ask("values", points, surface))

    def matrix(self, point: FloatArray, surface: Surface, scales: FloatArray, bend: float) -> IntArray:
        """The rounded matrix of a Newton step."""
        answer: IntArray = self.remote.ask("matrix", point, surface, scales, bend)
        return answer

    def certify(
        self, point: FloatArray, surface: Surface, factors: tuple[float, float]
    ) -> tuple[float, float, FloatArray]:
        """Sums of losses and gains, and the pulls of the dual point."""
        plain, pull = self.remote.ask("certify", point, surface, factors)
        loss, gain = _values(plain)
        return loss, gain, _values(pull)

    def average(self, point: FloatArray, surface: Surface, number: int) -> FloatArray:
        """Pulls of the slopes at a point, which join the average."""
        return _values(self.remote.ask("average", point, surface, number))

    def average_masses(self) -> tuple[float, float]:
        """The mass of each class under the average."""
        negative, positive = _values(self.remote.ask("average_masses"))
        return negative, positive

    def certify_average(
        self, point: FloatArray, surface: Surface, factors: tuple[float, float]
    ) -> tuple[float, float, FloatArray]:
        """As `certify`, with the average as the dual point."""
        plain, pull = self.remote.ask("certify_average", point, surface, factors)
        loss, gain = _values(plain)
        return loss, gain, _values(pull)

    def tilts(self, coef: FloatArray, intercepts: FloatArray, surface: Surface) -> FloatArray:
        """The pull on the intercept at several of them."""
        return _values(self.remote.ask("tilts", coef, intercepts, surface))

    def certain(self, point: FloatArray, reach: float) -> float:
        """The share of rows whose score is at least this far from zero."""
        count, n_rows = self.remote.ask("certain", point, reach)
        return float(count / max(n_rows, 1))

    def spread(self, largest: FloatArray) -> FloatArray:
        """The standard deviation of each column."""
        scales, n_rows = (
            np.where(largest > 0, largest, 1.0),
            self.remote.ask("certain", np.zeros(len(largest) + 1), 0.0)[1],
        )
        mean, square = _values(self.remote.ask("moments", scales)).reshape(2, -1) / max(n_rows, 1)
        return np.asarray(scales * np.sqrt(np.maximum(square - mean**2, 0.0)))

    def close(self) -> None:
        """Let the holders forget these rows."""
        self.remote.close()


def _values(limbs: IntArray) -> FloatArray:
    return np.array(kernel.exact_values(np.ascontiguousarray(limbs)))
