"""A user's own strictly convex loss psi of the margin, checked and completed (mathematics, section 3).

Needed: finite, non-negative, convex, psi'(0) < 0. Weight is -psi', curvature psi''; the probability of a score follows
from the conditional risk and the score of a probability by bisection.
"""

from functools import partial
from math import inf

import numpy as np

from permissible.losses.entropy import Formula
from permissible.losses.margin_loss import MarginLoss, Psi
from permissible.losses.own.calls import OwnFunction, difference_slope, on_arrays, refuse_infinite
from permissible.types import FloatArray
from permissible.validation import Words, refusal

GRID = np.linspace(-8, 8, 321)


def from_psi(
    value: OwnFunction, derivative: OwnFunction, second: OwnFunction | None = None, name: str = "mine"
) -> MarginLoss:
    """Return your own convex loss of the margin.

    Parameters
    ----------
    value, derivative : callable
        psi and psi' on all of R.
    second : callable, optional
        psi''; by differences of psi' when left out.
    name : str
        Name shown in reports and plots.

    Examples
    --------
    >>> import numpy as np
    >>> from permissible import losses
    >>> loss = losses.from_psi(lambda x: np.exp(-x), lambda x: -np.exp(-x), name="exp")
    >>> round(loss.probability(0.5), 6), round(loss.score(0.731059), 4)
    (0.731059, 0.5)
    """
    psi, slope = on_arrays(value, "value"), on_arrays(derivative, "derivative")
    _check(psi, slope)
    curvature = partial(_curvature, slope) if second is None else on_arrays(second, "second")
    probability = partial(_probability, slope)
    made = Psi(
        value=psi,
        weight=lambda margin: -slope(margin),
        curvature=curvature,
        probability=probability,
        score=partial(_score, probability),
        score_limit=_limit(slope),
    )
    return MarginLoss(name, {}, made, (from_psi, (value, derivative, second, name)))


def _check(psi: Formula, slope: Formula) -> None:
    values, slopes = psi(GRID), slope(GRID)
    for argument, found in (("value", values), ("derivative", slopes)):
        refuse_infinite(argument, "finite on the real line", found, GRID, "margin ")
    if values.min() < 0:
        raise refusal("value", "non-negative", Words(f"{values.min():.6g} at margin {GRID[values.argmin()]:g}"))
    if not slopes[160] < 0:
        remedy = "the loss must fall where the margin grows"
        raise refusal("derivative", "negative at margin 0", float(slopes[160]), remedy)
    falling = np.diff(slopes) < 0
    if falling.any():
        raise refusal("value", "convex", Words(f"a derivative that falls after margin {GRID[:-1][falling][0]:g}"))
    if not (np.diff(slopes)[140:180] > 0).all():
        raise refusal("value", "strictly convex", Words("a straight part near margin 0"))
    step = 1e-4
    rough = (psi(GRID + step) - psi(GRID - step)) / (2 * step)
    wrong = np.abs(rough - slopes) > 1e-4 * (1 + np.abs(slopes))
    if wrong.any():
        came = f"{slopes[wrong][0]:.6g} at margin {GRID[wrong][0]:g}, where differences of the value give {rough[wrong][0]:.6g}"
        raise refusal("derivative", "the derivative of the value", Words(came))


def _curvature(slope: Formula, x: FloatArray) -> FloatArray:
    return difference_slope(slope, x, 1e-3 * np.maximum(1, np.abs(x)))


def _probability(slope: Formula, score: FloatArray) -> FloatArray:
    """Probability p = w(-x) / (w(-x) + w(x)) of a score x <= 0."""
    up, down = np.maximum(-slope(score), 0), np.maximum(-slope(-score), 0)
    ratio = np.where(up > 0, down, 0.0) / np.where(up > 0, up, 1.0)
    ratio = np.where(np.isfinite(ratio), ratio, 0.0)
    return np.asarray(ratio / (1 + ratio))


def _score(probability: Formula, p: FloatArray) -> FloatArray:
    """Invert the probability on x = -sinh(t), which reaches from 0 to 1e300, by bisection."""
    low, high = np.zeros(p.shape), np.full(p.shape, 690.0)
    for _ in range(70):
        middle = (low + high) / 2
        above = probability(-np.sinh(middle)) > p
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(p == 0.5, 0.0, -np.sinh((low + high) / 2))


def _limit(slope: Formula) -> float:
    """Return the margin from which on the weight is not positive; infinite if there is none within 50."""
    if -slope(np.array([50.0]))[0] > 0:
        return inf
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if -slope(np.array([middle]))[0] > 0 else (low, middle)
    return (low + high) / 2
