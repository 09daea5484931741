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
class MarginLoss:
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
    rebuild: tuple[Callable[..., object], tuple[object, ...]] | None = field(default=None, compare=False)

    @property
    def score_limit(self) -> float:
        """The score of probability 1."""
        return self.psi.score_limit

    @cached_property
    def largest_curvature(self) -> float:
        """The largest curvature over all margins, sup psi''; infinite for the exponential loss."""
        known = self.psi.largest_curvature
        return of_psi(self.psi.curvature) if known is None else known

    @property
    def functor(self) -> Functor | None:
        """The compiled form, None for a user's own psi."""
        return self.psi.functor

    @property
    def impurity_functor(self) -> Functor | None:
        """The compiled form of the impurity, None for a user's own psi."""
        return self.psi.impurity_functor

    @property
    def joint_entropy(self) -> bool:
        """False: with several classes the impurity is the sum over the classes, each against the rest."""
        return False

    @property
    def formula(self) -> LinkFormula | None:
        """The probability of a score as text, None for a user's own psi."""
        return self.psi.formula

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
    def score(self, probability: FloatArray) -> FloatArray:
        """Score at which the conditional risk of a probability is least."""
        p = np.minimum(probability, 1 - probability)
        left = np.where(p > 0, self.psi.score(np.where(p > 0, p, 0.5)), -self.psi.score_limit)
        left = np.where(np.isnan(p), np.nan, left)
        return np.where(probability > 0.5, -left, left)

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

    def _key(self) -> tuple[object, ...]:
        return (self.name, tuple(sorted(self.params.items())), self.rebuild)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MarginLoss) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"losses.get({self.name!r})" if self.rebuild is None else f"losses.from_psi(name={self.name!r})"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        from permissible.losses.registry import rebuild

        return self.rebuild or (rebuild, (self.name, dict(self.params)))


def exponential() -> Psi:
    """AdaBoost's psi(x) = e^-x ([N] (5)); its link is 1 / (1 + e^(-2H)). Exponents stop at 700 to stay finite."""
    return Psi(
        value=_exponential,
        weight=_exponential,
        curvature=_exponential,
        probability=_exponential_probability,
        score=_exponential_score,
        bregman=_exponential_bregman,
        largest_curvature=inf,
        functor=Functor("exponential"),
        formula=LinkFormula("1.0 / (1.0 + {exp}(-2.0 * ({x})))", 350.0),
        impurity_functor=Functor("matsushita"),
    )


def _exponential(margin: FloatArray) -> FloatArray:
    return np.exp(-np.maximum(margin, -700))


def _exponential_probability(score: FloatArray) -> FloatArray:
    return np.asarray(expit(2 * score))


def _exponential_score(p: FloatArray) -> FloatArray:
    return left_logit(p) / 2


def _exponential_bregman(p: FloatArray, q: FloatArray) -> FloatArray:
    return logarithmic_divergence(p, q, p - q)


def least_squares() -> Psi:
    """Plain square psi(x) = (1 - x)^2 on all of R: ordinary least squares; weights turn negative beyond margin 1."""
    return Psi(
        value=_square,
        weight=_square_weight,
        curvature=_square_curvature,
        probability=_square_probability,
        score=_square_score,
        score_limit=1.0,
        bregman=_square_bregman,
        largest_curvature=2.0,
        functor=Functor("least_squares"),
        formula=LinkFormula("0.5 * (1.0 + ({x}))", 1.0),
        impurity_functor=Functor("squared"),
    )


def _square(margin: FloatArray) -> FloatArray:
    return np.asarray((1 - margin) ** 2)


def _square_weight(margin: FloatArray) -> FloatArray:
    return 2 * (1 - margin)


def _square_curvature(margin: FloatArray) -> FloatArray:
    return np.full_like(margin, 2.0)


def _square_probability(score: FloatArray) -> FloatArray:
    return np.clip((1 + score) / 2, 0, 1)


def _square_score(p: FloatArray) -> FloatArray:
    return 2 * p - 1


def _square_bregman(p: FloatArray, q: FloatArray) -> FloatArray:
    return np.asarray((p - q) ** 2 / 4)
