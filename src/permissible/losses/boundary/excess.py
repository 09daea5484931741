"""From the excess risk of a surrogate to that of the decision: (13), (14), Theorems 4 and 5 of [K] (mathematics, 8.5).

(13) asks for C and s with |p - pi_k|^s <= C^s dQ_p(delta_k), where dQ_p(f) is the excess surrogate risk of the score f at a point
of probability p. It is computed without cancellation as an integral of the loss's weights w = -phi',

    dQ_p(delta) = int_{f*(p)}^{delta} [(1 - p) w-(-f) - p w+(f)] df,     f*(p) where the bracket vanishes,

and C^s is its supremum of |p - pi|^s / dQ_p(delta). s = 1 where dQ grows linearly from p = pi (a piece of the loss is straight),
s = 2 where it grows quadratically. Then, with beta = alpha / (1 + alpha) of the margin condition (14),

    dR <= 2 C dQ^(1/s)                                                                   Theorem 4 (the factor: E13)
    dR <= D dQ^(1/(s + beta - beta s)),                                                   Theorem 5
    D = [2 s C^s (2 s (2A)^(1/(1+alpha)) / (s - 1))^(s-1)]^(1/(s + beta - beta s))        (E24; 2 C where s = 1)

The D of the supplement (S7) is negative inside the root for every A >= 1: it lets the margin term cost the whole of dR. Here it
costs (s - 1)/s of it, which is the best share.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from permissible.types import ArrayLike, FloatArray
from permissible.validation import Words, checked_boundaries, real_numbers, refusal, weights
from permissible.validation.numbers import real_number

if TYPE_CHECKING:
    from permissible.losses.boundary.consistency import Weighing

REACH, STEPS = 28.0, 80
"""Scores are sinh(t) with |t| <= REACH, found by this many halvings."""
PANELS, NODES = 8, 20
FARTHEST = 1e-9
"""Probabilities closer than this to 0 or 1 are not tried."""
NEAR = 1e-4, 1e-3
"""Distances from a boundary at which the growth of dQ is measured."""


@dataclass(frozen=True)
class ExcessConstants:
    """C and s of (13), the same for all boundaries; `by_boundary` has the C of each.

    Examples
    --------
    >>> from permissible import losses
    >>> found = losses.excess_constants(losses.squared_hinge(), [0.25, 0.75])
    >>> found.exponent, round(found.constant, 9)
    (2.0, 0.5)
    """

    exponent: float
    constant: float
    by_boundary: tuple[float, ...]


@dataclass(frozen=True)
class MarginCondition:
    """(14): ``P(|p(X) - pi_k| <= t) <= A t^alpha`` for every boundary and every t.

    Attributes
    ----------
    alpha, A : float
        alpha = 0 and A = 1 assume nothing.
    resolution : float
        The least t at which an estimate has evidence; 0 where the condition is known.

    Examples
    --------
    >>> from permissible import losses
    >>> losses.MarginCondition(1.0, 2.0).beta
    0.5
    """

    alpha: float
    A: float
    resolution: float = 0.0

    @property
    def beta(self) -> float:
        """The exponent alpha / (1 + alpha)."""
        return 1.0 if math.isinf(self.alpha) else self.alpha / (1.0 + self.alpha)


def excess_constants(loss: object, boundaries: ArrayLike, negative: "Weighing | None" = None) -> ExcessConstants:
    """Return C and s of (13) of [K] for a loss and boundaries.

    Parameters
    ----------
    loss : name, PiecewiseLinear, or anything with ``weight(margin)``
        The weight is minus the derivative: for a permissible loss that of b F, the scale of Proposition 1.
    boundaries : sequence of float
    negative : loss, optional
        Another loss of negatives.

    Examples
    --------
    >>> from permissible import losses
    >>> found = losses.excess_constants("logistic", [0.5])
    >>> round(found.constant ** found.exponent, 6)
    0.5
    """
    from permissible.losses.boundary.consistency import check_consistency
    from permissible.losses.boundary.piecewise import PiecewiseLinear
    from permissible.losses.registry import get

    pi = checked_boundaries(boundaries)
    if isinstance(loss, PiecewiseLinear):
        if not np.allclose(pi, loss.boundaries):
            raise refusal("boundaries", f"those of `loss`, {list(loss.boundaries)}", list(pi))
        return ExcessConstants(1.0, loss.excess_constant, (loss.excess_constant,) * len(pi))  # Corollary 1
    verdict = check_consistency(loss, pi, negative)
    if not verdict:
        raise refusal("loss", f"consistent for the boundaries {list(pi)}", Words(verdict.reason))
    positive = get(loss) if isinstance(loss, str) else loss
    pair = positive, positive if negative is None else negative
    growth = [_growth(pair, at, delta) for at, delta in zip(pi, verdict.deltas, strict=True)]
    exponent = 1.0 if max(growth) < 1.2 else 2.0
    if max(growth) > 2.2:
        came = Words(f"growth like the power {max(growth):.3g}")
        raise refusal("loss", "one whose excess risk grows linearly or quadratically from every boundary", came)
    each = tuple(
        _supremum(pair, at, delta, exponent) ** (1 / exponent) for at, delta in zip(pi, verdict.deltas, strict=True)
    )
    return ExcessConstants(exponent, max(each), each)


def margin_condition(
    probability: ArrayLike, boundaries: ArrayLike, sample_weight: ArrayLike | None = None
) -> MarginCondition:
    """Estimate alpha and A of (14) from the probabilities of a sample.

    alpha is the slope of ``log P(|p - pi| <= t)`` over log t, of the boundary with the most mass at t, for t from the value
    that 1 % of the rows (30 at least) reach up to half the least distance between 0, the boundaries and 1; A is then the
    least that keeps the condition true there and beyond. Below this range, `resolution`, a sample says nothing.

    Parameters
    ----------
    probability : array
        p(X) of the rows, of a classifier that estimates all probabilities.
    boundaries : sequence of float
    sample_weight : array, optional

    Examples
    --------
    >>> import numpy as np
    >>> from permissible import losses
    >>> found = losses.margin_condition(np.linspace(0, 1, 10_001), [0.5])      # P(|p - 1/2| <= t) = 2 t
    >>> round(found.alpha, 1), round(found.A, 1)
    (1.0, 2.0)
    """
    p = real_numbers("probability", probability, "an array of probabilities")
    if p.ndim != 1 or not len(p) or not ((p >= 0) & (p <= 1)).all():
        raise refusal("probability", "numbers in [0, 1], one per row", probability)
    pi = np.array(checked_boundaries(boundaries))
    mass = np.ones(len(p)) if sample_weight is None else weights("sample_weight", sample_weight, length=len(p))
    share = mass / mass.sum()
    widest = 0.5 * float(np.diff(np.concatenate([[0.0], pi, [1.0]])).min())
    least = max(0.01, 30.0 / len(p))
    distances = np.abs(p[:, None] - pi)
    order = np.argsort(distances, axis=0, kind="stable")
    sorted_distances = np.take_along_axis(distances, order, axis=0)
    reached = np.cumsum(share[order], axis=0)
    t = np.append(np.geomspace(1e-6, 1.0, 400) * widest, np.linspace(widest, 1.0, 400)[1:])
    within = [np.searchsorted(sorted_distances[:, k], t, side="right") for k in range(len(pi))]
    worst = np.max([np.where(place > 0, reached[place - 1, k], 0.0) for k, place in enumerate(within)], axis=0)
    seen = worst >= least
    fitted = seen & (t <= widest)
    if fitted.sum() < 2:  # too few rows near a boundary for an estimate
        return MarginCondition(0.0, 1.0, widest)
    alpha = max(float(np.polyfit(np.log(t[fitted]), np.log(worst[fitted]), 1)[0]), 0.0)
    A = max(float((worst[seen] / t[seen] ** alpha).max()), 1.0)
    return MarginCondition(alpha, A, float(t[seen][0]))


def excess_risk_bound(
    loss: object,
    boundaries: ArrayLike,
    excess: float,
    *,
    margin: MarginCondition | None = None,
    negative: "Weighing | None" = None,
) -> float:
    """Bound the excess risk (7) of the decision by the excess risk of the surrogate: Theorems 4 and 5 of [K], corrected.

    Parameters
    ----------
    loss, boundaries, negative
        As in `excess_constants`.
    excess : float
        The expected surrogate loss of a score minus the least possible one.
    margin : MarginCondition, optional
        (14), for Theorem 5; the smaller of both bounds is returned.

    Examples
    --------
    >>> from permissible import losses
    >>> round(losses.excess_risk_bound("logistic", [0.5], 0.005), 6)
    0.1
    """
    dQ = real_number("excess", excess)
    found = excess_constants(loss, boundaries, negative)
    by_theorem_4: float = 2.0 * found.constant * dQ ** (1.0 / found.exponent)
    return by_theorem_4 if margin is None else min(by_theorem_4, _theorem_5(found, margin, dQ))


def _theorem_5(found: ExcessConstants, margin: MarginCondition, dQ: float) -> float:
    s, C, beta = found.exponent, found.constant, margin.beta
    if s == 1:
        return 2.0 * C * dQ
    root = 1.0 if math.isinf(margin.alpha) else (2.0 * margin.A) ** (1.0 / (1.0 + margin.alpha))
    inside = 2.0 * s * C**s * (2.0 * s * root / (s - 1.0)) ** (s - 1.0) * dQ
    return float(inside ** (1.0 / (s + beta - beta * s)))


def excess_surrogate(
    loss: object, probability: ArrayLike, score: ArrayLike, negative: "Weighing | None" = None
) -> FloatArray:
    """Return dQ_p(f), the excess surrogate risk of a score f where the probability of the positive class is p.

    Examples
    --------
    >>> from permissible import losses
    >>> losses.excess_surrogate(losses.squared_hinge(), 0.7, 0.0).round(9).tolist()      # (2 p - 1 - f)^2
    0.16
    """
    from permissible.losses.registry import get

    positive = get(loss) if isinstance(loss, str) else loss
    p, f = np.broadcast_arrays(
        real_numbers("probability", probability, "probabilities"), real_numbers("score", score, "scores")
    )
    return _excess((positive, positive if negative is None else negative), p, f)


def _slope(pair: tuple[Any, Any], p: FloatArray, f: FloatArray) -> FloatArray:
    """The derivative of Q_p at the score f; it grows with f."""
    positive, negative = pair
    up = np.nan_to_num(np.asarray(positive.weight(f), dtype=np.float64))
    down = np.nan_to_num(np.asarray(negative.weight(-f), dtype=np.float64))
    return np.asarray((1.0 - p) * down - p * up)


def _minimiser(pair: tuple[object, object], p: FloatArray) -> FloatArray:
    """The t of f*(p) = sinh(t), by bisection."""
    low, high = np.full(p.shape, -REACH), np.full(p.shape, REACH)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        below = _slope(pair, p, np.sinh(middle)) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(0.5 * (low + high))


def _excess(pair: tuple[object, object], p: FloatArray, f: FloatArray) -> FloatArray:
    """The integral of the slope from f*(p) to f, by Gauss and Legendre in t."""
    nodes, shares = np.polynomial.legendre.leggauss(NODES)
    start = _minimiser(pair, p)
    step = (np.arcsinh(f) - start) / PANELS
    total = np.zeros(p.shape)
    for panel in range(PANELS):
        for node, share in zip(nodes, shares, strict=True):
            t = start + step * (panel + 0.5 * (node + 1.0))
            total += share * _slope(pair, p, np.sinh(t)) * np.cosh(t)
    return np.asarray(np.maximum(0.5 * step * total, 0.0))


def _growth(pair: tuple[object, object], pi: float, delta: float) -> float:
    """The power with which dQ_p(delta) grows as p leaves pi, on the side where it is the larger power."""
    room = min(pi, 1.0 - pi, 1.0)
    near, far = (distance * room for distance in NEAR)
    p = pi + np.array([near, far, -near, -far])
    values = _excess(pair, p, np.full(4, delta))
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.log(values[1::2] / values[::2]) / math.log(far / near)
    return float(np.max(powers))


def _supremum(pair: tuple[object, object], pi: float, delta: float, exponent: float) -> float:
    """The largest |p - pi|^s / dQ_p(delta): on a grid, then between the neighbours of its best point."""
    logits = np.linspace(math.log(FARTHEST), -math.log(FARTHEST), 801)

    def ratio(p: FloatArray) -> FloatArray:
        values = _excess(pair, p, np.full(p.shape, delta))
        with np.errstate(divide="ignore"):
            return np.asarray(np.abs(p - pi) ** exponent / values)

    near = NEAR[0] * min(pi, 1.0 - pi)
    beside = ratio(pi + near * np.array([1.0, 0.1, -1.0, -0.1])).reshape(2, 2)
    limit = float(((10.0 * beside[:, 1] - beside[:, 0]) / 9.0).max())  # at p = pi itself the ratio is 0 / 0
    grid = 1.0 / (1.0 + np.exp(-logits))
    grid = grid[np.abs(grid - pi) > near]
    values = ratio(grid)
    best = int(np.argmax(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    if low < pi < high:
        return max(limit, float(values[best]))
    found = minimize_scalar(
        lambda p: -float(ratio(np.array([p]))[0]), bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    return max(limit, float(values[best]), -float(found.fun))
