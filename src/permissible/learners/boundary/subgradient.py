"""The projected sub-gradient method of [K] section 5, corrected (E14, E15), in batches: for streams, and to compare with.

    w <- (1 - eta lambda) w + (eta / n) sum_i t_i y_i x_i,  eta = 1 / (lambda m),  |w| <= sqrt(max A / lambda)

where t_i is minus the slope of the loss at the margin of row i. The printed signs ascend; the printed projection of (w, b) can
exclude the best b, and its step starves b: here b is solved for exactly in a batch fit, and has a step of its own on a stream.
"""

from dataclasses import dataclass, replace

import numpy as np

from permissible.kernels._core import boundary as core
from permissible.learners.boundary.linear import LinearFit, linear_certificate
from permissible.learners.boundary.problem import Problem
from permissible.types import FloatArray, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """Where a stream has come to: the iterate, its average (what predicts), and the number of batches."""

    coef: FloatArray
    intercept: float
    mean_coef: FloatArray
    mean_intercept: float
    batches: int = 0

    @classmethod
    def begin(cls, n_columns: int) -> "Stream":
        """At zero."""
        return cls(np.zeros(n_columns), 0.0, np.zeros(n_columns), 0.0)


def stream_step(X: Matrix, problem: Problem, stream: Stream) -> Stream:
    """One step on a batch; the average weighs late iterates more (3 / (m + 2))."""
    m = stream.batches + 1
    pull, tilt = _pull(X, problem, stream.coef, stream.intercept)
    coef = project((1.0 - 1.0 / m) * stream.coef + pull / (problem.alpha * m), problem)
    intercept = stream.intercept
    if problem.fit_intercept and problem.penalize_intercept:
        intercept = (1.0 - 1.0 / m) * intercept + tilt / (problem.alpha * m)
    elif problem.fit_intercept:
        intercept += 4.0 * tilt / np.sqrt(m)
    late = 3.0 / (m + 2.0)
    return Stream(
        coef, float(intercept), (1 - late) * stream.mean_coef + late * coef,
        float((1 - late) * stream.mean_intercept + late * intercept), m,
    )  # fmt: skip


def project(coef: FloatArray, problem: Problem) -> FloatArray:
    """Return w on the ball that holds the optimum: lambda |w|^2 <= max A (the loss at w = 0, b = 0)."""
    radius = np.sqrt((problem.segments.hinge * problem.segments.width).sum(axis=1).max() / problem.alpha)
    norm = float(np.linalg.norm(coef))
    return coef if norm <= radius else coef * (radius / norm)


def solve_subgradient(X: Matrix, problem: Problem, *, tol: float = 1e-3, max_iter: int = 1000) -> LinearFit:
    """Run the method on all rows at once, b exact after each step, until the certified gap is at most `tol`.

    Without the projection w_m is the pull of the average slope, so that average is the dual point of the certificate.
    """
    stream = Stream.begin(X.shape[1])
    average = np.zeros(X.shape[0])
    best: LinearFit | None = None
    for m in range(1, max_iter + 1):
        slope = _slopes(X, problem, stream.coef, stream.intercept)
        average += (slope - average) / m
        stream = _with_best_intercept(X, problem, stream_step(X, problem, stream))
        if m % 10 and m != max_iter:
            continue
        certificate = linear_certificate(X, problem, stream.coef, stream.intercept, _balanced(problem, average))
        if best is None or certificate.gap < best.certificate.gap:
            done = certificate.relative_gap <= tol
            best = LinearFit(stream.coef, stream.intercept, _balanced(problem, average), certificate, m, done, "psgd")
        if best.converged:
            break
    assert best is not None
    return replace(best, n_iter=m)


def _slopes(X: Matrix, problem: Problem, coef: FloatArray, intercept: float) -> FloatArray:
    score = np.asarray(X @ coef, dtype=np.float64) + intercept
    return problem.segments.slope(problem.positive, np.where(problem.positive, score, -score))


def _pull(X: Matrix, problem: Problem, coef: FloatArray, intercept: float) -> tuple[FloatArray, float]:
    mass = np.where(problem.positive, 1.0, -1.0) * problem.weight * _slopes(X, problem, coef, intercept)
    mass /= problem.total_weight
    return np.asarray(X.T @ mass, dtype=np.float64), float(mass.sum())


def _with_best_intercept(X: Matrix, problem: Problem, stream: Stream) -> Stream:
    if not problem.fit_intercept or problem.penalize_intercept:
        return stream
    score = np.asarray(X @ stream.coef, dtype=np.float64)
    segments = problem.segments
    best = core.best_intercept(score, problem.sides, problem.weight, segments.hinge, segments.width, stream.intercept)
    return replace(stream, intercept=best)


def _balanced(problem: Problem, dual: FloatArray) -> FloatArray:
    """Scale the heavier class down so that sum c t y = 0, as a free intercept asks."""
    if not problem.fit_intercept or problem.penalize_intercept:
        return dual
    mass = problem.weight * dual
    up, down = float(mass[problem.positive].sum()), float(mass[~problem.positive].sum())
    if max(up, down) == 0:
        return dual
    return np.where(problem.positive if up > down else ~problem.positive, dual * (min(up, down) / max(up, down)), dual)
