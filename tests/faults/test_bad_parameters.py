"""Malformed parameters: every estimator refuses them in one sentence that names the parameter.

As in test_bad_input.py: the right type of exception, the form of docs/errors.md, no warning on the way, and an estimator that
fits good data afterwards.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.faults.subjects import ESTIMATORS, good, refused, still_works

X, Y = good()
N = len(Y)
EITHER = (ValueError, TypeError)


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
