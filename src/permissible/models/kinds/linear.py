"""A linear score with probability boundaries: the frozen result of the boundary learner. It only scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.types import FloatArray, IntArray, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """f(x) = w.x + b with the cut-offs delta_1 < ... < delta_K on the scale of f.

    Parameters
    ----------
    coef : array of shape (n_columns,)
    intercept : float
    loss : loss
        What turns a score into a probability (`loss.probability`).
    boundaries : array
        The probabilities pi_k; empty for the soft classifier.
    deltas : array
        The scores delta_k at which they lie; `loss.probability(delta_k)` is pi_k.
    """

    coef: FloatArray
    intercept: float
    loss: Any
    boundaries: FloatArray
    deltas: FloatArray

    def score(self, X: Matrix) -> FloatArray:
        """f(x) of each row of a matrix, dense or sparse."""
        return np.asarray(X @ self.coef, dtype=np.float64) + self.intercept

    def probability(self, X: Matrix) -> FloatArray:
        """The probability of the positive class, ginv(f): monotone in f, and pi_k exactly where f = delta_k."""
        return probability_at(self.score(X), self.loss, self.boundaries, self.deltas)

    def region(self, X: Matrix, closed: str = "right") -> IntArray:
        """The region 0..K of each row: k iff f in (delta_k, delta_{k+1}] ([K] (8), indices corrected); or left-closed."""
        return np.searchsorted(self.deltas, self.score(X), side="left" if closed == "right" else "right")


def probability_at(score: FloatArray, loss: Any, boundaries: FloatArray, deltas: FloatArray) -> FloatArray:
    """Ginv of scores, kept on the side of every boundary on which the score lies.

    Without it rounding decides: ginv(g(pi)) misses pi by a last digit for about one pi in three, so that a row exactly on a
    cut-off would lie in one region by its score and in another by its probability.
    """
    found = np.asarray(loss.probability(score), dtype=np.float64)
    if not len(deltas):
        return found
    edges = np.concatenate([[0.0], boundaries, [1.0]])
    region = np.searchsorted(deltas, score, side="left")
    lowest = np.nextafter(edges[region], 1.0)
    lowest[region == 0] = 0.0
    return np.asarray(np.clip(found, lowest, edges[region + 1]))
