"""Losses of a vector of class scores with a cost matrix ([B] sections 3 and 4; mathematics, section 9).

S has one score for each class, z is the true class, C[z, j] what predicting j would cost. GEL and GLL penalise the
differences S_j - S_z (guess-averse); L_s and L_t penalise the scores themselves (calibrated, not guess-averse).
`least` is the infimum of a loss over the scores. `of_differences`: only differences of scores count. The Hessian
is at most `excess` times its diagonal. Class probabilities are proportional to e^(exponent S) where
`estimates_posterior` holds of the (M, M) costs (None: costs by row). Values and gradients with respect to S are for all rows
at once. Exponentials are factored by their largest exponent; GLL never overflows, the others stop growing at e^600.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from permissible.types import ArrayLike, FloatArray, IntArray
from permissible.validation import Words, checked_costs, real_numbers, refusal


@dataclass(frozen=True)
class ScoredRows:
    """Checked arguments; `single` says that one vector of scores was given, so that one is returned."""

    scores: FloatArray
    y: IntArray
    costs: FloatArray
    single: bool

    def differences(self) -> FloatArray:
        """Return S_j - S_z."""
        return self.scores - self.scores[np.arange(self.y.size), self.y][:, None]

    def out(self, result: FloatArray) -> FloatArray:
        """Return the result in the shape of the input: a float (or one vector) for one vector of scores."""
        if not self.single:
            return result
        only: FloatArray = result[0] if result.ndim == 2 else result[0].item()
        return only


def rows_of(scores: ArrayLike, y: ArrayLike, cost: object = None, per_row: bool = False) -> ScoredRows:
    """Check and bring to rows. `cost`: None (1 - I), a matrix (M, M), an object with `.matrix`, or a row per example."""
    array = real_numbers("scores", scores, "an array of numbers")
    single = array.ndim == 1
    array = array[None] if single else array
    if array.ndim != 2 or array.shape[1] < 2:
        raise refusal("scores", "of shape (n, classes), two classes or more", Words(f"shape {array.shape}"))
    if not np.isfinite(array).all():
        raise refusal("scores", "finite", float(array[~np.isfinite(array)][0]))
    labels = np.atleast_1d(np.asarray(y))
    n, m = array.shape
    if labels.shape != (n,):
        raise refusal("y", f"{n} labels, one for each row of `scores`", Words(f"shape {labels.shape}"))
    if labels.dtype.kind not in "iub" or (n and not ((labels >= 0) & (labels < m)).all()):
        raise refusal("y", f"codes of classes, 0 to {m - 1}", y)
    labels = labels.astype(np.int64)
    return ScoredRows(array, labels, _cost_rows(getattr(cost, "matrix", cost), labels, m, per_row), single)


def _cost_rows(cost: object, y: IntArray, m: int, per_row: bool) -> FloatArray:
    if cost is None:
        return np.where(y[:, None] == np.arange(m), 0.0, 1.0)
    costs = real_numbers("cost", cost, "an array of costs")
    if costs.shape == (m, m) and not per_row:
        return np.asarray(checked_costs(costs, "cost")[y])
    if costs.shape != (y.size, m):
        came = Words(f"shape {costs.shape}")
        raise refusal("cost", f"of shape ({m}, {m}), or ({y.size}, {m}) with a row per example", came)
    if not (np.isfinite(costs) & (costs >= 0)).all():
        raise refusal("cost", "finite and non-negative", float(costs[~(np.isfinite(costs) & (costs >= 0))][0]))
    own = costs[np.arange(y.size), y]
    if own.any():
        row = int(np.flatnonzero(own)[0])
        raise refusal("cost", "zero for the true class of each row", Words(f"{own[row]:g} in row {row}"))
    return costs


LARGEST = 600.0  # e^600 times any sensible cost and number of classes is still a double


def _without_costs(costs: FloatArray | None) -> bool:
    return costs is not None and bool(np.all(costs[~np.eye(len(costs), dtype=bool)] == 1.0))


def _symmetric(costs: FloatArray | None) -> bool:
    return costs is not None and np.array_equal(costs, costs.T)


def _symmetric_pair(costs: FloatArray | None) -> bool:
    return costs is not None and len(costs) == 2 and _symmetric(costs)


class MulticlassLoss:
    """The methods of a loss of class scores; a loss gives the formulas, `_values` and `_slopes`, of checked rows."""

    name: ClassVar[str]
    excess: ClassVar[float] = 2.0
    of_differences: ClassVar[bool] = True
    exponent: ClassVar[float] = 1.0
    least: ClassVar[float] = 0.0
    ignores_costs: ClassVar[bool] = False

    @staticmethod
    def estimates_posterior(costs: FloatArray | None) -> bool:
        """Whether class probabilities are proportional to e^(exponent S) for these costs (None: costs by row)."""
        return False

    def value(self, scores: ArrayLike, y: ArrayLike, cost: object = None, *, rows: bool = False) -> FloatArray:
        """Return the loss of each row; `cost` is (M, M) or, with rows=True or n != M, one row of costs per example."""
        at = self._rows(scores, y, cost, rows)
        return at.out(self._values(at))

    def gradient(self, scores: ArrayLike, y: ArrayLike, cost: object = None, *, rows: bool = False) -> FloatArray:
        """Return dL/dS, of the shape of `scores`; `cost` is that of `value`."""
        at = self._rows(scores, y, cost, rows)
        return at.out(self._slopes(at))

    def _rows(self, scores: ArrayLike, y: ArrayLike, cost: object, rows: bool) -> ScoredRows:
        return rows_of(scores, y) if self.ignores_costs else rows_of(scores, y, cost, rows)

    def _values(self, at: ScoredRows) -> FloatArray:
        raise NotImplementedError

    def _slopes(self, at: ScoredRows) -> FloatArray:
        raise NotImplementedError


class _WithPosterior(MulticlassLoss):
    """A loss whose scores give class probabilities, for the costs for which `estimates_posterior` holds."""

    def posterior(self, scores: ArrayLike) -> FloatArray:
        """Return the class probabilities, proportional to e^(exponent S): of GLL without costs, GEL with symmetric ones, MC."""
        return softmax(scores, self.exponent)


@dataclass(frozen=True)
class GLL(_WithPosterior):
    """Generalised logistic loss ln(1 + sum_j C_zj e^(S_j - S_z)) ([B] (21)); guess-averse, never overflows.

    Examples
    --------
    >>> from permissible import losses
    >>> losses.GLL().value([[0.0, 0.0, 0.0]], [0])
    array([1.09861229])
    """

    name: ClassVar[str] = "gll"
    estimates_posterior = staticmethod(_without_costs)

    def _values(self, at: ScoredRows) -> FloatArray:
        top, terms = _factored(at)
        return np.asarray(top + np.log1p(np.expm1(-top) + terms.sum(axis=1)))

    def _slopes(self, at: ScoredRows) -> FloatArray:
        top, terms = _factored(at)
        return balanced(at, terms / (np.exp(-top) + terms.sum(axis=1))[:, None])


@dataclass(frozen=True)
class GEL(_WithPosterior):
    """Generalised exponential loss sum_j C_zj e^(S_j - S_z) ([B] (20)); guess-averse.

    Examples
    --------
    >>> from permissible import losses
    >>> cost = [[0, 4, 4], [1, 0, 1], [1, 1, 0]]
    >>> losses.GEL().value([[0.0, 0.0, 0.0]], [0], cost).tolist()
    [8.0]
    """

    name: ClassVar[str] = "gel"
    exponent: ClassVar[float] = 2.0
    estimates_posterior = staticmethod(_symmetric)

    def _values(self, at: ScoredRows) -> FloatArray:
        return np.asarray(_exponentials(at).sum(axis=1))

    def _slopes(self, at: ScoredRows) -> FloatArray:
        return balanced(at, _exponentials(at))


@dataclass(frozen=True)
class MC(GEL):
    """Cost-insensitive multiclass exponential loss sum_j e^(S_j - S_z), j = z included ([B] (22)); ignores costs.

    Examples
    --------
    >>> from permissible import losses
    >>> cost = [[0, 4, 4], [1, 0, 1], [1, 1, 0]]
    >>> losses.MC().value([[0.0, 0.0, 0.0]], [0], cost).tolist()
    [3.0]
    """

    name: ClassVar[str] = "mc"
    least: ClassVar[float] = 1.0  # the true class is counted
    ignores_costs: ClassVar[bool] = True

    @staticmethod
    def estimates_posterior(costs: FloatArray | None) -> bool:
        """True, whatever the costs."""
        return True

    def _values(self, at: ScoredRows) -> FloatArray:
        return np.asarray(1 + super()._values(at))


@dataclass(frozen=True)
class LS(MulticlassLoss):
    """L_s = sum_j C_zj e^(S_j) for scores that sum to zero ([B] (12)); calibrated, not guess-averse for M >= 3.

    Examples
    --------
    >>> from permissible import losses
    >>> cost = [[0, 4, 4], [1, 0, 1], [1, 1, 0]]
    >>> losses.LS().value([[0.0, 0.0, 0.0]], [0], cost).tolist()
    [8.0]
    """

    name: ClassVar[str] = "ls"
    excess: ClassVar[float] = 1.0
    of_differences: ClassVar[bool] = False
    estimates_posterior = staticmethod(_symmetric_pair)

    def _values(self, at: ScoredRows) -> FloatArray:
        return np.asarray((at.costs * np.exp(np.minimum(at.scores, LARGEST))).sum(axis=1))

    def _slopes(self, at: ScoredRows) -> FloatArray:
        """The gradient, not projected on sum-zero scores ((36) of [B] lacks both halves: E17)."""
        return np.asarray(at.costs * np.exp(np.minimum(at.scores, LARGEST)))


@dataclass(frozen=True)
class LT(MulticlassLoss):
    """L_t = (sum_j C_zj e^(S_j)) (sum_k e^(-S_k)) ([B] (14)); calibrated, not guess-averse for M >= 3.

    Examples
    --------
    >>> from permissible import losses
    >>> cost = [[0, 4, 4], [1, 0, 1], [1, 1, 0]]
    >>> losses.LT().value([[0.0, 0.0, 0.0]], [0], cost).tolist()
    [24.0]
    """

    name: ClassVar[str] = "lt"
    exponent: ClassVar[float] = 2.0
    estimates_posterior = staticmethod(_symmetric_pair)

    def _values(self, at: ScoredRows) -> FloatArray:
        scale, up, down = self._parts(at)
        return np.asarray(scale * up.sum(axis=1) * down.sum(axis=1))

    def _slopes(self, at: ScoredRows) -> FloatArray:
        """The gradient ((37) of [B] has the opposite sign: E17)."""
        scale, up, down = self._parts(at)
        others = 1.0 - np.eye(up.shape[1])  # the product of a class with itself cancels, but for rounding
        return np.asarray(scale[:, None] * (up * (down @ others) - down * (up @ others)))

    @staticmethod
    def _parts(at: ScoredRows) -> tuple[FloatArray, FloatArray, FloatArray]:
        high, low = at.scores.max(axis=1), at.scores.min(axis=1)
        up = at.costs * np.exp(at.scores - high[:, None])
        down = np.exp(low[:, None] - at.scores)
        return np.exp(np.minimum(high - low, LARGEST)), up, down


@dataclass(frozen=True)
class StructuredHinge(MulticlassLoss):
    """Structured hinge max_k (C_zk + S_k - S_z), k = z included, of the structured SVM ([B] appendix E, (24)); guess-averse.

    Examples
    --------
    >>> from permissible import losses
    >>> cost = [[0, 4, 4], [1, 0, 1], [1, 1, 0]]
    >>> losses.StructuredHinge().value([[0.0, 0.0, 0.0]], [0], cost).tolist()
    [4.0]
    """

    name: ClassVar[str] = "structured_hinge"

    def _values(self, at: ScoredRows) -> FloatArray:
        return np.asarray((at.costs + at.differences()).max(axis=1))

    def _slopes(self, at: ScoredRows) -> FloatArray:
        """A subgradient: 0 where the true class attains the maximum, else e_k - e_z at the first k that does."""
        violation = at.costs + at.differences()
        worst = np.where(violation.max(axis=1) <= 0, at.y, violation.argmax(axis=1))
        index = np.arange(at.y.size)
        result = np.zeros_like(at.scores)
        result[index, worst] = 1.0
        result[index, at.y] -= 1.0
        return result


MULTICLASS: dict[str, Callable[[], MulticlassLoss]] = {
    loss.name: loss for loss in (GLL, GEL, LS, LT, MC, StructuredHinge)
}


def get_multiclass(loss: "str | MulticlassLoss") -> MulticlassLoss:
    """Return the multiclass loss of a name, or a loss object as it is.

    Examples
    --------
    >>> from permissible import losses
    >>> losses.get_multiclass("gll")
    GLL()
    """
    if not isinstance(loss, str):
        return loss
    if loss.lower() not in MULTICLASS:
        raise refusal("loss", f"one of {', '.join(MULTICLASS)}", loss)
    return MULTICLASS[loss.lower()]()


def softmax(scores: ArrayLike, scale: float) -> FloatArray:
    """Return e^(scale S), normalised over the last axis."""
    raised = scale * np.asarray(scores, dtype=np.float64)
    terms = np.exp(raised - raised.max(axis=-1, keepdims=True))
    result: FloatArray = terms / terms.sum(axis=-1, keepdims=True)
    return result


def _factored(at: ScoredRows) -> tuple[FloatArray, FloatArray]:
    """Return m >= 0 and C_zj e^(S_j - S_z - m), none above C_zj."""
    differences = at.differences()
    top = np.maximum(np.where(at.costs > 0, differences, 0.0).max(axis=1), 0.0)
    return top, at.costs * np.exp(np.minimum(differences - top[:, None], 0.0))


def _exponentials(at: ScoredRows) -> FloatArray:
    """Return C_zj e^(S_j - S_z)."""
    return at.costs * np.exp(np.minimum(at.differences(), LARGEST))


def balanced(at: ScoredRows, terms: FloatArray) -> FloatArray:
    """Return the gradient whose entries j != z are given; adding a constant to all scores changes nothing, so rows sum to 0."""
    index = np.arange(at.y.size)
    result = terms.copy()
    result[index, at.y] = 0.0
    result[index, at.y] = -result.sum(axis=1)
    return result
