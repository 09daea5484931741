"""The permissible functions of the papers, each one written once: phi, its link, and the closed forms that exist.

Rows of Table 1 of [N], [I], [T] and (20)-(24) of [T]. Every formula is for p <= 1/2 and x <= 0 (see :mod:`.entropy`). A new
phi is a function like these and a line in the registry; CONTRIBUTING.md walks through it.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from scipy.special import expit

from permissible.losses.entropy import Entropy, Functor, LinkFormula, rescaled
from permissible.losses.stable_formulas import integral, left_logit, log_cosh_tilt, logarithmic_divergence
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


# -- powers -----------------------------------------------------------------------------------------------------------------
# The inverse link has no closed form: two Newton iterations that cannot overshoot solve u (pq)^(u-1) (1 - 2p) = t for p in
# (0, 1/2], t = -x >= 0. For p <= 1/4 the logarithm of the left side is a decreasing concave function of ln p, and Newton from
# the right converges monotonically; for p > 1/4 the unknown is the margin m = 1 - 2p, so that m keeps its digits near 0, and
# the logarithm is increasing and convex in ln m.
STEPS = 60


def power(upsilon: float = 0.25) -> Entropy:
    """phi_u(p) = (p (1 - p))^u, 0 < u < 1 ([N] section 6): u = 1/2 is Matsushita, u -> 1 Gini. Inverted numerically."""
    u = upsilon
    if not 0 < u < 1:
        raise refusal("upsilon", "a number in (0, 1)", upsilon)

    def conjugate(x: FloatArray) -> FloatArray:
        p = power_inverse(x, u)
        return np.asarray((1 - p) ** (u - 1) * p**u * ((1 - u) + (2 * u - 1) * p))

    def curvature(x: FloatArray) -> FloatArray:
        p = power_inverse(x, u)
        pq = p * (1 - p)
        return np.asarray(pq ** (2 - u) / (u * ((1 - u) + (4 * u - 2) * pq)))

    def margin(x: FloatArray) -> FloatArray:
        central, tail = _power_solve(x, u)
        return np.where(np.isnan(tail), central, 1 - 2 * tail)

    return Entropy(
        b=4.0**-u,
        excess=lambda p: p**u * (1 - p) ** u,
        link=lambda p: _power_link(p, u),
        inverse=lambda x: power_inverse(x, u),
        conjugate=conjugate,
        curvature=curvature,
        margin=margin,
        largest_curvature=2 * 4.0 ** (u - 2) / u,
        bregman=lambda p, rest, q, step: _power_bregman(p, rest, q, step, u),
        functor=Functor("power", float(u), iterative=True),
    )


def _power_link(p: FloatArray, u: float) -> FloatArray:
    return np.asarray(u * p ** (u - 1) * (1 - p) ** (u - 1) * (2 * p - 1))


def power_inverse(x: FloatArray, u: float) -> FloatArray:
    """Return p = ginv(x) in [0, 1/2] for x <= 0."""
    central, tail = _power_solve(x, u)
    return np.where(np.isnan(tail), (1 - central) / 2, tail)


def _power_solve(x: FloatArray, u: float) -> tuple[FloatArray, FloatArray]:
    """Return the margin where |x| is small and the probability where it is large (NaN in the other of the two)."""
    t = np.minimum(-x, 1e300)
    edge = u * (3 / 16) ** (u - 1) / 2  # |g(1/4)|
    small = ~(t > edge)
    central, tail = np.full_like(t, np.nan), np.full_like(t, np.nan)
    if small.any():
        central[small] = _power_central(t[small], u)
    if not small.all():
        tail[~small] = _power_tail(t[~small], u)
    return central, tail


def _power_central(t: FloatArray, u: float) -> FloatArray:
    """Solve (1 - m^2)^(u-1) m = t / (u 4^(1-u)) for m in [0, 1/2]."""
    goal = t / (u * 4.0 ** (1 - u))
    m: FloatArray = np.minimum(goal, 0.5)
    log_goal = np.log(np.where(goal > 0, goal, 1.0))
    active = goal > 0
    for _ in range(STEPS):
        gap = (u - 1) * np.log1p(-m * m) + np.log(np.where(active, m, 1.0)) - log_goal
        step = gap / (1 + 2 * (1 - u) * m * m / (1 - m * m))
        m = np.where(active, m * np.exp(-step), m)
        active = active & (np.abs(step) > 1e-8)  # Newton squares the error: the step just taken was the last needed
        if not active.any():
            break
    return m


def _power_tail(t: FloatArray, u: float) -> FloatArray:
    """Solve (u-1) ln(pq) + ln(1 - 2p) = ln(t/u) for s = ln p <= ln 1/4."""
    log_goal = np.log(t) - np.log(u)
    s = np.minimum(-log_goal / (1 - u), np.log(0.25))
    active = np.ones(s.shape, dtype=bool)
    for _ in range(STEPS):
        p = np.exp(s)
        gap = (u - 1) * (s + np.log1p(-p)) + np.log1p(-2 * p) - log_goal
        step = gap / ((u - 1) * (1 - p / (1 - p)) - 2 * p / (1 - 2 * p))
        s = np.where(active, s - step, s)
        active = active & (np.abs(step) > 1e-8)  # each row stops by itself, whatever its neighbours
        if not active.any():
            break
    root: FloatArray = np.exp(s)
    return root


def _power_bregman(p: FloatArray, rest: FloatArray, q: FloatArray, step: FloatArray, u: float) -> FloatArray:
    """D_G(p || q) by its definition; where p is near q as (p-q)^2 times the integral of (1-s) G''(q + s(p-q))."""
    slope = _power_link(q, u)
    result: FloatArray = q**u * (1 - q) ** u - p**u * rest**u - step * slope
    near = np.abs(step) < 0.1 * np.minimum(q, 1 - q)
    if near.any():
        start, relative = q[near], (step / q)[near]

        def shape(node: float) -> FloatArray:
            grown = 1 + relative * node
            along = start * grown
            bend = (1 - u) + (4 * u - 2) * along * (1 - along)
            return np.asarray((1 - node) * grown ** (u - 2) * (1 - along) ** (u - 2) * bend)

        result[near] = u * start**u * relative**2 * integral(shape)
    return result


# -- between Gini and the hinge ---------------------------------------------------------------------------------------------
# Scores end at tanh(z/4), which for large z is 1 to many digits: the distance of a score to that end is kept in two parts.
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
