"""The loss of a permissible function phi: everything the library needs, derived from phi alone ([N] (8)-(12), [T] (10)-(27)).

With G = -phi, g = G' and G* the convex conjugate of G: the loss of a margin x = y H is F(x) = (G*(-x) - a) / b, the
weight of the example is ginv(-x) = -b F'(x), the probability of a score H is ginv(H), and the impurity of a leaf is
(phi(p) - a) / b. Formulas are evaluated at x <= 0 and reflected: ginv(x) = 1 - ginv(-x), G*(x) = G*(-x) + x (13).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from permissible.losses.elementwise import as_probabilities, elementwise
from permissible.losses.entropy import Entropy, Formula, Functor
from permissible.losses.largest_curvature import of_link
from permissible.losses.named_loss import NamedLoss, Rebuild
from permissible.losses.own.inversion import invert_link
from permissible.losses.stable_formulas import integral, steep_integral
from permissible.types import ArrayLike, FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class PermissibleLoss(NamedLoss):
    """A balanced convex loss F, and all that its phi determines.

    Build one with :func:`permissible.losses.get` or :func:`permissible.losses.from_phi`. Every method takes a number, a
    list or an array of any shape and returns float64 of that shape (a float for a number).

    Parameters
    ----------
    name : str
        The registered name.
    params : mapping
        The parameters of phi; ``get(loss.name, **loss.params)`` is the same loss again.
    entropy : Entropy
        phi, on the left half of [0, 1].
    rebuild : tuple, optional
        The call that makes a user's own loss; the others are built again from `name` and `params`.

    Examples
    --------
    >>> from permissible import losses
    >>> loss = losses.get("matsushita")
    >>> loss.value(0.0), loss.weight(0.0), loss.probability(0.75)
    (1.0, 0.5, 0.8)
    >>> loss.score([0.2, 0.5, 0.8])
    array([-0.75,  0.  ,  0.75])
    """

    name: str
    params: Mapping[str, float]
    entropy: Entropy
    rebuild: Rebuild | None = field(default=None, compare=False)
    maker = "from_phi"

    @property
    def function(self) -> Entropy:
        """The phi."""
        return self.entropy

    @property
    def left_link(self) -> Formula:
        """The link g on (0, 1/2]."""
        return self.entropy.link

    @property
    def a(self) -> float:
        """phi(0) = phi(1)."""
        return self.entropy.a

    @property
    def b(self) -> float:
        """phi(1/2) - phi(0)."""
        return self.entropy.b

    @cached_property
    def largest_curvature(self) -> float:
        """The largest curvature over all margins, 1 / min G''; infinite where G'' comes down to 0 ([N] Theorem 2: a_v)."""
        known = self.entropy.largest_curvature
        return of_link(self.entropy.link, self.entropy.rough) if known is None else known

    @property
    def impurity_functor(self) -> Functor | None:
        """The compiled form of the impurity; None for a user's own phi."""
        return self.entropy.functor

    @property
    def joint_entropy(self) -> bool:
        """Whether several classes have one entropy of all of them, Shannon's, beside the sum of phi over the classes."""
        return self.entropy.joint

    # -- of a margin x = y H ---------------------------------------------------------------------------------------

    @elementwise("margin")
    def value(self, margin: FloatArray) -> FloatArray:
        """F(x) = (G*(-x) - a) / b; F(0) = 1, 0 beyond +score_limit, -x / b beyond -score_limit."""
        return (self._conjugate(-np.abs(margin)) + np.maximum(-margin, 0)) / self.entropy.b

    @elementwise("margin")
    def weight(self, margin: FloatArray) -> FloatArray:
        """Weight of an example, ginv(-x) = -b F'(x), in [0, 1] and 1/2 at margin 0."""
        return self._probability(-margin)

    @elementwise("margin")
    def curvature(self, margin: FloatArray) -> FloatArray:
        """Minus the derivative of the weight, b F''(x) = 1 / G''(ginv(-x)); 0 from the score limit on."""
        return self._within(self._curvature, -np.abs(margin), 0.0)

    @elementwise("margin")
    def margin(self, margin: FloatArray) -> FloatArray:
        """Margin on the probability scale, 2 ginv(x) - 1 in [-1, 1] ([T] (27))."""
        return np.copysign(self._within(self._margin, -np.abs(margin), 1.0), margin)

    # -- of a score H, of a probability p ---------------------------------------------------------------------------

    @elementwise("score")
    def probability(self, score: FloatArray) -> FloatArray:
        """Pr[positive | H] = ginv(H), the matching probability ([T] (26)); 0 or 1 beyond the score limit."""
        return self._probability(score)

    @elementwise("probability", as_probabilities)
    def phi(self, probability: FloatArray) -> FloatArray:
        """The permissible function itself."""
        return self.entropy.a + self._excess(probability)

    @elementwise("probability", as_probabilities)
    def phi_prime(self, probability: FloatArray) -> FloatArray:
        """phi'(p) = -g(p)."""
        return -np.asarray(self.score(probability))

    @elementwise("probability", as_probabilities)
    def impurity(self, probability: FloatArray) -> FloatArray:
        """(phi(p) - a) / b: 0 at a pure leaf, 1 at p = 1/2; the least conditional risk min_x p F(x) + (1-p) F(-x)."""
        return self._excess(probability) / self.entropy.b

    @elementwise("x")
    def conjugate(self, x: FloatArray) -> FloatArray:
        """G*(x) = sup_p x p + phi(p); a and x + a beyond the score limit."""
        return self.entropy.a + (self._conjugate(-np.abs(x)) + np.maximum(x, 0))

    def bregman(self, p: ArrayLike, q: ArrayLike) -> FloatArray:
        """Divergence D_G(p || q) = G(p) - G(q) - (p - q) g(q) >= 0, of probabilities, broadcast together.

        Infinite at q in {0, 1}, p != q, when scores are unbounded.
        """
        first, second = np.broadcast_arrays(as_probabilities(p, "p"), as_probabilities(q, "q"))
        mirror = second > 0.75  # the step keeps its digits across 1/2, and p its digits near 0
        step = np.where(mirror, second - first, first - second)
        p, rest = np.where(mirror, 1 - first, first), np.where(mirror, first, 1 - first)
        q = np.where(mirror, 1 - second, second)
        closed = self.entropy.bregman or self._bregman_by_parts
        inner = (q > 0) | np.isfinite(self.entropy.score_limit)
        result = np.where(step == 0, 0.0, np.where(np.isnan(step), np.nan, np.inf))
        if inner.any():
            result[inner] = np.maximum(closed(p[inner], rest[inner], q[inner], step[inner]), 0)
        return result if result.ndim else result.item()

    # -- the left half, and its reflection ----------------------------------------------------------------------------

    def _within(self, formula: Formula, x: FloatArray, beyond: float) -> FloatArray:
        """Apply a formula of x <= 0 inside (-score_limit, 0], and take a constant beyond."""
        limit = self.entropy.score_limit
        if limit == np.inf:
            return formula(x)
        inside = ~(x <= -limit)
        return np.where(inside, formula(np.where(inside, x, 0.0)), beyond)

    def _probability(self, score: FloatArray) -> FloatArray:
        left = self._within(self._inverse, -np.abs(score), 0.0)
        return np.abs(np.subtract(score > 0, left))  # 1 - left on the right side, left itself on the other

    def _conjugate(self, x: FloatArray) -> FloatArray:
        return self._within(self._inner_conjugate, x, 0.0)

    def _excess(self, probability: FloatArray) -> FloatArray:
        return self.entropy.excess(np.minimum(probability, 1 - probability))

    @cached_property
    def _inverse(self) -> Formula:
        return self.entropy.inverse or partial(invert_link, self.entropy.link)

    @cached_property
    def _margin(self) -> Formula:
        return self.entropy.margin or self._margin_of_inverse

    @cached_property
    def _inner_conjugate(self) -> Formula:
        return self.entropy.conjugate or self._conjugate_at_root

    @cached_property
    def _curvature(self) -> Formula:
        return self.entropy.curvature or self._curvature_by_difference

    def _margin_of_inverse(self, x: FloatArray) -> FloatArray:
        return 1 - 2 * self._inverse(x)

    def _conjugate_at_root(self, x: FloatArray) -> FloatArray:
        """Value of x p + phi(p) - a at p = ginv(x): the error on p enters only in second order.

        For small p, where a phi such as -(1-p) log(1-p) may have lost its digits, the same as the integral of
        g(p) - g(t) over t in [0, p], which needs the link alone.
        """
        p = self._inverse(x)
        result = np.maximum(x * p + self.entropy.excess(p), 0.0)
        small = (p < 1e-4) & (p > 1e-290)
        if small.any():
            start = p[small]
            top = self.entropy.link(start)
            result[small] = start * steep_integral(lambda s: top - self.entropy.link(np.maximum(start * s, 1e-300)))
        return np.where(p > 1e-290, result, 0.0)

    def _curvature_by_difference(self, x: FloatArray) -> FloatArray:
        """1 / G''(p) from a five-point difference of the link in ln p."""
        p = np.maximum(self._inverse(x), 1e-290)

        def link(factor: float) -> FloatArray:
            q = p * np.exp(factor * 2e-3)
            right = np.minimum(1 - q, 0.5)
            return np.where(q <= 0.5, self.entropy.link(np.minimum(q, 0.5)), -self.entropy.link(right))

        rise = (8 * (link(1) - link(-1)) - (link(2) - link(-2))) / (12 * 2e-3)  # p G''(p)
        return np.where(rise > 0, p / np.where(rise > 0, rise, 1.0), 0.0)

    def _bregman_by_parts(self, p: FloatArray, rest: FloatArray, q: FloatArray, step: FloatArray) -> FloatArray:
        """D_G by its definition where p and q are far apart; as an integral of g over [q, p] where they are near."""
        slope = np.asarray(self.score(q))
        result: FloatArray = self._excess(q) - self.entropy.excess(np.minimum(p, rest)) - step * slope
        near = np.abs(step) < 0.1 * np.minimum(q, 1 - q)
        if near.any():
            start, short, base = q[near], step[near], slope[near]
            result[near] = short * integral(lambda node: np.asarray(self.score(start + short * node)) - base)
        return result
