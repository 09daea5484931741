"""The three linear machines of [B] section 5.2, for comparison: SVM-OVA, SVM-MC and SVM-CSMC.

SVM-OVA and SVM-MC (Crammer and Singer) are LIBLINEAR's. SVM-CSMC is the cost-sensitive structured machine of appendix E,

    min_W  (lambda/2) |W|^2 + (1/n) sum_i max_k (C_{z_i,k} + S_k(x_i) - S_{z_i}(x_i)),   S = W x   (bias as a constant column),

the solver of `permissible.StructuredSVMClassifier`, here on columns as they are.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.learners.structured_svm import fit_structured, with_constant
from permissible.types import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class StructuredSVM:
    """A fitted machine: weights (M, d + 1), the constant column last; primal value and duality gap."""

    weights: FloatArray
    classes: AnyArray
    objective: float
    gap: float

    def scores(self, X: FloatArray) -> FloatArray:
        """S = W x, (n, M)."""
        return np.asarray(with_constant(X) @ self.weights.T)

    def predict(self, X: FloatArray) -> AnyArray:
        """The class of largest score."""
        return np.asarray(self.classes[self.scores(X).argmax(axis=1)])


def fit_csmc(
    X: FloatArray,
    y: AnyArray,
    costs: FloatArray,
    alpha: float = 1e-3,
    tol: float = 1e-3,
    max_sweeps: int = 1000,
    seed: int = 0,
) -> StructuredSVM:
    """Fit SVM-CSMC with lambda = `alpha` to a relative duality gap of `tol`.

    Parameters
    ----------
    X : array (n, d), best standardised
    y : labels
    costs : array (M, M), ``costs[true, predicted]`` in the order of the sorted labels; 1 - I gives Crammer and Singer's machine
    """
    classes, target = np.unique(y, return_inverse=True)
    by_row, weight = np.ascontiguousarray(costs[target], dtype=np.float64), np.ones(len(target))
    found = fit_structured(
        np.asarray(X, dtype=np.float64), target, by_row, weight, alpha=alpha, tol=tol, max_iter=max_sweeps, seed=seed
    )
    return StructuredSVM(found.weights, classes, found.objective[-1], found.gap[-1])


def liblinear(name: str, alpha: float, n_rows: int, **options: Any) -> Any:
    """SVM-OVA or SVM-MC on LIBLINEAR, with lambda = `alpha` on the same scale: C = 1 / (lambda n)."""
    from sklearn.svm import LinearSVC

    regularisation = 1.0 / (alpha * n_rows)
    if name == "SVM-MC":
        return LinearSVC(multi_class="crammer_singer", C=regularisation, **options)
    return LinearSVC(loss="hinge", C=regularisation, **options)
