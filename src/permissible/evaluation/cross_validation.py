"""Cross-validation: stratified folds, and mean and spread of every metric."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from permissible.decisions import Decision
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

    def columns(self, rows: AnyArray) -> dict[str, AnyArray]:
        """The columns of some of the rows."""
        return {name: values[rows] for name, values in self.X.items()}


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric over the folds."""

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


Tick = Callable[[float, float | None], None]


def out_of_fold(
    data: LabelledRows,
    make: Callable[[], BaseEstimator],
    n_folds: int,
    seed: int,
    tick: Tick = lambda done, total: None,
) -> tuple[FloatArray, AnyArray]:
    """The probabilities of each row by a fit on the other folds, and the fold of each row."""
    classes = np.unique(data.y)
    proba, fold_of = np.zeros((len(data.y), len(classes))), np.zeros(len(data.y), dtype=np.int64)
    for done, (training, held_out) in enumerate(folds(data.y, n_folds, seed)):
        tick(done, n_folds)
        weight = None if data.weight is None else data.weight[training]
        fitted = fit(make(), data.columns(training), data.y[training], weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)  # a rare category may occur in one fold only
            proba[held_out] = fitted.predict_proba(data.columns(held_out))
        fold_of[held_out] = done
    return proba, fold_of


def fold_figures(data: LabelledRows, decision: Decision | None, proba: FloatArray, fold_of: AnyArray) -> list[Figure]:
    """Every metric in each fold."""
    classes = np.unique(data.y)
    codes = np.searchsorted(classes, data.y)
    found = []
    for key, name, judge, _ in measures(None if decision is None else decision.aligned(classes)):
        values = judge.loss(codes, proba)
        parts = [fold_of == fold for fold in range(int(fold_of.max()) + 1)]
        weights = [None if data.weight is None else data.weight[rows] for rows in parts]
        means = (float(np.average(values[rows], weights=w)) for rows, w in zip(parts, weights, strict=True))
        found.append(Figure(key, name, tuple(means)))
    return found


def fit(estimator: BaseEstimator, X: object, y: AnyArray, weight: FloatArray | None) -> BaseEstimator:
    """Fit, with the weights where there are any."""
    return estimator.fit(X, y) if weight is None else estimator.fit(X, y, sample_weight=weight)
