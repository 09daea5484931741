"""Cross-validation: stratified folds, and mean and spread of every figure of merit."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.evaluation.metrics import measures
from permissible.table.match import UnseenCategoryWarning
from permissible.types import AnyArray, FloatArray
from permissible.validation import refusal


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Columns by name, labels, and weights where there are any."""

    X: dict[str, AnyArray]
    y: AnyArray
    weight: FloatArray | None = None


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
    """Stratified folds: training rows and held-out rows."""
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
    """Fit on all folds but one and evaluate on that one, for each fold."""
    classes = np.unique(data.y)
    codes = np.searchsorted(classes, data.y)
    aligned = None if decision is None else decision.aligned(classes)
    found: dict[str, list[float]] = {key: [] for key, *_ in measures(aligned)}
    names = {key: name for key, name, *_ in measures(aligned)}
    for done, (training, held_out) in enumerate(folds(data.y, n_folds, seed)):
        tick(done, n_folds)
        weight = None if data.weight is None else data.weight[training]
        fitted = fit(make(), part(data.X, training), data.y[training], weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)  # a rare category may occur in one fold only
            proba: FloatArray = fitted.predict_proba(part(data.X, held_out))
        for key, _, loss, _ in measures(aligned):
            weights = None if data.weight is None else data.weight[held_out]
            found[key].append(float(np.average(loss(codes[held_out], proba), weights=weights)))
    return [Figure(key, names[key], tuple(values)) for key, values in found.items()]


def part(X: dict[str, AnyArray], rows: AnyArray) -> dict[str, AnyArray]:
    """Some of the rows."""
    return {name: values[rows] for name, values in X.items()}


def fit(estimator: Any, X: Any, y: AnyArray, weight: FloatArray | None) -> Any:
    """Fit, with the weights where there are any."""
    return estimator.fit(X, y) if weight is None else estimator.fit(X, y, sample_weight=weight)
