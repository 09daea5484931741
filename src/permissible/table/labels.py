"""Labels of rows, checked: an array of text, integers, truth values or floats that are integers."""

import numpy as np

from permissible.table.observe import is_number
from permissible.table.reading import as_array
from permissible.types import AnyArray
from permissible.validation import Words, refusal, refusal_type, shown


def labels_of(y: object) -> AnyArray:
    """The labels as an array of one type; anything else is refused, in scikit-learn's wording where it has one.

    A column vector stays one; the caller decides whether to accept it.
    """
    try:
        labels = as_array(y)
    except ValueError:  # lists of unequal length
        raise refusal("y", "a class label in every row", y) from None
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: `y` must hold class labels, got complex numbers.")
    if labels.ndim != 1 and not (labels.ndim == 2 and labels.shape[1] == 1):
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    if labels.dtype.kind in "OT":
        labels = _of_one_type(labels.astype(object, copy=False).ravel()).reshape(labels.shape)
    if labels.dtype.kind == "f":
        return _whole(labels)
    if labels.dtype.kind == "S":
        raise _refusal_of_bytes()
    if labels.dtype.kind not in "biuOU":
        raise ValueError(
            f"Unknown label type: {labels.dtype}. `y` must hold class labels: text, integers or truth values."
        )
    return labels


def joint_labels(one: AnyArray, other: AnyArray) -> AnyArray:
    """The distinct labels of two parts of a table, sorted; they must be of one type."""
    if (one.dtype.kind in "OU") != (other.dtype.kind in "OU"):
        _refuse_mixture()
    return np.unique(np.concatenate([one, other]))


def _whole(labels: AnyArray) -> AnyArray:
    if not np.isfinite(labels).all():
        what = "NaN" if np.isnan(labels).any() else "infinity"
        raise refusal("y", "a class label in every row", Words(f"{what}: Input y contains {what}"), "drop those rows")
    if np.any(labels != np.rint(labels)):
        example = labels.flat[np.argmax(labels != np.rint(labels))]
        raise ValueError(
            f"Unknown label type: continuous. `y` must hold class labels, got {shown(float(example))}; "
            "cut a continuous target into classes first."
        )
    return labels if labels.dtype.itemsize <= 8 else _numbers(labels.astype(object), {float})


def _refuse_mixture() -> None:
    raise refusal("y", "labels of one type", Words("text and numbers together"), "use y.astype(str)")


def _of_one_type(labels: AnyArray) -> AnyArray:
    """Python objects by their type: text unchanged, numbers as an array of numbers."""
    kinds = {type(label) for label in labels}
    floats = tuple(kind for kind in kinds if issubclass(kind, (float, np.floating)))
    missing = any(kind is type(None) or kind.__name__ in ("NAType", "NaTType") for kind in kinds)
    if missing or (floats and any(isinstance(label, floats) and label != label for label in labels)):
        came = Words("a missing one: Input y contains NaN")
        raise refusal("y", "a class label in every row", came, "drop those rows")
    text = {_is_text(kind) for kind in kinds}
    if len(text) > 1:
        _refuse_mixture()
    return _numbers(labels, kinds) if text == {False} else labels


def _is_text(kind: type) -> bool:
    if issubclass(kind, bytes):
        raise _refusal_of_bytes()
    if issubclass(kind, str):
        return True
    if not (issubclass(kind, (int, float, np.generic)) and is_number(kind)):
        raise ValueError(
            f"Unknown label type: {kind.__name__}. `y` must hold class labels: text, integers or truth values."
        )
    return False


def _refusal_of_bytes() -> TypeError:
    return refusal_type("y", "text, integers or truth values", Words("labels represented as bytes"), "decode them")


def _numbers(labels: AnyArray, kinds: set[type]) -> AnyArray:
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return labels.astype(bool)
    low, high = min(labels), max(labels)
    try:
        if any(issubclass(kind, (float, np.floating)) for kind in kinds):
            floats = labels.astype(np.float64)
            if np.array_equal(floats, labels):  # else float64 would round different integers to one number
                return floats
        elif low >= -(2**63) and high < 2**64:
            return labels.astype(np.int64 if high < 2**63 else np.uint64)
    except OverflowError:
        pass
    raise refusal("y", "labels that 64 bits hold", Words("an integer beyond them"), "turn the labels into text")
