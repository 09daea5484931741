"""The linear classifier of (18) on rows in parts: Newton on a smooth surface, or the projected sub-gradient method.

Rows answer with exact sums (kernels/_core/sums), so the fit is the same for any number of parts and workers. Only the matrix of a
Newton step is coarse: columns and curvatures are rounded to a few bits, whose products add exactly in double precision. It
steers, it does not decide: value, gradient and certificate are computed in full.

Piecewise-linear losses are rounded at their kinks over a width that shrinks; the slopes of the rounded loss are a feasible dual
point of the true one, whose gap is certified.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import linalg

from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.linear import LinearFit
from permissible.learners.boundary.segments import Segments
from permissible.types import BoolArray, FloatArray, IntArray

COLUMN_BITS, BEND_BITS = 15, 10
TRIALS = 8
"""Steps that one question asks about."""
QUESTIONS = 6
"""About steps from one point before the search is given up."""
EXTRA_STEPS = 2
LEAST_WIDTH = 1e-8
"""Over which a kink is rounded in the end, as a share of the farthest kink: a narrower one would be lost in rounding."""
ENOUGH = 1e-4
"""A Newton step that promises less than this share of the objective, times the width, is not worth its questions."""
MOST_STEPS = 40
"""On one surface before the last."""


class Surface(Protocol):
    """A convex loss of a margin, with the dual value of its slope; `width` is how far it is from what is to be minimised."""

    @property
    def width(self) -> float: ...  # noqa: D102

    def loss(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """What is to be minimised."""
        ...

    def smooth(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The smooth loss that Newton's method sees."""
        ...

    def slope(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """Minus the derivative of `smooth`: a dual point."""
        ...

    def bend(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The second derivative of `smooth`."""
        ...

    def gain(self, positive: BoolArray, dual: FloatArray) -> FloatArray:
        """What a dual point brings."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SoftSurface:
    """The smooth loss of a permissible phi itself."""

    base: Any
    width: float = 0.0

    def loss(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """B F(z)."""
        return np.asarray(self.base.b * np.asarray(self.base.value(margin)), dtype=np.float64)

    smooth = loss

    def slope(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The weight of a margin."""
        return np.asarray(self.base.weight(margin), dtype=np.float64)

    def bend(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The curvature of a margin."""
        return np.asarray(self.base.curvature(margin), dtype=np.float64)

    def gain(self, positive: BoolArray, dual: FloatArray) -> FloatArray:
        """phi(t) - a."""
        return np.asarray(np.asarray(self.base.phi(dual)) - self.base.a, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RoundedSurface:
    """Weighted hinges, each rounded over a width around its kink."""

    segments: Segments
    width: float

    def _sides(self, positive: BoolArray) -> list[tuple[FloatArray, FloatArray]]:
        side = np.asarray(positive, dtype=np.intp)
        return [(self.segments.hinge[side, k], self.segments.width[side, k]) for k in range(self.segments.count)]

    def loss(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """The hinges as they are."""
        return self.segments.loss(positive, margin)

    def smooth(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """A parabola joins the two lines of each hinge."""
        total = np.zeros_like(margin)
        for hinge, weight in self._sides(positive):
            inside = np.clip(hinge - margin + 0.5 * self.width, 0.0, self.width)
            total += weight * (
                inside * inside / (2.0 * self.width) + np.maximum(hinge - margin - 0.5 * self.width, 0.0)
            )
        return total

    def slope(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """Minus the derivative of `smooth`, between 0 and the sum of the widths of the hinges."""
        total = np.zeros_like(margin)
        for hinge, weight in self._sides(positive):
            total += weight * np.clip((hinge - margin) / self.width + 0.5, 0.0, 1.0)
        return total

    def bend(self, positive: BoolArray, margin: FloatArray) -> FloatArray:
        """One over the width near a kink."""
        total = np.zeros_like(margin)
        for hinge, weight in self._sides(positive):
            total += np.where(np.abs(hinge - margin) < 0.5 * self.width, weight / self.width, 0.0)
        return total

    def gain(self, positive: BoolArray, dual: FloatArray) -> FloatArray:
        """The concave g of the hinges."""
        return self.segments.gain(positive, dual)


def rounded_surfaces(segments: Segments) -> list[Surface]:
    """Hinges rounded so widely that the point zero lies on the bends, then ever less; each fit starts from the one before."""
    farthest = float(np.abs(segments.hinge).max()) or 1.0
    width, surfaces = 4.0 * farthest, list[Surface]()
    while width > LEAST_WIDTH * farthest:
        surfaces.append(RoundedSurface(segments, width))
        width /= np.sqrt(10.0)
    return surfaces


class Sums(NamedTuple):
    """Sums of smooth loss, pull (one per column, and of the mass), mass of each class; the largest curvature."""

    value: float
    pull: FloatArray
    masses: tuple[float, float]
    largest_bend: float


class LinearParts(Protocol):
    """The questions that parts answer (distributed/boundary_rows.py)."""

    def evaluate(self, point: FloatArray, surface: Surface) -> Sums: ...  # noqa: D102
    def values(self, points: FloatArray, surface: Surface) -> FloatArray: ...  # noqa: D102
    def matrix(self, point: FloatArray, surface: Surface, scales: FloatArray, bend: float) -> IntArray: ...  # noqa: D102
    def certify(  # noqa: D102
        self, point: FloatArray, surface: Surface, factors: tuple[float, float]
    ) -> tuple[float, float, FloatArray]: ...
    def average(self, point: FloatArray, surface: Surface, number: int) -> FloatArray: ...  # noqa: D102
    def average_masses(self) -> tuple[float, float]: ...  # noqa: D102
    def certify_average(  # noqa: D102
        self, point: FloatArray, surface: Surface, factors: tuple[float, float]
    ) -> tuple[float, float, FloatArray]: ...
    def tilts(self, coef: FloatArray, intercepts: FloatArray, surface: Surface) -> FloatArray: ...  # noqa: D102


@dataclass(frozen=True, slots=True, eq=False)
class PartedProblem:
    """(18) on rows in parts: their total weight and largest sizes are known, the rest is asked."""

    rows: LinearParts
    total: float
    scales: FloatArray
    alpha: float
    fit_intercept: bool = True
    penalize_intercept: bool = False

    @property
    def ridge(self) -> FloatArray:
        """Multiplier of the square of each coefficient, the intercept last."""
        ridge = np.full(len(self.scales) + 1, self.alpha)
        ridge[-1] = self.alpha if self.penalize_intercept and self.fit_intercept else 0.0
        return ridge

    @property
    def free(self) -> bool:
        """Whether the intercept costs nothing, so that a dual point must balance the classes."""
        return self.fit_intercept and not self.penalize_intercept

    def balance(self, masses: tuple[float, float]) -> tuple[float, float]:
        """Factors of the duals of the negative and the positive rows that make both classes weigh the same."""
        least, most = min(masses), max(masses)
        if not self.free or most <= 0:
            return 1.0, 1.0
        return (least / most, 1.0) if masses[0] == most else (1.0, least / most)

    def certificate(self, point: FloatArray, sums: tuple[float, float, FloatArray]) -> Certificate:
        """Both values of (18), from the sum of losses, of gains, and the pull of the dual point."""
        loss, gain, pull = sums
        pulled = pull / self.total
        if not self.penalize_intercept or not self.fit_intercept:
            pulled = pulled[:-1]
        upper = loss / self.total + 0.5 * float(self.ridge @ (point * point))
        return Certificate.of(upper, gain / self.total - float(pulled @ pulled) / (2 * self.alpha))

    def solve(self, surfaces: list[Surface], tol: float, max_iter: int) -> LinearFit:
        """Newton's method on one surface after the other, until the certified gap is at most `tol` of the objective."""
        point, best, steps, extra = np.zeros(len(self.scales) + 1), None, 0, 0
        for surface in surfaces:
            if steps == max_iter and best is not None:
                break
            last = surface is surfaces[-1]
            least = 0.0 if last else ENOUGH * surface.width
            until = max_iter if last else min(max_iter, steps + MOST_STEPS)
            smallest, fruitless = np.inf, 0
            while True:
                found = self.rows.evaluate(point, surface)
                certificate = self.certificate(
                    point, self.rows.certify(point, surface, self.balance(found.masses))
                )  # fmt: skip
                if best is None or certificate.gap < best.certificate.gap:
                    done = certificate.relative_gap <= tol
                    best = LinearFit(
                        point[:-1].copy(), float(point[-1]), np.zeros(0), certificate, steps, done, "newton"
                    )  # fmt: skip
                if best.converged:
                    extra += 1
                    if extra > EXTRA_STEPS or not last:
                        return best
                if steps == until:
                    break
                fruitless = 0 if certificate.gap < 0.5 * smallest else fruitless + 1
                smallest = min(certificate.gap, smallest)
                enough = least * certificate.objective if fruitless else 0.0
                moved = self._step(point, surface, found, enough, fruitless < 2)
                if moved is None:
                    break
                point, steps = moved, steps + 1
        assert best is not None
        return best if best.converged else replace(best, n_iter=steps)

    def _step(
        self, point: FloatArray, surface: Surface, found: Sums, least: float, closer: bool
    ) -> FloatArray | None:  # fmt: skip
        """One Newton step; None where it promises less than `least`, or leads nowhere.

        A decrease that is lost in rounding may still bring the dual point closer: as long as the last step did, go on.
        Where halving the step does not help, some coordinate has hardly any curvature (a free intercept with no row near a
        kink). Then damping bounds how far the step moves a margin: by a few widths at first, by ever less in the end.
        """
        gradient = self.ridge * point - found.pull / self.total
        if not self.fit_intercept:
            gradient[-1] = 0.0
        scales = np.append(np.where(self.scales > 0, self.scales, 1.0), 1.0)
        matrix = self._matrix(point, surface, found.largest_bend, scales)
        direction = _solved(matrix, gradient)
        slope = float(gradient @ direction)
        here = found.value / self.total + 0.5 * float(self.ridge @ (point * point))
        if (-slope <= 1e-15 * abs(here) and not closer) or slope >= 0 or -slope <= least:
            return None
        size, farthest = float(np.linalg.norm(gradient / scales)), 4.0 * (surface.width or 1.0)
        for question in range(QUESTIONS):
            if question == 0:
                moves = 0.5 ** np.arange(TRIALS)[:, None] * direction
            else:
                reaches = farthest * 0.25 ** np.arange((question - 1) * TRIALS, question * TRIALS)
                moves = np.array([_solved(matrix + np.diag(size / reach * scales**2), gradient) for reach in reaches])
            points = point + moves
            sums = self.rows.values(points, surface) / self.total
            values = sums + 0.5 * np.array([float(self.ridge @ (p * p)) for p in points])
            good = np.flatnonzero(values <= here + 1e-4 * (moves @ gradient) + 1e-15 * abs(here))
            if len(good):
                return np.asarray(points[good[0]])
        return None

    def _matrix(self, point: FloatArray, surface: Surface, bend: float, scales: FloatArray) -> FloatArray:
        units = scales / 2.0**COLUMN_BITS
        matrix = np.diag(self.ridge).copy()
        if bend > 0:
            sums = self.rows.matrix(point, surface, scales[:-1], bend).astype(np.float64)
            matrix += sums * (bend / 2.0**BEND_BITS / self.total) * units[:, None] * units[None, :]
        if not self.fit_intercept:
            matrix[-1, :] = matrix[:, -1] = 0.0
            matrix[-1, -1] = 1.0
        # Rounding may leave a column without weight: what is added keeps its step finite, and vanishes beside real curvature.
        matrix[np.diag_indices_from(matrix)] += 1e-14 * np.trace(matrix) / len(matrix) + 1e-300
        return matrix


def _solved(matrix: FloatArray, gradient: FloatArray) -> FloatArray:
    """The step that `matrix` and a gradient give."""
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(matrix), -gradient))
    except linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, -gradient, rcond=None)[0])
