"""Is a loss right for these boundaries? Theorem 2 of [K], checked for any pair of convex losses (mathematics, 8.1).

Convex phi+ and phi- (of the margin z = y f) are consistent for pi_1 < ... < pi_K iff for each k some delta_k has both
derivatives there, both negative, and phi-'(-delta)/(phi-'(-delta) + phi+'(delta)) = pi_k. The ratio grows with delta, so
delta_k is found by bisection, and a ratio that jumps over pi_k shows that the loss is not consistent for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from permissible.types import ArrayLike
from permissible.validation import checked_boundaries

if TYPE_CHECKING:
    from permissible.losses.boundary.excess import ExcessConstants

REACH = 28.0  # sinh(28) is 7e11
STEPS = 70


class Weighing(Protocol):
    """A loss of the margin: minus its derivative is all that consistency needs."""

    def weight(self, margin: Any) -> Any:
        """Return minus the derivative of the loss."""


@dataclass(frozen=True)
class Consistency:
    """The verdict; true when the loss is consistent for all boundaries.

    Attributes
    ----------
    boundaries : the boundaries asked for.
    deltas : for each a score delta_k at which the decision changes, NaN where there is none.
    reason : in words, which boundary fails and why.

    Examples
    --------
    >>> from permissible import losses
    >>> verdict = losses.check_consistency(losses.squared_hinge(), [0.25, 0.75])
    >>> verdict.consistent, verdict.deltas
    (True, (-0.5, 0.5))
    >>> verdict.constants.exponent, round(verdict.constants.constant, 6)
    (2.0, 0.5)
    """

    boundaries: tuple[float, ...]
    deltas: tuple[float, ...]
    reason: str
    losses: tuple[Weighing, Weighing] | None = field(default=None, repr=False, compare=False)

    @property
    def constants(self) -> "ExcessConstants":
        """C and s of (13): how the excess risk of the surrogate bounds that of the decision."""
        from permissible.losses.boundary.excess import excess_constants

        if self.losses is None:
            raise AttributeError("this verdict is of lines: see PiecewiseLinear.excess_constant.")
        return excess_constants(self.losses[0], self.boundaries, self.losses[1])

    @property
    def consistent(self) -> bool:
        """Whether every boundary has its delta."""
        return not np.isnan(self.deltas).any()

    def __bool__(self) -> bool:
        return self.consistent


def check_consistency(loss: Any, boundaries: ArrayLike, negative: Weighing | None = None) -> Consistency:
    """Check Theorem 2 of [K] for a loss and boundaries, and return the scores where decisions change.

    Parameters
    ----------
    loss : name, or anything with ``weight(margin)``
        The loss of positives, phi+, and of negatives too unless `negative` is given.
    boundaries : sequence of float
        Increasing, in (0, 1).
    negative : loss, optional
        Another loss of negatives, phi-.

    Examples
    --------
    >>> from permissible import losses
    >>> verdict = losses.check_consistency("exponential", [0.2, 0.5])
    >>> bool(verdict), [round(delta, 4) for delta in verdict.deltas]
    (True, [-0.6931, 0.0])
    >>> print(losses.check_consistency(losses.hinge(), [0.3]).reason)
    no score has the ratio 0.3: it jumps from 0 to 0.5 at the score -1
    """
    from permissible.losses.registry import get

    pi = checked_boundaries(boundaries)
    positive: Weighing = get(loss) if isinstance(loss, str) else loss
    other = positive if negative is None else negative

    def ratio(delta: float) -> float:
        """phi-'(-delta) / (phi-'(-delta) + phi+'(delta)), NaN where a derivative is missing or both vanish."""
        down, up = float(other.weight(-delta)), float(positive.weight(delta))
        if np.isnan(down) or np.isnan(up) or down + up <= 0:
            return float("nan")
        return max(down, 0.0) / (max(down, 0.0) + max(up, 0.0))

    found = [_delta(ratio, boundary, positive, other) for boundary in pi]
    reasons = [reason for _, reason in found if reason]
    words = "; ".join(reasons) or "every boundary has its score"
    return Consistency(pi, tuple(delta for delta, _ in found), words, (positive, other))


def _delta(ratio: Callable[[float], float], pi: float, positive: object, negative: object) -> tuple[float, str]:
    """Return delta with ratio pi and no words, or NaN and the reason."""
    closed = getattr(positive, "score", None)
    if closed is not None and positive is negative:
        known = float(closed(pi))
        if np.isfinite(known) and abs(ratio(known) - pi) < 1e-9:
            return known, ""
    low, high = -REACH, REACH  # of t, delta = sinh(t): fine near 0 and far-reaching
    for _ in range(STEPS):
        middle = (low + high) / 2
        at = ratio(float(np.sinh(middle)))
        if np.isnan(at):
            at = 0.5 * (_side(ratio, float(np.sinh(middle)), -1) + _side(ratio, float(np.sinh(middle)), 1))
        if at == pi:
            low = high = middle
        elif at < pi:
            low = middle
        else:
            high = middle
    delta = float(np.sinh((low + high) / 2))
    if abs(ratio(delta) - pi) < 1e-7:
        return delta, ""
    left, right = _side(ratio, delta, -1), _side(ratio, delta, 1)
    if abs(delta) > 1e11:
        return float("nan"), f"no score has the ratio {pi:g}: it stays between {ratio(-1e11):.3g} and {ratio(1e11):.3g}"
    return float(
        "nan"
    ), f"no score has the ratio {pi:g}: it jumps from {left:.3g} to {right:.3g} at the score {delta:.6g}"


def _side(ratio: Callable[[float], float], delta: float, sign: int) -> float:
    return ratio(delta + sign * 1e-6 * max(1.0, abs(delta)))
