"""The base class of decisions: mean loss, a scorer for scikit-learn, and plain data for JSON.

The scorer is minus the risk of deciding from ``predict_proba`` (greater is better), a plain callable(estimator, X, y),
so that nothing here needs scikit-learn.
"""

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from permissible.decisions.proba import by_class, codes, mean
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray
from permissible.validation import Words, refusal, refusal_type


class Decision:
    """Methods that all decisions share."""

    def decide(self, proba: ArrayLike) -> Any:
        """Return the action for each row of probabilities."""
        raise NotImplementedError

    def loss(self, y: ArrayLike, proba: ArrayLike) -> FloatArray:
        """Return the theoretical loss of each row; `y` holds codes, positions in ``classes_``."""
        action, n_classes = self.decide(proba), by_class(proba).shape[1]
        table = self.action_losses(n_classes)
        if table is None:
            raise NotImplementedError
        return np.asarray(table[codes(y, action.size, n_classes), action])

    def action_losses(self, n_classes: int) -> FloatArray | None:
        """Return the loss of each action (columns) for each true class, a rejection last; None where actions are not a few."""
        return None

    def risk(self, y: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean theoretical loss; weight 2 counts a row twice."""
        return mean(self.loss(y, proba), sample_weight)

    def scorer(self) -> "Scorer":
        """Return a scorer for ``scoring=`` of scikit-learn: minus the risk."""
        return Scorer(self)

    def aligned(self, classes: ArrayLike) -> Self:
        """Return the decision for these classes in this order; only a cost matrix depends on it."""
        return self

    def to_document(self) -> dict[str, object]:
        """Return the decision as plain data for JSON; `decisions.from_document` reads it back."""
        return {"kind": type(self).__name__, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True)
class Scorer:
    """Score an estimator by minus the risk of a decision.

    Examples
    --------
    >>> import permissible as pm
    >>> pm.Reject(0.2).scorer()
    Scorer(decision=Reject(cost=0.2))
    """

    decision: Decision

    def __call__(self, estimator: Any, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return -risk of the decision on (X, y)."""
        if not hasattr(estimator, "predict_proba"):
            expected = "a classifier with predict_proba"
            raise refusal_type("estimator", expected, estimator, "wrap it in CalibratedClassifierCV")
        classes = np.asarray(estimator.classes_)
        return -self.decision.aligned(classes).risk(class_codes(y, classes), estimator.predict_proba(X), sample_weight)


def class_codes(y: ArrayLike, classes: AnyArray) -> IntArray:
    """Return the position of each label of `y` in `classes`; refuse a label that is not there."""
    labels = np.asarray(y)
    known = {label: code for code, label in enumerate(classes.tolist())}
    try:
        return np.array([known[label] for label in labels.tolist()], dtype=np.int64)
    except KeyError as missing:
        raise refusal("y", f"labels among {classes.tolist()}", Words(f"{missing.args[0]!r}")) from None
