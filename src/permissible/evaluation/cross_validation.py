"""Cross-validation: stratified folds, and mean and spread of every figure of merit."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from permissible.evaluation.metrics import measures
from permissible.table.match import UnseenCategoryWarning
from permissible.types import AnyArray, FloatArray
from permissible.validation import refusal


class LabelledRows(Protocol):
    """Columns by name, labels, and weights where there are any."""

    @property
    def X(self) -> dict[str, AnyArray]:  # noqa: N802
        """The columns."""
        ...

    @property
    def y(self) -> AnyArray:
        """The labels."""
        ...

    @property
    def weight(self) -> FloatArray | None:
        """The weights."""
        ...


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of merit over the folds."""

    key: str
    name: str
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.values))

    @property
    def spread(self) -> float:
        """The standard deviation over the folds."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0


def folds(y: AnyArray, n_folds: int, seed: int) -> list[tuple[AnyArray, AnyArray]]:
    """Stratified folds: rows to learn from, rows to judge by."""
    from sklearn.model_selection import StratifiedKFold

    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < n_folds:
        raise refusal("cv", f"at most {smallest}, the size of the smallest class", n_folds)
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def cross_validate(
    data: LabelledRows,
    make: Callable[[], Any],
    decision: Any,
    n_folds: int,
    seed: int,
    tick: Callable[[float, float | None], None] = lambda done, total: None,
) -> list[Figure]:
    """Fit on all folds but one, judge on that one, in turn."""
    classes = np.unique(data.y)
    codes = np.searchsorted(classes, data.y)
    aligned = None if decision is None else decision.aligned(classes)
    found: dict[str, list[float]] = {key: [] for key, *_ in measures(aligned)}
    names = {key: name for key, name, *_ in measures(aligned)}
    for done, (learn, judge) in enumerate(folds(data.y, n_folds, seed)):
        tick(done, n_folds)
        weight = None if data.weight is None else data.weight[learn]
        fitted = fit(make(), part(data.X, learn), data.y[learn], weight)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UnseenCategoryWarning
            )  # a rare category is in one fold only: nothing to tell
            proba: FloatArray = fitted.predict_proba(part(data.X, judge))
        for key, _, loss, _ in measures(aligned):
            judged = None if data.weight is None else data.weight[judge]
            found[key].append(float(np.average(loss(codes[judge], proba), weights=judged)))
    return [Figure(key, names[key], tuple(values)) for key, values in found.items()]


def part(X: dict[str, AnyArray], rows: AnyArray) -> dict[str, AnyArray]:
    """Some of the rows."""
    return {name: values[rows] for name, values in X.items()}


def fit(estimator: Any, X: Any, y: AnyArray, weight: FloatArray | None) -> Any:
    """Fit, with the weights where there are any."""
    return estimator.fit(X, y) if weight is None else estimator.fit(X, y, sample_weight=weight)
