"""Random estimators on random tables: a fit keeps its word (finite scores, probabilities, the same again) or is refused.

`make test` runs a few hundred of them, the slow version thousands; atheris does the same for files (see fuzz/).
"""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import permissible as pm
from tests.faults.subjects import HOUSE, SCIKIT_LEARN

VALUES = st.one_of(
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 1.0, 1e-300, 5e-324, 1e12, -1e100, 2.0**53]),
    st.integers(-3, 3).map(float),
)
LOSSES = st.sampled_from(["logistic", "matsushita", "squared", "mu", "power", "logcosh"])


@st.composite
def tables(draw, missing=True, classes=3):
    """A table of up to 14 rows and 3 columns, labels, and weights or none."""
    n_rows, n_columns = draw(st.integers(2, 14)), draw(st.integers(1, 3))
    values = st.one_of(VALUES, st.just(float("nan"))) if missing else VALUES
    X = np.array(
        draw(st.lists(st.lists(values, min_size=n_columns, max_size=n_columns), min_size=n_rows, max_size=n_rows))
    )
    y = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=n_rows, max_size=n_rows)))
    weight = draw(st.none() | st.lists(st.sampled_from([0.0, 1.0, 2.0, 1e-9, 1e6]), min_size=n_rows, max_size=n_rows))
    return X.reshape(n_rows, n_columns), y, None if weight is None else np.array(weight)


def sensible(estimator):
    """The estimator with the parameters that its other settings do not use at their defaults: those would be refused."""
    given, idle = estimator.get_params(), []
    if isinstance(estimator, pm.ULSClassifier):
        tree = given["learner"] == "tree"
        idle = ["scheme", "max_literals"] if tree else ["learning_rate"] if given["scheme"] != "classic" else []
    elif isinstance(estimator, pm.UDTClassifier):
        idle = [] if given["pruning"] == "auto" else ["pruning_folds"]
    elif isinstance(estimator, pm.BoundaryClassifier):
        idle = [] if given["fit_intercept"] else ["penalize_intercept"]
    elif given["learner"] != "tree":
        idle = ["max_leaf_nodes", "l2_regularization"] if given["learner"] == "linear" else ["max_leaf_nodes"]
    usual = type(estimator)().get_params()
    return estimator.set_params(**{name: usual[name] for name in idle})


ULS = st.builds(
    pm.ULSClassifier,
    loss=st.one_of(LOSSES, st.just("exponential")),
    n_rounds=st.integers(1, 6),
    max_literals=st.integers(1, 3),
    learner=st.sampled_from(["rule", "tree"]),
    scheme=st.sampled_from(["classic", "corrective", 2]),
    fit_intercept=st.booleans(),
    learning_rate=st.sampled_from(["auto", 0.1, 1.0]),
    l2_regularization=st.sampled_from([0.0, 1.0, 1e-9, 1e9]),
    early_stopping=st.booleans(),
    max_bins=st.sampled_from([2, 3, 255]),
    random_state=st.integers(0, 3),
)
UDT = st.builds(
    pm.UDTClassifier,
    loss=LOSSES,
    max_leaf_nodes=st.none() | st.integers(1, 9),
    max_depth=st.none() | st.integers(0, 4),
    min_samples_leaf=st.integers(1, 4),
    pruning=st.sampled_from([None, 0.0, 0.1, "auto"]),
    smoothing=st.sampled_from([0.0, 1.0]),
    max_bins=st.sampled_from([2, 3, 255]),
    pruning_folds=st.just(2),
    random_state=st.integers(0, 3),
)
BOUNDARY = st.builds(
    pm.BoundaryClassifier,
    boundaries=st.sampled_from([(0.5,), (0.2,), (0.2, 0.8), (0.1, 0.4, 0.9), "soft"]),
    loss=LOSSES,
    alpha=st.sampled_from([1e-6, 1e-2, 1.0, 1e6]),
    fit_intercept=st.booleans(),
    penalize_intercept=st.booleans(),
    max_iter=st.just(200),
)
MCBOOST = st.builds(
    pm.MCBoostClassifier,
    loss=st.sampled_from(["gll", "gel", "ls", "lt", "mc"]),
    n_rounds=st.integers(1, 5),
    learner=st.sampled_from(["linear", "rule", "tree"]),
    descent=st.sampled_from(["coordinate", "gradient"]),
    decision=st.sampled_from(["argmax", "bayes"]),
    max_leaf_nodes=st.integers(2, 5),
    l2_regularization=st.sampled_from([0.0, 1.0]),
    early_stopping=st.sampled_from([None, "cost", "surrogate"]),
    random_state=st.integers(0, 3),
)
SUBJECTS = {
    "uls": (ULS.map(sensible), tables()),
    "udt": (UDT.map(sensible), tables()),
    "boundary": (BOUNDARY.map(sensible), tables(False, 2)),
    "mcboost": (MCBOOST.map(sensible), tables()),
}
GENTLE = {"suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large], "deadline": None}


def keeps_its_word(estimator, table):
    X, y, weight = table
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model = clone(estimator).fit(X, y, sample_weight=weight)
        except (ValueError, TypeError) as refusal:
            return str(refusal)
        probability = model.predict_proba(X)
        assert np.isfinite(model.decision_function(X)).all()
        assert ((probability >= 0) & (probability <= 1)).all()
        np.testing.assert_allclose(probability.sum(axis=1), 1, atol=1e-9)
        assert set(model.predict(X)) <= set(y)
        again = clone(estimator).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(again.predict_proba(X), probability)
    return ""


def is_a_refusal(told: str) -> bool:
    import re

    return not told or bool(HOUSE.fullmatch(told)) or any(re.fullmatch(words, told) for words in SCIKIT_LEARN)


@pytest.mark.parametrize("kind", SUBJECTS)
def test_random_fits_keep_their_word_or_are_refused(kind):
    run_fuzz(kind, 60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SUBJECTS)
def test_thousands_of_random_fits_keep_their_word_or_are_refused(kind):
    run_fuzz(kind, 3000)


def run_fuzz(kind: str, count: int) -> None:
    makers, rows = SUBJECTS[kind]

    @settings(max_examples=count, **GENTLE)
    @given(makers, rows)
    def check(estimator, table):
        told = keeps_its_word(estimator, table)
        assert is_a_refusal(told), told

    check()
