"""The permissible functions of the papers, each one written once: phi, its link, and the closed forms that exist.

Rows of Table 1 of [N], [I], [T] and (20)-(24) of [T]. Every formula is for p <= 1/2 and x <= 0 (see :mod:`.entropy`).
A new phi is a function like these and a line in the registry; CONTRIBUTING.md walks through it.
"""

import math

import numpy as np

from permissible.losses import log_cosh as lc
from permissible.losses import power as pw
from permissible.losses.entropy import Entropy, Functor, LinkFormula, rescaled
from permissible.losses.stable_formulas import left_logit, logarithmic_divergence
from permissible.types import FloatArray
from permissible.validation import refusal

# -- Matsushita's error -----------------------------------------------------------------------------------------------------


def matsushita() -> Entropy:
    """Matsushita's error, phi_M(p) = sqrt(p (1 - p)) ([T] (21)): F(x) = sqrt(1 + x^2) - x."""
    root = "{sqrt}(1.0 + ({x}) * ({x}))"
    return Entropy(
        b=0.5,
        excess=lambda p: np.sqrt(p) * np.sqrt(1 - p),
        link=lambda p: (p - 0.5) / (np.sqrt(p) * np.sqrt(1 - p)),
        inverse=lambda x: 0.5 / np.hypot(1, x) / (np.hypot(1, x) - x),  # (1 + x/r)/2 without cancellation
        conjugate=lambda x: 0.5 / (np.hypot(1, x) - x),  # (x + r)/2 without cancellation
        curvature=lambda x: 0.5 / np.hypot(1, x) / np.hypot(1, x) / np.hypot(1, x),
        margin=_matsushita_margin,
        largest_curvature=0.5,
        bregman=_matsushita_bregman,
        functor=Functor("matsushita"),
        formula=LinkFormula(f"0.5 / ({root} * ({root} - ({{x}})))", 1e150, "(1 + score / sqrt(1 + score^2)) / 2"),
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


# -- binary entropy ---------------------------------------------------------------------------------------------------------


def logistic() -> Entropy:
    """Binary entropy, phi_Q(p) = -p ln p - (1-p) ln(1-p) ([T] (22)): F(x) = ln(1 + e^-x) / ln 2 (E1: the 1/ln 2)."""
    return Entropy(
        b=math.log(2),
        excess=lambda p: -p * np.log(np.maximum(p, 1e-320)) - (1 - p) * np.log1p(-p),
        link=left_logit,
        inverse=lambda x: np.exp(x) / (1 + np.exp(x)),
        conjugate=lambda x: np.log1p(np.exp(x)),
        curvature=lambda x: np.exp(x) / (1 + np.exp(x)) ** 2,
        margin=lambda x: np.tanh(-x / 2),
        largest_curvature=0.25,
        bregman=lambda p, rest, q, step: (
            logarithmic_divergence(p, q, step) + logarithmic_divergence(rest, 1 - q, -step)
        ),
        functor=Functor("logistic", softmax=True),
        joint=True,
        formula=LinkFormula("1.0 / (1.0 + {exp}(-({x})))", 700.0, "1 / (1 + exp(-score))"),
    )


# -- Gini -------------------------------------------------------------------------------------------------------------------


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
        margin=np.negative,
        largest_curvature=0.5,
        bregman=lambda p, rest, q, step: step**2,
        functor=Functor("squared"),
        formula=LinkFormula("0.5 * (1.0 + ({x}))", 1.0),
        renormalised=True,
    )


# -- with a parameter: the formulas are in power.py and log_cosh.py -----------------------------------------------------------


def power(upsilon: float = 0.25) -> Entropy:
    """phi_u(p) = (p (1 - p))^u, 0 < u < 1 ([N] section 6): u = 1/2 is Matsushita, u -> 1 Gini. Inverted numerically."""
    u = upsilon
    if not 0 < u < 1:
        raise refusal("upsilon", "a number in (0, 1)", upsilon)
    return Entropy(
        b=4.0**-u,
        excess=lambda p: p**u * (1 - p) ** u,
        link=lambda p: pw.power_link(p, u),
        inverse=lambda x: pw.power_inverse(x, u),
        conjugate=lambda x: pw.power_conjugate(x, u),
        curvature=lambda x: pw.power_curvature(x, u),
        margin=lambda x: pw.power_margin(x, u),
        largest_curvature=2 * 4.0 ** (u - 2) / u,
        bregman=lambda p, rest, q, step: pw.power_bregman(p, rest, q, step, u),
        functor=Functor("power", float(u), iterative=True),
    )


def log_cosh(zeta: float = -8.0) -> Entropy:
    """phi_zeta(p) = (2/z) [ln cosh(z/4) - ln cosh(z/2 (p - 1/2))], z = |zeta| ([T] (24), shifted to phi(0) = 0: E7).

    zeta -> 0 is Gini rescaled, zeta -> -inf is min(p, 1 - p), whose loss is the hinge. Scores end at tanh(z/4).
    """
    z = abs(zeta)
    if not 1e-6 <= z <= 1e6:
        raise refusal("zeta", "a number with 1e-6 <= |zeta| <= 1e6 (the papers take it negative)", zeta)
    end = lc.score_end(z / 4)
    text = f"0.5 + {{ln}}((1.0 + ({{x}})) / (1.0 - ({{x}}))) / {float(z)!r}"
    return Entropy(
        b=lc.log_cosh_height(z),
        score_limit=end.limit,
        excess=lambda p: lc.log_cosh_excess(p, z),
        link=lambda p: np.tanh(z / 2 * (p - 0.5)),
        inverse=lambda x: lc.log_cosh_inverse(x, z, end),
        conjugate=lambda x: lc.log_cosh_conjugate(x, z, end),
        curvature=lambda x: 2 / z / ((1 - x) * (1 + x)),
        margin=lambda x: -4 / z * np.arctanh(x),
        largest_curvature=2 / z * math.cosh(z / 4) ** 2 if z < 1400 else math.inf,  # at the end of the scores
        bregman=lambda p, rest, q, step: lc.log_cosh_bregman(q, step, z),
        functor=Functor("logcosh", float(z)),
        formula=LinkFormula(text, math.tanh(float(z) / 4.0)),
    )
