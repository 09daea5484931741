"""Malformed input: every estimator, loss and decision refuses it in one sentence that names the argument, and stays usable.

Each case is a promise: the right type of exception, the form of docs/errors.md,
no warning from NumPy or the compiled core on
the way, and an estimator that fits good data afterwards. A fitted estimator that refuses a new fit keeps its old model.
"""

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import permissible as pm
from permissible import losses
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


def _numbers(*more: Any, below: Any) -> tuple[Any, ...]:
    return (below, float("nan"), "many", None, [1], 1j, *more)


COUNT = (0, -1, 1.5, float("nan"), "many", [1], 1j, True)
SHARE = (0.0, -0.1, 1.5, float("nan"), float("inf"), "many", [0.5], 1j)
POSITIVE = (0.0, -1.0, float("nan"), float("inf"), "many", None, [1.0], 1j, Fraction)
NOT_NEGATIVE = (-1.0, float("nan"), float("inf"), "many", None, [1.0], 1j)
FLAG = ("yes", None, 2, 0.5, [True])
NAME = ("nonsense", 3, ["x"], object())
SEED = (-1, "one", 1.5, [0.5])
DIRECTIONS = ([1, 0], [2, 0, 0], {"nobody": 1}, "up", 1)
GROUPS = ("every", [[]], [["nobody"]], [[9]], [["a"], ["a", "b"]], 3, {"a": 1}, ["a"])
BAD_PARAMETERS: dict[str, dict[str, tuple[Any, ...]]] = {
    "uls": {
        "loss": (*NAME, None),
        "n_rounds": COUNT,
        "max_literals": COUNT,
        "learner": (*NAME, None),
        "scheme": ("nonsense", 0, -1, 1.5, None, [1]),
        "fit_intercept": FLAG,
        "learning_rate": SHARE,
        "l2_regularization": NOT_NEGATIVE,
        "beam": COUNT,
        "early_stopping": FLAG,
        "search_fraction": SHARE,
        "max_bins": (1, 256, 1.5, "many", None),
        "tol": NOT_NEGATIVE,
        "n_jobs": (0, "many", 1.5, [1]),
        "random_state": SEED,
        "max_time": (-1.0, "long", float("nan")),
        "categorical_features": (["nobody"], 7, [9], [True], 1.5),
        "points": (0, -1, 2.5, "five", True),
        "monotonic_cst": DIRECTIONS,
        "interaction_cst": GROUPS,
    },
    "uls-tree": {
        "loss": (*NAME, None, "F*", "auto"),
        "n_rounds": COUNT,
        "max_leaf_nodes": (1, 257, 1.5, "many", None),
        "learning_rate": SHARE,
        "l2_regularization": NOT_NEGATIVE,
        "search_fraction": SHARE,
        "warm_start": (True,),
        "scheme": ("corrective", 2),
        "monotonic_cst": DIRECTIONS,
        "interaction_cst": GROUPS,
    },
    "udt": {
        "loss": (*NAME, None),
        "max_leaf_nodes": COUNT,
        "max_depth": (-1, 1.5, "deep", [1], True),
        "min_samples_leaf": COUNT,
        "pruning": (-1.0, "csv", float("nan"), [1]),
        "min_gain": NOT_NEGATIVE,
        "min_weight_fraction_leaf": NOT_NEGATIVE,
        "smoothing": NOT_NEGATIVE,
        "max_bins": (1, 256, 1.5, "many", None),
        "monotonic_cst": DIRECTIONS,
        "interaction_cst": GROUPS,
        "pruning_folds": (1, 1.5, "many"),
        "n_jobs": (0, "many", 1.5, [1]),
        "random_state": SEED,
        "categorical_features": (["nobody"], [9], [True], 1.5),
    },
    "boundary": {
        "boundaries": ((), (0.0,), (1.0,), (0.5, 0.5), (0.7, 0.3), (float("nan"),), "hard", 3, None, [[0.5]], {"a": 1}),
        "loss": (*NAME, None),
        "alpha": POSITIVE[:-1],
        "tol": POSITIVE[:-1],
        "max_iter": COUNT,
        "solver": (*NAME, None),
        "fit_intercept": FLAG,
        "penalize_intercept": FLAG,
        "n_jobs": (0, "many", 1.5, [1]),
        "random_state": SEED,
    },
    "boundary-kernel": {
        "kernel": ("rfb", 3, ["rbf"]),
        "gamma": ("scales", 0.0, -1.0, float("nan"), None),
        "degree": COUNT,
        "coef0": ("many", float("nan"), None),
        "cache_size": (0, -1, "many", None),
        "solver": ("newton", "dcd", "psgd"),
    },
    "boundary-rules": {
        "boundaries": ("soft",),
        "learner": (*NAME, None),
        "kernel": ("rbf",),
        "n_rounds": COUNT,
        "max_literals": COUNT,
        "max_leaf_nodes": (1, 257, 1.5, "many", None),
        "max_bins": (1, 256, 1.5, "many", None),
        "solver": ("newton",),
        "categorical_features": (["nobody"], [9], [True], 1.5),
    },
    "boundary-cv": {
        "learner": ("rule",),
        "alphas": ([], [0.0], [-1.0], [float("nan")], "many", [[0.1]], {"a": 1}),
        "cv": (1, 0, -2, "many", 1.5),
        "tuning": ("nonsense", 3, None),
    },
    "mcboost": {
        "loss": (*NAME, None),
        "n_rounds": COUNT,
        "learner": (*NAME, None),
        "descent": (*NAME, None),
        "decision": (*NAME, None),
        "learning_rate": SHARE,
        "subsample": SHARE,
        "max_features": SHARE,
        "early_stopping": ("nonsense", 3, None),
        "scoring": (*NAME, None),
        "patience": COUNT,
        "validation_fraction": (0.0, -0.1, 0.95, "many", None),
        "calibration": ("nonsense", 3),
        "tol": NOT_NEGATIVE,
        "n_bags": COUNT,
        "n_jobs": (0, "many", 1.5, [1]),
        "random_state": SEED,
        "cost_matrix": (
            [[0]],
            [0, 1],
            [[0, 1, 2], [1, 0, 2]],
            [[1, 1], [1, 0]],
            [[0, -1], [1, 0]],
            [[0, np.nan], [1, 0]],
            [[0, np.inf], [1, 0]],
            [[0, 0], [1, 0]],
            "costs",
            3,
            [["a", "b"], ["c", "d"]],
            1.0 - np.eye(3),
            np.ones((2, 2, 2)),
        ),
    },
    "mcboost-tree": {
        "max_leaf_nodes": (1, 0, -1, 1.5, "many"),
        "max_depth": (0, -1, 1.5, "deep"),
        "min_samples_leaf": (0.0, -1.0, "many", None),
        "l2_regularization": NOT_NEGATIVE,
        "line_search": (*NAME, None),
        "max_bins": (1, 256, 1.5, "many", None),
        "categorical_features": (["nobody"], [9], [True], 1.5),
    },
}


def _parameter_cases():
    for kind, parameters in BAD_PARAMETERS.items():
        for name, values in parameters.items():
            for place, value in enumerate(values):
                yield pytest.param(kind, name, value, id=f"{kind}-{name}-{place}")


@pytest.mark.parametrize(("kind", "name", "value"), [*_parameter_cases()])
def test_malformed_parameters_are_refused(kind, name, value):
    estimator = ESTIMATORS[kind](**{name: value})
    with refused(EITHER, "matrix" if name == "cost_matrix" else name):
        estimator.fit(X, Y)
    still_works(estimator.set_params(**{name: ESTIMATORS[kind]().get_params()[name]}))


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


# -- losses and decisions ------------------------------------------------------------------------------------------------------

LOSS_NAMES = ("logistic", "matsushita", "squared", "mu", "power", "logcosh")
NOT_NUMBERS = {
    "text": "a",
    "None": None,
    "complex": 1j,
    "texts": ["a"],
    "ragged": [[1], [1, 2]],
    "a dictionary": {},
    "dates": np.datetime64("2024"),
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
@pytest.mark.parametrize("method", ["value", "weight", "probability", "score", "phi", "impurity"])
def test_losses_refuse_what_is_no_number(method, name):
    argument = {"value": "margin", "weight": "margin", "probability": "score"}.get(method, "probability")
    with refused(TypeError, argument):
        getattr(losses.get("logistic"), method)(NOT_NUMBERS[name])


@pytest.mark.parametrize("value", [-0.1, 1.1, [0.5, 2.0], -np.inf, np.inf])
@pytest.mark.parametrize("method", ["score", "phi", "phi_prime", "impurity"])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_losses_refuse_what_is_no_probability(loss, method, value):
    with refused(ValueError, "probability"):
        getattr(losses.get(loss), method)(value)


@pytest.mark.parametrize(
    ("name", "given", "argument"),
    [
        ("nonsense", {}, "loss"),
        ("logistc", {}, "loss"),
        (3, {}, "loss"),
        (None, {}, "loss"),
        ([], {}, "loss"),
        ("mu", {"mu": -0.1}, "mu"),
        ("mu", {"mu": 1.1}, "mu"),
        ("mu", {"mu": float("nan")}, "mu"),
        ("mu", {"mu": "a"}, "mu"),
        ("mu", {"mu": None}, "mu"),
        ("mu", {"nu": 1}, "params"),
        ("logistic", {"mu": 1}, "params"),
        ("power", {"upsilon": -1}, "upsilon"),
        ("power", {"upsilon": float("nan")}, "upsilon"),
        ("power", {"upsilon": float("inf")}, "upsilon"),
        ("power", {"upsilon": [1]}, "upsilon"),
        ("logcosh", {"zeta": 0}, "zeta"),
        ("logcosh", {"zeta": -1e7}, "zeta"),
        ("logcosh", {"zeta": float("nan")}, "zeta"),
        ("logcosh", {"zeta": float("inf")}, "zeta"),
        ("logcosh", {"zeta": {}}, "zeta"),
    ],
)
def test_losses_refuse_bad_names_and_parameters(name, given, argument):
    with refused(EITHER, argument):
        losses.get(name, **given)


OWN_PHIS = {
    "no function": 3,
    "asymmetric": lambda p: p * (1 - p) ** 2,
    "convex": lambda p: -p * (1 - p),
    "constant": lambda p: 0.0 * p + 1,
    "NaN": lambda p: p * float("nan"),
    "text": lambda p: "a",
    "linear": lambda p: 1 - abs(2 * p - 1) if p != 2 else 0,
    "negative": lambda p: p * (1 - p) - 5,
}


@pytest.mark.parametrize("name", OWN_PHIS)
def test_a_function_that_is_not_permissible_is_refused(name):
    with refused(EITHER, "phi"):
        losses.from_phi(OWN_PHIS[name])


BAD_BOUNDARIES = {
    "none": [],
    "0": [0.0],
    "1": [1.0],
    "twice": [0.5, 0.5],
    "falling": [0.6, 0.4],
    "NaN": [np.nan],
    "inf": [np.inf],
    "text": "half",
    "texts": ["a"],
    "None": None,
    "2-D": [[0.5]],
    "a number": 0.5,
    "complex": [0.5j],
    "a dictionary": {},
    "below": [-0.5],
}


@pytest.mark.parametrize("name", BAD_BOUNDARIES)
@pytest.mark.parametrize("maker", [pm.Boundaries, losses.PiecewiseLinear], ids=["Boundaries", "PiecewiseLinear"])
def test_malformed_boundaries_are_refused(maker, name):
    with refused(EITHER, "boundaries"):
        maker(BAD_BOUNDARIES[name])


BAD_COSTS: dict[str, Any] = {
    "1 x 1": [[0]],
    "1-D": [0, 1],
    "not square": [[0, 1, 2], [1, 0, 2]],
    "diagonal": [[1, 1], [1, 0]],
    "negative": [[0, -1], [1, 0]],
    "NaN": [[0, np.nan], [1, 0]],
    "inf": [[0, np.inf], [1, 0]],
    "empty row": [[0, 0], [1, 0]],
    "text": "costs",
    "texts": [["a", "b"]] * 2,
    "None": None,
    "3-D": np.ones((2, 2, 2)),
    "empty": [],
    "complex": np.array([[0, 1j], [1, 0]]),
    "ragged": [[0, 1], [1]],
    "a dictionary": {},
}


@pytest.mark.parametrize("name", BAD_COSTS)
def test_malformed_cost_matrices_are_refused(name):
    with refused(EITHER, "matrix"):
        pm.CostMatrix(BAD_COSTS[name])


@pytest.mark.parametrize("name", [name for name in BAD_COSTS if name != "None"])
@pytest.mark.parametrize("loss", ["GLL", "GEL", "LS", "LT"])
def test_multiclass_losses_refuse_malformed_costs(loss, name):
    with refused(EITHER, "cost"):
        getattr(losses, loss)().value([[0.1, 0.2]], [0], BAD_COSTS[name])


@pytest.mark.parametrize("method", ["value", "gradient"])
@pytest.mark.parametrize("loss", ["GLL", "GEL", "LS", "LT", "MC"])
@pytest.mark.parametrize(
    ("scores", "y", "argument"),
    [
        ("a", [0], "scores"),
        ([[0.1]], [0], "scores"),
        (np.zeros((1, 2, 2)), [0], "scores"),
        (None, [0], "scores"),
        ([[0.0, 1j]], [0], "scores"),
        ([[np.nan, 0.0]], [0], "scores"),
        ([[np.inf, 0.0]], [0], "scores"),
        ([[0.1, 0.2]], [2], "y"),
        ([[0.1, 0.2]], [-1], "y"),
        ([[0.1, 0.2]], [0, 1], "y"),
        ([[0.1, 0.2]], ["a"], "y"),
        ([[0.1, 0.2]], [0.5], "y"),
        ([[0.1, 0.2]], None, "y"),
    ],
)
def test_multiclass_losses_refuse_malformed_scores_and_labels(loss, method, scores, y, argument):
    with refused(EITHER, argument):
        getattr(getattr(losses, loss)(), method)(scores, y, None)


DECISIONS = {
    "hard": pm.Hard(),
    "weighted": pm.Weighted(0.3),
    "reject": pm.Reject(0.2),
    "boundaries": pm.Boundaries([0.25, 0.75]),
    "soft": pm.Soft(),
    "costs": pm.CostMatrix([[0, 1], [4, 0]]),
}
BAD_PROBA: dict[str, Any] = {
    "below 0": [-0.1],
    "above 1": [1.1],
    "NaN": [np.nan],
    "inf": [np.inf],
    "text": "a",
    "None": None,
    "3-D": np.zeros((2, 2, 2)),
    "one column": [[1.0]],
    "no sum": [[0.1, 0.1]],
    "complex": [0.5j],
    "a number": 0.5,
    "a dictionary": {},
    "ragged": [[0.5, 0.5], [1.0]],
}


@pytest.mark.parametrize("name", BAD_PROBA)
@pytest.mark.parametrize("decision", DECISIONS)
def test_decisions_refuse_what_is_no_probability(decision, name):
    with refused(EITHER, "proba"):
        DECISIONS[decision].decide(BAD_PROBA[name])


@pytest.mark.parametrize("y", [[2], [-1], [0, 1], ["a"], [0.5], None, [np.nan], [[0]]])
@pytest.mark.parametrize("decision", DECISIONS)
def test_decisions_refuse_malformed_labels(decision, y):
    with refused(EITHER, "y"):
        DECISIONS[decision].loss(y, [0.3])


@pytest.mark.parametrize("weight", [[1.0], [-1.0, 1.0], [np.nan, 1.0], [0.0, 0.0], ["a", "b"], [np.inf, 1.0], 1.0, {}])
@pytest.mark.parametrize("decision", DECISIONS)
def test_decisions_refuse_malformed_weights(decision, weight):
    with refused(EITHER, "sample_weight"):
        DECISIONS[decision].risk([0, 1], [0.3, 0.6], sample_weight=weight)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.1, float("nan"), "a", None, [0.5], 1j, {}])
@pytest.mark.parametrize(("maker", "argument"), [(pm.Weighted, "pi"), (pm.Reject, "cost")])
def test_decisions_refuse_malformed_prices(maker, argument, value):
    with refused(EITHER, argument):
        maker(value)


@pytest.mark.parametrize("reject", [-1.0, float("nan"), float("inf"), "a", [1.0], [1.0, -1.0], {}, 1j])
def test_a_cost_matrix_refuses_a_malformed_price_of_rejection(reject):
    with refused(EITHER, "reject_cost"):
        pm.CostMatrix([[0, 1], [4, 0]], reject_cost=reject)


@pytest.mark.parametrize("classes", [["a"], ["a", "a"], "ab", 3, ["a", "b", "c"], [["a"], ["b"]]])
def test_a_cost_matrix_refuses_malformed_classes(classes):
    with refused(EITHER, "classes"):
        pm.CostMatrix([[0, 1], [4, 0]], classes=classes)


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        (lambda: pm.CostMatrix.from_class_weights("a"), "weights"),
        (lambda: pm.CostMatrix.from_class_weights([[1.0]]), "weights"),
        (lambda: pm.CostMatrix.from_class_weights({"a": "b", "c": 1}), "weights"),
        (lambda: pm.CostMatrix.from_class_weights(None), "weights"),
        (lambda: pm.CostMatrix.from_hierarchy(["a"]), "tree"),
        (lambda: pm.CostMatrix.from_hierarchy(["a", "a"]), "tree"),
        (lambda: pm.CostMatrix.from_hierarchy(object()), "tree"),
        (lambda: pm.CostMatrix.from_hierarchy([None, "a"]), "tree"),
        (lambda: pm.CostMatrix.ordinal(1), "n_classes"),
        (lambda: pm.CostMatrix.ordinal("a"), "n_classes"),
        (lambda: pm.CostMatrix.ordinal(3, power=0), "power"),
        (lambda: pm.CostMatrix.ordinal(3, power="a"), "power"),
        (lambda: pm.CostMatrix.ordinal(3, power=float("nan")), "power"),
        (lambda: pm.CostMatrix.ordinal(2.5), "n_classes"),
        (lambda: pm.CostMatrix.random_symmetric(0), "n_classes"),
        (lambda: pm.CostMatrix.random_symmetric(3, low=-1), "low"),
        (lambda: pm.CostMatrix.random_symmetric(3, low=2, high=1), "low"),
        (lambda: losses.is_guess_averse("gll", 1), "n_classes"),
        (lambda: losses.is_guess_averse("gll", 2.5), "n_classes"),
        (lambda: losses.is_guess_averse("nonsense", 3), "loss"),
    ],
)
def test_makers_of_costs_refuse_what_makes_no_sense(build, argument):
    with refused(EITHER, argument):
        build()


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
