"""Refitting many coefficients at once: the corrective scheme (T_j = all so far) and blocks, mathematics.md section 4.

A score made of rules is the same for all rows that the same rules cover, so the refit works on these patterns and their weights
alone. Newton's method with the full Hessian and backtracking; where no finite minimiser exists (Stiemke's condition fails,
mathematics.md 4.1) the coefficients reach the cap or the loss vanishes, and the refit says so.
"""

from dataclasses import dataclass

import numpy as np

from permissible.kernels._core import boosting as kernels
from permissible.learners.uls_rows import Patterns, Surrogate
from permissible.types import BoolArray, FloatArray

ROUNDS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Refit:
    """Constant and coefficients at the minimum; `capped` when there is no finite one."""

    theta: FloatArray
    capped: bool


def refit(
    patterns: Patterns, grid: float, surrogate: Surrogate, theta: FloatArray, free: BoolArray, l2: float,
) -> Refit:  # fmt: skip
    """Minimise the sum of b F + l2 * sum of squared coefficients over the free ones of theta = (constant, coefficients).

    The constant costs nothing. A lone rule with its constant left out then costs what a classic step costs.
    """
    weight = patterns.weight / grid
    signs = np.column_stack((np.ones(len(patterns.bits)), 2.0 * patterns.bits - 1.0))
    penalty = np.full(len(theta), 2.0 * l2)
    penalty[0] = 0.0
    theta = theta.copy()
    value, first, second = _derivatives(signs @ theta, weight, surrogate)
    value += 0.5 * float(penalty @ theta**2)
    start = float(weight.sum()) * float(surrogate.at(np.zeros(1))[0, 0])
    for _ in range(ROUNDS):
        gradient, hessian = kernels.pattern_system(patterns.bits, first, second)
        gradient = (gradient - penalty * theta)[free]
        step = np.zeros(len(theta))
        step[free] = _newton(hessian[np.ix_(free, free)] + np.diag(penalty[free]), gradient)
        slope = float(gradient @ step[free])
        size, scale = float(np.abs(step).max()), float(np.abs(theta).max())
        if slope <= 0 or size <= 1e-13 * max(scale, 1e-3):
            break
        length, accepted = 1.0, False
        while length > 1e-10:
            trial = theta + length * step
            lower, first_trial, second_trial = _derivatives(signs @ trial, weight, surrogate)
            lower += 0.5 * float(penalty @ trial**2)
            # Near the minimum the decrease drowns in rounding: a full step that does not raise the value visibly is taken.
            if lower <= value - 1e-4 * length * slope or (length == 1.0 and lower <= value + 1e-14 * abs(value)):
                theta, value, first, second, accepted = trial, lower, first_trial, second_trial, True
                break
            length *= 0.5
        if not accepted:
            break
        if float(np.abs(theta).max()) > surrogate.cap or value <= 1e-12 * start:
            return Refit(theta, True)
        if size <= 1e-9 * max(scale, 1e-3):  # Newton is quadratic here: one more step would not be seen
            break
    return Refit(theta, False)


def _newton(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """The Newton step; repeated or constant rules leave the Hessian singular, and then the shortest step is taken."""
    ridge = 1e-14 * float(np.trace(hessian)) / len(gradient)
    try:
        factor = np.linalg.cholesky(hessian + ridge * np.eye(len(gradient)))
        return np.linalg.solve(factor.T, np.linalg.solve(factor, gradient))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0], dtype=np.float64)


def _derivatives(score: FloatArray, weight: FloatArray, surrogate: Surrogate) -> tuple[float, FloatArray, FloatArray]:
    """Loss, and per pattern the sum of y w and of curvatures, at a score per pattern."""
    negative, positive = surrogate.at(-score), surrogate.at(score)
    value = float((weight[:, 0] * negative[:, 0] + weight[:, 1] * positive[:, 0]).sum())
    first = weight[:, 1] * positive[:, 1] - weight[:, 0] * negative[:, 1]
    second = weight[:, 1] * positive[:, 2] + weight[:, 0] * negative[:, 2]
    return value, first, second
