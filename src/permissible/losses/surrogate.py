"""The interface of a loss in the fitting loops: in compiled form where there is one, else in NumPy.

A built-in loss names its compiled form (:class:`.Functor`). A user's own phi gets one from a table of it, unless that would be
too large; a user's own psi has none.
"""

import math
from typing import Protocol

import numpy as np

from permissible.losses.entropy import Functor
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.losses.registry import Loss
from permissible.types import FloatArray


class Surrogate(Protocol):
    """The loss of a fit: bounds over the states that a step can reach, and how to search for the minimum along a step."""

    def bounds(self, low_state: float, high_state: float, reach: float) -> tuple[float, float, float]:
        """Largest weight, curvature and loss."""

    def state_of(self, margin: float) -> float:
        """The state of a margin."""

    def at(self, margin: FloatArray) -> FloatArray:
        """Loss, weight, curvature and slope of the curvature at margins, one row each."""

    @property
    def remainder(self) -> float:
        """The bound of a ninth derivative (cpp/rules/leverage.hpp); negative where there is none and steps are Newton's."""

    @property
    def cap(self) -> float:
        """A step at least this long means that there is no finite minimiser."""

    @property
    def attained(self) -> bool:
        """Whether some finite margin has weight 0, so that a finite minimiser always exists (mathematics.md 4.1)."""


class PythonSurrogate:
    """Any loss, evaluated by its own methods; the state is the margin itself."""

    remainder = -1.0

    def __init__(self, loss: Loss) -> None:
        self.loss = loss
        self.cap, self.attained = longest_step(loss), not math.isinf(loss.score_limit)

    def state_of(self, margin: float) -> float:
        """The margin."""
        return margin

    def at(self, margin: FloatArray) -> FloatArray:
        """Loss, weight, curvature and 0 at margins."""
        loss = self.loss
        return np.column_stack(
            (natural_value(loss, margin), loss.weight(margin), loss.curvature(margin), np.zeros(len(margin)))
        )

    def bounds(self, low_state: float, high_state: float, reach: float) -> tuple[float, float, float]:
        """Largest weight, curvature and loss; the curvature is that of a grid of margins, with a factor for safety."""
        low, high = low_state - reach, high_state + reach
        ends = np.array([low, high])
        grid = np.append(np.linspace(low, high, 65), np.clip(0.0, low, high))
        weight = np.abs(np.asarray(self.loss.weight(ends))).max()
        curvature = 4.0 * np.asarray(self.loss.curvature(grid)).max()
        return float(weight), float(curvature), float(natural_value(self.loss, ends).max())


def compiled(loss: Loss) -> Functor | None:
    """The compiled form of a loss; None for a user's own psi, and for an own phi that cannot be tabulated."""
    if loss.functor is not None or not isinstance(loss, PermissibleLoss):
        return loss.functor
    return tabulated_functor(loss)


def tabulated_functor(loss: PermissibleLoss) -> Functor | None:
    """The compiled form that looks a loss up in its table; None where the table would be too large."""
    from permissible.kernels._core import boosting
    from permissible.losses.own.tabulation import tabulated  # loaded only for a user's own loss

    table = tabulated(loss)
    if table is None:
        return None
    made = boosting.LossTable(table.breaks, table.weight, table.value, table.unit, table.largest_curvature)
    return Functor("table", longest_step(loss), table=made)


def natural_value(loss: Loss, margin: FloatArray) -> FloatArray:
    """The loss whose derivative is minus the weight: b F for a permissible one, psi itself otherwise."""
    unit = loss.b if isinstance(loss, PermissibleLoss) else 1.0
    return unit * np.asarray(loss.value(margin))


def longest_step(loss: Loss) -> float:
    """The step from which on there is no finite minimiser: the weight is practically 0 there."""
    if not math.isinf(loss.score_limit):
        return 1e8
    doublings = np.ldexp(1.0, np.arange(21)).astype(np.float64)
    faded = np.abs(loss.weight(doublings)) <= 1e-9 * np.abs(loss.weight(np.zeros(1)))
    return float(doublings[int(np.argmax(faded)) if faded.any() else -1])
