"""Inverting a link g that has no closed inverse: bracketed root finding on log p, for all scores at once.

g is increasing, so g(p) = x has one root; p may be 1e-300, so the search runs on s = ln p, and g may span hundreds of
orders of magnitude, so asinh(g) is compared, which is nearly linear in s for every usual phi. Only x <= 0 is ever
inverted (p <= 1/2); the other half follows by reflection (never invert near p = 1).
"""

import numpy as np

from permissible.losses.entropy import Formula
from permissible.types import FloatArray
from permissible.validation import Words, refusal

LOWEST = float(np.log(1e-300))
HIGHEST = float(np.log(0.5))
STEPS = 200
BISECTIONS = 80  # enough to reduce the whole range below the last digit


def invert_link(link: Formula, x: FloatArray, within: tuple[FloatArray, FloatArray] | None = None) -> FloatArray:
    """Return p in [0, 1/2] with link(p) = x <= 0; 0 where x lies below link(1e-300).

    `within` gives numbers below and above each p, where they are known. Chandrupatla's method: inverse quadratic interpolation
    where it is safe, else bisection; each score stops by itself. The last steps are bisections, so that every score has stopped
    at the end unless the link is not a number there.
    """
    target = np.arcsinh(x)

    def gap(s: FloatArray, goal: FloatArray) -> FloatArray:
        return np.arcsinh(link(np.exp(s))) - goal

    if within is None:
        low, high = np.full(x.shape, LOWEST), np.full(x.shape, HIGHEST)
        low_gap, high_gap = (np.full(x.shape, end) for end in gap(np.array([LOWEST, HIGHEST]), np.zeros(2)))
    else:
        low, high = (np.log(np.clip(end, 1e-300, 0.5)) for end in within)
        low_gap, high_gap = gap(low, np.zeros(x.shape)), gap(high, np.zeros(x.shape))
    p = np.where(target <= low_gap, np.where(low <= LOWEST, 0.0, np.exp(low)), np.exp(high))
    open_ = np.flatnonzero((target > low_gap) & (target < high_gap))
    goal = target[open_]
    # a is the newest point, b the end of the bracket across the root from it, c the point before.
    b, a = low[open_], high[open_]
    fb, fa = low_gap[open_] - goal, high_gap[open_] - goal
    c, fc = a.copy(), fa.copy()
    t = np.full(goal.shape, 0.5)
    for step in range(STEPS):
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
        if step > STEPS - BISECTIONS:
            t = np.full_like(t, 0.5)
    if open_.size:
        raise refusal("phi_prime", "finite on (0, 1/2]", Words(f"{link(np.exp(a))[0]} at p = {np.exp(a[0]):g}"))
    return p


def _next_step(
    a: FloatArray, b: FloatArray, c: FloatArray, fa: FloatArray, fb: FloatArray, fc: FloatArray, least: FloatArray
) -> FloatArray:
    """Return the next point to evaluate, between a (0) and b (1)."""
    xi = (a - b) / np.where(c == b, 1.0, c - b)
    phi = (fa - fb) / np.where(fc == fb, 1.0, fc - fb)
    smooth = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi) & (fa != fb) & (fb != fc) & (fa != fc) & (c != b)

    def over(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
        return numerator / np.where(denominator == 0, 1.0, denominator)

    t = over(fa, fb - fa) * over(fc, fb - fc) + over(c - a, b - a) * over(fa, fc - fa) * over(fb, fc - fb)
    t = np.where(smooth, t, 0.5)
    least = np.minimum(least, 0.5)
    return np.clip(t, least, 1 - least)
