"""The training problem (18) of [K], weights included.

(1/W) sum_i c_i phi(y_i f_i) + (alpha / 2) |h|^2,    W = sum c_i,  f = h + b
"""

from dataclasses import dataclass

import numpy as np

from permissible.kernels._core import boundary as core
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.segments import Segments
from permissible.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Options:
    """How to solve (18), to a gap of `tol` times the objective; `solver` is that of the linear classifier.

    Newton suits dense data with more rows than columns; coordinate descent (``"dcd"``) suits sparse and wide data.
    ``"auto"`` chooses by shape, and Newton continues where coordinate descent did not converge. `max_iter` bounds
    Newton steps, epochs, or rounds of as many pair updates as there are rows. `n_threads` does not change the result.
    """

    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int = 1000
    cache_size: float = 200.0  # megabytes for kernel rows
    n_threads: int = 1
    seed: int = 0  # of the order of coordinate descent


@dataclass(frozen=True, slots=True)
class Penalty:
    """(alpha / 2) |w|^2; whether there is an intercept b, and whether alpha b^2 / 2 is added for it."""

    alpha: float
    fit_intercept: bool = True
    penalize_intercept: bool = False

    @property
    def free_intercept(self) -> bool:
        """Whether the intercept is not penalised, so that a dual point must satisfy sum c t y = 0."""
        return self.fit_intercept and not self.penalize_intercept

    @property
    def of_intercept(self) -> float:
        """Multiplier of b^2 / 2."""
        return self.alpha if self.fit_intercept and self.penalize_intercept else 0.0

    def ridge(self, n_columns: int) -> FloatArray:
        """Multiplier of the square of each coefficient, the intercept last."""
        return np.append(np.full(n_columns, self.alpha), self.of_intercept)

    def balance(self, negative: float, positive: float) -> tuple[float, float]:
        """Factors for the dual values of both classes, from their masses sum c t, that give sum c t y = 0 if needed."""
        least, most = min(negative, positive), max(negative, positive)
        if not self.free_intercept or most <= 0:
            return 1.0, 1.0
        return (least / most, 1.0) if negative == most else (1.0, least / most)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What every solver needs in addition to the features."""

    segments: Segments  # the loss of both classes
    positive: BoolArray  # which rows belong to the positive class
    weight: FloatArray  # weights c_i >= 0; weight 2 is the row twice
    alpha: float  # lambda of (18)
    # Whether there is a b, and whether alpha b^2 / 2 is added to the objective (LIBLINEAR's convention).
    fit_intercept: bool = True
    penalize_intercept: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", np.ascontiguousarray(self.weight, dtype=np.float64))

    @property
    def penalty(self) -> Penalty:
        """The penalty."""
        return Penalty(self.alpha, self.fit_intercept, self.penalize_intercept)

    @property
    def total_weight(self) -> float:
        """W."""
        return float(self.weight.sum())

    @property
    def strength(self) -> float:
        """Multiplier of |h|^2 / 2 once the objective is multiplied by W."""
        return self.alpha * self.total_weight

    @property
    def sign(self) -> FloatArray:
        """Y of each row: 1 or -1."""
        return np.where(self.positive, 1.0, -1.0)

    @property
    def record(self) -> core.Problem:
        """The arguments of the compiled solvers."""
        sides, segments, penalty = np.ascontiguousarray(self.positive, dtype=np.int8), self.segments, self.penalty
        flags = penalty.fit_intercept, penalty.penalize_intercept
        return core.Problem(sides, self.weight, segments.hinge, segments.width, self.strength, *flags)

    def objective(self, score: FloatArray, square: float, intercept: float) -> float:
        """The value of (18) at scores f of a function of squared norm `square`."""
        margin = np.where(self.positive, score, -score)
        mean = float(self.weight @ self.segments.loss(self.positive, margin)) / self.total_weight
        return mean + 0.5 * self.alpha * square + 0.5 * self.penalty.of_intercept * intercept**2

    def balanced(self, dual: FloatArray) -> FloatArray:
        """Scale the heavier class down so that sum c t y = 0, as a free intercept requires."""
        mass = self.weight * dual
        factors = self.penalty.balance(float(mass[~self.positive].sum()), float(mass[self.positive].sum()))
        return np.where(self.positive, factors[1], factors[0]) * dual


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A solution of (18): w, or gamma of all rows for a `kernel`; b; the dual point t; and how the solver ended.

    The dual point has one value in [0, t_K] per row; it is empty for rows in parts.
    """

    coef: FloatArray
    intercept: float
    dual: FloatArray
    certificate: Certificate
    n_iter: int
    converged: bool
    solver: str
    kernel: bool = False
