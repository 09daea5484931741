"""The three linear machines of [B] section 5.2, for comparison: SVM-OVA, SVM-MC and SVM-CSMC.

SVM-OVA and SVM-MC (Crammer and Singer) are LIBLINEAR's. SVM-CSMC is the cost-sensitive structured machine of appendix E,

    min_W  (lambda/2) |W|^2 + (1/n) sum_i max_k (C_{z_i,k} + S_k(x_i) - S_{z_i}(x_i)),   S = W x   (bias as a constant column),

solved in the dual by coordinate ascent over the rows: alpha_ik >= 0, sum_k alpha_ik = 1/n (k = z_i included, whose term is 0),
W_k = (1/lambda) sum_i (1{z_i = k}/n - alpha_ik) x_i. A row's exact step is a projection on a simplex. The duality gap is computed
from W and alpha, so the distance from the optimum is known, not hoped for.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class StructuredSVM:
    """A fitted machine: weights (M, d + 1), the constant column last; primal value and duality gap."""

    weights: FloatArray
    classes: AnyArray
    objective: float
    gap: float

    def scores(self, X: FloatArray) -> FloatArray:
        """S = W x, (n, M)."""
        return np.asarray(_with_constant(X) @ self.weights.T)

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
    rows = _with_constant(np.asarray(X, dtype=np.float64))
    n, m = len(rows), len(classes)
    dual = np.zeros((n, m))
    dual[np.arange(n), target] = 1.0 / n
    weights = np.zeros((m, rows.shape[1]))
    square = np.einsum("ij,ij->i", rows, rows) / alpha
    generator = np.random.default_rng(seed)
    primal, gap = np.inf, np.inf
    for _ in range(max_sweeps):
        for i in generator.permutation(n):
            if square[i] <= 0:
                continue
            loss = costs[target[i]] + weights @ rows[i]
            # maximise <a, loss> - square/2 |a - a_i|^2 over the simplex of size 1/n
            new = _onto_simplex(dual[i] + loss / square[i], 1.0 / n)
            change = new - dual[i]
            weights -= np.outer(change, rows[i]) / alpha
            dual[i] = new
        primal, gap = _gap(rows, target, costs, alpha, weights, dual)
        if gap <= tol * max(abs(primal), 1e-12):
            break
    return StructuredSVM(weights, classes, primal, gap)


def _gap(
    rows: FloatArray, target: IntArray, costs: FloatArray, alpha: float, weights: FloatArray, dual: FloatArray
) -> tuple[float, float]:
    scores = rows @ weights.T
    own = scores[np.arange(len(rows)), target]
    hinge = (costs[target] + scores).max(axis=1) - own
    penalty = 0.5 * alpha * float((weights**2).sum())
    primal = penalty + float(hinge.mean())
    return primal, primal - (float((dual * costs[target]).sum()) - penalty)


def _onto_simplex(point: FloatArray, size: float) -> FloatArray:
    """The nearest point with non-negative parts that sum to `size`."""
    ordered = np.sort(point)[::-1]
    level = (np.cumsum(ordered) - size) / np.arange(1, len(point) + 1)
    return np.asarray(np.maximum(point - level[np.flatnonzero(ordered > level)[-1]], 0.0))


def _with_constant(X: FloatArray) -> FloatArray:
    return np.column_stack([X, np.ones(len(X))])


def liblinear(name: str, alpha: float, n_rows: int, **options: Any) -> Any:
    """SVM-OVA or SVM-MC on LIBLINEAR, with lambda = `alpha` on the same scale: C = 1 / (lambda n)."""
    from sklearn.svm import LinearSVC

    regularisation = 1.0 / (alpha * n_rows)
    if name == "SVM-MC":
        return LinearSVC(multi_class="crammer_singer", C=regularisation, **options)
    return LinearSVC(loss="hinge", C=regularisation, **options)
