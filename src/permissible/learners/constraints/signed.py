"""Refits whose coefficients keep their signs: the minimum over a cone, by active sets.

A coefficient of the wrong sign is held at 0 and the others are fitted again. At the end a held coefficient whose derivative
says that the right sign would lower the loss is released, the strongest first. A convex objective has one such minimum.
"""

from dataclasses import replace

import numpy as np

from permissible.learners.uls.refit import Refit, refit
from permissible.learners.uls.rows import Patterns
from permissible.losses.surrogate import Surrogate
from permissible.types import BoolArray, FloatArray, IntArray

SLACK = 1e-9


def refit_signed(
    patterns: Patterns,
    grid: float,
    surrogate: Surrogate,
    theta: FloatArray,
    free: BoolArray,
    l2: float,
    signs: IntArray,
) -> Refit:
    """As `refit`, with sign(coefficient) = signs where that is not 0; `signs` has an entry for the constant too.

    `theta` obeys the signs already.
    """
    held = np.zeros(len(theta), dtype=bool)
    point = theta.copy()
    for _ in range(4 * len(theta) + 20):
        found = refit(patterns, grid, surrogate, point, free & ~held, l2)
        wrong = free & ~held & (signs * found.theta < 0)
        if wrong.any():
            # As far as the signs allow towards the minimum; what reaches 0 first is held there.
            share = np.full(len(theta), np.inf)
            share[wrong] = point[wrong] / (point[wrong] - found.theta[wrong])
            first = float(share.min())
            point = point + first * (found.theta - point)
            held |= share <= first * (1 + 1e-12)
            point[held] = 0.0
            continue
        point = found.theta.copy()
        slope = signs * _slopes(patterns, grid, surrogate, point, l2)
        worst = np.where(held, slope, 0.0)
        if worst.max(initial=0.0) <= SLACK * patterns.weight.sum() / grid:
            return replace(found, theta=point)
        held[int(worst.argmax())] = False
    return replace(found, theta=np.where(signs * point < 0, 0.0, point), converged=False)


def _slopes(patterns: Patterns, grid: float, surrogate: Surrogate, theta: FloatArray, l2: float) -> FloatArray:
    """Minus the derivative of the objective by each coefficient."""
    signs = np.column_stack((np.ones(len(patterns.bits)), 2.0 * patterns.bits - 1.0))
    score, weight = signs @ theta, patterns.weight / grid
    first = weight[:, 1] * surrogate.at(score)[:, 1] - weight[:, 0] * surrogate.at(-score)[:, 1]
    found = signs.T @ first - 2.0 * l2 * theta
    return np.asarray(found)
