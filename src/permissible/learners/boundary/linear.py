"""The linear classifier of (18): which solver, where it starts, and what it certifies.

``newton`` (dense rows, more rows than columns): semismooth Newton on the rows near a kink.
"""

from dataclasses import dataclass

import numpy as np

from permissible.kernels._core import boundary as core
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.problem import Problem
from permissible.types import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class LinearFit:
    """The solution: w, b, the dual point t (one value a row, in [0, t_K]), and the certificate."""

    coef: FloatArray
    intercept: float
    dual: FloatArray
    certificate: Certificate
    n_iter: int
    converged: bool


def solve_linear(
    X: AnyArray,
    problem: Problem,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: tuple[FloatArray, float] | None = None,
    n_threads: int = 1,
) -> LinearFit:
    """Minimise (18) over linear f until the certified gap is at most `tol` of the objective.

    Parameters
    ----------
    X : array (float32 or float64, C order) of shape (n_rows, n_columns)
    problem : Problem
    tol : float
        Relative gap at which to stop. Small problems are solved further.
    max_iter : int
        Newton steps.
    start : (w, b), optional
        Where to start, such as the solution for a nearby alpha.
    n_threads : int
        Does not change a bit of the result.
    """
    coef, intercept = start if start is not None else (np.zeros(X.shape[1]), 0.0)
    solution = core.solve_dense(
        np.ascontiguousarray(X), problem.sides, problem.weight, problem.segments.hinge, problem.segments.width, problem.strength,
        problem.fit_intercept, problem.penalize_intercept, np.ascontiguousarray(coef, dtype=np.float64),
        float(intercept), start is not None, tol, max_iter, n_threads,
    )  # fmt: skip
    certificate = Certificate.of(
        solution["primal_value"] / problem.total_weight, solution["dual_value"] / problem.total_weight
    )
    return LinearFit(
        solution["coef"], solution["intercept"], solution["dual"], certificate, solution["iterations"],
        solution["converged"],
    )  # fmt: skip
