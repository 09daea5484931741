"""The kernel classifier of (18): pair updates on the dual, with K breakpoints, to a certified gap.

h = sum_j gamma_j k(x_j, .) with gamma_j = y_j c_j t_j / (alpha W). The search uses kernel rows in single precision
above `DOUBLE_ROWS` rows; both values of the certificate are computed in double precision.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from permissible.kernels._core import boundary as core
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.intercept import settled
from permissible.learners.boundary.objective import solve_soft
from permissible.learners.boundary.problem import Options, Problem, Solution
from permissible.losses import Loss
from permissible.models.kinds.kernel import Kernel
from permissible.types import FloatArray, Matrix
from permissible.validation import Words, refusal

DOUBLE_ROWS = 2000
SINGLE_TOL = 1e-7
"""The smallest `tol` that kernel rows in single precision can reach; below it double precision is used."""
POLISH_ROWS = 1000
"""Up to this many rows the optimum is polished by a linear system for the rows between breakpoints."""
POLISH_TOL = 1e-8


def solve_kernel(
    X: Matrix, problem: Problem, kernel: Kernel, options: Options | None = None, start: Solution | None = None
) -> Solution:
    """Minimise (18) over functions of a kernel until the certified gap is at most `tol` times the objective.

    If the optimal intercept is not unique, the middle of the interval is returned.

    X holds rows, dense or CSR, or the kernel matrix itself for a precomputed kernel; `start` is the solution for a nearby alpha.
    """
    n, options = X.shape[0], options or Options()
    found = _pair_updates(X, problem, kernel, options, np.zeros(n) if start is None else start.dual)
    total = problem.total_weight
    certificate = Certificate.of(found.primal_value / total, found.dual_value / total)
    done, rounds = certificate.relative_gap <= max(options.tol, 1e-13), -(-found.updates // max(n, 100))
    coef, intercept = _coefficients(problem, found.dual), _intercept(problem, found.dual, found.intercept)
    fit = Solution(coef, intercept, found.dual, certificate, rounds, done, "smo", kernel=True)
    if n > POLISH_ROWS:
        return settled(problem, fit, found.score, found.square)
    gram = gram_matrix(X, kernel)
    fit = _polished(gram, problem, fit)
    score = gram @ fit.coef
    return settled(problem, fit, score, float(fit.coef @ score))


def _pair_updates(
    X: Matrix, problem: Problem, kernel: Kernel, options: Options, dual: FloatArray
) -> core.KernelSolution:
    n = X.shape[0]
    aim = min(options.tol, POLISH_TOL) if n <= POLISH_ROWS else options.tol
    common = problem.record, np.ascontiguousarray(dual), aim, options.max_iter * max(n, 100)
    if not kernel.compiled or sparse.issparse(X):
        return core.solve_gram(gram_matrix(X, kernel), *common)
    single, cache_bytes = n > DOUBLE_ROWS and options.tol >= SINGLE_TOL, int(options.cache_size * 2**20)
    return core.solve_kernel(np.ascontiguousarray(X, dtype=np.float64), kernel.record, *common, cache_bytes, single)


def _coefficients(problem: Problem, dual: FloatArray) -> FloatArray:
    """Gamma = y c t / (alpha W)."""
    return problem.sign * problem.weight * dual / problem.strength


def _intercept(problem: Problem, dual: FloatArray, free: float) -> float:
    """A penalised intercept is the constant function in the space: its coefficient is the sum of all."""
    if not problem.fit_intercept:
        return 0.0
    return float(_coefficients(problem, dual).sum()) if problem.penalize_intercept else free


def _polished(gram: FloatArray, problem: Problem, fit: Solution) -> Solution:
    """Solve f + b = y h exactly on the rows strictly between breakpoints; keep the result if the gap shrinks."""
    width = problem.segments.width[problem.positive.astype(np.intp)]
    hinge = problem.segments.hinge[problem.positive.astype(np.intp)]
    edges = np.cumsum(width, axis=1)
    place = np.minimum((fit.dual[:, None] >= edges).sum(axis=1), problem.segments.count - 1)
    below = np.where(place > 0, np.take_along_axis(edges, np.maximum(place - 1, 0)[:, None], 1)[:, 0], 0.0)
    above = np.take_along_axis(edges, place[:, None], 1)[:, 0]
    inside = (fit.dual > below) & (fit.dual < above) & (problem.weight > 0)
    if not inside.any():
        return fit
    sign, free = problem.sign, problem.penalty.free_intercept
    kernel = gram + 1.0 if problem.penalty.of_intercept else gram
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
    done = fit.converged or certificate.relative_gap <= POLISH_TOL
    coef = _coefficients(problem, dual)
    return replace(fit, coef=coef, intercept=intercept, dual=dual, certificate=certificate, converged=done)


def kernel_certificate(gram: FloatArray, problem: Problem, dual: FloatArray, intercept: float) -> Certificate | None:
    """Primal and dual value of (18) from a dual point, in double precision; None if it violates sum c t y = 0."""
    coef = _coefficients(problem, dual)
    if problem.penalty.free_intercept and abs(coef.sum()) > 1e-12 * np.abs(coef).sum():
        return None
    score = gram @ coef
    square = float(coef @ score)
    gain = float(problem.weight @ problem.segments.gain(problem.positive, dual)) / problem.total_weight
    full = square + (intercept**2 if problem.penalty.of_intercept else 0.0)
    return Certificate.of(problem.objective(score + intercept, square, intercept), gain - 0.5 * problem.alpha * full)


def gram_matrix(X: Matrix, kernel: Kernel) -> FloatArray:
    """The kernel matrix of the training rows; an error unless it is square and symmetric."""
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


def solve_kernel_soft(
    X: Matrix, problem: Problem, loss: Loss, kernel: Kernel, options: Options | None = None
) -> Solution:
    """The soft classifier: with K = Z Z' it is linear in at most n columns. O(n^2) memory, O(n^3) time.

    The coefficients come from the dual point, gamma = y c t / (alpha W), and the certificate is computed for them.
    """
    gram, options = gram_matrix(X, kernel), options or Options()
    values, vectors = np.linalg.eigh(gram)
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    features = vectors[:, kept] * np.sqrt(values[kept])
    linear = solve_soft(features, problem, loss, replace(options, tol=0.01 * options.tol))
    coef = _coefficients(problem, linear.dual)
    intercept = _intercept(problem, linear.dual, linear.intercept)
    plain = gram @ coef
    square = float(coef @ plain) + (intercept**2 if problem.penalty.of_intercept else 0.0)
    share = problem.weight / problem.total_weight
    mean = loss.b * float(share @ np.asarray(loss.value(problem.sign * (plain + intercept))))
    gain = float(share @ (np.asarray(loss.phi(linear.dual)) - loss.a))
    certificate = Certificate.of(mean + 0.5 * problem.alpha * square, gain - 0.5 * problem.alpha * square)
    done = certificate.relative_gap <= options.tol
    return Solution(coef, intercept, linear.dual, certificate, linear.n_iter, done, "newton", kernel=True)
