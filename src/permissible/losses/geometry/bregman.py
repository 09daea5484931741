"""Bregman divergences of vectors, of scores, and the centroids that they define ([N] (12), [T] Lemma 1 and (25)).

With G = -phi, D_G(p || q) = G(p) - G(q) - (p - q) g(q). Of vectors it is the sum over the components. Of scores it is that of the
conjugate, D_G*(x || y), which swaps the arguments: D_G*(x || y) = D_G(ginv(y) || ginv(x)) ([T] (25)). The mean is the
centroid on the right side, whatever phi is; the one on the left is the mean of the scores, taken back.
"""

import numpy as np

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
