"""Malformed input: every estimator, loss and decision refuses it in one sentence that names the argument, and stays usable.

Each case is a promise: the right type of exception, the form of docs/errors.md,
no warning from NumPy or the compiled core on
the way, and an estimator that fits good data afterwards. A fitted estimator that refuses a new fit keeps its old model.
"""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tests.faults.subjects import ESTIMATORS, TAKES_MISSING, good, refused, still_works

X, Y = good()
N = len(Y)


def _with(value: Any, dtype: Any = float) -> np.ndarray:
    bad = X.astype(dtype)
    bad[3, 1] = value
    return bad


def _frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], **columns})


EITHER = (ValueError, TypeError)
BAD_X: dict[str, tuple[Any, Any]] = {
    "None": (None, EITHER),
    "a number": (3.0, EITHER),
    "text": ("table", EITHER),
    "one column as 1-D": (X[:, 0], ValueError),
    "3-D": (X[:, :, None], ValueError),
    "no rows": (X[:0], ValueError),
    "no columns": (X[:, :0], ValueError),
    "inf": (_with(np.inf), ValueError),
    "-inf": (_with(-np.inf), ValueError),
    "float32 inf": (_with(np.inf, np.float32), ValueError),
    "complex": (X + 1j, ValueError),
    "ragged": ([[1.0, 2.0], [3.0]] * (N // 2), ValueError),
    "dates": (np.full((N, 2), np.datetime64("2024-01-01")), EITHER),
    "structured": (np.zeros((N, 1), dtype=[("a", float), ("b", float)]), EITHER),
    "a dictionary in a cell": (_with({}, object), EITHER),
    "a list in a cell": ([[[1], 2.0, 3.0]] * N, EITHER),
    "duplicate names": (pd.DataFrame(X[:, :2], columns=["a", "a"]), ValueError),
    "dates in a frame": (_frame(c=pd.Timestamp("2024-01-01")), EITHER),
    "intervals of time": (_frame(c=pd.Timedelta("1D")), EITHER),
    "complex in a frame": (_frame(c=X[:, 0] + 1j), EITHER),
    "objects in a frame": (_frame(c=[object()] * N), EITHER),
    "inf in a frame": (_frame(c=np.full(N, np.inf)), ValueError),
    "a set": ({1, 2, 3}, EITHER),
    "a generator": ((row for row in X), EITHER),
}
NAN_X = {"NaN": _with(np.nan), "None in a cell": _with(None, object), "NA in a frame": _frame(c=[None] * N)}


@pytest.mark.parametrize("name", BAD_X)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_malformed_X_is_refused(kind, name):
    bad, error = BAD_X[name]
    estimator = ESTIMATORS[kind]()
    with refused(error, "X"):
        estimator.fit(bad, Y)
    still_works(estimator)


@pytest.mark.parametrize("name", NAN_X)
@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if kind not in TAKES_MISSING])
def test_missing_values_are_refused_where_there_is_no_place_for_them(kind, name):
    estimator = ESTIMATORS[kind]()
    with refused(ValueError, "X"):
        estimator.fit(NAN_X[name], Y)
    still_works(estimator)


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if kind not in TAKES_MISSING])
def test_text_columns_are_refused_where_there_is_no_place_for_them(kind):
    estimator = ESTIMATORS[kind]()
    with refused(EITHER, "X"):
        estimator.fit(_frame(c=["red", "blue"] * (N // 2)), Y)
    still_works(estimator)


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if kind in TAKES_MISSING])
def test_sparse_rows_are_refused_where_there_is_no_place_for_them(kind):
    estimator = ESTIMATORS[kind]()
    with refused(TypeError, "X"):
        estimator.fit(sparse.csr_matrix(X), Y)
    still_works(estimator)


BAD_Y: dict[str, tuple[Any, Any]] = {
    "None": (None, ValueError),
    "a number": (1, ValueError),
    "too short": (Y[:-1], ValueError),
    "too long": (np.r_[Y, 1], ValueError),
    "empty": (Y[:0], ValueError),
    "2-D": (np.c_[Y, Y], ValueError),
    "one class": (np.ones(N, dtype=int), ValueError),
    "NaN": (np.where(np.arange(N) == 3, np.nan, Y), ValueError),
    "inf": (np.where(np.arange(N) == 3, np.inf, Y), ValueError),
    "None in a row": (np.where(np.arange(N) == 3, None, Y), ValueError),
    "pandas NA": (pd.Series(Y, dtype="Int64").where(np.arange(N) != 3), ValueError),
    "continuous": (Y + 0.5 * X[:, 0], ValueError),
    "complex": (Y + 1j, ValueError),
    "dates": (np.full(N, np.datetime64("2024-01-01")), ValueError),
    "text and numbers": (np.array(["a", 1] * (N // 2), dtype=object), ValueError),
    "lists": ([[0], [1, 2]] * (N // 2), ValueError),
    "dictionaries": (np.array([{}] * N), ValueError),
    "text": ("yes", ValueError),
}


@pytest.mark.parametrize("name", BAD_Y)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_malformed_y_is_refused(kind, name):
    bad, error = BAD_Y[name]
    estimator = ESTIMATORS[kind]()
    with refused(error, "y"):
        estimator.fit(X, bad)
    still_works(estimator)


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if kind.startswith("boundary")])
def test_three_classes_are_refused_where_there_are_two(kind):
    estimator = ESTIMATORS[kind]()
    with pytest.raises(ValueError, match=r"^Only binary classification is supported\.") as caught:
        estimator.fit(X, np.arange(N) % 3)
    assert "\n" not in str(caught.value)
    still_works(estimator)


BAD_WEIGHTS: dict[str, Any] = {
    "too short": np.ones(N - 1),
    "too long": np.ones(N + 1),
    "2-D": np.ones((N, 1)),
    "negative": np.where(np.arange(N) == 3, -1.0, 1.0),
    "NaN": np.where(np.arange(N) == 3, np.nan, 1.0),
    "inf": np.where(np.arange(N) == 3, np.inf, 1.0),
    "all zero": np.zeros(N),
    "text": np.array(["heavy"] * N),
    "one word": "balanced",
    "complex": np.ones(N) + 1j,
    "None in a row": np.where(np.arange(N) == 3, None, 1.0),
    "dates": np.full(N, np.datetime64("2024-01-01")),
    "a dictionary": {0: 1.0},
    "only one class left": np.where(Y == 1, 0.0, 1.0),
    "a sum beyond float64": np.full(N, 1e308),
}


@pytest.mark.parametrize("name", BAD_WEIGHTS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_malformed_weights_are_refused(kind, name):
    estimator = ESTIMATORS[kind]()
    by_matrix = kind.startswith("b") and kind not in TAKES_MISSING
    with refused(EITHER, "y" if name == "only one class left" and not by_matrix else "sample_weight"):
        estimator.fit(X, Y, sample_weight=BAD_WEIGHTS[name])
    still_works(estimator)


BAD_CLASS_WEIGHTS: dict[str, Any] = {
    "an unknown word": "blanced",
    "an unknown label": {7: 1.0},
    "negative": {0: -1.0},
    "NaN": {0: float("nan")},
    "text": {0: "heavy"},
    "a list": [1.0, 2.0],
    "all zero": {0: 0.0, 1: 0.0},
}


@pytest.mark.parametrize("name", BAD_CLASS_WEIGHTS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_malformed_class_weights_are_refused(kind, name):
    estimator = ESTIMATORS[kind](class_weight=BAD_CLASS_WEIGHTS[name])
    with refused(EITHER, "class_weight"):
        estimator.fit(X, Y)
    still_works(estimator.set_params(class_weight=None))


# -- after fit ---------------------------------------------------------------------------------------------------------------

METHODS = ("predict", "predict_proba", "decision_function")
BAD_ROWS: dict[str, tuple[Any, str]] = {
    "too few columns": (X[:, :2], "X"),
    "too many columns": (np.c_[X, X], "X"),
    "1-D": (X[0], "X"),
    "no rows": (X[:0], "X"),
    "inf": (_with(np.inf), "X"),
    "text": (np.full((4, 3), "a", dtype=object), "X"),
    "complex": (X + 1j, "X"),
    "None": (None, "X"),
    "dates": (np.full((4, 3), np.datetime64("2024-01-01")), "X"),
    "objects": (np.full((4, 3), {}, dtype=object), "X"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["uls", "udt", "boundary", "mcboost", "boundary-kernel"])
def test_malformed_rows_are_refused_by_a_fitted_model(kind, method, name):
    estimator = ESTIMATORS[kind]().fit(X, Y)
    before = estimator.predict_proba(X)
    with refused(EITHER, "X"):
        getattr(estimator, method)(BAD_ROWS[name][0])
    np.testing.assert_array_equal(estimator.predict_proba(X), before)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_unfitted_estimator_says_so(kind, method):
    with pytest.raises(ValueError, match=r"^This \w+ instance is not fitted yet"):
        getattr(ESTIMATORS[kind](), method)(X)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_other_columns_than_in_fit_are_named(kind):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    estimator = ESTIMATORS[kind]().fit(frame, Y)
    with pytest.raises(ValueError, match="should match those that were passed during fit") as caught:
        estimator.predict(frame.rename(columns={"b": "d"}))
    assert "- d" in str(caught.value)
    assert "- b" in str(caught.value)


REFITS = {"X": (_with(np.inf), Y), "y": (X, Y[:-1]), "columns": (np.c_[X, X][:, :5], np.ones(N))}


@pytest.mark.parametrize("name", REFITS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_fitted_estimator_that_refuses_a_new_fit_keeps_its_model(kind, name):
    estimator = ESTIMATORS[kind]().fit(X, Y)
    before, state = estimator.predict_proba(X), set(vars(estimator))
    with pytest.raises(ValueError):
        estimator.fit(*REFITS[name])
    np.testing.assert_array_equal(estimator.predict_proba(X), before)
    assert set(vars(estimator)) == state


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_refused_first_fit_leaves_nothing_behind(kind):
    estimator = ESTIMATORS[kind]()
    before = pickle.dumps(vars(estimator))
    with pytest.raises(ValueError):
        estimator.fit(X, np.ones(N))
    assert pickle.dumps(vars(estimator)) == before


BAD_COST_ROWS: dict[str, Any] = {
    "too few": np.ones((N - 1, 2)),
    "too wide": np.ones((N, 3)),
    "1-D": np.ones(N),
    "negative": -1.0 + np.eye(2)[Y],
    "NaN": np.where(np.eye(2)[Y] > 0, 0, np.nan),
    "own class": np.ones((N, 2)),
    "text": "costs",
    "texts": np.full((N, 2), "a"),
}


@pytest.mark.parametrize("name", BAD_COST_ROWS)
@pytest.mark.parametrize("kind", ["mcboost", "mcboost-tree"])
def test_malformed_costs_by_row_are_refused(kind, name):
    estimator = ESTIMATORS[kind]()
    with refused(EITHER, "cost"):
        estimator.fit(X, Y, cost=BAD_COST_ROWS[name])
    still_works(estimator)
