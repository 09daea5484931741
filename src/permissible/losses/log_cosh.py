"""phi_zeta, between Gini and the hinge ([T] (24)); every formula is for p <= 1/2 and x <= 0 (see :mod:`.entropy`).

Scores end at tanh(z/4), which for large z is 1 to many digits: the distance of a score to that end is kept in two parts.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from scipy.special import expit

from permissible.losses.entropy import Entropy, Functor, LinkFormula
from permissible.losses.stable_formulas import log_cosh_tilt
from permissible.types import FloatArray
from permissible.validation import refusal


@dataclass(frozen=True, slots=True)
class ScoreEnd:
    """tanh(z/4), and as `part` + `rest` itself, or 1 minus it where that is smaller (`near_one`)."""

    near_one: bool
    limit: float
    part: float
    rest: float


def score_end(x: float) -> ScoreEnd:
    """Return tanh(x) with more digits than a double has, so that scores next to it keep theirs."""
    with localcontext() as context:
        context.prec = 60
        small = (Decimal(x) * -2).exp()
        limit = (1 - small) / (1 + small)
        near_one = limit > Decimal("0.5")
        part = 1 - limit if near_one else limit
        return ScoreEnd(near_one, float(limit), float(part), float(part - Decimal(float(part))))


def log_cosh(zeta: float = -8.0) -> Entropy:
    """phi_zeta(p) = (2/z) [ln cosh(z/4) - ln cosh(z/2 (p - 1/2))], z = |zeta| ([T] (24), shifted to phi(0) = 0: E7).

    zeta -> 0 is Gini rescaled, zeta -> -inf is min(p, 1 - p), whose loss is the hinge. Scores end at tanh(z/4).
    """
    z = abs(zeta)
    if not 1e-6 <= z <= 1e6:
        raise refusal("zeta", "a number with 1e-6 <= |zeta| <= 1e6 (the papers take it negative)", zeta)
    end = score_end(z / 4)
    half = z / 4 + math.log1p(math.exp(-z / 2)) - math.log(2) if z > 1 else math.log1p(2 * math.sinh(z / 8) ** 2)

    def excess(p: FloatArray) -> FloatArray:
        d, u = z / 2 * p, z / 4 - z / 2 * p
        return 2 / z * (log_cosh_tilt(d, expit(-2 * u), expit(2 * u)) + d * np.tanh(u))  # ln(cosh d + t sinh d)

    def inverse(x: FloatArray) -> FloatArray:
        """(2/z)(artanh x + z/4); near the end of the scores by the addition theorem."""
        small = np.log1p(2 * np.maximum(x, -0.5) / (1 - x))  # each form keeps its digits on its side of -1/2
        far = np.where(x > -0.5, small, np.log((1 + x) / (1 - x))) / 2 + z / 4
        part, rest = end.part, end.rest
        ratio = ((1 + x) - part - rest) / ((1 + x) - x * part) if end.near_one else (x + part + rest) / (1 + x * part)
        return 2 / z * np.where(far > 0.5, far, np.arctanh(np.clip(ratio, 0, 0.5)))

    def bregman(p: FloatArray, rest: FloatArray, q: FloatArray, step: FloatArray) -> FloatArray:
        u = np.sign(step) * z / 2 * (q - 0.5)
        return 2 / z * log_cosh_tilt(z / 2 * np.abs(step), expit(-2 * u), expit(2 * u))

    text = f"0.5 + {{ln}}((1.0 + ({{x}})) / (1.0 - ({{x}}))) / {float(z)!r}"
    return Entropy(
        b=2 / z * half,
        score_limit=end.limit,
        excess=excess,
        link=lambda p: np.tanh(z / 2 * (p - 0.5)),
        inverse=inverse,
        conjugate=lambda x: 2 / z * log_cosh_tilt(z / 2 * inverse(x), (1 + x) / 2, (1 - x) / 2),
        curvature=lambda x: 2 / z / ((1 - x) * (1 + x)),
        margin=lambda x: -4 / z * np.arctanh(x),
        largest_curvature=2 / z * math.cosh(z / 4) ** 2 if z < 1400 else math.inf,  # at the end of the scores
        bregman=bregman,
        functor=Functor("logcosh", float(z)),
        formula=LinkFormula(text, math.tanh(float(z) / 4.0)),
    )
