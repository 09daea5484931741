"""What the classifier is trained for: probability boundaries pi_k and the loss whose tangents at them are the surrogate.

Every permissible phi gives A_k = phi(pi_k) - a, B+_k = -(1 - pi_k), B-_k = -pi_k and delta_k = g(pi_k): the tangents of bF at the
boundaries, minimally consistent for them (Prop. 1 of [K] is the logistic case).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.decisions import Boundaries, CostMatrix, Hard, Reject, Soft, Weighted
from permissible.learners.boundary.segments import Segments
from permissible.types import FloatArray
from permissible.validation import checked_boundaries, refusal


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Boundaries, cut-offs and surrogate; no boundaries and no segments for the soft classifier.

    Examples
    --------
    >>> from permissible import losses
    >>> Target.at([0.25, 0.5, 0.75], losses.get("logistic")).deltas.round(4)
    array([-1.0986,  0.    ,  1.0986])
    """

    loss: Any
    boundaries: FloatArray
    deltas: FloatArray
    segments: Segments | None

    @classmethod
    def at(cls, boundaries: Sequence[float], loss: Any) -> "Target":
        """The tangents of a permissible loss at the boundaries."""
        pi = np.array(checked_boundaries(boundaries))
        intercepts = np.asarray(loss.phi(pi), dtype=np.float64) - loss.a
        return cls(loss, pi, np.asarray(loss.score(pi)), Segments.from_lines(intercepts, pi - 1.0, -pi))

    @classmethod
    def soft(cls, loss: Any) -> "Target":
        """The smooth loss itself, the limit of ever more boundaries."""
        return cls(loss, np.empty(0), np.empty(0), None)

    @property
    def cutoff(self) -> float:
        """The score above which `predict` says positive: that of a single boundary, else that of probability 1/2."""
        return float(self.deltas[0]) if len(self.deltas) == 1 else float(self.loss.score(0.5))


def boundaries_of(decision: Any) -> tuple[float, ...] | None:
    """Return the boundaries a decision is about, or None for the soft one; a sequence of numbers stands for itself.

    Examples
    --------
    >>> import permissible as pm
    >>> boundaries_of(pm.Reject(0.2)), boundaries_of("soft"), boundaries_of([0.3])
    ((0.2, 0.8), None, (0.3,))
    """
    match decision:
        case Soft() | "soft":
            return None
        case Hard():
            return (0.5,)
        case Weighted(pi=pi):
            return (pi,)
        case Reject(cost=cost):
            return (cost, 1.0 - cost) if cost < 0.5 else (0.5,)
        case Boundaries(boundaries=boundaries):
            return boundaries
        case str() | CostMatrix():
            raise refusal("boundaries", 'numbers in (0, 1), "soft" or a two-class decision', decision)
    return checked_boundaries(np.atleast_1d(decision) if isinstance(decision, float) else decision)
