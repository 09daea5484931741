"""The soft classifier with a kernel: K = Z Z' turns it into a linear one with at most n columns."""

from typing import Any

import numpy as np

from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.kernel import KernelFit, gram_matrix
from permissible.learners.boundary.problem import Problem
from permissible.learners.boundary.soft import solve_soft
from permissible.models.kinds.kernel import Kernel
from permissible.types import Matrix


def solve_kernel_soft(
    X: Matrix, problem: Problem, loss: Any, kernel: Kernel, *, tol: float = 1e-6, max_iter: int = 1000
) -> KernelFit:
    """Minimise the smooth objective over the functions of a kernel; takes O(n^2) memory and O(n^3) time.

    The coefficients come from the dual point, gamma = y c t / (alpha W), and the certificate is computed for them.
    """
    gram = gram_matrix(X, kernel)
    values, vectors = np.linalg.eigh(gram)
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    linear = solve_soft(vectors[:, kept] * np.sqrt(values[kept]), problem, loss, tol=0.01 * tol, max_iter=max_iter)
    sign = np.where(problem.positive, 1.0, -1.0)
    coef = sign * problem.weight * linear.dual / problem.strength
    intercept = float(coef.sum()) if problem.fit_intercept and problem.penalize_intercept else linear.intercept
    plain = gram @ coef
    square = float(coef @ plain) + (intercept**2 if problem.fit_intercept and problem.penalize_intercept else 0.0)
    share = problem.weight / problem.total_weight
    mean = loss.b * float(share @ np.asarray(loss.value(sign * (plain + intercept))))
    gain = float(share @ (np.asarray(loss.phi(linear.dual)) - loss.a))
    certificate = Certificate.of(mean + 0.5 * problem.alpha * square, gain - 0.5 * problem.alpha * square)
    return KernelFit(
        coef, intercept, linear.dual, certificate, linear.n_iter, certificate.relative_gap <= tol, "newton"
    )  # fmt: skip
