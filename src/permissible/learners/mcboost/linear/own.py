"""Algorithm 1 of [B] for a gamma-phi loss of one's own, in NumPy: the compiled core knows its five losses only.

`OwnState` answers what the affine learners and the held-out rows ask of a compiled state: derivatives along the coordinates of
the simplex, exact sums over rows, and the step to the minimum along a line. The loss enters by `value` and `gradient` alone.
"""

from typing import TYPE_CHECKING

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.models.kinds.simplex import codewords
from permissible.types import Codes, FloatArray, IntArray

if TYPE_CHECKING:
    from permissible.learners.mcboost.problem import CostProblem
    from permissible.losses import GammaPhi

STEP = 1e-4
"""Relative step of the differences that give the second derivative along a line."""


class OwnState:
    """The scores of some rows, with the derivatives of their losses."""

    def __init__(self, problem: "CostProblem", loss: "GammaPhi") -> None:
        self.loss, self.problem = loss, problem
        self.costs = np.ascontiguousarray(problem.task.cost_rows(problem.target), dtype=np.float64)
        self.rows, self.classes = self.costs.shape
        self.words = codewords(self.classes) / 2
        self._scores = np.zeros((self.rows, self.classes))

    def set_scores(self, scores: FloatArray) -> None:
        """Put the rows at these scores."""
        self._scores = np.array(scores, dtype=np.float64)

    def scores(self) -> FloatArray:
        """The scores, (n, M)."""
        return self._scores.copy()

    def begin_sums(self) -> IntArray:
        """Exact sums of the surrogate, the cost and the errors."""
        target, weight, decided = self.problem.target, self.problem.weight, self._scores.argmax(axis=1)
        values = np.asarray(self.loss.value(self._scores, target, self.costs, rows=True))
        cost = self.costs[np.arange(self.rows), decided]
        return sums.exact_limbs(np.ascontiguousarray(weight * np.stack([values, cost, decided != target])))

    def begin_round(self) -> tuple[float, float, float]:
        """The same as numbers."""
        surrogate, cost, error = sums.exact_values(self.begin_sums())
        return surrogate, cost, error

    def derive_all(self) -> FloatArray:
        """The derivatives along every coordinate, (M - 1, n): (dL/dS) Y / 2, with the weights of the rows."""
        return np.ascontiguousarray((self._slopes(self._scores) @ self.words).T)

    def derive(self, coordinate: int) -> tuple[FloatArray, None]:
        """The derivatives along one coordinate; there are no curvatures."""
        return np.ascontiguousarray(self._slopes(self._scores) @ self.words[:, coordinate]), None

    def take(self, coordinate: int, step: FloatArray, rate: float) -> tuple[float, bool, int]:
        """Go to the minimum along a step of one coordinate, times the learning rate."""
        return self._move(np.outer(step, self.words[:, coordinate]), rate)

    def take_all(self, step: FloatArray, rate: float) -> tuple[float, bool, int]:
        """The same along a step of all coordinates, (M - 1, n)."""
        return self._move(step.T @ self.words.T, rate)

    def finish_round(self) -> None:
        """Nothing is kept between rounds but the scores."""

    def _slopes(self, scores: FloatArray) -> FloatArray:
        gradient = np.asarray(self.loss.gradient(scores, self.problem.target, self.costs, rows=True))
        return self.problem.weight[:, None] * gradient

    def _move(self, along: FloatArray, rate: float) -> tuple[float, bool, int]:
        largest = float(np.abs(along).max(initial=0.0))

        def slope(alpha: float) -> float:
            each = (self._slopes(self._scores + alpha * along) * along).sum(axis=1)
            return float(sums.exact_sum(np.ascontiguousarray(each)))

        def slopes(alpha: float) -> tuple[float, float]:
            step = STEP / largest
            return slope(alpha), (slope(alpha + step) - slope(alpha - step)) / (2 * step)

        if not largest > 0:
            return 0.0, False, 0
        leverage, capped = kernel.line_search(slopes, largest)
        self._scores += rate * leverage * along
        return leverage, capped, 1


def best_attribute(
    values: FloatArray, allowed: Codes, gradient: FloatArray, drawn: FloatArray | None
) -> tuple[int, FloatArray, FloatArray, float]:
    """The attribute whose a x + b fits -w/|w| best with row weights |w|: column, slopes, levels and explained fraction.

    `gradient` is (outputs, n). Sums over rows are exact, so that neither their order nor doubling a row changes the choice.
    """
    gradient = gradient if drawn is None else gradient * drawn
    norm = np.sqrt((gradient**2).sum(axis=0))
    (s0,) = _exact(norm[None, :])
    if not s0 > 0:
        return -1, np.zeros(len(gradient)), np.zeros(len(gradient)), 0.0
    pull = -_exact(gradient)
    best = (-1, np.zeros(len(gradient)), pull / s0, float(pull @ pull) / s0**2)
    for column in np.flatnonzero(allowed):
        x = values[:, column]
        s1, s2 = _exact(np.stack([norm * x, norm * x * x]))
        reach = -_exact(gradient * x)
        spread = s2 - s1 * s1 / s0
        if spread > 1e-12 * s2:
            slope = (reach - pull * s1 / s0) / spread
            level = (pull - slope * s1) / s0
            explained = float(slope @ reach + level @ pull) / s0
            if explained > best[3] * (1 + 1e-12):
                best = (int(column), slope, level, explained)
    return best


def _exact(rows: FloatArray) -> FloatArray:
    return np.array(sums.exact_values(sums.exact_limbs(np.ascontiguousarray(rows))))
