"""The impurity of several classes, and of costs, built from a phi of two ([T] (49); mathematics, section 6).

Without costs there are two: the sum over the classes of phi of each one against the rest, and the *joint* entropy of
all classes where phi has one. phi_Q(p) = h(p) + h(1 - p) with h(p) = -p ln p, and sum_c h(p_c) is Shannon's entropy,
the criterion of C4.5; for phi_B both are Gini's index, that of CART. Other phi have the sum only.

With costs C[true, predicted] let u_k = sum_j W_j C_jk be what predicting k costs and v_k = W_k c_k what missing k
costs, c_k the mean cost of the mistakes on class k. The impurity is

    (1/2) sum_k (u_k + v_k) (phi(v_k / (u_k + v_k)) - a) / b.

It is concave in the weights (each term is the perspective of a concave function), so no split raises it; 0 at a pure
leaf; with two classes it is phi of classes weighted by their costs; with equal costs half the sum above; and it is
nowhere below the least expected cost min_k u_k: if u_k <= v_k for some k, that term alone is at least u_k, and
otherwise the sum is at least sum_k v_k.
"""

import numpy as np

from permissible.losses.registry import Loss
from permissible.types import FloatArray


def class_impurity(
    loss: Loss, weight: FloatArray, *, joint: bool = True, costs: FloatArray | None = None
) -> FloatArray:
    """The impurity of sets of rows, times their weight; `weight` (n, M) holds the weight of each class in each set.

    >>> from permissible import losses
    >>> class_impurity(losses.get("logistic"), np.array([[1.0, 1.0, 2.0]]))  # Shannon's entropy is 1.5 bits
    array([6.])
    """
    total = weight.sum(axis=1)
    if costs is not None:
        spent = weight @ costs
        missed = weight * (costs.sum(axis=1) / (len(costs) - 1))
        return np.asarray(_pairs(loss, missed, spent).sum(axis=1) / 2)
    if weight.shape[1] == 2:
        return np.asarray(_pairs(loss, weight[:, 1], weight[:, 0]))
    if joint and loss.joint_entropy:
        share = weight / np.where(total > 0, total, 1.0)[:, None]
        return np.asarray(-(weight * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1))
    return np.asarray(_pairs(loss, weight, total[:, None] - weight).sum(axis=1))


def _pairs(loss: Loss, own: FloatArray, rest: FloatArray) -> FloatArray:
    """(u + v) f(v / (u + v)) of pairs of weights; 0 where one of them is 0."""
    both = (own > 0) & (rest > 0)
    p = np.where(both, own, 1.0) / np.where(both, own + rest, 2.0)
    return np.where(both, (own + rest) * np.asarray(loss.impurity(p)), 0.0)
