"""A proper loss given as two functions becomes its phi: the converse of Lemma 3 of [N].

A loss of a reported probability q is two functions, l1(q) where the answer is positive and l0(q) where it is negative. It is
proper when reporting the true probability is best: q -> p l1(q) + (1 - p) l0(q) is least at q = p alone. Then

    phi(p) = p l1(p) + (1 - p) l0(p),   phi'(p) = l1(p) - l0(p),   l1(q) - phi(1) = D_G(1 || q),   l0(q) - phi(0) = D_G(0 || q),

so the loss is, but for a constant, the Bregman divergence of a concave phi; it is permissible where the two classes are treated
alike, l0(q) = l1(1 - q). The log loss gives phi_Q, the Brier score phi_B.
"""

from functools import partial

import numpy as np

from permissible.losses.entropy import Formula
from permissible.losses.own.calls import OwnFunction, on_arrays, refuse_infinite
from permissible.losses.own.phi import from_phi
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.types import FloatArray
from permissible.validation import Words, refusal

GRID = np.linspace(0, 1, 129)[1:-1]


def from_proper(l1: OwnFunction, l0: OwnFunction, name: str = "mine") -> PermissibleLoss:
    """Return the permissible loss behind a proper loss of probabilities, with phi(p) = p l1(p) + (1 - p) l0(p).

    Parameters
    ----------
    l1, l0 : callable
        The loss of reporting probability q when the answer is positive and when it is negative, for q in (0, 1).
    name : str
        Name shown in reports and plots.

    Examples
    --------
    >>> import numpy as np
    >>> from permissible import losses
    >>> loss = losses.from_proper(lambda q: -np.log(q), lambda q: -np.log(1 - q), name="log loss")
    >>> round(loss.phi(0.5), 6), round(loss.probability(0.0), 12)
    (0.693147, 0.5)
    >>> try:
    ...     losses.from_proper(lambda q: 1 - q, lambda q: q)  # the absolute error
    ... except ValueError as error:
    ...     print(str(error)[:23])
    `l1, l0` must be proper
    """
    positive, negative = on_arrays(l1, "l1"), on_arrays(l0, "l0")
    for argument, loss in (("l1", positive), ("l0", negative)):
        refuse_infinite(argument, "finite on (0, 1)", loss(GRID), GRID, "q = ")
    _check_symmetric(positive, negative)
    _check_proper(positive, negative)
    return from_phi(partial(_risk, positive, negative), partial(_difference, positive, negative), name)


def _check_symmetric(positive: Formula, negative: Formula) -> None:
    first, second = positive(GRID), negative(GRID[::-1])
    apart = np.abs(first - second)
    if apart.max() > 1e-9 * max(np.abs(first).max(), 1e-300):
        place = int(apart.argmax())
        q = GRID[place]
        came = Words(f"l1({q:g}) = {first[place]:.6g} and l0({1 - q:g}) = {second[place]:.6g}")
        raise refusal("l1, l0", "the same for both classes, l0(q) = l1(1 - q)", came)


def _check_proper(positive: Formula, negative: Formula) -> None:
    """Compare the expected loss of every report of a grid with that of the truth, for every truth of the grid."""
    p, values = GRID[:, None], (positive(GRID), negative(GRID))
    expected = p * values[0] + (1 - p) * values[1]
    truth = np.diag(expected)
    gap = expected - truth[:, None] + np.diag(np.full(len(GRID), np.inf))
    if gap.min() <= 1e-13 * np.abs(truth).max():
        row, column = (int(place) for place in np.unravel_index(gap.argmin(), gap.shape))
        came = Words(
            f"at p = {GRID[row]:g} an expected loss of {expected[row, column]:.6g} for q = {GRID[column]:g} "
            f"beside {truth[row]:.6g} for the truth"
        )
        raise refusal("l1, l0", "proper (the expected loss is least at the true probability)", came)


def _risk(positive: Formula, negative: Formula, p: FloatArray) -> FloatArray:
    """phi(p) = p l1(p) + (1 - p) l0(p), on the left half and mirrored; an answer of probability 0 costs nothing."""
    left = np.minimum(p, 1 - p)
    inner = np.maximum(left, 1e-300)
    return np.where(left > 0, left * positive(inner), 0.0) + (1 - left) * negative(inner)


def _difference(positive: Formula, negative: Formula, p: FloatArray) -> FloatArray:
    return positive(p) - negative(p)
