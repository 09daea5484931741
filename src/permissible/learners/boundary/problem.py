"""The training problem (18) of [K], weights included.

(1/W) sum_i c_i phi(y_i f_i) + (alpha / 2) |h|^2,    W = sum c_i,  f = h + b
"""

from dataclasses import dataclass

import numpy as np

from permissible.learners.boundary.segments import Segments
from permissible.types import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What every solver needs beside the features.

    Parameters
    ----------
    segments : Segments
        The loss of both classes.
    positive : bool array
        Which rows belong to the positive class.
    weight : array
        Weights c_i >= 0; weight 2 is the row twice.
    alpha : float
        lambda of (18).
    fit_intercept, penalize_intercept : bool
        Whether there is a b, and whether alpha b^2 / 2 is added to the objective (LIBLINEAR's convention).
    """

    segments: Segments
    positive: BoolArray
    weight: FloatArray
    alpha: float
    fit_intercept: bool = True
    penalize_intercept: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", np.ascontiguousarray(self.weight, dtype=np.float64))

    @property
    def total_weight(self) -> float:
        """W."""
        return float(self.weight.sum())

    @property
    def strength(self) -> float:
        """Multiplier of |h|^2 / 2 once the objective is multiplied by W."""
        return self.alpha * self.total_weight

    @property
    def sides(self) -> AnyArray:
        """The classes as the compiled core takes them."""
        return np.ascontiguousarray(self.positive, dtype=np.int8)

    def objective(self, score: FloatArray, square: float, intercept: float) -> float:
        """The value of (18) at scores f of a function of squared norm `square`."""
        margin = np.where(self.positive, score, -score)
        penalty = square + (intercept**2 if self.penalize_intercept and self.fit_intercept else 0.0)
        mean = float(self.weight @ self.segments.loss(self.positive, margin)) / self.total_weight
        return mean + 0.5 * self.alpha * penalty
