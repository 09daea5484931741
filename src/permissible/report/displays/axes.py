"""What displays share: where a picture is drawn, and which estimators have one."""

from typing import TYPE_CHECKING, Any

import numpy as np

from permissible.decisions import class_codes
from permissible.types import AnyArray, ArrayLike
from permissible.validation import Words, refusal

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:  # matplotlib is imported only to draw
    Axes = object


def axes_or_new(ax: Axes | None, **figure: Any) -> Axes:
    """Return the given matplotlib axes, or those of a new figure; matplotlib is imported only then.

    >>> ax = axes_or_new(None, figsize=(4, 3))
    >>> axes_or_new(ax) is ax
    True
    """
    if ax is not None:
        return ax
    from matplotlib import pyplot

    new: Axes = pyplot.subplots(**figure)[1]
    return new


def two_classes(estimator: object) -> AnyArray:
    """Return the classes of a fitted classifier of two classes with probabilities; anything else is refused."""
    classes = np.asarray(estimator.classes_ if hasattr(estimator, "classes_") else ())
    if not hasattr(estimator, "predict_proba") or len(classes) != 2:
        came = Words(f"{type(estimator).__name__} of {len(classes)} classes")
        raise refusal("estimator", "a fitted classifier of two classes with predict_proba", came)
    return classes


def labels_of(estimator: object, y: ArrayLike, pos_label: object = None) -> AnyArray:
    """Return the codes of labels of a fitted classifier of two classes, or the labels where the positive one is named."""
    classes = two_classes(estimator)
    codes = class_codes(y, classes)
    return codes if pos_label is None else classes[codes]
