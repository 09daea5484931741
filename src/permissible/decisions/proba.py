"""Checks of the two inputs of every decision: probabilities, and the codes of the true classes."""

import numpy as np

from permissible.types import ArrayLike, FloatArray, IntArray
from permissible.validation import Words, real_numbers, refusal, refusal_type

ROUNDING = 1e-3  # float32 softmax rows of many classes miss 1 by about 1e-6; a missing column misses it by far more


def probabilities(proba: ArrayLike) -> FloatArray:
    """Return `proba` as float64: 1-D P(positive), or (n, M) with rows that sum to 1."""
    array = real_numbers("proba", proba, "an array of probabilities")
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] < 2):
        raise refusal("proba", "1-D (P of the positive class) or of shape (n, classes)", Words(f"shape {array.shape}"))
    if not ((array >= 0) & (array <= 1)).all():
        raise refusal("proba", "probabilities in [0, 1]", float(array[~((array >= 0) & (array <= 1))].flat[0]))
    if array.ndim == 2 and array.size and np.abs(array.sum(axis=1) - 1).max() > ROUNDING:
        row = int(np.abs(array.sum(axis=1) - 1).argmax())
        raise refusal("proba", "rows that sum to 1", Words(f"a sum of {array[row].sum():.6g} in row {row}"))
    return array


def positive(proba: ArrayLike) -> FloatArray:
    """Return P(positive), 1-D, of a two-class problem."""
    array = probabilities(proba)
    if array.ndim == 2 and array.shape[1] != 2:
        remedy = "use CostMatrix or Hard for more classes"
        raise refusal("proba", "1-D or of shape (n, 2)", Words(f"shape {array.shape}"), remedy)
    return array if array.ndim == 1 else array[:, 1]


def by_class(proba: ArrayLike) -> FloatArray:
    """Return probabilities of shape (n, M), M >= 2."""
    array = probabilities(proba)
    return np.column_stack([1 - array, array]) if array.ndim == 1 else array


def codes(y: ArrayLike, n_rows: int, n_classes: int) -> IntArray:
    """Return `y` as integer codes 0 .. n_classes - 1, one for each row of the probabilities."""
    array = np.asarray(y)
    if array.shape != (n_rows,):
        raise refusal("y", f"1-D with {n_rows} values, one for each row of `proba`", Words(f"shape {array.shape}"))
    remedy = "pass positions in `classes_`, such as np.searchsorted(classes_, y)"
    expected = f"codes of classes, 0 to {n_classes - 1}"
    if array.dtype.kind not in "iubf":
        raise refusal_type("y", expected, y, remedy)
    valid = (array >= 0) & (array < n_classes) & (array == np.floor(array))
    if not valid.all():
        raise refusal("y", expected, array[~valid].flat[0].item(), remedy)
    return array.astype(np.int64)


def mean(values: FloatArray, sample_weight: ArrayLike | None) -> float:
    """Return the weighted mean; weight 2 counts a row twice."""
    if sample_weight is None:
        if not values.size:
            raise refusal("y", "at least one row", Words("none"))
        return float(values.mean())
    weight = real_numbers("sample_weight", sample_weight, f"{values.size} numbers, one for each row")
    if weight.shape != values.shape:
        raise refusal("sample_weight", f"of shape {values.shape}", Words(f"shape {weight.shape}"))
    if not (np.isfinite(weight) & (weight >= 0)).all() or not weight.sum() > 0:
        raise refusal("sample_weight", "finite, non-negative and not all zero", weight)
    return float(np.average(values, weights=weight))
