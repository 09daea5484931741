"""The intercept where (18) does not determine it: the middle of the interval of minimisers.

The coefficients at the optimum are unique, but a free intercept need not be. Along b the loss is piecewise linear, with
kinks at b = y h_k - f. Where the weight below a kink equals the weight above it (classes of equal weight, few rows
between the kinks) the loss is flat up to the next kink. Solvers stop anywhere in this interval; its middle depends on
neither row order nor solver.
"""

from dataclasses import replace

import numpy as np

from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.problem import Problem, Solution
from permissible.types import FloatArray

FLAT = 1e-12
"""A slope of at most this fraction of the steepest counts as zero."""
SHORT = 1e-6
"""An interval shorter than this, relative to 1 + |b|, is due to rounding; the solver's intercept is kept."""

FIRST_REACH = 1e-3
"""Half the width of the first window of kinks, relative to 1 + |b|."""


def settled(problem: Problem, fit: Solution, score: FloatArray, square: float) -> Solution:
    """The solution with the middle of the optimal intercepts, and its objective; the dual bound is unchanged.

    `score` is without intercept, `square` the squared norm.
    """
    intercept = settled_intercept(problem, score, fit.intercept)
    if intercept == fit.intercept:
        return fit
    moved = Certificate.of(problem.objective(score + intercept, square, intercept), fit.certificate.dual_objective)
    return replace(fit, intercept=intercept, certificate=moved) if moved.gap <= 2 * fit.certificate.gap else fit


def settled_intercept(problem: Problem, score: FloatArray, intercept: float) -> float:
    """The given intercept, or the middle of the interval of minimisers if there is one; `score` excludes it."""
    if not problem.penalty.free_intercept:
        return intercept
    low, high = best_intercepts(problem, score, near=intercept)
    inside = low - SHORT * (1 + abs(low)) <= intercept <= high + SHORT * (1 + abs(high))
    if not inside or high - low <= SHORT * (1 + abs(intercept)):
        return intercept
    return 0.5 * (low + high)


def best_intercepts(problem: Problem, score: FloatArray, near: float = 0.0) -> tuple[float, float]:
    """The ends of the interval of b that minimises sum c phi(y (f + b)); equal if the minimiser is unique.

    To save memory only the kinks in a window around `near` are sorted; it grows until the slope changes sign within it.
    """
    sums = problem.weight @ problem.positive, problem.weight @ ~problem.positive
    widths = problem.segments.width.sum(axis=1)
    start, total = -float(sums[0] * widths[1]), float(sums[0] * widths[1] + sums[1] * widths[0])
    level, reach = FLAT * total, FIRST_REACH * (1 + abs(near))
    while True:
        below, kinks, rises = _window(problem, score, near - reach, near + reach)
        order = np.argsort(kinks, kind="stable")
        slopes = start + below + np.cumsum(rises[order])  # to the right of each kink
        inside = len(order) > 0 and start + below < -level and slopes[-1] > level
        if inside or not np.isfinite(reach):
            break
        reach = reach * 16 if reach < 1e12 * (1 + abs(near)) else np.inf
    first = int(np.searchsorted(slopes, -level))
    beyond = int(np.searchsorted(slopes, level, side="right"))
    last = len(order) - 1
    return float(kinks[order[min(first, last)]]), float(kinks[order[min(beyond, last)]])


def _window(problem: Problem, score: FloatArray, low: float, high: float) -> tuple[float, FloatArray, FloatArray]:
    """The total rise of the kinks below the window, and the kinks within it with their rises."""
    below, kinks, rises = 0.0, list[FloatArray](), list[FloatArray]()
    for side, sign in ((0, -1.0), (1, 1.0)):
        rows = problem.positive if side else ~problem.positive
        rows = rows & (problem.weight > 0)
        own, weight = score[rows], problem.weight[rows]
        for hinge, width in zip(problem.segments.hinge[side], problem.segments.width[side], strict=True):
            kink = sign * hinge - own
            within = (kink >= low) & (kink <= high)
            below += width * float(weight[kink < low].sum())
            kinks.append(kink[within])
            rises.append(width * weight[within])
    return below, np.concatenate(kinks), np.concatenate(rises)
