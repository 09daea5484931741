"""What a permissible function phi is, as data: a few formulas on the left half [0, 1/2], from which all else follows.

phi is concave and symmetric on [0, 1] with phi(0) = phi(1) = a >= 0 and b = phi(1/2) - a > 0 ([N] section 2, [T] section 2).
Symmetry lets each formula be written for p <= 1/2 (scores x <= 0) alone, where a double keeps full relative accuracy
however small p is; the reflection p -> 1 - p, x -> -x gives the other half exactly. Only `excess` and `link` are needed;
a closed form that is left out is replaced by safe numeric inversion.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from permissible.types import FloatArray

Formula = Callable[[FloatArray], FloatArray]
Divergence = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entropy:
    """One phi, written on [0, 1/2]; G = -phi and g = G' = -phi' as in the papers.

    Attributes
    ----------
    excess : phi(p) - a for p in [0, 1/2].
    link : g(p) <= 0 for p in (0, 1/2].
    a, b : phi(0) and phi(1/2) - phi(0).
    score_limit : the limit of g(p) as p -> 1; scores beyond it have probability 0 or 1.
    inverse : p with g(p) = x, for x in (-score_limit, 0].
    conjugate : G*(x) - a = x p + phi(p) - a at p = inverse(x), for the same x.
    curvature : 1 / G''(p) at p = inverse(x), for the same x.
    margin : 1 - 2 inverse(x), without cancellation near x = 0.
    largest_curvature : the supremum of `curvature`, 1 / min G''; infinite where G'' comes down to 0.
    rough : whether the link comes from differences of phi, so that rounding takes some of its digits.
    bregman : D_G(p || q) as a function of p, 1 - p, q and p - q, each with all its digits, for q in (0, 3/4].

    Examples
    --------
    >>> from permissible import losses
    >>> gini = losses.get("squared")
    >>> float(gini.phi(0.5)), gini.a, gini.b
    (0.25, 0.0, 0.25)
    """

    excess: Formula
    link: Formula
    b: float
    a: float = 0.0
    score_limit: float = inf
    inverse: Formula | None = None
    conjugate: Formula | None = None
    curvature: Formula | None = None
    margin: Formula | None = None
    bregman: Divergence | None = None
    largest_curvature: float | None = None
    rough: bool = False


def rescaled(entropy: Entropy, scale: float, shift: float = 0.0) -> Entropy:
    """Return scale * phi + shift: only the unit of the score changes, F(x) becomes F(x / scale) (E5)."""

    def over(formula: Formula | None, factor: float) -> Formula | None:
        return None if formula is None else lambda x: factor * formula(x / scale)

    bregman = entropy.bregman
    return Entropy(
        excess=lambda p: scale * entropy.excess(p),
        link=lambda p: scale * entropy.link(p),
        a=scale * entropy.a + shift,
        b=scale * entropy.b,
        score_limit=scale * entropy.score_limit,
        inverse=over(entropy.inverse, 1.0),
        conjugate=over(entropy.conjugate, scale),
        curvature=over(entropy.curvature, 1 / scale),
        margin=over(entropy.margin, 1.0),
        bregman=None if bregman is None else lambda p, rest, q, step: scale * bregman(p, rest, q, step),
        largest_curvature=None if entropy.largest_curvature is None else entropy.largest_curvature / scale,
        rough=entropy.rough,
    )
