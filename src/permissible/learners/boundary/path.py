"""A path of solutions for decreasing alpha, each starting from the last, and the alpha of least held-out risk."""

from collections.abc import Callable, Sequence

import numpy as np

from permissible.learners.boundary.fit import BoundaryTask, model_of, solve
from permissible.learners.choose import stage_of
from permissible.types import BoolArray, FloatArray, IntArray

RowLosses = Callable[[BoolArray, FloatArray], FloatArray]
"""The loss of each row from its class (whether it is the positive one) and its score."""


def path_risks(
    task: BoundaryTask, alphas: FloatArray, splits: Sequence[tuple[IntArray, IntArray]], losses: RowLosses
) -> FloatArray | None:
    """The mean held-out loss of each alpha; None if no split has both classes among its training rows.

    The alphas come in decreasing order; a split has the positions of the training rows and of the held-out rows.
    """
    totals, mass = np.zeros(len(alphas)), 0.0
    positive, weight = task.problem.positive, task.problem.weight
    for training, held_out in splits:
        if len(np.unique(positive[training])) < 2 or not len(held_out):
            continue
        some, others, last = task.take(training), task.features(held_out, training), None
        for stage, alpha in enumerate(alphas):
            step = some.with_alpha(float(alpha))
            last = solve(step, last)
            score = model_of(step, last).scores(others)
            totals[stage] += weight[held_out] @ losses(positive[held_out], score)
        mass += float(weight[held_out].sum())
    return totals / mass if mass else None


def best_alpha(alphas: FloatArray, risks: FloatArray) -> float:
    """The alpha of least risk; ties go to the largest, which is the last in increasing order."""
    stage = stage_of(None, risks[::-1], equals="last").stage
    return float(alphas[::-1][stage])
