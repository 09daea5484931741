"""What displays share: where a picture is drawn, which estimators have one, and curves over thresholds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from permissible.decisions import class_codes
from permissible.evaluation.net_benefit import Columns
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


@dataclass(eq=False)
class CurveDisplay:
    """A curve over thresholds; `table` computes it from labels and probabilities."""

    curve: Columns
    name: str | None = None
    ax_: Any = field(default=None, repr=False)
    table: ClassVar[Callable[..., Columns]]

    @classmethod
    def from_estimator(
        cls,
        estimator: ClassifierMixin,
        X: object,
        y: ArrayLike,
        thresholds: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier of two classes; `options` are those of the function in `pm.metrics`."""
        labels = labels_of(estimator, y, options.get("pos_label"))
        named = type(estimator).__name__ if name is None else name
        return cls.from_predictions(labels, estimator.predict_proba(X), thresholds, ax=ax, name=named, **options)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        thresholds: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of probabilities of the positive class."""
        at = np.arange(1, 100) / 100 if thresholds is None else thresholds
        return cls(cls.table(y, proba, at, **options), name).plot(ax=ax)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw into `ax`, or into a new figure."""
        raise NotImplementedError
