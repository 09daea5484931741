"""The linear classifier of (18): which solver, where it starts, and what it certifies.

``newton`` suits dense rows, more of them than columns: semismooth Newton on the rows near a kink, whatever lambda is. ``dcd``
suits sparse and wide rows: dual coordinate descent through the K segments, fast unless lambda is tiny. ``auto`` picks by
shape, and where coordinate descent does not arrive it hands its point to Newton.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from permissible.kernels._core import boundary as core
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.intercept import settled_intercept
from permissible.learners.boundary.problem import Problem
from permissible.types import FloatArray, Matrix

NEWTON_COLUMNS = 300
"""Up to this many columns a Newton matrix is cheap however many rows there are."""
DENSE_CELLS = 1_000_000
"""Up to this many cells a sparse matrix is simply made dense."""
RESCUE_COLUMNS = 3000
"""Up to this many columns (or rows) Newton may take over where coordinate descent did not arrive."""
FIRST_EPOCHS = 200


@dataclass(frozen=True, slots=True, eq=False)
class LinearFit:
    """The solution: w, b, the dual point t (one value a row, in [0, t_K]), and the certificate."""

    coef: FloatArray
    intercept: float
    dual: FloatArray
    certificate: Certificate
    n_iter: int
    converged: bool
    solver: str


def solve_linear(
    X: Matrix,
    problem: Problem,
    *,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: LinearFit | None = None,
    n_threads: int = 1,
    seed: int = 0,
) -> LinearFit:
    """Minimise (18) over linear f until the certified gap is at most `tol` of the objective.

    Where a whole interval of intercepts is best, the fit has its middle.

    Parameters
    ----------
    X : array (float32 or float64, C order) or CSR matrix, of shape (n_rows, n_columns)
    problem : Problem
    solver : {"auto", "newton", "dcd"}
    tol : float
        Relative gap at which to stop. Small dense problems are solved further, to the last digits.
    max_iter : int
        Newton steps, or epochs of coordinate descent.
    start : LinearFit, optional
        The solution for a nearby alpha.
    n_threads : int
        Does not change a bit of the result.
    seed : int
        Of the random order of coordinate descent.
    """
    if sparse.issparse(X) and (solver == "newton" or X.shape[0] * X.shape[1] <= DENSE_CELLS):
        X = np.ascontiguousarray(X.toarray())
    return _settled(X, problem, _solved(X, problem, solver, tol, max_iter, start, n_threads, seed))


def _solved(
    X: Matrix,
    problem: Problem,
    solver: str,
    tol: float,
    max_iter: int,
    start: LinearFit | None,
    n_threads: int,
    seed: int,
) -> LinearFit:
    n, d = X.shape
    if solver == "auto":
        solver = (
            "newton"
            if not sparse.issparse(X) and min(n, d) <= NEWTON_COLUMNS and (d <= n or n * d <= DENSE_CELLS)
            else "dcd"
        )
        if solver == "dcd" and min(n, d) <= RESCUE_COLUMNS and n * d <= 50 * DENSE_CELLS:
            fit = _descend(X, problem, tol, min(max_iter, FIRST_EPOCHS), start, seed)
            return (
                fit if fit.converged or max_iter <= FIRST_EPOCHS else _rescue(X, problem, tol, max_iter, fit, n_threads)
            )
    if solver == "newton":
        return (
            _newton_rotated(X, problem, tol, max_iter, start, n_threads)
            if d > n
            else _newton(X, problem, tol, max_iter, start, n_threads)
        )
    return _descend(X, problem, tol, max_iter, start, seed)


def _settled(X: Matrix, problem: Problem, fit: LinearFit) -> LinearFit:
    """The same fit with the middle of its best intercepts; its objective is computed anew, the bound on the optimum stays."""
    score = np.asarray(X @ fit.coef, dtype=np.float64)
    intercept = settled_intercept(problem, score, fit.intercept)
    if intercept == fit.intercept:
        return fit
    objective = problem.objective(score + intercept, float(fit.coef @ fit.coef), intercept)
    moved = Certificate.of(objective, fit.certificate.dual_objective)
    return replace(fit, intercept=intercept, certificate=moved) if moved.gap <= 2 * fit.certificate.gap else fit


def linear_certificate(
    X: Matrix, problem: Problem, coef: FloatArray, intercept: float, dual: FloatArray
) -> Certificate:
    """Both values of (18) recomputed from scratch in double precision; `dual` must balance where the intercept is free."""
    total = problem.total_weight
    mass = np.where(problem.positive, 1.0, -1.0) * problem.weight * dual
    score = np.asarray(X @ coef, dtype=np.float64) + intercept
    pull = np.asarray(X.T @ mass, dtype=np.float64)
    square = float(pull @ pull)
    if problem.fit_intercept and problem.penalize_intercept:
        square += float(mass.sum()) ** 2
    gain = float(problem.weight @ problem.segments.gain(problem.positive, dual))
    lower = gain / total - square / (2 * problem.alpha * total**2)
    return Certificate.of(problem.objective(score, float(coef @ coef), intercept), lower)


def _newton(
    X: Matrix, problem: Problem, tol: float, max_iter: int, start: LinearFit | None, n_threads: int
) -> LinearFit:
    coef, intercept = (start.coef, start.intercept) if start is not None else (np.zeros(X.shape[1]), 0.0)
    solution = core.solve_dense(
        np.ascontiguousarray(X), problem.sides, problem.weight, problem.segments.hinge, problem.segments.width,
        problem.strength, problem.fit_intercept, problem.penalize_intercept,
        np.ascontiguousarray(coef, dtype=np.float64), float(intercept), start is not None, tol, max_iter, n_threads,
    )  # fmt: skip
    return _as_fit(solution, problem, "newton")


def _newton_rotated(
    X: Matrix, problem: Problem, tol: float, max_iter: int, start: LinearFit | None, n_threads: int
) -> LinearFit:
    """More columns than rows: w lies in the span of the rows, so n coordinates in an orthonormal basis of it are enough."""
    basis, triangle = np.linalg.qr(np.asarray(X.T, dtype=np.float64))
    if start is not None:
        start = replace(start, coef=basis.T @ start.coef)
    fit = _newton(np.ascontiguousarray(triangle.T), problem, tol, max_iter, start, n_threads)
    coef = basis @ fit.coef
    certificate = linear_certificate(X, problem, coef, fit.intercept, fit.dual)
    return replace(fit, coef=coef, certificate=certificate)


def _rescue(X: Matrix, problem: Problem, tol: float, max_iter: int, fit: LinearFit, n_threads: int) -> LinearFit:
    rows = np.ascontiguousarray(X.toarray()) if sparse.issparse(X) else X
    solve = _newton_rotated if rows.shape[1] > rows.shape[0] else _newton
    better = solve(rows, problem, tol, max_iter, fit, n_threads)
    return (
        better if better.certificate.gap <= fit.certificate.gap else replace(fit, n_iter=max(fit.n_iter, better.n_iter))
    )


def _descend(X: Matrix, problem: Problem, tol: float, max_iter: int, start: LinearFit | None, seed: int) -> LinearFit:
    n_rows = X.shape[0]
    dual = np.ascontiguousarray(start.dual) if start is not None and len(start.dual) == n_rows else np.zeros(n_rows)
    intercept = float(start.intercept) if start is not None else 0.0
    common = (
        problem.sides, problem.weight, problem.segments.hinge, problem.segments.width, problem.strength,
        problem.fit_intercept, problem.penalize_intercept, dual, intercept, tol, max_iter, seed,
    )  # fmt: skip
    if sparse.issparse(X):
        columns = np.ascontiguousarray(X.indices, dtype=np.int32)
        solution = core.descend_sparse(
            np.ascontiguousarray(X.data), columns, np.ascontiguousarray(X.indptr, dtype=np.int64), X.shape[1], *common
        )
    else:
        solution = core.descend_dense(np.ascontiguousarray(X), *common)
    return _as_fit(solution, problem, "dcd")


def _as_fit(solution: "core.Solution", problem: Problem, solver: str) -> LinearFit:
    total = problem.total_weight
    certificate = Certificate.of(solution["primal_value"] / total, solution["dual_value"] / total)
    return LinearFit(
        solution["coef"], solution["intercept"], solution["dual"], certificate, solution["iterations"],
        solution["converged"], solver,
    )  # fmt: skip
