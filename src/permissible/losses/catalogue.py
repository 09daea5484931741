"""The permissible functions of the papers, each one written once: phi, its link, and the closed forms that exist.

Rows of Table 1 of [N], [I], [T] and (20)-(24) of [T]. Every formula is for p <= 1/2 and x <= 0 (see :mod:`.entropy`).
A new phi is a function like these and a line in the registry; CONTRIBUTING.md walks through it.
"""

import math
from decimal import Decimal, localcontext

import numpy as np
from scipy.special import expit

from permissible.losses.entropy import Entropy, rescaled
from permissible.losses.power import power_bregman, power_inverse, power_margin
from permissible.losses.stable_formulas import left_logit, log_cosh_tilt, logarithmic_divergence
from permissible.types import FloatArray
from permissible.validation import refusal


def matsushita() -> Entropy:
    """Matsushita's error, phi_M(p) = sqrt(p (1 - p)) ([T] (21)): F(x) = sqrt(1 + x^2) - x."""
    return Entropy(
        b=0.5,
        excess=lambda p: np.sqrt(p) * np.sqrt(1 - p),
        link=lambda p: (p - 0.5) / (np.sqrt(p) * np.sqrt(1 - p)),
        inverse=lambda x: 0.5 / np.hypot(1, x) / (np.hypot(1, x) - x),  # (1 + x/r)/2 without cancellation
        conjugate=lambda x: 0.5 / (np.hypot(1, x) - x),  # (x + r)/2 likewise
        curvature=lambda x: 0.5 / np.hypot(1, x) / np.hypot(1, x) / np.hypot(1, x),
        margin=_matsushita_margin,
        largest_curvature=0.5,
        bregman=_matsushita_bregman,
    )


def _matsushita_margin(x: FloatArray) -> FloatArray:
    """Return |x| / sqrt(1 + x^2), 1 at infinity."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(x), 1.0, -x / np.hypot(1, x))


def _matsushita_bregman(p: FloatArray, rest: FloatArray, q: FloatArray, step: FloatArray) -> FloatArray:
    """D(p||q) = (p-q)^2 / (2 sqrt(q(1-q)) (sqrt(p(1-q)) + sqrt(q(1-p)))^2), the generic formula without cancellation."""
    chord = step / (np.sqrt(p) * np.sqrt(1 - q) + np.sqrt(q) * np.sqrt(rest))
    divergence: FloatArray = 0.5 * chord**2 / (np.sqrt(q) * np.sqrt(1 - q))
    return divergence


def mu_matsushita(mu: float = 1 / 3) -> Entropy:
    """phi_mu(p) = mu + (1 - mu) sqrt(p (1 - p)), 0 <= mu < 1 ([T] (20)): F_mu(x) = F_M(x / (1 - mu)) (E5)."""
    if not 0 <= mu < 1:
        raise refusal("mu", "a number in [0, 1)", mu)
    return rescaled(matsushita(), scale=1 - mu, shift=mu)


def _logistic_inverse(x: FloatArray) -> FloatArray:
    """e^x / (1 + e^x); the exponential is taken once."""
    grown = np.exp(x)
    result: FloatArray = grown / (1 + grown)
    return result


def logistic() -> Entropy:
    """Binary entropy, phi_Q(p) = -p ln p - (1-p) ln(1-p) ([T] (22)): F(x) = ln(1 + e^-x) / ln 2 (E1: the 1/ln 2)."""
    return Entropy(
        b=math.log(2),
        excess=lambda p: -p * np.log(np.maximum(p, 1e-320)) - (1 - p) * np.log1p(-p),
        link=left_logit,
        inverse=_logistic_inverse,
        conjugate=lambda x: np.log1p(np.exp(x)),
        curvature=lambda x: np.exp(x) / (1 + np.exp(x)) ** 2,
        margin=lambda x: np.tanh(-x / 2),
        largest_curvature=0.25,
        bregman=lambda p, rest, q, step: (
            logarithmic_divergence(p, q, step) + logarithmic_divergence(rest, 1 - q, -step)
        ),
    )


def squared() -> Entropy:
    """Gini, phi_B(p) = p (1 - p) ([T] (23)): F(x) = (1 - x)^2 on [-1, 1], continued by 0 and by -4x."""
    return Entropy(
        b=0.25,
        score_limit=1.0,
        excess=lambda p: p * (1 - p),
        link=lambda p: 2 * p - 1,
        inverse=lambda x: (1 + x) / 2,
        conjugate=lambda x: ((1 + x) / 2) ** 2,
        curvature=lambda x: np.full_like(x, 0.5),
        margin=lambda x: -x,
        largest_curvature=0.5,
        bregman=lambda p, rest, q, step: step**2,
    )


def power(upsilon: float = 0.25) -> Entropy:
    """phi_u(p) = (p (1 - p))^u, 0 < u < 1 ([N] section 6): u = 1/2 is Matsushita, u -> 1 Gini. Inverted numerically."""
    u = upsilon
    if not 0 < u < 1:
        raise refusal("upsilon", "a number in (0, 1)", upsilon)

    def conjugate(x: FloatArray) -> FloatArray:
        p = power_inverse(x, u)
        return (1 - p) ** (u - 1) * p**u * ((1 - u) + (2 * u - 1) * p)

    def curvature(x: FloatArray) -> FloatArray:
        p = power_inverse(x, u)
        pq = p * (1 - p)
        return pq ** (2 - u) / (u * ((1 - u) + (4 * u - 2) * pq))

    return Entropy(
        b=4.0**-u,
        excess=lambda p: p**u * (1 - p) ** u,
        link=lambda p: u * p ** (u - 1) * (1 - p) ** (u - 1) * (2 * p - 1),
        inverse=lambda x: power_inverse(x, u),
        conjugate=conjugate,
        curvature=curvature,
        margin=lambda x: power_margin(x, u),
        largest_curvature=2 * 4.0 ** (u - 2) / u,
        bregman=lambda p, rest, q, step: power_bregman(p, rest, q, step, u),
    )


def log_cosh(zeta: float = -8.0) -> Entropy:
    """phi_zeta(p) = (2/z) [ln cosh(z/4) - ln cosh(z/2 (p - 1/2))], z = |zeta| ([T] (24), shifted to phi(0) = 0: E7).

    zeta -> 0 is Gini rescaled, zeta -> -inf is min(p, 1 - p), whose loss is the hinge. Scores end at tanh(z/4).
    """
    z = abs(zeta)
    if not 1e-6 <= z <= 1e6:
        raise refusal("zeta", "a number with 1e-6 <= |zeta| <= 1e6 (the papers take it negative)", zeta)
    near_one, limit, part, rest = _limit(z / 4)

    def inverse(x: FloatArray) -> FloatArray:  # (2/z)(artanh x + z/4); near the limit by the addition theorem
        small = np.log1p(2 * np.maximum(x, -0.5) / (1 - x))  # each form keeps its digits on its side of -1/2
        far = np.where(x > -0.5, small, np.log((1 + x) / (1 - x))) / 2 + z / 4
        ratio = ((1 + x) - part - rest) / ((1 + x) - x * part) if near_one else (x + part + rest) / (1 + x * part)
        return 2 / z * np.where(far > 0.5, far, np.arctanh(np.clip(ratio, 0, 0.5)))

    def excess(p: FloatArray) -> FloatArray:  # (2/z) ln(cosh d + t sinh d)
        d, u = z / 2 * p, z / 4 - z / 2 * p
        return 2 / z * (log_cosh_tilt(d, expit(-2 * u), expit(2 * u)) + d * np.tanh(u))

    def bregman(p: FloatArray, rest: FloatArray, q: FloatArray, step: FloatArray) -> FloatArray:
        u = np.sign(step) * z / 2 * (q - 0.5)
        return 2 / z * log_cosh_tilt(z / 2 * np.abs(step), expit(-2 * u), expit(2 * u))

    return Entropy(
        b=2 / z * (z / 4 + math.log1p(math.exp(-z / 2)) - math.log(2))
        if z > 1
        else 2 / z * math.log1p(2 * math.sinh(z / 8) ** 2),
        score_limit=limit,
        excess=excess,
        link=lambda p: np.tanh(z / 2 * (p - 0.5)),
        inverse=inverse,
        conjugate=lambda x: 2 / z * log_cosh_tilt(z / 2 * inverse(x), (1 + x) / 2, (1 - x) / 2),
        curvature=lambda x: 2 / z / ((1 - x) * (1 + x)),
        margin=lambda x: -4 / z * np.arctanh(x),
        largest_curvature=2 / z * math.cosh(z / 4) ** 2 if z < 1400 else math.inf,  # at the end of the scores
        bregman=bregman,
    )


def _limit(x: float) -> tuple[bool, float, float, float]:
    """Return tanh(x), and in two parts itself, or 1 - tanh(x) if that is smaller: scores next to it keep their digits."""
    with localcontext() as context:
        context.prec = 60
        small = (Decimal(x) * -2).exp()
        limit = (1 - small) / (1 + small)
        near_one = limit > Decimal("0.5")
        part = 1 - limit if near_one else limit
        return near_one, float(limit), float(part), float(part - Decimal(float(part)))
