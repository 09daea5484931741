"""How long one waits: for the probability of one row, as a web service asks, and for the import and the first fit.

The start-up is measured in a fresh process, beyond importing scikit-learn; the limit we state, 0.1 s, is a contender.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

import permissible as pm
from benchmarks.fresh import start_up
from benchmarks.row import Row, Work

CALLS = 200
"""Predictions that make one measurement."""
OURS = "import permissible as pm; pm.ULSClassifier(n_rounds=20, max_literals=1, early_stopping=False).fit(X, y)"
LIGHTGBM = "import lightgbm; lightgbm.LGBMClassifier(n_estimators=20, max_depth=1, verbose=-1).fit(X, y)"

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
    """A row for each estimator and kind of table, where LightGBM shall take at least our time; then the start-up."""
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
    yield Row(
        name="import and first fit",
        prepare=lambda: {
            "permissible": lambda: (start_up(OURS), 0.0),
            "the stated 0.1 s": lambda: (0.1, 0.0),
            "LightGBM": lambda: (start_up(LIGHTGBM), 0.0),
        },
        at_least={"the stated 0.1 s": 1.0},
        quality="none",
        repeats=5 if full else 3,
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
