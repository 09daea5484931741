"""The largest curvature of a loss without a closed form: of b F over all margins, which is 1 / min G'' over p, or of psi.

Theorem 2 of [N] divides by it (a_v = min G''), so it must not be too small. Infinite means that the theorem gives no bound.
"""

from math import inf

import numpy as np

from permissible.losses.entropy import Formula
from permissible.types import FloatArray

VANISHES = 1e-6
"""A G'' this small relative to that at p = 1/2 or p = 1/4 counts as 0: the bound would be useless anyway."""


def of_link(link: Formula, rough: bool) -> float:
    """Return 1 / inf G'' for a link g = G' on (0, 1/2]: slopes of its chords, on a grid that is refined where least.

    Chords are not so short that rounding shows in their slopes; it shows sooner in a rough link, one by differences.
    """
    tail = 10.0 ** np.arange(-3.0 if rough else -6.0, -3.0, 0.125)
    grid = np.concatenate((tail, np.linspace(1e-3, 0.5, 4096)))
    slopes = _chords(link, grid)
    typical = max(slopes[-1], slopes[int(np.searchsorted(grid, 0.25))])
    if len(tail) and slopes[0] < 0.5 * slopes[8]:  # a decade lower it has halved: G'' tends to 0
        return inf
    if int(np.argmin(slopes)) < len(tail):  # G'' has a limit at p = 0
        return float(1 / slopes.min()) if slopes.min() > VANISHES * typical else inf
    for _ in range(3):
        place = int(np.argmin(slopes))
        low, high = grid[max(place - 1, 0)], grid[min(place + 2, len(grid) - 1)]
        if high - low < (1e-2 if rough else 1e-3) * high:
            break
        grid = np.linspace(low, high, 33)
        slopes = _chords(link, grid)
    return float(1 / slopes.min()) if slopes.min() > VANISHES * typical else inf


def _chords(link: Formula, grid: FloatArray) -> FloatArray:
    return np.asarray(np.diff(link(grid)) / np.diff(grid))


def of_psi(curvature: Formula) -> float:
    """Return sup psi'' over margins up to 1000; infinite where psi'' still grows there."""
    margins = np.sinh(np.linspace(-7.6, 7.6, 8193))
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.asarray(curvature(margins))
    if not np.isfinite(found).all():
        return inf
    inner = np.abs(margins) <= 100
    largest = float(found[inner].max())
    if found[~inner].max() > 1.01 * largest:
        return inf
    around = margins[int(np.argmax(np.where(inner, found, -inf)))]
    fine = around + np.linspace(-1, 1, 2001) * 4e-3 * np.cosh(np.arcsinh(around))
    return max(largest, float(np.asarray(curvature(fine)).max()))
