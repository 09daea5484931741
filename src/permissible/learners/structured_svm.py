"""The cost-sensitive structured SVM ([B] section 5.2 and appendix E), solved to a certified duality gap.

    min_W  (lambda/2) |W|^2 + sum_i c_i max_k (C_ik + S_k(x_i) - S_{z_i}(x_i)),   S = W x (the constant is a column),

with c_i the weight of a row over the total. The maximum is the structured hinge, guess-averse by Lemma 7. The dual has a point on
the simplex sum_k a_ik = c_i for each row, and W_k = (1/lambda) sum_i (c_i [z_i = k] - a_ik) x_i; rows are visited in random
order and each is solved exactly (cpp/boundary/structured.hpp). Costs 1 - I give Crammer and Singer's machine.
"""

from dataclasses import dataclass

import numpy as np

from permissible.kernels._core import boundary as kernel
from permissible.learners.certificate import CertificateHead
from permissible.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class StructuredCertificate(CertificateHead):
    """How far the fit is from the optimum; `gap` is that of primal and dual."""

    objective: float = float("nan")
    n_iter: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class StructuredFit:
    """Weights (M, d + 1), the constant last; primal value and duality gap after each sweep."""

    weights: FloatArray
    objective: tuple[float, ...]
    gap: tuple[float, ...]
    converged: bool

    def scores(self, values: FloatArray) -> FloatArray:
        """S = W x, (n, M)."""
        return np.asarray(with_constant(values) @ self.weights.T)

    def certificate(self, tol: float) -> StructuredCertificate:
        """What is known at the end of the fit."""
        primal, gap, sweeps = self.objective[-1], self.gap[-1], len(self.gap)
        reached = "reached" if self.converged else "did not reach"
        said = (
            f"The objective {primal:.6g} is within {gap:.3g} of its minimum: {sweeps} sweeps {reached} tol = {tol:g}."
        )
        stopped = "converged" if self.converged else "max_iter"
        return StructuredCertificate(statement=said, stopped=stopped, gap=gap, objective=primal, n_iter=sweeps)


def fit_structured(
    values: FloatArray,
    target: IntArray,
    costs: FloatArray,
    weight: FloatArray,
    *,
    alpha: float,
    tol: float,
    max_iter: int,
    seed: int = 0,
) -> StructuredFit:
    """Solve to a relative gap of `tol`; `costs` is (n, M) with 0 for a row's own class, alpha is lambda."""
    rows, caps = with_constant(values), weight / weight.sum()
    dual = np.zeros(costs.shape)
    dual[np.arange(len(rows)), target] = caps
    weights = np.zeros((costs.shape[1], rows.shape[1]))
    generator = np.random.default_rng(seed)
    primal: list[float] = []
    gaps: list[float] = []
    for _ in range(max_iter):
        kernel.structured_sweep(rows, costs, caps, alpha, generator.permutation(len(rows)), weights, dual)
        value, gap = _gap(rows, target, costs, caps, alpha, weights, dual)
        primal.append(value)
        gaps.append(gap)
        if gap <= tol * abs(value):
            return StructuredFit(weights, tuple(primal), tuple(gaps), converged=True)
    return StructuredFit(weights, tuple(primal), tuple(gaps), converged=False)


def _gap(
    rows: FloatArray,
    target: IntArray,
    costs: FloatArray,
    caps: FloatArray,
    alpha: float,
    weights: FloatArray,
    dual: FloatArray,
) -> tuple[float, float]:
    """The primal value, and its distance from the dual one."""
    scores = rows @ weights.T
    hinge = (costs + scores).max(axis=1) - scores[np.arange(len(rows)), target]
    penalty = 0.5 * alpha * float((weights**2).sum())
    primal = penalty + float(caps @ hinge)
    return primal, primal - (float((dual * costs).sum()) - penalty)


def with_constant(values: FloatArray) -> FloatArray:
    """The values with a last column of ones."""
    return np.column_stack([values, np.ones(len(values))])
