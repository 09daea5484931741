"""Convex losses that have flat or straight parts: hinge, squared hinge, DWD, LUM ([K] section 3; mathematics, 8.1).

They are not strictly convex, so boosting cannot use them. They are provided so that their consistency for given
boundaries ([K]) can be checked, by :func:`permissible.losses.check_consistency`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from permissible.losses.elementwise import as_probabilities, elementwise
from permissible.losses.entropy import Formula
from permissible.types import FloatArray
from permissible.validation import refusal


@dataclass(frozen=True, eq=False, repr=False)
class LargeMarginLoss:
    """A convex loss of the margin z with its weight -loss'(z) (NaN where it has a kink) and the score delta(pi).

    >>> from permissible import losses
    >>> losses.dwd().score([0.2, 0.5, 0.8])
    array([-1.,  0.,  1.])
    """

    name: str
    params: Mapping[str, float]
    value_formula: Formula
    weight_formula: Formula
    score_formula: Formula
    kinks: tuple[float, ...] = ()

    @elementwise("margin")
    def value(self, margin: FloatArray) -> FloatArray:
        """Return the loss of a margin."""
        return self.value_formula(margin)

    @elementwise("margin")
    def weight(self, margin: FloatArray) -> FloatArray:
        """Return minus the derivative; NaN at a kink, where there is none."""
        weight = self.weight_formula(margin)
        return np.where(np.isin(margin, self.kinks), nan, weight)

    @elementwise("probability", as_probabilities)
    def score(self, probability: FloatArray) -> FloatArray:
        """Return delta(pi), the score at which a decision at probability pi changes; NaN where none is consistent."""
        return self.score_formula(probability)

    def __reduce__(self) -> tuple[object, tuple[float, ...]]:
        return globals()[self.name], tuple(self.params.values())

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value:g}" for key, value in self.params.items())
        return f"losses.{self.name}({shown})"


def hinge() -> LargeMarginLoss:
    """Hinge (1 - z)_+ of the SVM: consistent for the boundary 1/2 alone.

    Examples
    --------
    >>> from permissible import losses
    >>> losses.hinge().value([0.0, 1.0]).tolist()
    [1.0, 0.0]
    """
    return LargeMarginLoss(
        "hinge",
        {},
        value_formula=lambda z: np.maximum(1 - z, 0),
        weight_formula=lambda z: np.where(z < 1, 1.0, 0.0),
        score_formula=lambda p: np.where(p == 0.5, 0.0, nan),
        kinks=(1.0,),
    )


def squared_hinge() -> LargeMarginLoss:
    """Squared hinge (1 - z)_+^2: delta(pi) = 2 pi - 1.

    Examples
    --------
    >>> from permissible import losses
    >>> losses.squared_hinge().value([-1.0, 1.0]).tolist()
    [4.0, 0.0]
    """
    return LargeMarginLoss(
        "squared_hinge",
        {},
        value_formula=lambda z: np.maximum(1 - z, 0) ** 2,
        weight_formula=lambda z: 2 * np.maximum(1 - z, 0),
        score_formula=lambda p: 2 * p - 1,
    )


def lum(a: float = 1.0, c: float = 1.0) -> LargeMarginLoss:
    """Large-margin unified loss: 1 - z for z < c/(1+c), else (1/(1+c)) (a / ((1+c) z - c + a))^a (Liu, Zhang and Wu 2011).

    Examples
    --------
    >>> from permissible import losses
    >>> losses.lum(a=1.0, c=1.0).value([0.0, 1.0]).tolist()
    [1.0, 0.25]
    """
    if not a > 0:
        raise refusal("a", "a positive number", a)
    if not c >= 0:
        raise refusal("c", "a non-negative number", c)
    corner = c / (1 + c)

    def ratio(z: FloatArray) -> FloatArray:
        return np.asarray(a / ((1 + c) * np.maximum(z, corner) - c + a))

    def score(p: FloatArray) -> FloatArray:
        q = np.clip(np.maximum(p, 1 - p), 0.5, 1 - 2**-53)
        size = (c - a + a * (q / (1 - q)) ** (1 / (a + 1))) / (1 + c)
        return np.where(p == 0.5, 0.0, np.sign(p - 0.5) * size)

    return LargeMarginLoss(
        "lum",
        {"a": a, "c": c},
        value_formula=lambda z: np.where(z < corner, 1 - z, ratio(z) ** a / (1 + c)),
        weight_formula=lambda z: np.where(z < corner, 1.0, ratio(z) ** (a + 1)),
        score_formula=score,
    )


def dwd() -> LargeMarginLoss:
    """Distance-weighted discrimination, 1 - z for z < 1/2, else 1/(4z): LUM with a = c = 1 (Marron, Todd and Ahn 2007).

    Examples
    --------
    >>> from permissible import losses
    >>> losses.dwd().value([0.0, 1.0]).tolist()
    [1.0, 0.25]
    """
    return replace(lum(1.0, 1.0), name="dwd", params={})
