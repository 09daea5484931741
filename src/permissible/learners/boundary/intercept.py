"""The intercept where (18) does not determine it: the middle of the interval of best ones.

The coefficients of an optimum are unique, a free intercept need not be: along b the loss is piecewise linear, with kinks at
b = y h_k - f, and where the weight below one kink equals that above it (classes of equal weight, few rows between the kinks)
it is flat up to the next. Solvers stop anywhere in there; the middle depends on neither row order nor solver.
"""

import numpy as np

from permissible.learners.boundary.problem import Problem
from permissible.types import FloatArray

FLAT = 1e-12
"""A slope of at most this share of the steepest counts as none."""
SHORT = 1e-6
"""An interval shorter than this, relative to 1 + |b|, is the solver's own rounding, and its intercept is kept."""


def settled_intercept(problem: Problem, score: FloatArray, intercept: float) -> float:
    """The given intercept, or the middle of the interval of best ones where there is one; `score` is without it."""
    if not problem.fit_intercept or problem.penalize_intercept:
        return intercept
    low, high = best_intercepts(problem, score)
    inside = low - SHORT * (1 + abs(low)) <= intercept <= high + SHORT * (1 + abs(high))
    if not inside or high - low <= SHORT * (1 + abs(intercept)):
        return intercept
    return 0.5 * (low + high)


def best_intercepts(problem: Problem, score: FloatArray) -> tuple[float, float]:
    """The ends of the interval of b that minimises sum c phi(y (f + b)); equal where one b is best."""
    counted = problem.weight > 0
    side = problem.positive[counted].astype(np.intp)
    sign = np.where(side == 1, 1.0, -1.0)[:, None]
    kinks = (sign * problem.segments.hinge[side] - score[counted][:, None]).ravel()
    rises = problem.weight[counted][:, None] * problem.segments.width[side]
    start = -float(rises[side == 1].sum())
    order = np.argsort(kinks, kind="stable")
    slopes = start + np.cumsum(rises.ravel()[order])  # to the right of each kink
    level = FLAT * float(rises.sum())
    first = int(np.searchsorted(slopes, -level))
    beyond = int(np.searchsorted(slopes, level, side="right"))
    last = len(order) - 1
    return float(kinks[order[min(first, last)]]), float(kinks[order[min(beyond, last)]])
