"""One row at a time, as a web service asks: the probability of a row of pandas and of NumPy, beside LightGBM and scikit-learn."""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

import permissible as pm
from benchmarks.row import Row, Work

CALLS = 200
"""Predictions that make one measurement."""

ESTIMATORS: Mapping[str, Callable[[], object]] = {
    "rules": pm.ULSClassifier,
    "ten rules": pm.ULSClassifier.compact,
    "columns": lambda: pm.ULSClassifier(learner="column", n_rounds=20),
    "boosted trees": pm.ULSClassifier.trees,
    "tree": pm.UDTClassifier,
    "boundary": lambda: pm.BoundaryClassifier(alpha=0.1),
    "kernel boundary": lambda: pm.BoundaryClassifier(alpha=0.1, kernel="rbf"),
    "mcboost": lambda: pm.MCBoostClassifier(n_rounds=30, learner="linear"),
    "mcboost trees": lambda: pm.MCBoostClassifier(n_rounds=30, learner="tree"),
}


def rows(full: bool) -> Iterator[Row]:
    """A row for each estimator and kind of table; we state that LightGBM takes at least our time."""
    for name, make in ESTIMATORS.items():
        for frame in (True, False):
            yield Row(
                name=f"one row of {'pandas' if frame else 'NumPy'}: {name}",
                prepare=partial(_contenders, make, frame),
                at_least={"LightGBM": 1.0},
                quality="accuracy",
                repeats=9 if full else 5,
                note=f"predict_proba of one of 569 rows with 30 columns, {CALLS} times",
            )


def _contenders(make: Callable[[], object], frame: bool) -> dict[str, Work]:
    import lightgbm
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = (X, y) if frame else (X.to_numpy(), y.to_numpy())
    models = {
        "permissible": make(),
        "LightGBM": lightgbm.LGBMClassifier(n_jobs=1, verbose=-1),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    return {name: partial(_predictions, model.fit(X, y), X, y) for name, model in models.items()}


def _predictions(model: object, X: object, y: object) -> tuple[float, float]:
    """The seconds of the calls alone: each row is a table of its own, as a request brings it."""
    requests = [X.iloc[[i]] if hasattr(X, "iloc") else X[i : i + 1].copy() for i in range(CALLS)]
    start = time.process_time()
    found = [model.predict_proba(request) for request in requests]
    seconds = time.process_time() - start
    return seconds, float(np.mean(np.concatenate(found).argmax(axis=1) == np.asarray(y)[:CALLS]))
