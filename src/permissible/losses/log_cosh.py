"""Formulas of phi_zeta(p) = (2/z) [ln cosh(z/4) - ln cosh(z/2 (p - 1/2))], z = |zeta|, for p <= 1/2 and x <= 0 ([T] (24)).

Scores end at tanh(z/4), which for large z is 1 to many digits: the distance of a score to that end is kept in two parts.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from scipy.special import expit

from permissible.losses.stable_formulas import log_cosh_tilt
from permissible.types import FloatArray


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


def log_cosh_height(z: float) -> float:
    """Return b = phi(1/2) = (2/z) ln cosh(z/4)."""
    if z > 1:
        return 2 / z * (z / 4 + math.log1p(math.exp(-z / 2)) - math.log(2))
    return 2 / z * math.log1p(2 * math.sinh(z / 8) ** 2)


def log_cosh_excess(p: FloatArray, z: float) -> FloatArray:
    """Return phi(p) = (2/z) ln(cosh d + t sinh d)."""
    d, u = z / 2 * p, z / 4 - z / 2 * p
    return 2 / z * (log_cosh_tilt(d, expit(-2 * u), expit(2 * u)) + d * np.tanh(u))


def log_cosh_inverse(x: FloatArray, z: float, end: ScoreEnd) -> FloatArray:
    """Return (2/z)(artanh x + z/4); near the end of the scores by the addition theorem."""
    small = np.log1p(2 * np.maximum(x, -0.5) / (1 - x))  # each form keeps its digits on its side of -1/2
    far = np.where(x > -0.5, small, np.log((1 + x) / (1 - x))) / 2 + z / 4
    part, rest = end.part, end.rest
    ratio = ((1 + x) - part - rest) / ((1 + x) - x * part) if end.near_one else (x + part + rest) / (1 + x * part)
    return 2 / z * np.where(far > 0.5, far, np.arctanh(np.clip(ratio, 0, 0.5)))


def log_cosh_conjugate(x: FloatArray, z: float, end: ScoreEnd) -> FloatArray:
    """Return G*(x)."""
    return 2 / z * log_cosh_tilt(z / 2 * log_cosh_inverse(x, z, end), (1 + x) / 2, (1 - x) / 2)


def log_cosh_bregman(q: FloatArray, step: FloatArray, z: float) -> FloatArray:
    """Return D_G(p || q), the divergence of ln cosh."""
    u = np.sign(step) * z / 2 * (q - 0.5)
    return 2 / z * log_cosh_tilt(z / 2 * np.abs(step), expit(-2 * u), expit(2 * u))
