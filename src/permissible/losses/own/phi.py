"""A user's own phi: checked for permissibility on a grid, completed by derivative, limit of scores and numeric inversion.

Permissible means finite, symmetric about 1/2, strictly concave, phi(0) >= 0 and phi(1/2) > phi(0) (mathematics, 2 and 2.1).
A function that is not gets an error that says which property fails and where. A phi made of straight pieces (a table read by
np.interp) is not strictly concave: its link is a staircase without inverse and its loss has corners. One whose derivative is
made of straight pieces is.
"""

from functools import partial
from math import inf

import numpy as np

from permissible.losses.entropy import Entropy, Formula
from permissible.losses.own.calls import OwnFunction, complex_slope, difference_slope, on_arrays, refuse_infinite
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.types import FloatArray
from permissible.validation import Words, refusal

GRID = np.linspace(0, 1, 257)
TAIL = 10.0 ** -np.arange(3.0, 9.0)
NOISE = 1e-12
FINE = (2.0**-14, 2.0**-18, 2.0**-22)
"""Distances at which the straight pieces of a table can be seen, though the whole table is curved."""
TABLE_REMEDY = "read a table by a cubic spline, or interpolate its derivative and pass that as phi_prime"


def from_phi(phi: OwnFunction, phi_prime: OwnFunction | None = None, name: str = "mine") -> PermissibleLoss:
    """Return the loss of your own permissible function, with everything derived: value, weight, probability, impurity.

    Parameters
    ----------
    phi : callable
        Concave and symmetric on [0, 1]; of arrays, or of single numbers (slower).
    phi_prime : callable, optional
        Its derivative on (0, 1/2]. Without it the derivative is taken by a complex step if `phi` accepts complex
        numbers (as NumPy functions do), else by differences, which costs accuracy for small probabilities.
    name : str
        Name shown in reports and plots.

    Examples
    --------
    >>> import numpy as np
    >>> from permissible import losses
    >>> loss = losses.from_phi(lambda p: np.sin(np.pi * p), lambda p: np.pi * np.cos(np.pi * p), name="sine")
    >>> round(loss.value(0.0), 12), round(loss.score_limit, 6)
    (1.0, 3.141593)
    >>> grid = np.linspace(0, 1, 101)  # a table: interpolate its derivative, or use a cubic spline
    >>> table = losses.from_phi(lambda p: p * (1 - p), lambda p: np.interp(p, grid, 1 - 2 * grid), name="table")
    >>> round(table.probability(0.5), 12)
    0.75
    >>> losses.from_phi(lambda p: p**2 - p)
    Traceback (most recent call last):
    ...
    ValueError: `phi` must be strictly concave, got a second difference of +3.05e-05 at p = 0.00390625.
    """
    formula = on_arrays(phi, "phi")
    a, b = _check(formula)
    if phi_prime is None:
        _refuse_straight(formula, "phi", 2)
    slope, rough = _derivative(phi, formula, phi_prime)
    limit = _limit(slope)
    entropy = Entropy(
        a=a, b=b, score_limit=limit, excess=partial(_excess, formula, a), link=lambda p: -slope(p), rough=rough
    )
    return PermissibleLoss(name, {}, entropy, (from_phi, (phi, phi_prime, name)))


def _excess(formula: Formula, a: float, p: FloatArray) -> FloatArray:
    return np.where(p > 0, np.maximum(formula(np.where(p > 0, p, 0.5)) - a, 0.0), 0.0)


def _check(phi: Formula) -> tuple[float, float]:
    """Check permissibility; return a = phi(0) and b = phi(1/2) - a."""
    values = phi(GRID)
    ends = phi(np.array([0.0, 1e-300]))
    if not np.isfinite(ends[0]):
        # functions such as p ln p cannot be computed at 0, but have a limit there
        values[[0, -1]] = ends[1] if abs(ends[1]) > NOISE * abs(values[128]) else 0.0
    refuse_infinite("phi", "finite on [0, 1]", values, GRID, "p = ")
    size = np.abs(values).max()
    second = np.diff(values, 2)
    if second.max() > -NOISE * size:
        place = int(second.argmax())
        came = Words(f"a second difference of {second[place]:+.3g} at p = {GRID[place + 1]:g}")
        raise refusal("phi", "strictly concave", came, TABLE_REMEDY if abs(second[place]) <= NOISE * size else None)
    apart = np.abs(values - values[::-1])
    if apart.max() > 1e-9 * size:
        p = GRID[int(apart.argmax())]
        came = Words(f"phi({p:g}) = {values[p == GRID][0]:.6g} and phi({1 - p:g}) = {values[1 - p == GRID][0]:.6g}")
        raise refusal("phi", "symmetric, phi(p) = phi(1 - p)", came)
    if values[0] < -NOISE * size:
        raise refusal("phi", "non-negative, phi(0) >= 0", Words(f"phi(0) = {values[0]:.6g}"), "add a constant to it")
    a = max(float(values[0]), 0.0)
    return a, float(values[128] - a)


def _refuse_straight(function: Formula, argument: str, order: int) -> None:
    """Refuse a function that is curved over the grid but straight between close points at most places.

    Of phi these are second differences, of its derivative first ones.
    """
    middle = GRID[1:127] + 0.382 / 256  # off the grid, where a table would have its corners

    def bend(step: float) -> FloatArray:
        points = middle[:, None] + step * (np.arange(order + 1) - order / 2)
        return np.asarray(np.diff(function(points.ravel()).reshape(points.shape), order, axis=1)[:, 0] / step**order)

    coarse = np.abs(bend(2.0**-9))
    size = float(np.abs(function(middle)).max())
    for step in FINE:
        seen = coarse * step**order > 32 * np.finfo(np.float64).eps * size  # above rounding
        straight = seen & (np.abs(bend(step)) < 1e-2 * coarse)
        if straight.sum() > 0.5 * max(int(seen.sum()), 16):
            p = middle[straight][0]
            word = "strictly concave" if order == 2 else "strictly decreasing"
            kind = "straight" if order == 2 else "constant"
            raise refusal(argument, word, Words(f"{kind} pieces, one of them around p = {p:.6g}"), TABLE_REMEDY)


def _derivative(phi: OwnFunction, formula: Formula, phi_prime: OwnFunction | None) -> tuple[Formula, bool]:
    """Return phi' on (0, 1/2], and whether it is by differences: the user's, checked; else by complex step; else differences."""
    grid = np.linspace(0.02, 0.48, 24)
    rough = difference_slope(formula, grid)
    allowed = 1e-6 * (np.abs(rough) + np.abs(rough).max())
    if phi_prime is not None:
        given = on_arrays(phi_prime, "phi_prime")
        wrong = ~(np.abs(given(grid) - rough) <= allowed)
        if wrong.any():
            p = grid[wrong][0]
            came = Words(
                f"{given(grid)[wrong][0]:.6g} at p = {p:g}, where differences of phi give {rough[wrong][0]:.6g}"
            )
            raise refusal("phi_prime", "the derivative of phi", came)
        _refuse_straight(given, "phi_prime", 1)
        return given, False
    exact = complex_slope(phi, grid)
    if exact is not None and (np.abs(exact - rough) <= allowed).all():
        return partial(_complex, phi, formula), False
    return _continued(formula), True


def _continued(formula: Formula) -> Formula:
    """Return phi' by differences as far down as they have digits, and below that continued as a power of p.

    Where phi(0) > 0 the differences of phi drown in rounding long before p = 1e-300.
    """
    decades = 10.0 ** -np.arange(1.0, 280.0)
    slopes = difference_slope(formula, decades)
    noise = np.abs(difference_slope(formula, decades * (1 + 1e-7)) - slopes)  # of rounding
    good = np.isfinite(slopes) & (slopes > 0) & (noise < 1e-5 * np.abs(slopes))
    count = good.size if good.all() else max(int(good.argmin()), 2)
    last, before = decades[count - 1], decades[count - 2]
    power = float(np.log(slopes[count - 1] / slopes[count - 2]) / np.log(last / before))
    return partial(_power_below, formula, float(last), power)


def _power_below(formula: Formula, last: float, power: float, p: FloatArray) -> FloatArray:
    """Return phi' by differences for p >= last, and the power of p that continues it below."""
    inner = difference_slope(formula, np.maximum(p, last))
    return np.asarray(inner * np.exp(power * np.log(np.minimum(p, last) / last)))


def _complex(phi: OwnFunction, formula: Formula, p: FloatArray) -> FloatArray:
    slope = complex_slope(phi, p)
    return difference_slope(formula, p) if slope is None else slope


def _limit(slope: Formula) -> float:
    """Return the limit of phi' at 0: finite when its increments over the decades die out."""
    tail = slope(TAIL)
    steps = np.abs(np.diff(tail))
    if (steps[1:] < 0.75 * steps[:-1] + 1e-11 * np.abs(tail[1:-1])).all():
        ratio = min(float(steps[-1] / steps[-2]), 0.75) if steps[-2] > 0 else 0.0
        return float(tail[-1] + (tail[-1] - tail[-2]) * ratio / (1 - ratio))
    return inf
