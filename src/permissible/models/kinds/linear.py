"""A linear score with probability boundaries: the frozen result of the boundary learner. It only computes scores."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from permissible.losses import Loss
from permissible.models.model import Model, counted
from permissible.types import FloatArray, Matrix


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinearModel(Model):
    """f(x) = w.x + b with the cut-offs delta_1 < ... < delta_K on the scale of f."""

    coef: FloatArray  # shape (n_columns,)
    intercept: float
    loss: Loss  # what turns a score into a probability (`loss.probability`)
    boundaries: FloatArray  # the probabilities pi_k; empty for the soft classifier
    deltas: FloatArray  # the scores delta_k at which they lie; `loss.probability(delta_k)` is pi_k
    takes_matrix: ClassVar[bool] = True

    def _size(self) -> str:
        return f"{counted(len(self.coef), 'column')}"

    def scores(self, X: Matrix, n_threads: int = 1) -> FloatArray:
        """f(x) of each row of a matrix, dense or sparse."""
        return np.asarray(X @ self.coef, dtype=np.float64) + self.intercept

    def probabilities(self, X: Matrix, n_threads: int = 1) -> FloatArray:
        """Probabilities of both classes; that of the positive one is ginv(f), and pi_k exactly where f = delta_k."""
        return probabilities_at(self.scores(X), self.loss, self.boundaries, self.deltas)


def probabilities_at(score: FloatArray, loss: Loss, boundaries: FloatArray, deltas: FloatArray) -> FloatArray:
    """The probabilities of two classes, shape (n_rows, 2), kept on the same side of every boundary as the score.

    ginv(g(pi)) differs from pi by rounding for about one pi in three, so that otherwise a row exactly on a
    cut-off would lie in one region by its score and in another by its probability.
    """
    positive = np.asarray(loss.probability(score), dtype=np.float64)
    if len(deltas):
        edges = np.concatenate([[0.0], boundaries, [1.0]])
        region = np.searchsorted(deltas, score, side="left")
        lowest = np.nextafter(edges[region], 1.0)
        lowest[region == 0] = 0.0
        positive = np.clip(positive, lowest, edges[region + 1])
    return np.column_stack([1.0 - positive, positive])
