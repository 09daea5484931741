"""The target of a classifier: labels of any type become codes 0, 1, ... in the order of the sorted classes."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from permissible.table.observe import is_na
from permissible.types import AnyArray, IntArray
from permissible.validation import Words, refusal, shown


def decode_target(name: str, y: Any, n_rows: int) -> tuple[AnyArray, IntArray]:
    """The sorted classes and each row's code into them; what is no list of labels is refused in scikit-learn's words."""
    labels = _as_labels(name, y)
    if len(labels) != n_rows:
        raise refusal("y", f"of the same length as X ({n_rows} rows)", Words(f"{len(labels)} labels"))
    if labels.dtype.kind in "biu":
        return _small_integers(labels)
    if labels.dtype.kind == "f":
        return _whole_floats(labels)
    if labels.dtype.kind == "O":
        _refuse_odd_objects(labels)
    elif labels.dtype.kind not in "UST":
        raise ValueError(
            f"Unknown label type: {labels.dtype}. `y` must hold class labels: text, integers or truth values."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def _as_labels(name: str, y: Any) -> AnyArray:
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    try:
        labels = np.asarray(y)
    except ValueError:  # lists of unequal length
        raise refusal("y", "a class label in every row", y) from None
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: `y` must hold class labels, got complex numbers.")
    if labels.dtype.kind in "US" and not isinstance(y, np.ndarray):
        labels = np.asarray(y, dtype=object)
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


def _small_integers(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    """Without sorting where the labels span few integers, as they nearly always do."""
    if len(labels) == 0 or labels.dtype.kind == "b":
        classes, codes = np.unique(labels, return_inverse=True)
        return classes, codes.astype(np.int64, copy=False)
    low, high = int(labels.min()), int(labels.max())
    if high - low > max(1000, len(labels)):
        classes, codes = np.unique(labels, return_inverse=True)
        return classes, codes.astype(np.int64, copy=False)
    offset = (labels - labels.dtype.type(low)).astype(np.int64)
    present = np.bincount(offset) > 0
    code_of = np.cumsum(present) - 1
    classes = np.flatnonzero(present).astype(labels.dtype) + labels.dtype.type(low)
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
    if np.abs(labels).max(initial=0.0) > 2**53:
        classes, codes = np.unique(labels, return_inverse=True)
        return classes, codes.astype(np.int64, copy=False)
    classes, codes = _small_integers(labels.astype(np.int64))
    return classes.astype(labels.dtype), codes


def _refuse_odd_objects(labels: AnyArray) -> None:
    for kind in {type(label) for label in labels}:
        if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
            raise refusal(
                "y", "a class label in every row", Words("a missing one: Input y contains NaN"), "drop those rows"
            )
        if not issubclass(kind, (str, bytes, int, float, np.generic)):
            raise ValueError(
                f"Unknown label type: {kind.__name__}. `y` must hold class labels: text, integers or truth values."
            )
    if any(isinstance(label, float) and label != label for label in labels):
        raise refusal(
            "y", "a class label in every row", Words("a missing one: Input y contains NaN"), "drop those rows"
        )
    texts = sum(isinstance(label, (str, bytes)) for label in labels)
    if 0 < texts < len(labels):
        raise refusal("y", "labels of one type", Words("text and numbers together"), "use y.astype(str)")
    assert not any(is_na(label) for label in labels)
