"""Other interpretations of a permissible loss: divergences, a family of densities, a game ([N] section 5, [T] 3.2 and 4.1.4).

**Bregman divergences** ([N] (12), [T] Lemma 1 and (25)). With G = -phi, D_G(p || q) = G(p) - G(q) - (p - q) g(q). Of vectors it
is the sum over the components. Of scores it is that of the conjugate, which swaps the arguments: D_G*(x || y) = D_G(ginv(y) ||
ginv(x)). The mean is the centroid on the right side, whatever phi is; the one on the left is the mean of the scores, taken back.

**Exponential family** (Lemma 4). phi has the density exp(theta y - G*(theta)) of y in {0, 1}: theta = g(p) is the natural
parameter, p = ginv(theta) the expectation parameter, G* the cumulant function; minus its logarithm is b F(y* theta) + a,
so minimising the surrogate is maximising this likelihood. It sums to 1 over {0, 1} for the logistic loss alone (E9):
`excess` is what is missing; `log_density` and `density` have it divided out, which leaves the Bernoulli family in its
logit whatever phi is.

**Game** (after Lemma 4). The player reports q, Nature draws y, and the loss is D_G(y || q). The least expected loss is
the entropy phi(p) - a, and what a report q loses beyond it is the regret D_G(p || q).
"""

from dataclasses import dataclass

import numpy as np

from permissible.losses.elementwise import as_floats, as_probabilities
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.types import ArrayLike, FloatArray
from permissible.validation import one_of, probabilities, real_numbers, refusal, weights


def divergence(loss: PermissibleLoss, p: ArrayLike, q: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return D_G(p || q) of vectors of probabilities: the sum over the components, weighted if weights are given.

    Examples
    --------
    >>> from permissible import losses
    >>> losses.divergence(losses.get("squared"), [0.0, 1.0], [0.5, 0.75])
    0.3125
    """
    each = np.atleast_1d(loss.bregman(p, q))
    if sample_weight is not None:
        each = each * weights("sample_weight", sample_weight, length=len(each))
    return float(each.sum())


def dual_divergence(loss: PermissibleLoss, x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return D_G*(x || y) = G*(x) - G*(y) - (x - y) ginv(y) of scores, broadcast together ([T] (25)).

    Examples
    --------
    >>> from permissible import losses
    >>> loss = losses.get("logistic")
    >>> swapped = loss.bregman(loss.probability(2.0), loss.probability(1.0))
    >>> bool(abs(losses.dual_divergence(loss, 1.0, 2.0) - swapped) < 1e-15)
    True
    """
    first, second = np.broadcast_arrays(real_numbers("x", x, "numbers"), real_numbers("y", y, "numbers"))
    mirror = np.where(first > 0, -1.0, 1.0)  # D_G*(-x || -y) is the same, and small probabilities keep their digits
    first, second = mirror * first, mirror * second
    p, q = np.asarray(loss.probability(first)), np.asarray(loss.probability(second))
    plain = np.asarray(loss.conjugate(first)) - np.asarray(loss.conjugate(second)) - (first - second) * q
    inside = (np.abs(first) < loss.score_limit) & (np.abs(second) < loss.score_limit) & (p > 0) & (p < 1)
    swapped = np.asarray(loss.bregman(q, np.where(inside, p, 0.5)))  # keeps its digits where x and y are near
    found = np.where(inside & (np.abs(first - second) < 1.0), swapped, np.maximum(plain, 0.0))
    return found if found.ndim else found.item()


def centroid(loss: PermissibleLoss, p: ArrayLike, sample_weight: ArrayLike | None = None, side: str = "right") -> float:
    """Return the probability nearest to some probabilities: of least sum of D_G(p_i || c) ("right") or D_G(c || p_i) ("left").

    Examples
    --------
    >>> from permissible import losses
    >>> losses.centroid(losses.get("logistic"), [0.2, 0.8, 0.8, 0.8])
    0.65
    >>> round(losses.centroid(losses.get("logistic"), [0.2, 0.8], side="left"), 12)
    0.5
    """
    values = np.atleast_1d(probabilities("p", p))
    if not values.size:
        raise refusal("p", "at least one probability", p)
    weight = None if sample_weight is None else weights("sample_weight", sample_weight, length=len(values))
    if one_of("side", side, ("right", "left")) == "right":
        return float(np.average(values, weights=weight))
    return float(np.asarray(loss.probability(np.average(np.asarray(loss.score(values)), weights=weight))))


@dataclass(frozen=True)
class ExponentialFamily:
    """The exponential family of a permissible loss.

    Parameters
    ----------
    loss : PermissibleLoss

    Examples
    --------
    >>> from permissible import losses
    >>> family = losses.ExponentialFamily(losses.get("logistic"))
    >>> round(family.density(1, family.natural(0.8)), 12), family.excess(1.5) < 1e-15
    (0.8, True)
    """

    loss: PermissibleLoss

    def natural(self, probability: ArrayLike) -> FloatArray:
        """Return the natural parameter theta = g(p)."""
        return self.loss.score(probability)

    def expectation(self, theta: ArrayLike) -> FloatArray:
        """Return the expectation parameter p = ginv(theta), the derivative of the cumulant function."""
        return self.loss.probability(theta)

    def cumulant(self, theta: ArrayLike) -> FloatArray:
        """Return the cumulant function G*(theta)."""
        return self.loss.conjugate(theta)

    def log_signature(self, y: ArrayLike, theta: ArrayLike) -> FloatArray:
        """Return theta y - G*(theta), the logarithm before normalisation: -(b F(y* theta) + a)."""
        answer, natural = _answers(y), as_floats(theta, "theta")
        return _plain(natural * answer - np.asarray(self.loss.conjugate(natural)))

    def excess(self, theta: ArrayLike) -> FloatArray:
        """Return by how much the signature misses a sum of 1 over y in {0, 1}, as a logarithm; 0 for the logistic loss (E9)."""
        return _plain(self.log_partition(theta) - np.asarray(self.loss.conjugate(theta)))

    def log_partition(self, theta: ArrayLike) -> FloatArray:
        """Return ln(1 + e^theta): the logarithm of the sum of e^(theta y) over y in {0, 1}, whatever phi is."""
        return _plain(np.logaddexp(0.0, as_floats(theta, "theta")))

    def log_density(self, y: ArrayLike, theta: ArrayLike) -> FloatArray:
        """Return the logarithm of the normalised density, theta y - ln(1 + e^theta)."""
        natural = as_floats(theta, "theta")
        return _plain(-np.logaddexp(0.0, np.where(_answers(y) == 1, -natural, natural)))

    def density(self, y: ArrayLike, theta: ArrayLike) -> FloatArray:
        """Return the normalised density."""
        return _plain(np.exp(self.log_density(y, theta)))


@dataclass(frozen=True)
class Game:
    """The game of a permissible loss: report a probability, pay the divergence of the answer from it.

    Parameters
    ----------
    loss : PermissibleLoss

    Examples
    --------
    >>> from permissible import losses
    >>> brier = losses.Game(losses.get("squared"))
    >>> brier.payoff([1, 0], [0.75, 0.5])
    array([0.0625, 0.25  ])
    >>> brier.regret(0.5, 0.75)
    0.0625
    """

    loss: PermissibleLoss

    def payoff(self, y: ArrayLike, q: ArrayLike) -> FloatArray:
        """Return D_G(y || q): the log loss for phi_Q, the Brier score for phi_B."""
        return self.loss.bregman(_answers(y), q)

    def entropy(self, p: ArrayLike) -> FloatArray:
        """Return the least expected payoff, phi(p) - a, that of reporting p."""
        return _plain(np.asarray(self.loss.phi(p)) - self.loss.a)

    def expected(self, p: ArrayLike, q: ArrayLike) -> FloatArray:
        """Return p D_G(1 || q) + (1 - p) D_G(0 || q), the entropy plus the regret."""
        return _plain(self.entropy(p) + np.asarray(self.regret(p, q)))

    def regret(self, p: ArrayLike, q: ArrayLike) -> FloatArray:
        """Return D_G(p || q), what reporting q loses when p is true."""
        return self.loss.bregman(p, q)


def _answers(y: ArrayLike) -> FloatArray:
    answers = as_probabilities(y, "y")
    other = (answers != 0) & (answers != 1)
    if other.any():
        raise refusal("y", "0 or 1", float(answers[other].flat[0]))
    return answers


def _plain(result: FloatArray) -> FloatArray:
    found = np.asarray(result)
    return found if found.ndim else found.item()  # type: ignore[return-value]
