"""Scores, labels and costs of a multiclass loss brought to rows: n x M scores, n labels, n x M costs C[y_i, .]."""

from dataclasses import dataclass

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
