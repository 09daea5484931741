"""The target of a classifier: labels of any type become codes 0, 1, ... in the order of the sorted classes."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from permissible.decisions import class_codes
from permissible.table.labels import labels_of
from permissible.types import AnyArray, IntArray
from permissible.validation import Words, refusal


def decode_target(name: str, y: object, n_rows: int) -> tuple[AnyArray, IntArray]:
    """The sorted classes and each row's code into them; anything but labels is refused in scikit-learn's wording."""
    labels = _as_labels(name, y)
    if len(labels) != n_rows:
        raise refusal("y", f"of the same length as X ({n_rows} rows)", Words(f"{len(labels)} labels"))
    if labels.dtype.kind in "biu":
        return _small_integers(labels)
    if labels.dtype.kind == "f":
        return _whole_floats(labels)
    return _sorted(labels)


def codes_among(classes: AnyArray, y: object, n_rows: int, name: str = "The classifier") -> IntArray:
    """Each row's code into known classes; a label that is not among them is refused."""
    found, codes = decode_target(name, y, n_rows)
    return class_codes(found, classes)[codes]


def _as_labels(name: str, y: object) -> AnyArray:
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        raise refusal("y", "a 1d array of labels", Words("a sparse matrix"), "use y.toarray().ravel()")
    labels = labels_of(y)
    if labels.ndim == 2:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
            "example using ravel().",
            DataConversionWarning,
            stacklevel=5,
        )
        labels = labels[:, 0]
    return labels


def _sorted(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def _small_integers(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    """Without sorting where the labels span few integers, the usual case."""
    if len(labels) == 0 or labels.dtype.kind == "b":
        return _sorted(labels)
    low, high = int(labels.min()), int(labels.max())
    if high - low > max(1000, len(labels)):
        return _sorted(labels)
    # The difference of two labels may not fit their own type (100 - -100 in int8), but it wraps around to the right
    # one in 64 bits, since it is small.
    offset = labels.astype(np.int64)
    offset -= np.array(low).astype(np.int64)
    present = np.bincount(offset) > 0
    classes = (np.flatnonzero(present) + np.array(low).astype(np.int64)).astype(labels.dtype)
    return classes, offset if present.all() else (np.cumsum(present) - 1)[offset]


def _whole_floats(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    if float(np.abs(labels).max(initial=0.0)) > 2**53:
        return _sorted(labels)
    classes, codes = _small_integers(labels.astype(np.int64))
    return classes.astype(labels.dtype), codes
