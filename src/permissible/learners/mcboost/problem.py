"""The learning problem: a loss with misclassification costs, and the classes and weights of rows."""

from dataclasses import dataclass, replace

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.types import BoolArray, FloatArray, IntArray

LOSSES = ("gll", "gel", "ls", "lt", "mc")
"""In the order of the compiled core (cpp/losses/multiclass.hpp)."""


@dataclass(frozen=True, slots=True, eq=False)
class CostTask:
    """A loss and its costs.

    Parameters
    ----------
    loss : {"gll", "gel", "ls", "lt", "mc"}
    costs : array (M, M) or (n, M)
        Cost of predicting each class, by true class or by row; zero for the true one.
    by_row : bool
        Whether the costs are those of each row.
    """

    loss: str
    costs: FloatArray
    by_row: bool = False

    @property
    def n_classes(self) -> int:
        """Number of classes M."""
        return int(self.costs.shape[1])

    def take(self, rows: BoolArray | None) -> "CostTask":
        """The task of some of the rows."""
        return replace(self, costs=self.costs[rows]) if self.by_row and rows is not None else self

    def cost_rows(self, target: IntArray) -> FloatArray:
        """Costs (n, M) of predicting each class for each row."""
        return self.costs if self.by_row else self.costs[target]

    def mean_costs(self, target: IntArray, weight: FloatArray) -> FloatArray:
        """Costs (M, M) by true class: as given, or weighted means over its rows (1 if a class has no rows)."""
        if not self.by_row:
            return self.costs
        mean = 1.0 - np.eye(self.n_classes)
        for label in range(self.n_classes):
            own = target == label
            terms = weight[own] @ self.costs[own]
            if terms.any():
                mean[label] = terms / weight[own].sum()
        return mean


@dataclass(frozen=True, slots=True, eq=False)
class CostProblem:
    """Rows of a cost-sensitive multiclass problem, without their columns: the class of each row, and its weight."""

    task: CostTask
    target: IntArray
    weight: FloatArray

    def state(self, scores: FloatArray | None = None, n_threads: int = 1) -> kernel.State:
        """The compiled state of these rows, at the given scores or at zero."""
        task = self.task
        costs, weight = (np.ascontiguousarray(of, dtype=np.float64) for of in (task.costs, self.weight))
        loss = LOSSES.index(task.loss)
        state = kernel.state(self.target.astype(np.int32), costs, weight, not task.by_row, loss, n_threads)
        if scores is not None:
            state.set_scores(np.ascontiguousarray(scores, dtype=np.float64))
        return state


def smallest_margin(target: IntArray, scores: FloatArray) -> float:
    """The least margin (9) of the rows: the score of a row's class minus the largest other one."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, target] = -np.inf
    return float(np.min(scores[rows, target] - others.max(axis=1), initial=np.inf))
