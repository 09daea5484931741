"""What is to be learned: classes, what each mistake costs, how much each row counts, and the loss that stands for it."""

from dataclasses import dataclass

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.types import BoolArray, FloatArray, IntArray

LOSSES = ("gll", "gel", "ls", "lt", "mc")
"""In the order of the compiled core (cpp/losses/multiclass.hpp)."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows of a cost-sensitive multiclass problem, without their features.

    Parameters
    ----------
    target : array of int
        Class index of each row.
    costs : array (M, M) or (n, M)
        Cost of predicting each class, by true class or by row; zero for the true one.
    weight : array of float
        How much each row counts.
    loss : {"gll", "gel", "ls", "lt", "mc"}
    """

    target: IntArray
    costs: FloatArray
    weight: FloatArray
    loss: str
    by_row: bool = False

    @property
    def n_classes(self) -> int:
        """Number of classes M."""
        return int(self.costs.shape[1])

    @property
    def total_weight(self) -> float:
        """The exact sum of the weights, rounded once: the order of the rows does not show."""
        return sums.exact_sum(np.ascontiguousarray(self.weight, dtype=np.float64))

    def take(self, rows: BoolArray) -> "Problem":
        """The problem of some of the rows."""
        costs = self.costs[rows] if self.by_row else self.costs
        return Problem(self.target[rows], costs, self.weight[rows], self.loss, self.by_row)

    def cost_rows(self) -> FloatArray:
        """Costs (n, M) of predicting each class for each row."""
        return self.costs if self.by_row else self.costs[self.target]

    def mean_costs(self) -> FloatArray:
        """Costs (M, M) by true class: those given, or the weighted means of those of its rows (1 where a class has none)."""
        if not self.by_row:
            return self.costs
        mean = 1.0 - np.eye(self.n_classes)
        for label in range(self.n_classes):
            own = self.target == label
            terms = self.weight[own] @ self.costs[own]
            if terms.any():
                mean[label] = terms / self.weight[own].sum()
        return mean

    def state(self, scores: FloatArray | None, n_threads: int) -> kernel.State:
        """The compiled state of these rows, at the given scores or at zero."""
        state = kernel.state(
            self.target.astype(np.int32),
            np.ascontiguousarray(self.costs, dtype=np.float64),
            np.ascontiguousarray(self.weight, dtype=np.float64),
            not self.by_row,
            LOSSES.index(self.loss),
            n_threads,
        )
        if scores is not None:
            state.set_scores(np.ascontiguousarray(scores, dtype=np.float64))
        return state
