"""Labels of rows in parts: taken, or refused in the same words, as labels of rows in memory (estimators/target.py)."""

from typing import Any

import numpy as np

from permissible.table.observe import is_na
from permissible.table.reading import as_array
from permissible.types import AnyArray
from permissible.validation import Words, refusal, shown

_KINDS = "`y` must hold class labels: text, integers or truth values."


def labels_of(values: Any) -> AnyArray:
    """The labels of a part: text, or an array of whole numbers or truth values. What is no list of labels is refused."""
    labels = as_array(values)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    if labels.dtype.kind in "OT":
        labels = _of_one_type(labels.astype(object, copy=False))
    if labels.dtype.kind == "f":
        _refuse_continuous(labels)
    elif labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: `y` must hold class labels, got complex numbers.")
    elif labels.dtype.kind not in "biuOUS":
        raise ValueError(f"Unknown label type: {labels.dtype}. {_KINDS}")
    return labels


def joint_labels(one: AnyArray, other: AnyArray) -> AnyArray:
    """The different labels of two parts, sorted; they must be of one type."""
    groups = {_group(type(labels[0])) for labels in (one, other)}
    _refuse_mixture(groups)
    return np.unique(np.concatenate([one, other]))


def _refuse_continuous(labels: AnyArray) -> None:
    if not np.isfinite(labels).all():
        what = "NaN" if np.isnan(labels).any() else "infinity"
        raise refusal("y", "a class label in every row", Words(f"{what}: Input y contains {what}"), "drop those rows")
    broken = labels != np.rint(labels)
    if broken.any():
        raise ValueError(
            "Unknown label type: continuous. `y` must hold class labels, got "
            f"{shown(float(labels[np.argmax(broken)]))}; cut a continuous target into classes first."
        )


def _of_one_type(labels: AnyArray) -> AnyArray:
    """Python objects as what they are: text as it came, numbers as an array of numbers."""
    if any(
        label is None or is_na(label) or (isinstance(label, (float, np.floating)) and label != label)
        for label in labels
    ):
        raise refusal(
            "y", "a class label in every row", Words("a missing one: Input y contains NaN"), "drop those rows"
        )
    kinds = {type(label) for label in labels}
    groups = {_group(kind) for kind in kinds}
    _refuse_mixture(groups)
    if groups != {"numbers"}:
        return labels
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return labels.astype(bool)
    try:
        return labels.astype(np.float64 if any(issubclass(kind, (float, np.floating)) for kind in kinds) else np.int64)
    except OverflowError:  # integers beyond 64 bits stay Python's own
        return labels


def _group(kind: type) -> str:
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, bytes):
        return "bytes"
    if issubclass(kind, (int, float, np.number, np.bool_)):
        return "numbers"
    raise ValueError(f"Unknown label type: {kind.__name__}. {_KINDS}")


def _refuse_mixture(groups: set[str]) -> None:
    if len(groups) > 1:
        remedy = "use y.astype(str)" if "numbers" in groups else "decode the bytes"
        raise refusal(
            "y", "labels of one type", Words(f"{' and '.join(sorted(groups, reverse=True))} together"), remedy
        )
