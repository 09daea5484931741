"""The linear classifier of (18) on rows in memory: choice of solver, starting point and certificate."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from permissible.kernels._core import boundary as core
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.intercept import settled
from permissible.learners.boundary.objective import MemoryObjective
from permissible.learners.boundary.problem import Options, Problem, Solution
from permissible.types import Matrix

NEWTON_COLUMNS = 300
"""Up to this many columns a Newton matrix is cheap for any number of rows."""
DENSE_CELLS = 1_000_000
"""Up to this many cells a sparse matrix is converted to dense."""
RESCUE_COLUMNS = 3000
"""Up to this many columns (or rows) Newton may continue where coordinate descent did not converge."""
FIRST_EPOCHS = 200


def solve_linear(
    X: Matrix, problem: Problem, options: Options | None = None, start: Solution | None = None
) -> Solution:
    """Minimise (18) over linear f until the certified gap is at most `tol` times the objective.

    Small dense problems are solved to full precision. If the optimal intercept is not unique, the middle of the
    interval is returned.

    X is C-ordered (float32 or float64) or CSR; `start` is the solution for a nearby alpha.
    """
    options = options or Options()
    if sparse.issparse(X) and (options.solver == "newton" or X.shape[0] * X.shape[1] <= DENSE_CELLS):
        X = np.ascontiguousarray(X.toarray())
    fit = _solved(X, problem, options, start)
    return settled(problem, fit, np.asarray(X @ fit.coef, dtype=np.float64), float(fit.coef @ fit.coef))


def _solved(X: Matrix, problem: Problem, options: Options, start: Solution | None) -> Solution:
    n, d = X.shape
    auto, small = options.solver == "auto", min(n, d) <= NEWTON_COLUMNS and (d <= n or n * d <= DENSE_CELLS)
    if options.solver == "newton" or (auto and small and not sparse.issparse(X)):
        return _newton(X, problem, options, start)
    if not auto or min(n, d) > RESCUE_COLUMNS or n * d > 50 * DENSE_CELLS:
        return _descend(X, problem, options, start)
    fit = _descend(X, problem, replace(options, max_iter=min(options.max_iter, FIRST_EPOCHS)), start)
    if fit.converged or options.max_iter <= FIRST_EPOCHS:
        return fit
    better = _newton(np.ascontiguousarray(X.toarray()) if sparse.issparse(X) else X, problem, options, fit)
    closer = better.certificate.gap <= fit.certificate.gap
    return better if closer else replace(fit, n_iter=max(fit.n_iter, better.n_iter))


def _newton(X: Matrix, problem: Problem, options: Options, start: Solution | None) -> Solution:
    n, d = X.shape
    if d > n:  # w lies in the span of the rows, so n coordinates in an orthonormal basis of it are enough
        basis, triangle = np.linalg.qr(np.asarray(X.T, dtype=np.float64))
        rotated = None if start is None else replace(start, coef=basis.T @ start.coef)
        fit = _newton(np.ascontiguousarray(triangle.T), problem, options, rotated)
        coef = basis @ fit.coef
        point, objective = np.append(coef, fit.intercept), MemoryObjective(X, problem)
        return replace(fit, coef=coef, certificate=objective.certificate(point, problem.segments, fit.dual))
    rows, begin = np.ascontiguousarray(X), core.Start(np.zeros(d), np.zeros(0))
    if start is not None:
        coef = np.ascontiguousarray(start.coef, dtype=np.float64)
        begin = core.Start(coef, np.zeros(0), float(start.intercept), warm=True)
    found = core.solve_dense(rows, problem.record, begin, options.tol, options.max_iter, options.n_threads)
    return _as_solution(found, problem, "newton")


def _descend(X: Matrix, problem: Problem, options: Options, start: Solution | None) -> Solution:
    (n, d), record, how = X.shape, problem.record, (options.tol, options.max_iter, options.seed)
    dual = np.ascontiguousarray(start.dual) if start is not None and len(start.dual) == n else np.zeros(n)
    begin = core.Start(np.zeros(d), dual, 0.0 if start is None else float(start.intercept))
    if not sparse.issparse(X):
        return _as_solution(core.descend_dense(np.ascontiguousarray(X), record, begin, *how), problem, "dcd")
    columns, starts = np.ascontiguousarray(X.indices, dtype=np.int32), np.ascontiguousarray(X.indptr, dtype=np.int64)
    found = core.descend_sparse(np.ascontiguousarray(X.data), columns, starts, record, begin, *how)
    return _as_solution(found, problem, "dcd")


def _as_solution(found: core.Solution, problem: Problem, solver: str) -> Solution:
    total = problem.total_weight
    certificate = Certificate.of(found.primal_value / total, found.dual_value / total)
    return Solution(found.coef, found.intercept, found.dual, certificate, found.iterations, found.converged, solver)
