"""The kernel classifier of (18): pair updates on the dual, walking through the K breakpoints, to a certified gap.

h = sum_j gamma_j k(x_j, .) with gamma_j = y_j c_j t_j / (alpha W). The search uses kernel rows in single precision above
`DOUBLE_ROWS` rows; both values of the certificate are computed in double precision.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from permissible.kernels._core import boundary as core
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.problem import Problem
from permissible.models.kernel import Kernel
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, refusal

DOUBLE_ROWS = 2000


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
    X: AnyArray,
    problem: Problem,
    kernel: Kernel,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: KernelFit | None = None,
    cache_size: float = 200.0,
) -> KernelFit:
    """Minimise (18) over the functions of a kernel until the certified gap is at most `tol` of the objective.

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
    dual = np.zeros(n) if start is None else np.ascontiguousarray(start.dual)
    common = (
        problem.sides, problem.weight, problem.segments.hinge, problem.segments.width, problem.strength,
        problem.fit_intercept, problem.penalize_intercept, dual, tol, max_iter * max(n, 100),
    )  # fmt: skip
    if kernel.compiled and not sparse.issparse(X):
        rows = np.ascontiguousarray(X, dtype=np.float64)
        solution = core.solve_kernel(
            rows, kernel.kind, kernel.gamma, kernel.coef0, kernel.degree, int(cache_size * 2**20), n > DOUBLE_ROWS,
            *common,
        )  # fmt: skip
    else:
        solution = core.solve_gram(gram_matrix(X, kernel), *common)
    mass = np.where(problem.positive, 1.0, -1.0) * problem.weight * solution["dual"]
    # A penalised intercept is the function 1 in the space: its coefficient is the sum of all.
    tied = problem.fit_intercept and problem.penalize_intercept
    intercept = float(mass.sum()) / problem.strength if tied else solution["intercept"]
    total = problem.total_weight
    return KernelFit(
        mass / problem.strength, intercept, solution["dual"],
        Certificate.of(solution["primal_value"] / total, solution["dual_value"] / total),
        -(-solution["updates"] // max(n, 100)), solution["converged"],
    )  # fmt: skip


def gram_matrix(X: AnyArray, kernel: Kernel) -> FloatArray:
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
