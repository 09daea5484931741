"""The soft end: the smooth loss itself, to which ever more boundaries lead. Newton's method with the same certified gap.

Minimise (1/W) sum_i c_i b F(y_i f_i) + (alpha/2) |w|^2, bF(z) = G*(-z) - a (ln(1 + e^-z) for the logistic phi). The dual
point is the weight t = ginv(-z) in [0, 1], a row brings g(t) = phi(t) - a to the dual: the limit of g(t_k) = A_k of the
piecewise-linear case.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.linear import LinearFit
from permissible.learners.boundary.problem import Problem
from permissible.types import FloatArray, Matrix

CHOLESKY_COLUMNS = 1500
EXTRA_STEPS = 3


def solve_soft(
    X: Matrix,
    problem: Problem,
    loss: Any,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: LinearFit | None = None,
) -> LinearFit:
    """Minimise the smooth objective over linear f until the certified gap is at most `tol` of it.

    `problem.segments` is not used; `loss` is a permissible loss.
    """
    if not sparse.issparse(X) and X.shape[1] > X.shape[0]:
        basis, triangle = np.linalg.qr(np.asarray(X.T, dtype=np.float64))
        begin = None if start is None else replace(start, coef=basis.T @ start.coef)
        fit = solve_soft(np.ascontiguousarray(triangle.T), problem, loss, tol=tol, max_iter=max_iter, start=begin)
        return replace(fit, coef=basis @ fit.coef)
    smooth = _Smooth(X, problem, loss)
    point = np.zeros(X.shape[1] + 1)
    if start is not None:
        point[:-1], point[-1] = start.coef, start.intercept
    best: LinearFit | None = None
    extra = 0
    for step in range(max_iter + 1):
        margin = smooth.margins(point)
        dual = np.asarray(loss.weight(margin), dtype=np.float64)
        certificate, balanced = smooth.certify(point, margin, dual)
        improved = best is None or certificate.gap < best.certificate.gap
        if improved:
            done = certificate.relative_gap <= tol
            best = LinearFit(point[:-1].copy(), float(point[-1]), balanced, certificate, step, done, "newton")
        extra += best is not None and best.converged
        # Newton doubles the digits: a few steps beyond `tol` reach the last ones.
        if extra > EXTRA_STEPS or (extra and not improved) or step == max_iter:
            break
        moved = smooth.search(point, margin, dual, smooth.newton(point, margin, dual))
        if moved is None:
            break
        point = moved
    assert best is not None
    return best if best.converged else replace(best, n_iter=step)


class _Smooth:
    """Value, derivative and curvature of the smooth objective at a point (w, b)."""

    def __init__(self, X: Matrix, problem: Problem, loss: Any) -> None:
        self.X, self.problem, self.loss = X, problem, loss
        self.sign = np.where(problem.positive, 1.0, -1.0)
        self.share = problem.weight / problem.total_weight
        self.ridge = np.full(X.shape[1] + 1, problem.alpha)
        self.ridge[-1] = problem.alpha if problem.penalize_intercept else 0.0

    def margins(self, point: FloatArray) -> FloatArray:
        score: FloatArray = np.asarray(self.X @ point[:-1], dtype=np.float64) + point[-1]
        return self.sign * score

    def value(self, point: FloatArray, margin: FloatArray) -> float:
        mean = self.loss.b * float(self.share @ np.asarray(self.loss.value(margin)))
        return float(mean + 0.5 * float(self.ridge @ (point * point)))

    def pull(self, mass: FloatArray) -> FloatArray:
        """X' mass, and the sum of it for the intercept."""
        below = float(mass.sum()) if self.problem.fit_intercept else 0.0
        return np.append(np.asarray(self.X.T @ mass, dtype=np.float64), below)

    def gradient(self, point: FloatArray, dual: FloatArray) -> FloatArray:
        return self.ridge * point - self.pull(self.sign * self.share * dual)

    def certify(self, point: FloatArray, margin: FloatArray, dual: FloatArray) -> tuple[Certificate, FloatArray]:
        problem, balanced = self.problem, dual
        if problem.fit_intercept and not problem.penalize_intercept:
            mass = self.share * dual
            up, down = float(mass[problem.positive].sum()), float(mass[~problem.positive].sum())
            heavy = problem.positive if up > down else ~problem.positive
            if max(up, down) > 0:
                balanced = np.where(heavy, dual * (min(up, down) / max(up, down)), dual)
        gain = float(self.share @ (np.asarray(self.loss.phi(balanced)) - self.loss.a))
        pulled = self.pull(self.sign * self.share * balanced)
        if not problem.penalize_intercept:
            pulled[-1] = 0.0
        return Certificate.of(self.value(point, margin), gain - float(pulled @ pulled) / (2 * problem.alpha)), balanced

    def newton(self, point: FloatArray, margin: FloatArray, dual: FloatArray) -> FloatArray:
        gradient = self.gradient(point, dual)
        bend = self.share * np.asarray(self.loss.curvature(margin))
        if not sparse.issparse(self.X) and self.X.shape[1] <= CHOLESKY_COLUMNS:
            return _solve(self.matrix(bend), -gradient)
        return _conjugate_gradient(lambda v: self.ridge * v + self.pull(bend * self._along(v)), -gradient)

    def _along(self, v: FloatArray) -> FloatArray:
        along = np.asarray(self.X @ v[:-1], dtype=np.float64)
        return along + v[-1] if self.problem.fit_intercept else along

    def matrix(self, bend: FloatArray) -> FloatArray:
        scaled = self.X * bend[:, None]
        H = np.empty((self.X.shape[1] + 1,) * 2)
        H[:-1, :-1] = self.X.T @ scaled
        H[-1, :-1] = H[:-1, -1] = scaled.sum(axis=0) if self.problem.fit_intercept else 0.0
        H[-1, -1] = bend.sum() if self.problem.fit_intercept else 1.0
        H[np.diag_indices_from(H)] += self.ridge
        return H

    def search(
        self, point: FloatArray, margin: FloatArray, dual: FloatArray, direction: FloatArray
    ) -> FloatArray | None:
        """Halve the step until the value falls enough (Armijo)."""
        here, slope = self.value(point, margin), float(self.gradient(point, dual) @ direction)
        length = 1.0
        for _ in range(50):
            there = point + length * direction
            if self.value(there, self.margins(there)) <= here + 1e-4 * length * slope + 1e-15 * abs(here):
                return there
            length *= 0.5
        return None


def _solve(H: FloatArray, right: FloatArray) -> FloatArray:
    H[-1, -1] += 1e-14 * (1.0 + H[-1, -1])  # a free intercept has no ridge of its own
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(H), right))
    except linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(H, right, rcond=None)[0])


def _conjugate_gradient(product: Callable[[FloatArray], FloatArray], right: FloatArray) -> FloatArray:
    size = len(right)
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    norm = float(np.linalg.norm(right))
    return np.asarray(cg(operator, right, rtol=min(0.1, norm**0.5 * 0.1), maxiter=500)[0])
