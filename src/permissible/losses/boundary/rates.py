"""How fast the empirical minimiser approaches the best decision: Corollary 2, Theorem 6, Corollary 3 of [K] (mathematics, 8.5).

For a class of scores |f| <= B that N balls of radius 1/n of the largest norm cover, and G = log(N / gamma) / n, with
probability 1 - gamma:

    dQ(f_n) <= inf dQ + 3 L / n + 8 (L^2 / (2 c) + L B / 3) G                               smooth losses, modulus (15) c eps^2
    dQ(f_n) <= 3 L / n + (4/3) L (B + M) G + sqrt(((4/3) L (B + M) G)^2 + 8 B' G)           lines, if f* is in the class

and Theorems 4 and 5 turn dQ into the excess risk of the decision. What is corrected (errata, E25 and E26): Lemma 1 of the
supplement holds with the least |p - pi_k| over *all* boundaries and not over the outer two, so that the constant of the
Bernstein condition is B' = L^2 (B + M) (2 / D*)^beta (2 K A (B + M))^(1/(1 + alpha)), with D* below the line; scores differ
from f* by up to B + M, M = max |H|, not by 2 B; and the step that drops the empirical loss of f* needs f* among the scores,
so that there is no approximation error to add. The proof uses (E h)^beta <= 1 + E h, which makes the root slow whatever alpha is;
keeping the power gives the t with

    t^(2 - beta) = 8 G (B' + L (B + M) t^(1 - beta) / 3)                                                        (sharp)

which is of the order G^(1/(2 - beta)), and the smaller bound is returned.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from permissible.losses.boundary.excess import MarginCondition, excess_risk_bound
from permissible.losses.boundary.piecewise import PiecewiseLinear
from permissible.losses.registry import get
from permissible.types import ArrayLike
from permissible.validation import Words, refusal
from permissible.validation.numbers import count, fraction, positive_number, real_number

NOTHING = MarginCondition(0.0, 1.0)


@dataclass(frozen=True)
class LearningBound:
    """Bounds for the empirical minimiser that hold with probability `confidence`.

    Attributes
    ----------
    surrogate : float
        Of the excess surrogate risk dQ.
    risk : float
        Of the excess risk (7) of the decision; at most 2, the range of (7).
    lipschitz : float
        L, the largest slope on [-B, B].
    curvature : float
        c of the modulus of convexity (15) for a smooth loss, B' of Theorem 6 for lines.
    confidence : float

    Examples
    --------
    >>> from permissible import losses
    >>> more, fewer = (losses.learning_bound("logistic", [0.5], n, limit=2.0, log_cover=9.0) for n in (10**6, 10**5))
    >>> more.confidence, more.surrogate < fewer.surrogate
    (0.95, True)
    """

    surrogate: float
    risk: float
    lipschitz: float
    curvature: float
    confidence: float


def stump_cover(n_stumps: int, total: float, n_rows: int) -> float:
    """Return a bound on log N of the class of [K] 4.2: M functions in [-1, 1], ``sum |lambda_j|`` up to `total`, balls of 1/n.

    The scores of two coefficient vectors differ by at most their l1 distance, and (1 + 2 B n)^M balls cover the l1 ball.

    Examples
    --------
    >>> from permissible import losses
    >>> round(losses.stump_cover(10, 5.0, 1000), 2)
    92.1
    """
    size = count("n_stumps", n_stumps)
    return size * math.log1p(2.0 * positive_number("total", total) * count("n_rows", n_rows))


def modulus_of_convexity(loss: Any, limit: float) -> float:
    """Return c with delta(eps) >= c eps^2, (15), for scores within [-limit, limit]: an eighth of the least curvature.

    (Q(f) + Q(g))/2 - Q((f + g)/2) >= (m/8) E(f - g)^2 where m is the least second derivative, and at p = 0 or 1 with f - g
    constant near its place no larger constant will do.

    Examples
    --------
    >>> from permissible import losses
    >>> round(8 * losses.modulus_of_convexity("logistic", 2.0), 6)       # p (1 - p) at the score 2
    0.104994
    """
    made = get(loss) if isinstance(loss, str) else loss
    z = np.linspace(-1.0, 1.0, 2001) * positive_number("limit", limit)
    least = float(np.min(np.asarray(made.curvature(z), dtype=np.float64)))
    return max(least, 0.0) / 8.0


def learning_bound(
    loss: object,
    boundaries: ArrayLike,
    n_rows: int,
    *,
    limit: float,
    log_cover: float,
    confidence: float = 0.95,
    margin: MarginCondition | None = None,
    approximation: float = 0.0,
) -> LearningBound:
    """Bound the excess risk of the minimiser of a surrogate over n rows: Corollaries 2 and 3 of [K], corrected.

    Parameters
    ----------
    loss : name, smooth loss or PiecewiseLinear
    boundaries : sequence of float
    n_rows : int
    limit : float
        B: scores are within [-B, B].
    log_cover : float
        log N of the class, such as `stump_cover`.
    confidence : float, default=0.95
        1 - gamma.
    margin : MarginCondition, optional
        (14); without it nothing is assumed.
    approximation : float, default=0.0
        inf dQ over the class; must be 0 for lines, whose bound needs f* in the class.

    Examples
    --------
    >>> from permissible import losses
    >>> bound = losses.learning_bound("logistic", [0.5], 10**6, limit=2.0, log_cover=losses.stump_cover(10, 2.0, 10**6))
    >>> round(bound.surrogate, 3), round(bound.risk, 3)
    (0.037, 0.273)
    """
    n, B = count("n_rows", n_rows), positive_number("limit", limit)
    gamma = 1.0 - fraction("confidence", confidence)
    if gamma <= 0:
        raise refusal("confidence", "below 1", confidence)
    G = (real_number("log_cover", log_cover) - math.log(gamma)) / n
    extra = real_number("approximation", approximation)
    if isinstance(loss, PiecewiseLinear):
        L, constant, dQ = _of_lines(loss, n, B, G, NOTHING if margin is None else margin, extra)
    else:
        L, constant, dQ = _of_smooth(loss, n, B, G, extra)
    risk = min(excess_risk_bound(loss, boundaries, dQ, margin=margin), 2.0) if math.isfinite(dQ) else 2.0
    return LearningBound(dQ, risk, L, constant, 1.0 - gamma)


def _of_smooth(loss: Any, n: int, B: float, G: float, extra: float) -> tuple[float, float, float]:
    """L, c, and the bound of Corollary 2 on dQ."""
    made = get(loss) if isinstance(loss, str) else loss
    L, c = float(np.asarray(made.weight(-B))), modulus_of_convexity(made, B)
    if c == 0.0:
        return L, c, math.inf
    return L, c, extra + 3.0 * L / n + 8.0 * (L * L / (2.0 * c) + L * B / 3.0) * G


def _of_lines(
    lines: PiecewiseLinear, n: int, B: float, G: float, margin: MarginCondition, extra: float
) -> tuple[float, float, float]:
    """L, B', and the bound of Theorem 6 on dQ."""
    M = float(np.abs(lines.hinges).max())
    if extra or B < M:
        came = Words(f"an approximation error of {extra:g}" if extra else f"limit={B:g} below {M:.4g}")
        expected = "a smooth loss where the class lacks the best score f*, whose largest value is a hinge"
        raise refusal("loss", expected, came)
    L = float(max(-lines.slopes_pos.min(), -lines.slopes_neg.min()))
    constant = bernstein_constant(lines, B, margin)
    first, power = 4.0 / 3.0 * L * (B + M) * G, 1.0 - margin.beta
    slow = first + math.sqrt(first * first + 8.0 * constant * G)

    def short(t: float) -> float:
        """Negative below the solution of (sharp)."""
        return float(t ** (1.0 + power) - 8.0 * G * (constant + L * (B + M) * t**power / 3.0))

    high = 1.0
    while short(high) < 0:
        high *= 2.0
    sharp = float(brentq(short, 0.0, high, xtol=1e-15))
    return L, constant, 3.0 * L / n + (min(slow, sharp) if slow <= 1.0 else sharp)


def bernstein_constant(lines: PiecewiseLinear, limit: float, margin: MarginCondition = NOTHING) -> float:
    """Return B' with E h^2 <= B' (E h)^beta for h = phi(y f) - phi(y f*), ``|f| <= limit``: Lemma 3 of [K], corrected.

    Examples
    --------
    >>> from permissible import losses
    >>> round(losses.bernstein_constant(losses.PiecewiseLinear([0.5]), 2.0), 3)
    5.733
    """
    pi, K = np.array(lines.boundaries), len(lines.boundaries)
    M = float(np.abs(lines.hinges).max())
    L = float(max(-lines.slopes_pos.min(), -lines.slopes_neg.min()))
    least = float(np.abs(lines.slopes_pos + lines.slopes_neg).min())  # D*
    room = min(1.0 - float(pi[0]), float(pi[-1]))
    alpha, beta = margin.alpha, margin.beta
    # The t of the proof must stay below 1 - pi_1 and pi_K, which a larger A ensures.
    A = max(margin.A, room**-alpha / (2.0 * K))
    reach = limit + M
    return float(L * L * reach * (2.0 / least) ** beta * (2.0 * K * A * reach) ** (1.0 / (1.0 + alpha)))
