"""Unit and offset of many cards at once: exact minimisers of a convex function of two numbers.

A card gives a row with total t the score offset + unit * t, so that for fixed points its loss is

    J(offset, unit) = sum_t N+_t L(offset + unit t) + N-_t L(-offset - unit t) + ridge unit^2 / 2

with N+-_t the weight of each class at total t, L = b F the loss, and ridge = l2 sum(points^2) / 2, the penalty of the
coefficients unit * points / 2 of +-1 rules. Newton's method with Levenberg's damping minimises it, for all cards of a batch
together; sums run over totals, so the cost does not depend on the number of rows. Nothing here calls BLAS: the result is
the same bit for bit for any number of threads.
"""

from dataclasses import dataclass

import numpy as np

from permissible.kernels._core import boosting as kernels
from permissible.losses.surrogate import Surrogate
from permissible.types import BoolArray, FloatArray

MAX_STEPS = 200
TOLERANCE = 1e-11
"""A derivative below this fraction of what it could be at score 0 counts as zero."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedLines:
    """Offset, unit and loss (with the penalty) of each card of a batch."""

    offset: FloatArray
    unit: FloatArray
    value: FloatArray


@dataclass(slots=True, eq=False)
class _Expansions:
    """J of each card, its gradient (2 columns) and Hessian (00, 01, 11)."""

    value: FloatArray
    gradient: FloatArray
    hessian: FloatArray

    def set(self, places: BoolArray, other: "_Expansions", taken: BoolArray) -> None:
        """Replace the cards at `places` by the `taken` ones of the others."""
        chosen = np.flatnonzero(places)[taken]
        self.value[chosen] = other.value[taken]
        self.gradient[chosen] = other.gradient[taken]
        self.hessian[chosen] = other.hessian[taken]


def fit_lines(weight: FloatArray, ridge: FloatArray, surrogate: Surrogate, start: FloatArray) -> FittedLines:
    """The best offset and unit of each card.

    `weight` has those of negatives and positives at each total, (n_cards, n_totals, 2); `start` the first offset and
    unit, (n_cards, 2).
    """
    if isinstance(surrogate, kernels.LossFunction):
        found = surrogate.fit_lines(np.ascontiguousarray(weight), ridge, np.ascontiguousarray(start))
        return FittedLines(found[:, 0], found[:, 1], found[:, 2])
    return fit_lines_readable(weight, ridge, surrogate, start)


def fit_lines_readable(weight: FloatArray, ridge: FloatArray, surrogate: Surrogate, start: FloatArray) -> FittedLines:
    """The same for any loss: the twin of cpp/points/lines.cpp."""
    n_cards, n_totals = weight.shape[:2]
    totals = np.arange(n_totals, dtype=np.float64)
    point, damping = start.copy(), np.full(n_cards, 1e-6)
    at = _expand(weight, ridge, surrogate, totals, point)
    largest = weight.sum(axis=(1, 2))
    scale = np.column_stack((largest, largest * max(n_totals - 1, 1)))
    active = np.ones(n_cards, dtype=bool)
    for _ in range(MAX_STEPS):
        residual = np.abs(at.gradient) / scale
        reach = np.abs(point[:, 0]) + np.abs(point[:, 1]) * (n_totals - 1)
        active &= (residual.max(axis=1) > TOLERANCE) & (reach < 4.0 * surrogate.cap) & (damping < 1e12)
        if not active.any():
            break
        step = _step(at.gradient[active], at.hessian[active], damping[active])
        trial = point[active] + step
        there = _expand(weight[active], ridge[active], surrogate, totals, trial)
        slope = -(at.gradient[active] * step).sum(axis=1)
        gain = at.value[active] - there.value
        lost = slope <= 1e-13 * np.abs(at.value[active])  # the decrease is below rounding: compare gradients
        smaller = (np.abs(there.gradient) / scale[active]).max(axis=1) < residual[active].max(axis=1)
        better = np.where(lost, smaller, gain >= 1e-4 * slope)
        places = np.flatnonzero(active)
        point[places[better]] = trial[better]
        at.set(active, there, better)
        damping[places] = np.where(better, np.maximum(damping[places] / 10.0, 1e-14), damping[places] * 8.0)
    return FittedLines(point[:, 0], point[:, 1], at.value)


def _expand(
    weight: FloatArray, ridge: FloatArray, surrogate: Surrogate, totals: FloatArray, point: FloatArray
) -> _Expansions:
    score = point[:, :1] + point[:, 1:] * totals
    shape = (*score.shape, 4)
    positive = surrogate.at(np.ascontiguousarray(score.ravel())).reshape(shape)
    negative = surrogate.at(np.ascontiguousarray(-score.ravel())).reshape(shape)
    n_neg, n_pos = weight[:, :, 0], weight[:, :, 1]
    value = (n_pos * positive[..., 0] + n_neg * negative[..., 0]).sum(axis=1) + 0.5 * ridge * point[:, 1] ** 2
    first = n_neg * negative[..., 1] - n_pos * positive[..., 1]
    second = n_pos * positive[..., 2] + n_neg * negative[..., 2]
    along = second * totals
    gradient = np.column_stack((first.sum(axis=1), (first * totals).sum(axis=1) + ridge * point[:, 1]))
    hessian = np.column_stack((second.sum(axis=1), along.sum(axis=1), (along * totals).sum(axis=1) + ridge))
    return _Expansions(value, gradient, hessian)


def _step(gradient: FloatArray, hessian: FloatArray, damping: FloatArray) -> FloatArray:
    """The damped Newton step of each card; where the curvature vanishes the damping alone decides."""
    a, b, c = (hessian[:, k] for k in range(3))
    size = np.maximum(a + c, np.abs(gradient).max(axis=1))
    a, c = a + damping * np.maximum(a, 1e-3 * size), c + damping * np.maximum(c, 1e-3 * size)
    determinant = np.maximum(a * c - b * b, 1e-300)
    first, second = gradient[:, 0], gradient[:, 1]
    solved = np.column_stack((b * second - c * first, b * first - a * second))
    return np.asarray(solved / determinant[:, None])
