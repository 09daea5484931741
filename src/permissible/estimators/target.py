"""The target of a classifier: labels of any type become codes 0, 1, ... in the order of the sorted classes."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from permissible.table.observe import is_number
from permissible.table.reading import as_array
from permissible.types import AnyArray, IntArray
from permissible.validation import Words, refusal, refusal_type, shown


def decode_target(name: str, y: Any, n_rows: int) -> tuple[AnyArray, IntArray]:
    """The sorted classes and each row's code into them; what is no list of labels is refused in scikit-learn's words."""
    labels = _as_labels(name, y)
    if len(labels) != n_rows:
        raise refusal("y", f"of the same length as X ({n_rows} rows)", Words(f"{len(labels)} labels"))
    if labels.dtype.kind in "OT":
        labels = _of_one_type(labels.astype(object, copy=False))
    if labels.dtype.kind in "biu":
        return _small_integers(labels)
    if labels.dtype.kind == "f":
        return _whole_floats(labels)
    if labels.dtype.kind == "S":
        raise _refusal_of_bytes()
    if labels.dtype.kind not in "OU":
        raise ValueError(
            f"Unknown label type: {labels.dtype}. `y` must hold class labels: text, integers or truth values."
        )
    return _sorted(labels)


def codes_among(classes: AnyArray, y: Any, n_rows: int, name: str = "The classifier") -> IntArray:
    """Each row's code into classes that are known already; a label that is not among them is refused."""
    found, codes = decode_target(name, y, n_rows)
    place = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in found.tolist() if label not in place]
    if unknown:
        raise refusal("y", f"labels among {shown(classes.tolist())}", unknown[0])
    return np.array([place[label] for label in found.tolist()], dtype=np.int64)[codes]


def _as_labels(name: str, y: Any) -> AnyArray:
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        raise refusal("y", "a 1d array of labels", Words("a sparse matrix"), "use y.toarray().ravel()")
    try:
        labels = as_array(y)
    except ValueError:  # lists of unequal length
        raise refusal("y", "a class label in every row", y) from None
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: `y` must hold class labels, got complex numbers.")
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
            "example using ravel().",
            DataConversionWarning,
            stacklevel=5,
        )
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    return labels


def _sorted(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def _small_integers(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    """Without sorting where the labels span few integers, as they nearly always do."""
    if len(labels) == 0 or labels.dtype.kind == "b":
        return _sorted(labels)
    low, high = int(labels.min()), int(labels.max())
    if high - low > max(1000, len(labels)):
        return _sorted(labels)
    # The difference of two labels may not fit their own type (100 - -100 in int8), but it wraps around to the right
    # one in 64 bits, since it is small.
    offset = labels.astype(np.int64) - np.array(low).astype(np.int64)
    present = np.bincount(offset) > 0
    code_of = np.cumsum(present) - 1
    classes = (np.flatnonzero(present) + np.array(low).astype(np.int64)).astype(labels.dtype)
    return classes, code_of[offset]


def _whole_floats(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    if not np.isfinite(labels).all():
        what = "NaN" if np.isnan(labels).any() else "infinity"
        raise refusal("y", "a class label in every row", Words(f"{what}: Input y contains {what}"), "drop those rows")
    if np.any(labels != np.rint(labels)):
        example = labels[np.argmax(labels != np.rint(labels))]
        raise ValueError(
            f"Unknown label type: continuous. `y` must hold class labels, got {shown(float(example))}; "
            "cut a continuous target into classes first."
        )
    if labels.dtype.itemsize > 8:
        labels = _numbers(labels.astype(object), {float})
    if float(np.abs(labels).max(initial=0.0)) > 2**53:
        return _sorted(labels)
    classes, codes = _small_integers(labels.astype(np.int64))
    return classes.astype(labels.dtype), codes


def _of_one_type(labels: AnyArray) -> AnyArray:
    """Python objects as what they are: text or bytes as they came, numbers as an array of numbers."""
    kinds = {type(label) for label in labels}
    floats = tuple(kind for kind in kinds if issubclass(kind, (float, np.floating)))
    missing = any(kind is type(None) or kind.__name__ in ("NAType", "NaTType") for kind in kinds)
    if missing or (floats and any(isinstance(label, floats) and label != label for label in labels)):
        came = Words("a missing one: Input y contains NaN")
        raise refusal("y", "a class label in every row", came, "drop those rows")
    text = {_is_text(kind) for kind in kinds}
    if len(text) > 1:
        raise refusal("y", "labels of one type", Words("text and numbers together"), "use y.astype(str)")
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
            if np.array_equal(floats, labels):  # else float64 would join integers that differ
                return floats
        elif low >= -(2**63) and high < 2**64:
            return labels.astype(np.int64 if high < 2**63 else np.uint64)
    except OverflowError:
        pass
    raise refusal("y", "labels that 64 bits hold", Words("an integer beyond them"), "turn the labels into text")
