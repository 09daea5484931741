"""What the classifier is trained for: probability boundaries pi_k and the loss whose tangents at them are the surrogate.

Every permissible phi gives A_k = phi(pi_k) - a, B+_k = -(1 - pi_k), B-_k = -pi_k and delta_k = g(pi_k): the tangents of bF at the
boundaries, minimally consistent for them (Prop. 1 of [K] is the logistic case).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.learners.boundary.segments import Segments
from permissible.types import FloatArray
from permissible.validation import Words, refusal, refusal_type


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
        pi = checked(boundaries)
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


def checked(boundaries: Sequence[float]) -> FloatArray:
    """Return boundaries as an array; refuse any outside (0, 1) or not increasing."""
    remedy = "sort them, and leave out 0 and 1, where nothing is left to decide"
    try:
        pi = np.array(boundaries, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError):
        raise refusal_type("boundaries", "increasing numbers in (0, 1)", boundaries) from None
    if pi.ndim != 1 or pi.size == 0:
        raise refusal("boundaries", "a non-empty sequence of increasing numbers in (0, 1)", boundaries)
    inside = (pi > 0) & (pi < 1)
    if not inside.all():
        raise refusal("boundaries", "numbers strictly between 0 and 1", float(pi[~inside][0]), remedy)
    if (np.diff(pi) <= 0).any():
        place = int(np.flatnonzero(np.diff(pi) <= 0)[0])
        raise refusal("boundaries", "strictly increasing", Words(f"{pi[place]:g} before {pi[place + 1]:g}"), remedy)
    return pi
