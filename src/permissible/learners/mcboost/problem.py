"""The learning problem: a loss with misclassification costs, and the classes and weights of rows."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.optimize import minimize, root

from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.linear.own import OwnState
from permissible.losses import GammaPhi, MulticlassLoss, get_multiclass
from permissible.models.kinds.simplex import codewords
from permissible.types import BoolArray, FloatArray, IntArray

LOSSES = ("gll", "gel", "ls", "lt", "mc")
"""In the order of the compiled core (cpp/losses/multiclass.hpp)."""
LEAST_SHARE, LARGEST_CONSTANT = 1e-6, 30.0
"""Least fraction of the weight that a class counts for in the constant scores, and their bound along a coordinate."""


@dataclass(frozen=True, slots=True, eq=False)
class CostTask:
    """A loss and its costs."""

    loss: str  # "gll", "gel", "ls", "lt", "mc", or the name of a loss of one's own
    costs: FloatArray  # cost of predicting each class, by true class or by row; zero for the true one
    by_row: bool = False  # whether the costs are those of each row
    own: GammaPhi | None = None  # a loss of one's own, which runs in NumPy

    @property
    def made(self) -> MulticlassLoss:
        """The loss as an object."""
        return get_multiclass(self.loss) if self.own is None else self.own

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
        if task.own is not None:
            own = OwnState(self, task.own)
            if scores is not None:
                own.set_scores(scores)
            return cast(kernel.State, own)  # as far as affine terms ask
        costs, weight = (np.ascontiguousarray(of, dtype=np.float64) for of in (task.costs, self.weight))
        loss = LOSSES.index(task.loss)
        state = kernel.state(self.target.astype(np.int32), costs, weight, not task.by_row, loss, n_threads)
        if scores is not None:
            state.set_scores(np.ascontiguousarray(scores, dtype=np.float64))
        return state


def best_constant(task: CostTask, class_weight: FloatArray) -> FloatArray:
    """The constant scores S = Y f / 2 of least surrogate, for classes of these weights; costs by row count as 1."""
    loss, words, labels = get_multiclass(task.loss), codewords(task.n_classes) / 2, np.arange(task.n_classes)
    share = np.maximum(class_weight / class_weight.sum(), LEAST_SHARE)
    costs = 1.0 - np.eye(task.n_classes) if task.by_row else task.costs

    def surrogate(f: FloatArray) -> tuple[float, FloatArray]:
        scores = np.tile(words @ f, (task.n_classes, 1))
        value, slope = loss.value(scores, labels, costs), loss.gradient(scores, labels, costs)
        return float(share @ value), np.asarray(share @ slope @ words)

    start = np.linalg.lstsq(words, np.log(share) / loss.exponent, rcond=None)[0]
    bounds = [(-LARGEST_CONSTANT, LARGEST_CONSTANT)] * len(start)
    found = minimize(surrogate, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"gtol": 1e-9}).x
    closer = root(lambda f: surrogate(f)[1], found, tol=1e-14).x  # as exact as the slopes are
    better = (
        np.abs(surrogate(closer)[1]).max() < np.abs(surrogate(found)[1]).max() and np.abs(closer).max() <= bounds[0][1]
    )
    return np.asarray(words @ (closer if better else found))
