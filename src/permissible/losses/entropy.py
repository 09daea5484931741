"""What a permissible function phi is, as data: a few formulas on the left half [0, 1/2], from which all else follows.

phi is concave and symmetric on [0, 1] with phi(0) = phi(1) = a >= 0 and b = phi(1/2) - a > 0 ([N] section 2, [T] section 2).
Symmetry lets each formula be written for p <= 1/2 (scores x <= 0) alone, where a double keeps full relative accuracy
however small p is; the reflection p -> 1 - p, x -> -x gives the other half exactly. Only `excess` and `link` are needed;
a closed form that is left out is replaced by safe numeric inversion.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from permissible.types import FloatArray

if TYPE_CHECKING:
    from permissible.kernels._core.boosting import LossFunction, LossTable

Formula = Callable[[FloatArray], FloatArray]
Divergence = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class Functor:
    """The compiled form of a loss.

    The kernel `name` sees margins divided by `scale`, with psi = b F of the unscaled loss; a coefficient is `scale` times the
    one that the kernel finds. So phi_mu gives the model of phi_M bit for bit, its coefficients times 1 - mu (E5). A user's phi
    has a `table`; its `parameter` is then the step from which there is no finite minimiser. A loss with `softmax` has that
    link where several classes share their trees; one that is `iterative` solves an equation for every row.
    """

    name: str
    parameter: float = 0.0
    scale: float = 1.0
    table: "LossTable | None" = None
    softmax: bool = False
    iterative: bool = False

    def function(self) -> "LossFunction":
        """The loss as compiled code evaluates it."""
        from permissible.kernels._core import boosting

        return boosting.LossFunction(self.name, self.parameter, self.table)


@dataclass(frozen=True, slots=True)
class LinkFormula:
    """The probability of a score as text: `below` for -limit < score < 0, 0 for score <= -limit, and p(x) = 1 - p(-x) above.

    `below` uses {x}, {exp}, {sqrt} and {ln}; the rest of it is arithmetic that SQL, Python, JavaScript and C share. Only scores
    below 0 are written down, since a tiny probability keeps its digits there. From `limit` on the probability is 0 or 1 in
    double precision, and `exp` cannot overflow before it. `shown` is the formula for people, where a shorter one exists.
    """

    below: str
    limit: float
    shown: str = ""


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
    functor : the compiled form; without one the loss runs by a table of it.
    formula : the inverse link as text, for SQL, Python, ONNX and reports; without one there is no such export.
    joint : whether the sum over several classes of p -> -p ln p is its entropy of all of them (Shannon's).
    renormalised : whether the adaptive flavours divide the coefficients by the sum of their sizes after a step (4.2 iii).

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
    functor: Functor | None = None
    formula: LinkFormula | None = None
    renormalised: bool = False
    joint: bool = False


def rescaled(entropy: Entropy, scale: float, shift: float = 0.0) -> Entropy:
    """Return scale * phi + shift: only the unit of the score changes, F(x) becomes F(x / scale) (E5)."""
    functor, text, curvature, bregman = entropy.functor, entropy.formula, entropy.largest_curvature, entropy.bregman

    def stretched(formula: Formula | None, factor: float) -> Formula | None:
        return None if formula is None else lambda x: factor * formula(x / scale)

    return replace(
        entropy,
        excess=lambda p: scale * entropy.excess(p),
        link=lambda p: scale * entropy.link(p),
        a=scale * entropy.a + shift,
        b=scale * entropy.b,
        score_limit=scale * entropy.score_limit,
        inverse=stretched(entropy.inverse, 1.0),
        conjugate=stretched(entropy.conjugate, scale),
        curvature=stretched(entropy.curvature, 1 / scale),
        margin=stretched(entropy.margin, 1.0),
        bregman=bregman and (lambda p, rest, q, step: scale * bregman(p, rest, q, step)),
        largest_curvature=None if curvature is None else curvature / scale,
        functor=functor and replace(functor, scale=scale * functor.scale),
        formula=text and LinkFormula(text.below.replace("{x}", f"{{x}} / {scale!r}"), scale * text.limit),
    )
