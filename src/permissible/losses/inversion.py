"""Inverting a link g that has no closed inverse: bracketed root finding on log p, for all scores at once.

g is increasing, so g(p) = x has one root; p may be 1e-300, so the search runs on s = ln p, and g may span hundreds of
orders of magnitude, so asinh(g) is compared, which is nearly linear in s for every usual phi. Only x <= 0 is ever
inverted (p <= 1/2); the other half follows by reflection (never invert near p = 1).
"""

import numpy as np

from permissible.losses.entropy import Formula
from permissible.types import FloatArray

LOWEST = float(np.log(1e-300))
HIGHEST = float(np.log(0.5))
STEPS = 200


def invert_link(link: Formula, x: FloatArray) -> FloatArray:
    """Return p in [0, 1/2] with link(p) = x <= 0; 0 where x lies below link(1e-300).

    Chandrupatla's method: inverse quadratic interpolation where it is safe, else bisection; each score stops by itself.
    """
    target = np.arcsinh(x)

    def gap(s: FloatArray, goal: FloatArray) -> FloatArray:
        return np.arcsinh(link(np.exp(s))) - goal

    p = np.full(x.shape, 0.5)
    ends = np.array([LOWEST, HIGHEST])
    low_gap, high_gap = gap(ends, np.zeros(2))
    p[target <= low_gap] = 0.0
    open_ = np.flatnonzero((target > low_gap) & (target < high_gap))
    goal = target[open_]
    # a is the newest point, b the end of the bracket across the root from it, c the point before.
    b, a = np.full(goal.shape, LOWEST), np.full(goal.shape, HIGHEST)
    fb, fa = low_gap - goal, high_gap - goal
    c, fc = a.copy(), fa.copy()
    t = np.full(goal.shape, 0.5)
    for _ in range(STEPS):
        if not open_.size:
            break
        s = a + t * (b - a)
        fs = gap(s, goal)
        same = np.sign(fs) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = s, fs
        best = np.where(np.abs(fa) < np.abs(fb), a, b)
        width = np.abs(b - a)
        tolerance = 2e-16 * np.abs(best) + 1e-16
        done = (fa == 0) | (width <= 2 * tolerance)
        p[open_[done]] = np.exp(best[done])
        keep = ~done
        open_, goal, a, b, c, fa, fb, fc = (v[keep] for v in (open_, goal, a, b, c, fa, fb, fc))
        t = _next_step(a, b, c, fa, fb, fc, (tolerance / np.maximum(width, 1e-300))[keep])
    p[open_] = np.exp(a)
    return p


def _next_step(
    a: FloatArray, b: FloatArray, c: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray, least: FloatArray
) -> FloatArray:
    """Return where between a (0) and b (1) to look next."""
    xi = (a - b) / np.where(c == b, 1.0, c - b)
    phi = (fa - fb) / np.where(fc == fb, 1.0, fc - fb)
    smooth = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi) & (fa != fb) & (fb != fc) & (fa != fc) & (c != b)

    def over(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
        return numerator / np.where(denominator == 0, 1.0, denominator)

    t = over(fa, fb - fa) * over(fc, fb - fc) + over(c - a, b - a) * over(fa, fc - fa) * over(fb, fc - fb)
    t = np.where(smooth, t, 0.5)
    least = np.minimum(least, 0.5)
    return np.clip(t, least, 1 - least)
