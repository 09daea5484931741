"""The inverse link of phi_u(p) = (p (1 - p))^u, which has no closed form: two Newton iterations that cannot overshoot.

Solve u (pq)^(u-1) (1 - 2p) = t for p in (0, 1/2], t = -x >= 0. For p <= 1/4 the logarithm of the left side is a
decreasing concave function of ln p, and Newton from the right converges monotonically; for p > 1/4 the unknown is
the margin m = 1 - 2p, so that m keeps its digits near 0, and the logarithm is increasing and convex in ln m.
"""

import numpy as np

from permissible.losses.stable_formulas import integral
from permissible.types import FloatArray

STEPS = 60


def power_link(p: FloatArray, u: float) -> FloatArray:
    """Return g(p) = -u (pq)^(u-1) (1 - 2p)."""
    return np.asarray(u * p ** (u - 1) * (1 - p) ** (u - 1) * (2 * p - 1))


def power_conjugate(x: FloatArray, u: float) -> FloatArray:
    """Return G*(x) at p = ginv(x)."""
    p = power_inverse(x, u)
    return np.asarray((1 - p) ** (u - 1) * p**u * ((1 - u) + (2 * u - 1) * p))


def power_curvature(x: FloatArray, u: float) -> FloatArray:
    """Return 1 / G''(p) at p = ginv(x)."""
    p = power_inverse(x, u)
    pq = p * (1 - p)
    return np.asarray(pq ** (2 - u) / (u * ((1 - u) + (4 * u - 2) * pq)))


def power_inverse(x: FloatArray, u: float) -> FloatArray:
    """Return p = ginv(x) in [0, 1/2] for x <= 0."""
    central, tail = _solve(x, u)
    return np.where(np.isnan(tail), (1 - central) / 2, tail)


def power_margin(x: FloatArray, u: float) -> FloatArray:
    """Return 1 - 2 ginv(x) in [0, 1] for x <= 0."""
    central, tail = _solve(x, u)
    return np.where(np.isnan(tail), central, 1 - 2 * tail)


def _solve(x: FloatArray, u: float) -> tuple[FloatArray, FloatArray]:
    """Return the margin where |x| is small and the probability where it is large (NaN in the other of the two)."""
    t = np.minimum(-x, 1e300)
    edge = u * (3 / 16) ** (u - 1) / 2  # |g(1/4)|
    small = ~(t > edge)
    central, tail = np.full_like(t, np.nan), np.full_like(t, np.nan)
    if small.any():
        central[small] = _central(t[small], u)
    if not small.all():
        tail[~small] = _tail(t[~small], u)
    return central, tail


def _central(t: FloatArray, u: float) -> FloatArray:
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


def _tail(t: FloatArray, u: float) -> FloatArray:
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


def power_bregman(p: FloatArray, rest: FloatArray, q: FloatArray, step: FloatArray, u: float) -> FloatArray:
    """D_G(p || q) by its definition; where p is near q as (p-q)^2 times the integral of (1-s) G''(q + s(p-q))."""
    slope = power_link(q, u)
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
