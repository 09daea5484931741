"""Damped Newton's method for smooth convex objectives, with a gradient test, a step limit and a reported outcome.

Levenberg's damping: the step solves (H + damping S) step = -gradient, where S makes every column of unit norm and unit
curvature, so that the scaling of the columns does not matter. A step that lowers the objective is accepted and the
damping falls; otherwise it is rejected and the damping grows. The damping is proportional to the gradient, so it
vanishes at the minimum and the last steps are plain Newton steps. Where the curvature vanishes but the gradient does
not (a loss that is linear beyond a score), the damping alone determines the length of the step.

A coordinate without a finite minimiser is *held*: it stays where it is, the others continue, and the result names it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from permissible.types import BoolArray, FloatArray

FIRST_DAMPING = 1e-6
LARGEST_DAMPING = 1e20
ROUNDING = 1e-12
"""A predicted decrease below this fraction of the objective is lost in rounding; the gradient is compared instead."""


class Expansion(Protocol):
    """An objective at a point."""

    @property
    def value(self) -> float:
        """The objective."""

    @property
    def gradient(self) -> FloatArray:
        """Its derivatives."""

    @property
    def residual(self) -> FloatArray:
        """The size of each derivative on the scale of its column: 1 is as large as it can be at the start."""

    @property
    def rounding(self) -> FloatArray:
        """The part of `residual` that rounding alone can cause."""


Place = TypeVar("Place", bound=Expansion)


class Objective(Protocol[Place]):
    """A smooth convex function of a vector, bounded from below."""

    def at(self, point: FloatArray) -> Place:
        """The objective at a point."""

    def direction(self, at: Place, damping: float, free: BoolArray) -> FloatArray:
        """The damped Newton step over the free coordinates, 0 for the others."""

    def bent(self, at: Place, refused: Place) -> Place:
        """The objective at the same point, with at least the curvature on the way to a rejected point."""

    def endless(self, at: Place, step: FloatArray) -> int | None:
        """The coordinate that moves most along a step without a finite minimiser; None for other steps."""


@dataclass(frozen=True, slots=True, eq=False)
class Minimum(Generic[Place]):
    """Where a minimisation ended."""

    point: FloatArray
    at: Place
    converged: bool  # whether the gradient over the coordinates that are not held is within the tolerance
    residual: float  # the largest scaled derivative over those
    held: tuple[int, ...]  # coordinates along which there is no finite minimiser, in the order in which they were held
    steps: int


def minimise(
    objective: Objective[Place],
    start: FloatArray,
    free: BoolArray,
    *,
    tolerance: float,
    accepted: float,
    max_steps: int,
    enough: Callable[[Place, float], bool] = lambda at, residual: False,
) -> Minimum[Place]:
    """Minimise over the free coordinates.

    It stops when every scaled derivative is at most `tolerance`, when `enough` says so of the objective at the point
    and the largest scaled derivative, or after `max_steps` steps, accepted or rejected. If rounding ends the descent
    earlier, a largest scaled derivative up to `accepted` still counts as converged.
    """
    point, free, held = start.copy(), free.copy(), list[int]()
    at = objective.at(point)
    share, growth, step_number = FIRST_DAMPING, 4.0, 0
    while step_number < max_steps:
        residual = _largest(at, free)
        if residual <= tolerance or enough(at, residual):
            break
        step_number += 1
        step = objective.direction(at, share * residual, free)
        slope = -float(at.gradient @ step)
        if slope > 0 and (endless := objective.endless(at, step)) is not None:
            free[endless] = False
            held.append(endless)
            continue
        trial = point + step
        there = objective.at(trial) if slope > 0 else at
        gain = at.value - there.value
        if slope > 0 and slope <= ROUNDING * abs(at.value):
            # By convexity the derivative along the step shows whether it was too long.
            better = float(there.gradient @ step) <= 0.9 * slope and gain >= -ROUNDING * abs(at.value)
        else:
            better = slope > 0 and gain >= 1e-4 * slope
        if better:
            # A quadratic function decreases by half of the slope; much less means that the step was too long.
            lost = slope <= ROUNDING * abs(at.value)
            share = share * 4.0 if gain < 0.1 * slope and not lost else max(share / 10.0, 1e-30)
            point, at, growth = trial, there, 4.0
            continue
        if slope > 0 and step_number > max_steps // 2:  # near kinks the curvature at the point alone is not enough
            at = objective.bent(at, there)
        share, growth = max(share * growth, FIRST_DAMPING), min(2.0 * growth, 64.0)
        if share > LARGEST_DAMPING:
            break
    residual = _largest(at, free)
    converged = residual <= accepted or enough(at, residual) or bool(np.all((at.residual <= at.rounding)[free]))
    return Minimum(point, at, converged, residual, tuple(held), step_number)


def _largest(at: Expansion, free: BoolArray) -> float:
    return float(np.max(at.residual[free], initial=0.0))
