"""General strictly convex losses psi of a margin ([N] section 2): exponential, the plain square, and a user's own.

The weight of a margin x is -psi'(x), its curvature psi''(x). There is no phi behind such a loss (it is not balanced:
psi(x) - psi(-x) is not linear), so phi, phi', a, b and G* do not exist; accessing them raises an AttributeError. The probability
of a score follows from the conditional risk p psi(x) + (1-p) psi(-x), least where p = w(-x) / (w(x) + w(-x)).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import NoReturn

import numpy as np
from scipy.special import expit

from permissible.losses.elementwise import as_probabilities, elementwise
from permissible.losses.entropy import Formula, Functor, LinkFormula
from permissible.losses.largest_curvature import of_psi
from permissible.losses.named_loss import NamedLoss, Rebuild
from permissible.losses.stable_formulas import left_logit, logarithmic_divergence
from permissible.types import ArrayLike, FloatArray

MISSING = ("phi", "phi_prime", "conjugate", "a", "b")


@dataclass(frozen=True, kw_only=True, slots=True)
class Psi:
    """One strictly convex psi: value, weight = -psi', curvature = psi'', the link.

    Where known also D_psi~ of two weights, the largest curvature sup psi'', the compiled form, the link as text (see
    :class:`.Entropy`), and the compiled phi whose impurity the least conditional risk is, up to a factor.
    """

    value: Formula
    weight: Formula
    curvature: Formula
    probability: Formula
    score: Formula
    score_limit: float = inf
    bregman: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    largest_curvature: float | None = None
    functor: Functor | None = None
    formula: LinkFormula | None = None
    impurity_functor: Functor | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MarginLoss(NamedLoss):
    """A strictly convex loss of the margin with the methods of a permissible loss, as far as they exist.

    Examples
    --------
    >>> from permissible import losses
    >>> loss = losses.get("exponential")
    >>> loss.value(0.0), loss.weight(0.0), loss.probability(0.0)
    (1.0, 1.0, 0.5)
    """

    name: str
    params: Mapping[str, float]
    psi: Psi
    rebuild: Rebuild | None = field(default=None, compare=False)
    maker = "from_psi"

    @property
    def function(self) -> Psi:
        """The psi."""
        return self.psi

    @property
    def left_link(self) -> Formula:
        """The score at which the conditional risk is least, of a probability in (0, 1/2]."""
        return self.psi.score

    @cached_property
    def largest_curvature(self) -> float:
        """The largest curvature over all margins, sup psi''; infinite for the exponential loss."""
        known = self.psi.largest_curvature
        return of_psi(self.psi.curvature) if known is None else known

    @property
    def impurity_functor(self) -> Functor | None:
        """The compiled form of the impurity, None for a user's own psi."""
        return self.psi.impurity_functor

    @property
    def joint_entropy(self) -> bool:
        """False: with several classes the impurity is the sum over the classes, each against the rest."""
        return False

    @elementwise("margin")
    def value(self, margin: FloatArray) -> FloatArray:
        """psi(x)."""
        return self.psi.value(margin)

    @elementwise("margin")
    def weight(self, margin: FloatArray) -> FloatArray:
        """-psi'(x)."""
        return self.psi.weight(margin)

    @elementwise("margin")
    def curvature(self, margin: FloatArray) -> FloatArray:
        """psi''(x), minus the derivative of the weight."""
        return self.psi.curvature(margin)

    @elementwise("margin")
    def margin(self, margin: FloatArray) -> FloatArray:
        """2 probability(x) - 1, in [-1, 1]."""
        left = self.psi.probability(-np.abs(margin))
        return np.copysign(1 - 2 * left, margin)

    @elementwise("score")
    def probability(self, score: FloatArray) -> FloatArray:
        """Probability p whose conditional risk p psi(H) + (1-p) psi(-H) is least at this score."""
        left = self.psi.probability(-np.abs(score))
        return np.where(score > 0, 1 - left, left)

    @elementwise("probability", as_probabilities)
    def impurity(self, probability: FloatArray) -> FloatArray:
        """Least conditional risk of a leaf, min_x p psi(x) + (1-p) psi(-x)."""
        p = np.minimum(probability, 1 - probability)
        x = self.psi.score(np.where(p > 0, p, 0.5))
        return np.where(p > 0, p * self.psi.value(x) + (1 - p) * self.psi.value(-x), 0.0)

    def bregman(self, p: ArrayLike, q: ArrayLike) -> FloatArray:
        """Divergence D_psi~(p || q) of two weights: what a step that changes weight q into p gains ([N] Theorem 1)."""
        if self.psi.bregman is None:
            raise AttributeError(f"{self!r} has no closed Bregman divergence of weights; use value() of the margins.")
        first, second = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64))
        result = self.psi.bregman(np.atleast_1d(first), np.atleast_1d(second)).reshape(first.shape)
        return result if result.ndim else result.item()  # type: ignore[return-value]

    def __getattr__(self, name: str) -> NoReturn:
        if name in MISSING:
            raise AttributeError(
                f"`{name}` exists only for the loss of a permissible phi; {self.name!r} is a general convex loss: "
                f"use value, weight, curvature, probability, score or impurity."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def exponential() -> Psi:
    """AdaBoost's psi(x) = e^-x ([N] (5)); its link is 1 / (1 + e^(-2H)). Exponents stop at 700 to stay finite."""
    return Psi(
        value=_exponential,
        weight=_exponential,
        curvature=_exponential,
        probability=lambda score: expit(2 * score),
        score=lambda p: left_logit(p) / 2,
        bregman=lambda p, q: logarithmic_divergence(p, q, p - q),
        largest_curvature=inf,
        functor=Functor("exponential"),
        formula=LinkFormula("1.0 / (1.0 + {exp}(-2.0 * ({x})))", 350.0),
        impurity_functor=Functor("matsushita"),
    )


def _exponential(margin: FloatArray) -> FloatArray:
    return np.exp(-np.maximum(margin, -700))


def least_squares() -> Psi:
    """Plain square psi(x) = (1 - x)^2 on all of R: ordinary least squares; weights turn negative beyond margin 1."""
    return Psi(
        value=lambda margin: (1 - margin) ** 2,
        weight=lambda margin: 2 * (1 - margin),
        curvature=lambda margin: np.full_like(margin, 2.0),
        probability=lambda score: np.clip((1 + score) / 2, 0, 1),
        score=lambda p: 2 * p - 1,
        score_limit=1.0,
        bregman=lambda p, q: (p - q) ** 2 / 4,
        largest_curvature=2.0,
        functor=Functor("least_squares"),
        formula=LinkFormula("0.5 * (1.0 + ({x}))", 1.0),
        impurity_functor=Functor("squared"),
    )
