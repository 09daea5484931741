"""The kernel classifier of (18): pair updates on the dual, walking through the K breakpoints, to a certified gap.

h = sum_j gamma_j k(x_j, .) with gamma_j = y_j c_j t_j / (alpha W). The search uses kernel rows in single precision above
`DOUBLE_ROWS` rows; both values of the certificate are computed in double precision.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from permissible.kernels._core import boundary as core
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.intercept import settled_intercept
from permissible.learners.boundary.problem import Problem
from permissible.models.kinds.kernel import Kernel
from permissible.types import FloatArray, Matrix
from permissible.validation import Words, refusal

DOUBLE_ROWS = 2000
SINGLE_TOL = 1e-7
"""Kernel rows in single precision lead no further than this, so a smaller `tol` takes double precision throughout."""
POLISH_ROWS = 1000
"""Up to this many rows the optimum is found to the last digits: the rows between breakpoints then solve a linear system."""
POLISH_TOL = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class KernelFit:
    """The solution: coefficients gamma of all rows (zero off the support), b, the dual point t, and the certificate."""

    coef: FloatArray
    intercept: float
    dual: FloatArray
    certificate: Certificate
    n_iter: int
    converged: bool
    solver: str = "smo"


def solve_kernel(
    X: Matrix,
    problem: Problem,
    kernel: Kernel,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: KernelFit | None = None,
    cache_size: float = 200.0,
) -> KernelFit:
    """Minimise (18) over the functions of a kernel until the certified gap is at most `tol` of the objective.

    Where a whole interval of intercepts is best, the fit has its middle.

    Parameters
    ----------
    X : array of rows, CSR matrix, or the kernel matrix itself for a precomputed kernel
    problem : Problem
    kernel : Kernel
    tol : float
        Relative gap at which to stop.
    max_iter : int
        Rounds of as many pair updates as there are rows.
    start : KernelFit, optional
        The solution for a nearby alpha.
    cache_size : float
        Megabytes for kernel rows.
    """
    n = X.shape[0]
    aim = min(tol, POLISH_TOL) if n <= POLISH_ROWS else tol
    dual = np.zeros(n) if start is None else np.ascontiguousarray(start.dual)
    common = (
        problem.sides, problem.weight, problem.segments.hinge, problem.segments.width, problem.strength,
        problem.fit_intercept, problem.penalize_intercept, dual, aim, max_iter * max(n, 100),
    )  # fmt: skip
    if kernel.compiled and not sparse.issparse(X):
        rows = np.ascontiguousarray(X, dtype=np.float64)
        single = n > DOUBLE_ROWS and tol >= SINGLE_TOL
        solution = core.solve_kernel(
            rows, kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, int(cache_size * 2**20), single,
            *common,
        )  # fmt: skip
    else:
        solution = core.solve_gram(gram_matrix(X, kernel), *common)
    rounds = -(-solution["updates"] // max(n, 100))
    total = problem.total_weight
    certificate = Certificate.of(solution["primal_value"] / total, solution["dual_value"] / total)
    intercept = _intercept(problem, solution["dual"], solution["intercept"])
    fit = KernelFit(
        _coefficients(problem, solution["dual"]), intercept, solution["dual"], certificate, rounds,
        certificate.relative_gap <= max(tol, 1e-13),
    )  # fmt: skip
    if n > POLISH_ROWS:
        return _settled(problem, fit, solution["score"], solution["square"])
    gram = gram_matrix(X, kernel)
    fit = _polished(gram, problem, fit)
    score = gram @ fit.coef
    return _settled(problem, fit, score, float(fit.coef @ score))


def _settled(problem: Problem, fit: KernelFit, score: FloatArray, square: float) -> KernelFit:
    """The same fit with the middle of its best intercepts; its objective is computed anew."""
    intercept = settled_intercept(problem, score, fit.intercept)
    if intercept == fit.intercept:
        return fit
    moved = Certificate.of(problem.objective(score + intercept, square, intercept), fit.certificate.dual_objective)
    return replace(fit, intercept=intercept, certificate=moved) if moved.gap <= 2 * fit.certificate.gap else fit


def _coefficients(problem: Problem, dual: FloatArray) -> FloatArray:
    """Gamma = y c t / (alpha W)."""
    return np.where(problem.positive, 1.0, -1.0) * problem.weight * dual / problem.strength


def _intercept(problem: Problem, dual: FloatArray, free: float) -> float:
    """A penalised intercept is the function 1 in the space: its coefficient is the sum of all."""
    if not problem.fit_intercept:
        return 0.0
    return float(_coefficients(problem, dual).sum()) if problem.penalize_intercept else free


def _polished(gram: FloatArray, problem: Problem, fit: KernelFit) -> KernelFit:
    """Solve f + b = y h exactly on the rows strictly between breakpoints; keep it where the gap shrinks."""
    width = problem.segments.width[problem.positive.astype(np.intp)]
    hinge = problem.segments.hinge[problem.positive.astype(np.intp)]
    edges = np.cumsum(width, axis=1)
    place = np.minimum((fit.dual[:, None] >= edges).sum(axis=1), problem.segments.count - 1)
    below = np.where(place > 0, np.take_along_axis(edges, np.maximum(place - 1, 0)[:, None], 1)[:, 0], 0.0)
    above = np.take_along_axis(edges, place[:, None], 1)[:, 0]
    inside = (fit.dual > below) & (fit.dual < above) & (problem.weight > 0)
    if not inside.any():
        return fit
    sign = np.where(problem.positive, 1.0, -1.0)
    free = problem.fit_intercept and not problem.penalize_intercept
    kernel = gram + 1.0 if problem.fit_intercept and problem.penalize_intercept else gram
    rest = np.where(inside, 0.0, fit.coef)
    right = (sign * hinge[np.arange(len(place)), place] - kernel @ rest)[inside]
    matrix = kernel[np.ix_(inside, inside)]
    if free:
        border = np.ones((len(right), 1))
        matrix = np.block([[matrix, border], [border.T, np.zeros((1, 1))]])
        right = np.append(right, -rest.sum())
    solution = np.linalg.lstsq(matrix, right, rcond=1e-14)[0]
    coef = rest.copy()
    coef[inside] = solution[: int(inside.sum())]
    dual = np.divide(sign * coef * problem.strength, problem.weight, out=np.zeros(len(coef)), where=problem.weight > 0)
    dual[inside] = np.clip(dual, below, above)[inside]
    intercept = _intercept(problem, dual, float(solution[-1]) if free else 0.0)
    certificate = kernel_certificate(gram, problem, dual, intercept)
    if certificate is None or certificate.gap >= fit.certificate.gap:
        return fit
    return replace(
        fit, coef=_coefficients(problem, dual), dual=dual, intercept=intercept, certificate=certificate,
        converged=fit.converged or certificate.relative_gap <= POLISH_TOL,
    )  # fmt: skip


def kernel_certificate(gram: FloatArray, problem: Problem, dual: FloatArray, intercept: float) -> Certificate | None:
    """Both values of (18) from a dual point, in double precision; None where it does not balance under a free intercept."""
    coef = _coefficients(problem, dual)
    if problem.fit_intercept and not problem.penalize_intercept and abs(coef.sum()) > 1e-12 * np.abs(coef).sum():
        return None
    score = gram @ coef
    square = float(coef @ score)
    gain = float(problem.weight @ problem.segments.gain(problem.positive, dual)) / problem.total_weight
    full = square + (intercept**2 if problem.penalize_intercept and problem.fit_intercept else 0.0)
    return Certificate.of(problem.objective(score + intercept, square, intercept), gain - 0.5 * problem.alpha * full)


def gram_matrix(X: Matrix, kernel: Kernel) -> FloatArray:
    """The kernel matrix of the training rows; refuse one that is not square and symmetric."""
    gram = np.ascontiguousarray(X if kernel.name == "precomputed" else kernel.matrix(X, X), dtype=np.float64)
    if gram.ndim != 2 or gram.shape != (X.shape[0], X.shape[0]):
        raise refusal("kernel", "a square matrix of the training rows", Words(f"shape {gram.shape}"))
    largest = float(np.abs(gram).max())
    apart = np.abs(gram - gram.T)
    if apart.max() > 1e-8 * max(largest, 1e-300):
        i, j = np.unravel_index(int(apart.argmax()), gram.shape)
        came = Words(f"k({i}, {j}) = {gram[i, j]:g} and k({j}, {i}) = {gram[j, i]:g}")
        raise refusal("kernel", "symmetric", came, "pass (K + K.T) / 2 if they should agree")
    return gram
