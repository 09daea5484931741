"""What the classifier is trained for: probability boundaries pi_k, the cut-offs delta_k and the surrogate at them.

Every permissible phi gives A_k = phi(pi_k) - a, B+_k = -(1 - pi_k), B-_k = -pi_k and delta_k = g(pi_k): the tangents of
bF at the boundaries, minimally consistent for them (Prop. 1 of [K] is the logistic case). Lines given by the user must
satisfy (C1)-(C3).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from permissible.decisions import Boundaries, CostMatrix, Hard, LogLoss, Reject, Soft, Weighted
from permissible.learners.boundary.segments import Segments
from permissible.losses import PermissibleLoss, PiecewiseLinear, get
from permissible.types import ArrayLike, FloatArray
from permissible.validation import Words, checked_boundaries, refusal


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Boundaries, cut-offs and surrogate; no boundaries and no segments for the soft classifier.

    Examples
    --------
    >>> import permissible as pm
    >>> Target.of(pm.Boundaries([0.25, 0.5, 0.75]), "logistic").deltas.round(4)
    array([-1.0986,  0.    ,  1.0986])
    """

    loss: Any
    boundaries: FloatArray
    deltas: FloatArray
    segments: Segments | None

    @classmethod
    def of(cls, decision: Any, loss: Any) -> "Target":
        """The target of a decision (or boundaries, or "soft") under a permissible loss or given lines."""
        if isinstance(loss, PiecewiseLinear):
            return cls._of_lines(loss, decision)
        made = get(loss)
        if not isinstance(made, PermissibleLoss):
            remedy = "take one of a permissible phi, such as 'logistic', or losses.PiecewiseLinear.from_lines"
            raise refusal("loss", "a loss that gives probabilities", Words(repr(made.name)), remedy)
        pi = boundaries_of(decision)
        return cls.soft(made) if pi is None else cls._of_surrogate(PiecewiseLinear(pi, base=made), made)

    @classmethod
    def soft(cls, loss: object) -> "Target":
        """The smooth loss itself, the limit of many boundaries."""
        return cls(loss, np.empty(0), np.empty(0), None)

    @classmethod
    def _of_lines(cls, surrogate: PiecewiseLinear, decision: object) -> "Target":
        pi = boundaries_of(decision)
        if pi is None or len(pi) != len(surrogate.boundaries) or not np.allclose(pi, surrogate.boundaries):
            came = Words("'soft'" if pi is None else str(list(pi)))
            raise refusal("boundaries", f"those of `loss`, {list(surrogate.boundaries)}", came)
        verdict = surrogate.check()
        if not verdict:
            raise refusal("loss", "lines that satisfy (C1) to (C3)", Words(str(verdict)))
        link = (
            surrogate.base if isinstance(surrogate.base, PermissibleLoss) else Interpolated(pi, tuple(surrogate.deltas))
        )
        return cls._of_surrogate(surrogate, link)

    @classmethod
    def _of_surrogate(cls, surrogate: PiecewiseLinear, link: object) -> "Target":
        negative, positive = surrogate.segments_neg, surrogate.segments_pos
        segments = Segments(
            np.ascontiguousarray([negative.hinges, positive.hinges]),
            np.ascontiguousarray([negative.widths, positive.widths]),
        )
        return cls(link, np.array(surrogate.boundaries), np.array(surrogate.deltas), segments)

    @property
    def cutoff(self) -> float:
        """The score above which `predict` is positive: that of a single boundary, else of probability 1/2."""
        return float(self.deltas[0]) if len(self.deltas) == 1 else float(self.loss.score(0.5))


@dataclass(frozen=True)
class Interpolated:
    """The link of lines without a phi: log-odds linear in the score between the cut-offs, slope one beyond them."""

    boundaries: tuple[float, ...]
    deltas: tuple[float, ...]
    score_limit: ClassVar[float] = np.inf

    def probability(self, score: ArrayLike) -> FloatArray:
        """The probability of a score; pi_k at delta_k."""
        f = np.asarray(score, dtype=np.float64)
        knots, odds = np.array(self.deltas), np.log(np.array(self.boundaries) / (1 - np.array(self.boundaries)))
        beyond = f - np.clip(f, knots[0], knots[-1])
        return np.asarray(1.0 / (1.0 + np.exp(-(np.interp(f, knots, odds) + beyond))))

    def score(self, probability: ArrayLike) -> FloatArray:
        """The score of a probability."""
        p = np.asarray(probability, dtype=np.float64)
        knots, odds = np.array(self.deltas), np.log(np.array(self.boundaries) / (1 - np.array(self.boundaries)))
        logit = np.log(p / (1 - p))
        return np.asarray(np.interp(logit, odds, knots) + logit - np.clip(logit, odds[0], odds[-1]))


def boundaries_of(decision: Any) -> tuple[float, ...] | None:
    """Return the boundaries of a decision, or None for the soft one; a sequence of numbers is returned as a tuple.

    Examples
    --------
    >>> import permissible as pm
    >>> boundaries_of(pm.Reject(0.2)), boundaries_of("soft"), boundaries_of([0.3])
    ((0.2, 0.8), None, (0.3,))
    """
    match decision:
        case Soft() | LogLoss():
            return None
        case str() if decision == "soft":
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
        case float():
            return checked_boundaries([decision])
    return checked_boundaries(decision)


def tie_is_positive(decision: object) -> bool:
    """Whether `predict` gives the positive class for a score exactly at the cut-off.

    Regions are right-closed, so a single boundary belongs to the region below it. All other decisions are cut at
    probability 1/2, where the positive class wins: sigma(0) = +1 ([N], [T]), the rule of `Hard` and of the other
    classifiers of two classes.

    Examples
    --------
    >>> import permissible as pm
    >>> tie_is_positive(pm.Hard()), tie_is_positive(pm.Weighted(0.5)), tie_is_positive("soft")
    (True, False, True)
    """
    pi = boundaries_of(decision)
    return isinstance(decision, Hard) or pi is None or len(pi) != 1


def decision_of(boundaries: object) -> Any:
    """Return the decision whose theoretical loss belongs to `boundaries`."""
    if hasattr(boundaries, "risk"):
        return boundaries
    pi = boundaries_of(boundaries)
    return Soft() if pi is None else Boundaries(pi)
