"""Labels as codes of classes: which label is which column of the probabilities, and which one is positive."""

from collections.abc import Sequence

import numpy as np

from permissible.decisions import CostMatrix, Decision, class_codes, decision_for
from permissible.decisions.proba import codes, probabilities
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray
from permissible.validation import Words, refusal


def truth_of(y: ArrayLike, n_rows: int, n_classes: int, classes: Sequence[object] | None = None) -> IntArray:
    """Return codes of classes.

    Labels that are among `classes` are their positions there; without `classes`, texts are in sorted order, as the
    ``classes_`` of an estimator are, and numbers are codes.
    """
    labels = np.asarray(y)
    texts = labels.dtype.kind in "OUS"
    if classes is not None and labels.ndim == 1:
        if len(set(classes)) < len(classes):
            raise refusal("classes", "different names", list(classes))
        known = np.asarray(classes, dtype=object if len({type(name) for name in classes}) > 1 else None)
        if len(known) != n_classes:
            raise refusal("classes", f"one for each of the {n_classes} columns of `proba`", Words(f"{len(known)}"))
        if texts or known.dtype.kind not in "OUS":
            return codes(class_codes(labels, known), n_rows, n_classes)
    if not texts:
        return codes(labels, n_rows, n_classes)
    distinct = _distinct(labels)
    if len(distinct) != n_classes:
        remedy = "pass positions in `classes_`, such as np.searchsorted(classes_, y)"
        raise refusal("y", f"labels of {n_classes} classes", Words(f"{len(distinct)} different ones"), remedy)
    return codes(class_codes(labels, distinct), n_rows, n_classes)


def _distinct(labels: AnyArray) -> AnyArray:
    try:
        return np.unique(labels.astype(str) if labels.dtype.kind == "S" else labels)
    except TypeError:
        raise refusal("y", "labels that can be sorted", Words("a mixture of types")) from None


def as_positive(y: ArrayLike, proba: ArrayLike, pos_label: object) -> tuple[ArrayLike, ArrayLike]:
    """Return y and `proba` as they are, or with `pos_label` as the codes 0 and 1 and the probability of that label.

    >>> found, p = as_positive(["ill", "well", "ill"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], "ill")
    >>> found.tolist(), p.tolist()
    ([1, 0, 1], [0.9, 0.2, 0.6])
    """
    if pos_label is None:
        return y, proba
    labels = np.asarray(y)
    distinct = _distinct(labels).tolist() if labels.ndim == 1 else []
    if pos_label not in distinct or len(distinct) > 2:
        raise refusal("pos_label", f"one of the two labels in `y`, {distinct}", pos_label)
    array: FloatArray = probabilities(proba)
    if array.ndim == 2 and (array.shape[1] != 2 or len(distinct) < 2):
        came = Words(f"shape {array.shape} and labels {distinct}")
        raise refusal("proba", "1-D, the probability of `pos_label`, where `y` has not two labels", came)
    chosen = array if array.ndim == 1 else array[:, distinct.index(pos_label)]
    return np.array([label == pos_label for label in labels.tolist()], dtype=np.int64), chosen


def positive_last(classes: AnyArray, pos_label: object) -> list[int]:
    """Return the places of sorted classes in the order in which two of them are judged: that of `pos_label` last.

    >>> positive_last(np.array(["ill", "well"]), "ill"), positive_last(np.array(["ill", "well"]), None)
    ([1, 0], [0, 1])
    """
    places = list(range(len(classes)))
    if pos_label is None:
        return places
    names = classes.tolist()
    if len(names) != 2 or pos_label not in names:
        raise refusal("pos_label", f"one of two classes, here {names}", pos_label)
    return places[::-1] if names[0] == pos_label else places


def reordered(decision: object, classes: AnyArray, order: Sequence[int]) -> Decision:
    """Return a decision for classes in another order; thresholds of `pm.Weighted` and such are about the last class."""
    found = decision_for(decision, classes.tolist())
    if not isinstance(found, CostMatrix):
        return found
    named = CostMatrix(found.matrix, found.reject_cost, tuple(classes.tolist()))
    return named.aligned([classes.tolist()[k] for k in order])
