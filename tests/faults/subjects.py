"""Who is on trial: every estimator, good data for it, and the form that a refusal must have."""

import re
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import permissible as pm

ESTIMATORS: dict[str, Callable[..., Any]] = {
    "uls": lambda **given: pm.ULSClassifier(**{"n_rounds": 3, "random_state": 0, **given}),
    "uls-tree": lambda **given: pm.ULSClassifier(**{"n_rounds": 3, "learner": "tree", "random_state": 0, **given}),
    "uls-columns": lambda **given: pm.ULSClassifier(**{"n_rounds": 3, "learner": "column", "random_state": 0, **given}),
    "udt": lambda **given: pm.UDTClassifier(**{"max_leaf_nodes": 4, "random_state": 0, **given}),
    "boundary": lambda **given: pm.BoundaryClassifier(**given),
    "boundary-kernel": lambda **given: pm.BoundaryClassifier(**{"kernel": "rbf", "alpha": 1e-2, **given}),
    "boundary-rules": lambda **given: pm.BoundaryClassifier(**{"learner": "rule", "n_rounds": 5, **given}),
    "boundary-cv": lambda **given: pm.BoundaryClassifierCV(**{"alphas": [0.01, 0.1], "cv": 2, **given}),
    "mcboost": lambda **given: pm.MCBoostClassifier(**{"learner": "linear", "n_rounds": 3, "random_state": 0, **given}),
    "mcboost-tree": lambda **given: pm.MCBoostClassifier(
        **{"n_rounds": 2, "learner": "tree", "max_leaf_nodes": 3, "random_state": 0, **given}
    ),
}
TAKES_MISSING = ("uls", "uls-tree", "udt", "mcboost", "mcboost-tree", "boundary-rules")

# One sentence of the house, or the words that scikit-learn fixes (docs/errors.md), which may name the argument in its own way.
HOUSE = re.compile(r"`(?P<argument>[^`]+)` must be .+, got .+\.", flags=re.DOTALL)
SCIKIT_LEARN = (
    r"\w+ requires y to be passed, but the target y is None\.",
    r"Found array with 0 (sample|feature)\(s\) \(shape=\([\d, ]+\)\) while a minimum of 1 is required by \w+\.",
    r"Unknown label type: .+\. `y` must hold class labels.*\.",
    r"Only binary classification is supported\. .+\.",
    r"Complex data not supported: `[Xy]` must .+, got .+\.",
    r"y should be a 1d array, got an array of shape .+ instead\.",
    r"X has \d+ features, but \w+ is expecting \d+ features as input\.",
    r"This \w+ instance is not fitted yet.*\.",
)


def good(n_rows: int = 40, n_columns: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows that every estimator fits."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    y = (X[:, 0] + 0.5 * generator.normal(size=n_rows) > 0).astype(int)
    y[:2] = (0, 1)
    return X, y


def is_one_refusal(message: str, argument: str) -> bool:
    """Whether a message is one sentence of the agreed form that names the argument."""
    if "\n" in message or len(message) > 400:
        return False
    found = HOUSE.fullmatch(message)
    if found is not None:
        return argument in found["argument"]
    return any(re.fullmatch(words, message) for words in SCIKIT_LEARN) and argument in message


@contextmanager
def refused(kind: type[Exception] | tuple[type[Exception], ...], argument: str):
    """The block must raise this kind of error, of the agreed form, and say nothing else: no warning from below."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, TypeError)) as caught:
            yield
    assert isinstance(caught.value, kind), repr(caught.value)
    assert is_one_refusal(str(caught.value), argument), str(caught.value)


def still_works(estimator: Any) -> None:
    """After a refusal the estimator fits good data and predicts."""
    X, y = good()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(estimator.fit(X, y).predict(X)) == len(y)
