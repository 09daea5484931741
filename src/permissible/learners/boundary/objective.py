"""Newton's method for (18) with a smooth loss, over rows in memory or in parts.

Minimise (1/W) sum_i c_i L(y_i f_i) + (alpha/2) |w|^2 over points (w, b). The slope t of the loss at a row's margin is a dual
point, so every step has a certified gap. For the soft classifier L is bF(z) = G*(-z) - a (ln(1 + e^-z) for the logistic phi),
the limit of many boundaries, where t = ginv(-z) and a row adds g(t) = phi(t) - a to the dual objective.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.problem import Options, Problem, Solution
from permissible.learners.boundary.segments import Segments
from permissible.learners.boundary.surfaces import SmoothLoss, Surface
from permissible.losses import Loss
from permissible.types import FloatArray, Matrix

CHOLESKY_COLUMNS = 1500
EXTRA_STEPS = 3
"""Newton converges quadratically: this many steps beyond `tol` reach full precision."""
TRIALS, SEARCHES = 8, 6
"""Points compared in one line search, and the number of searches from one point."""
ENOUGH = 1e-4
"""Stop when the predicted decrease is below this fraction of the objective, times the width."""
MOST_STEPS = 40
"""Steps at each smoothing width before the last."""
ROUNDING = 1e-15


@dataclass(frozen=True, slots=True, eq=False)
class At:
    """The smooth objective at a point (w, b), and the certificate of the true objective with its dual point.

    `curvature` is the second derivative of each row's term of the mean loss. For rows in parts `dual` is empty, and
    `curvature` is the largest value only.
    """

    point: FloatArray
    surface: Surface
    value: float
    gradient: FloatArray
    certificate: Certificate
    dual: FloatArray
    curvature: FloatArray


class BoundaryObjective(Protocol):
    """Problem (18) as Newton's method needs it."""

    def at(self, point: FloatArray, surface: Surface) -> At:
        """The objective at a point."""

    def values(self, points: FloatArray, surface: Surface) -> Iterable[float]:
        """The smooth objective at several points."""

    def trials(self, at: At) -> Iterator[FloatArray]:
        """Steps to try from a point, several at a time: the Newton step first, then shorter ones."""


def minimise(
    objective: BoundaryObjective, surfaces: Sequence[Surface], start: FloatArray, options: Options
) -> Solution:
    """Newton's method on each surface in turn, until the certified gap is at most `tol` times the objective."""
    point, steps, extra, max_iter = start, 0, 0, options.max_iter
    best: Solution | None = None
    for surface in surfaces:
        if steps == max_iter and best is not None:
            break
        last = surface is surfaces[-1]
        until = max_iter if last else min(max_iter, steps + MOST_STEPS)
        smallest, fruitless = np.inf, 0
        while True:
            at = objective.at(point, surface)
            certificate = at.certificate
            improved = best is None or certificate.gap < best.certificate.gap
            if best is None or improved:
                done = certificate.relative_gap <= options.tol
                best = Solution(point[:-1].copy(), float(point[-1]), at.dual, certificate, steps, done, "newton")
            extra += best.converged
            if best.converged and (extra > EXTRA_STEPS or not improved or not last):
                return best
            if steps == until:
                break
            fruitless = 0 if certificate.gap < 0.5 * smallest else fruitless + 1
            smallest = min(certificate.gap, smallest)
            least = ENOUGH * surface.width * certificate.objective if fruitless and not last else 0.0
            moved = _moved(objective, at, least, closer=fruitless < 2)
            if moved is None:
                break
            point, steps = moved, steps + 1
    assert best is not None
    return best if best.converged else replace(best, n_iter=steps)


def _moved(objective: BoundaryObjective, at: At, least: float, closer: bool) -> FloatArray | None:
    """The point after one Newton step; None if its predicted decrease is below `least` or no step helps.

    A decrease below rounding may still improve the dual point: continue while the last step did.
    """
    for search, moves in enumerate(objective.trials(at)):
        decrease = -float(at.gradient @ moves[0])
        if search == 0 and (not decrease > least or (decrease <= ROUNDING * abs(at.value) and not closer)):
            return None
        points = at.point + moves
        bounds = at.value + 1e-4 * (moves @ at.gradient) + ROUNDING * abs(at.value)
        for point, value, bound in zip(points, objective.values(points, at.surface), bounds, strict=False):
            if value <= bound:
                return np.asarray(point)
    return None


def halved(step: FloatArray, search: int = 0) -> FloatArray:
    """A step and its halves, quarters and so on, for the first search or a later one."""
    return 0.5 ** np.arange(search * TRIALS, (search + 1) * TRIALS)[:, None] * step


@dataclass(frozen=True, slots=True, eq=False)
class MemoryObjective:
    """Rows in memory, dense or sparse."""

    X: Matrix
    problem: Problem

    @property
    def ridge(self) -> FloatArray:
        """Multiplier of the square of each coefficient, the intercept last."""
        return self.problem.penalty.ridge(self.X.shape[1])

    @property
    def share(self) -> FloatArray:
        """The weight of each row as a fraction of the total."""
        return self.problem.weight / self.problem.total_weight

    def at(self, point: FloatArray, surface: Surface) -> At:
        """The objective at a point."""
        positive, margin = self.problem.positive, self.margins(point)
        dual = surface.slope(positive, margin)
        balanced = self.problem.balanced(dual)
        value = float(self.share @ surface.smooth(positive, margin)) + 0.5 * float(self.ridge @ (point * point))
        gradient = self.ridge * point - self.pull(dual)
        curvature = self.share * surface.curvature(positive, margin)
        certificate = self.certificate(point, surface, balanced, margin)
        return At(point, surface, value, gradient, certificate, balanced, curvature)

    def certificate(
        self, point: FloatArray, loss: Surface | Segments, dual: FloatArray, margin: FloatArray | None = None
    ) -> Certificate:
        """Primal and dual value of (18) in double precision; a free intercept requires sum c t y = 0."""
        positive, pull = self.problem.positive, self.pull(dual)
        if not self.problem.penalty.of_intercept:
            pull[-1] = 0.0
        losses = loss.loss(positive, self.margins(point) if margin is None else margin)
        upper = float(self.share @ losses) + 0.5 * float(self.ridge @ (point * point))
        lower = float(self.share @ loss.gain(positive, dual)) - float(pull @ pull) / (2 * self.problem.alpha)
        return Certificate.of(upper, lower)

    def values(self, points: FloatArray, surface: Surface) -> Iterable[float]:
        """The smooth objective at each point, computed lazily."""
        for point in points:
            mean = float(self.share @ surface.smooth(self.problem.positive, self.margins(point)))
            yield mean + 0.5 * float(self.ridge @ (point * point))

    def trials(self, at: At) -> Iterator[FloatArray]:
        """The Newton step, then repeated halves of it."""
        step = self._newton(at)
        yield from (halved(step, search) for search in range(SEARCHES))

    def _newton(self, at: At) -> FloatArray:
        """By Cholesky's method, or by conjugate gradients for many columns."""
        if sparse.issparse(self.X) or self.X.shape[1] > CHOLESKY_COLUMNS:
            return self._conjugate_gradient(at)
        scaled = self.X * at.curvature[:, None]
        matrix = np.diag(self.ridge)
        matrix[:-1, :-1] += self.X.T @ scaled
        if self.problem.fit_intercept:
            matrix[-1, :-1] = matrix[:-1, -1] = scaled.sum(axis=0)
        matrix[-1, -1] += at.curvature.sum() if self.problem.fit_intercept else 1.0
        matrix[-1, -1] += 1e-14 * (1.0 + matrix[-1, -1])  # a free intercept is not penalised
        return solved(matrix, at.gradient)

    def _conjugate_gradient(self, at: At) -> FloatArray:
        def product(v: FloatArray) -> FloatArray:
            along = np.asarray(self.X @ v[:-1], dtype=np.float64) + (v[-1] if self.problem.fit_intercept else 0.0)
            return np.asarray(self.ridge * v + self._sums(at.curvature * along))

        size, accuracy = len(at.point), min(0.1, float(np.linalg.norm(at.gradient)) ** 0.5 * 0.1)
        operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
        return np.asarray(cg(operator, -at.gradient, rtol=accuracy, maxiter=500)[0])

    def margins(self, point: FloatArray) -> FloatArray:
        """Y f of each row."""
        score: FloatArray = np.asarray(self.X @ point[:-1], dtype=np.float64) + point[-1]
        return self.problem.sign * score

    def pull(self, dual: FloatArray) -> FloatArray:
        """The means of t y x and of t y over the rows."""
        return self._sums(self.problem.sign * self.share * dual)

    def _sums(self, mass: FloatArray) -> FloatArray:
        """X' mass, and the sum of it for the intercept."""
        below = float(mass.sum()) if self.problem.fit_intercept else 0.0
        return np.append(np.asarray(self.X.T @ mass, dtype=np.float64), below)


def solved(matrix: FloatArray, gradient: FloatArray) -> FloatArray:
    """The Newton step from a matrix and a gradient."""
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(matrix), -gradient))
    except linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, -gradient, rcond=None)[0])


def solve_soft(
    X: Matrix, problem: Problem, loss: Loss, options: Options | None = None, start: Solution | None = None
) -> Solution:
    """Minimise the smooth objective of a permissible loss over linear f; `problem.segments` is not used."""
    if not sparse.issparse(X) and X.shape[1] > X.shape[0]:  # w lies in the span of the rows
        basis, triangle = np.linalg.qr(np.asarray(X.T, dtype=np.float64))
        rotated = None if start is None else replace(start, coef=basis.T @ start.coef)
        fit = solve_soft(np.ascontiguousarray(triangle.T), problem, loss, options, rotated)
        return replace(fit, coef=basis @ fit.coef)
    point = np.zeros(X.shape[1] + 1) if start is None else np.append(start.coef, start.intercept)
    return minimise(MemoryObjective(X, problem), [SmoothLoss(loss)], point, options or Options())
