"""Modes of the estimators, and for each parameter values that should matter. Tables only; the claims: test_parameters.py."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import permissible as pm
from permissible import losses

COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])


@dataclass(frozen=True)
class Mode:
    """An estimator with some settings on some rows: in memory, in parts, or as a kernel matrix."""

    estimator: Any
    settings: dict[str, Any] = field(default_factory=dict)
    rows: str = "memory"
    classes: int = 2
    preset: str = ""

    def __str__(self) -> str:
        said = [f"{name}={getattr(value, '__name__', value)}" for name, value in self.settings.items()]
        return " ".join([self.estimator.__name__, self.preset, self.rows, f"{self.classes} classes", *said])

    def made(self, **more: Any) -> Any:
        """The unfitted estimator."""
        given = {**SMALL[self.estimator], **self.settings, **more}
        if not self.preset:
            return self.estimator(**given)
        size = "n_trees" if self.preset == "trees" else "n_rules"
        return getattr(self.estimator, self.preset)(**{size: given.pop("n_rounds")}, **given)


@cache
def table(classes: int, seed: int = 0, n: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows with noise, interactions, a column of few whole numbers and columns of many values."""
    random = np.random.default_rng([seed, classes])
    frame = pd.DataFrame(random.normal(size=(n, 4)), columns=["a", "b", "c", "d"])
    frame["k"] = random.integers(0, 6, n).astype(float)
    score = frame["a"] + frame["b"] * frame["c"] + 2 * np.isin(frame["k"], (1, 4)) + 0.8 * random.normal(size=n)
    cuts = np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1] ** 1.4)
    return frame, np.searchsorted(cuts, score)


@cache
def parts(classes: int) -> Any:
    """The same rows as a data set in blocks, with their values."""
    frame, y = table(classes)
    whole = frame.assign(y=y)
    return pm.BinnedDataset.from_batches([whole[:60], whole[60:]], target="y", keep_values=True)


def rows_of(mode: Mode, seed: int = 0) -> tuple[Any, ...]:
    """What `fit` gets."""
    X, y = table(mode.classes, seed)
    if mode.rows == "parts":
        return (parts(mode.classes),)
    if mode.rows == "matrix":
        return product(X.to_numpy(), X.to_numpy()), y
    return X, y


def asked_of(mode: Mode) -> Any:
    """What the fitted model is asked about."""
    return rows_of(mode)[0] if mode.rows == "matrix" else table(mode.classes)[0]


def product(left: Any, right: Any) -> Any:
    """A kernel of one's own."""
    return np.asarray(left) @ np.asarray(right).T + 1.0


def few(p: Any) -> Any:
    """A phi of one's own."""
    return np.asarray(p) * (1 - np.asarray(p))


OWN = losses.from_phi(few, name="own")

ULS_MODES = [
    *(Mode(pm.ULSClassifier, {"early_stopping": False, "scheme": scheme}) for scheme in ("classic", "corrective", 3)),
    *(Mode(pm.ULSClassifier, {"early_stopping": True, "scheme": scheme}) for scheme in ("classic", "corrective")),
    *(
        Mode(pm.ULSClassifier, {"early_stopping": False, "loss": loss})
        for loss in ("F1", "F2", "E1", "E2", "F*", "auto")
    ),
    *(Mode(pm.ULSClassifier, {"early_stopping": True, "loss": loss}) for loss in ("E1", "F*")),
    Mode(pm.ULSClassifier, {"early_stopping": False, "loss": OWN, "n_rounds": 8}),
    Mode(pm.ULSClassifier, {"early_stopping": False}, classes=3),
    *(Mode(pm.ULSClassifier, {"learner": "column", "scheme": scheme}) for scheme in ("classic", "corrective", 3)),
    *(Mode(pm.ULSClassifier, {"learner": "tree", "early_stopping": stopping}) for stopping in (False, True)),
    Mode(pm.ULSClassifier, {"learner": "tree", "early_stopping": False}, classes=3),
    Mode(pm.ULSClassifier, preset="trees"),
    Mode(pm.ULSClassifier, preset="plain"),
    Mode(pm.ULSClassifier, {"learner": "column"}, preset="plain"),
    Mode(
        pm.ULSClassifier, {"learner": "tree", "l2_regularization": 1.0}, preset="plain"
    ),  # its leaves separate these rows
    Mode(pm.ULSClassifier, preset="compact"),
    Mode(pm.ULSClassifier, preset="points"),
    Mode(pm.ULSClassifier, {"max_literals": 2}, preset="points", classes=3),
    Mode(pm.ULSClassifier, rows="parts", preset="points"),
    *(
        Mode(pm.ULSClassifier, {"monotonic_cst": {"a": 1, "c": -1}, "scheme": scheme, "early_stopping": False})
        for scheme in ("classic", "corrective")
    ),
    *(Mode(pm.ULSClassifier, {"early_stopping": stopping}, "parts") for stopping in (False, True)),
    Mode(pm.ULSClassifier, {"early_stopping": False, "scheme": "corrective"}, "parts"),
]
UDT_MODES = [
    *(
        Mode(pm.UDTClassifier, {"pruning": pruning}, rows)
        for pruning in (None, 0.01, "auto")
        for rows in ("memory", "parts")
    ),
    Mode(pm.UDTClassifier, {"smoothing": 1.0}),
    Mode(pm.UDTClassifier, {"monotonic_cst": {"a": 1}, "smoothing": 1.0}),
    Mode(pm.UDTClassifier, classes=3),
    Mode(pm.UDTClassifier, {"cost_matrix": COSTS.tolist()}, classes=3),
]
SVM_MODES = [Mode(pm.StructuredSVMClassifier, {"alpha": alpha}, classes=3) for alpha in (0.05, 0.01)]
BOUNDARY_MODES = [
    *(Mode(pm.BoundaryClassifier, {"solver": solver}) for solver in ("auto", "newton")),
    *(Mode(pm.BoundaryClassifier, {"solver": solver, "tol": 0.05}) for solver in ("dcd", "psgd")),
    Mode(pm.BoundaryClassifier, {"boundaries": (0.25, 0.75)}),
    Mode(pm.BoundaryClassifier, {"boundaries": "soft"}),
    Mode(pm.BoundaryClassifier, {"fit_intercept": False}),
    *(Mode(pm.BoundaryClassifier, {"kernel": kernel, "alpha": 1e-5}) for kernel in ("linear", "rbf", "poly", product)),
    Mode(pm.BoundaryClassifier, {"kernel": "sigmoid"}),
    Mode(pm.BoundaryClassifier, {"kernel": "precomputed"}, "matrix"),
    Mode(pm.BoundaryClassifier, {"kernel": "rbf", "boundaries": "soft"}),
    Mode(pm.BoundaryClassifier, {"learner": "kernel", "alpha": 1e-5}),
    Mode(pm.BoundaryClassifier, {"learner": "rule"}),
    Mode(pm.BoundaryClassifier, {"learner": "tree", "boundaries": (0.25, 0.75)}),
    Mode(pm.BoundaryClassifier, {"learner": "rule", "boundaries": (0.25, 0.75), "max_literals": 1}),
    Mode(pm.BoundaryClassifier, {}, "parts"),
    Mode(pm.BoundaryClassifier, {"solver": "psgd", "tol": 0.05}, "parts"),
    Mode(pm.BoundaryClassifier, {"boundaries": "soft"}, "parts"),
]
CV_MODES = [
    Mode(pm.BoundaryClassifierCV),
    Mode(pm.BoundaryClassifierCV, {"boundaries": "soft"}),
    Mode(pm.BoundaryClassifierCV, {"kernel": "rbf", "boundaries": (0.3, 0.7)}),
]
MCBOOST_MODES = [
    *(
        Mode(pm.MCBoostClassifier, {"learner": learner, "descent": descent}, classes=3)
        for learner in ("linear", "linear-full", "rule", "tree")
        for descent in ("coordinate", "gradient")
    ),
    Mode(pm.MCBoostClassifier, {"learner": "linear", "loss": "ls"}, classes=3),
    *(
        Mode(pm.MCBoostClassifier, {"learner": "tree", "descent": descent, "cost_matrix": None})
        for descent in ("coordinate", "gradient")
    ),
    Mode(
        pm.MCBoostClassifier,
        {"learner": "tree", "early_stopping": True, "scoring": "cost", "max_leaf_nodes": 4},
        classes=3,
    ),
    Mode(pm.MCBoostClassifier, {"learner": "linear", "decision": "bayes"}, classes=3),
    Mode(pm.MCBoostClassifier, {"learner": "linear", "cost_matrix": None}, classes=3),
    Mode(pm.MCBoostClassifier, {"learner": "tree", "subsample": 0.6, "n_bags": 2}, classes=3),
    Mode(pm.MCBoostClassifier, {"learner": "auto"}, classes=3),
    *(Mode(pm.MCBoostClassifier, {"learner": learner}, "parts", 3) for learner in ("linear", "rule", "tree")),
]
SMALL = {
    pm.ULSClassifier: {"n_rounds": 6},
    pm.UDTClassifier: {"max_leaf_nodes": 8},
    pm.BoundaryClassifier: {"alpha": 1e-2},
    pm.BoundaryClassifierCV: {"alphas": (1.0, 0.1, 0.01), "cv": 3},
    pm.MCBoostClassifier: {"n_rounds": 6, "cost_matrix": COSTS},
    pm.StructuredSVMClassifier: {"cost_matrix": COSTS},
}
"""Settings that keep every mode small."""
AGAIN = {
    pm.ULSClassifier: [{"n_rounds": 9}],
    pm.MCBoostClassifier: [{"n_rounds": 9}],
    pm.BoundaryClassifier: [{"alpha": 5e-3}, {"alpha": 1e-3}],
}
"""What a second fit changes; where one optimum is sought, a start may by chance take as many steps as none."""
MODES = [*ULS_MODES, *UDT_MODES, *BOUNDARY_MODES, *CV_MODES, *MCBOOST_MODES, *SVM_MODES]

_WEIGHT = {0: 1.0, 1: 7.0, 2: 2.0}
_KERNEL = {
    "kernel": ("rbf", None),
    "gamma": (0.37,),
    "degree": (2,),
    "coef0": (0.7,),
    "fit_intercept": (False, True),
    "penalize_intercept": (True,),
    "solver": ("psgd", "newton", "smo"),
    "tol": (0.5,),
    "max_iter": (1,),
    "class_weight": ({0: 1.0, 1: 7.0},),
    "loss": ("matsushita",),
    "boundaries": ((0.2, 0.6),),
}
VALUES: dict[Any, dict[str, tuple[Any, ...]]] = {
    pm.ULSClassifier: {
        "loss": ("matsushita", "E2"),
        "n_rounds": (3,),
        "max_literals": (1,),
        "learner": ("tree", "column"),
        "scheme": ("corrective", "classic"),
        "points": (3,),
        "monotonic_cst": ({"a": -1, "b": 1},),
        "interaction_cst": ("no_interactions",),
        "fit_intercept": (False, True),
        "learning_rate": (0.7,),
        "l2_regularization": (20.0,),
        "criterion": ("impurity", "exact"),
        "beam": (1, 5),
        "early_stopping": (False, True),
        "ensemble": (3,),
        "search_fraction": (0.4,),
        "max_bins": (4,),
        "tol": (0.9,),
        "class_weight": (_WEIGHT,),
        "categorical_features": (["k"],),
        "max_time": (1e-9,),
        "max_leaf_nodes": (3,),
        "max_depth": (1,),
        "max_features": (0.4,),
    },
    pm.UDTClassifier: {
        "loss": ("squared",),
        "max_leaf_nodes": (3,),
        "max_depth": (1,),
        "min_samples_leaf": (30,),
        "pruning": ("auto", 0.5),
        "min_gain": (0.2,),
        "min_weight_fraction_leaf": (0.3,),
        "smoothing": (3.0,),
        "multiclass": ("sum",),
        "cost_matrix": ([[0.0, 9.0], [1.0, 0.0]], 2.0 * COSTS.T),
        "monotonic_cst": ({"b": -1, "c": 1},),
        "interaction_cst": ("no_interactions",),
        "categorical_features": (["k"],),
        "class_weight": (_WEIGHT,),
        "max_bins": (3,),
        "pruning_folds": (2,),
    },
    pm.BoundaryClassifier: {
        **_KERNEL,
        "alpha": (1.0,),
        "learner": ("rule", "kernel"),
        "n_rounds": (3,),
        "max_literals": (1,),
        "max_leaf_nodes": (3,),
        "max_bins": (4,),
        "categorical_features": (["k"],),
    },
    pm.BoundaryClassifierCV: {
        **_KERNEL,
        "alphas": ((0.5,),),
        "cv": (2,),
        "tuning": ("surrogate",),
        "learner": ("kernel",),
    },
    pm.MCBoostClassifier: {
        "loss": ("gel",),
        "cost_matrix": (2.0 * COSTS.T,),
        "n_rounds": (3,),
        "learner": ("rule", "tree"),
        "descent": ("gradient", "coordinate"),
        "decision": ("bayes", "argmax"),
        "learning_rate": (0.03,),
        "subsample": (0.5,),
        "max_features": (0.4,),
        "max_leaf_nodes": (3,),
        "max_depth": (1,),
        "max_literals": (1,),
        "min_samples_leaf": (30,),
        "l2_regularization": (50.0,),
        "line_search": ("exact", "newton"),
        "monotonic_cst": ({"a": -1, "b": 1},),
        "interaction_cst": ("no_interactions",),
        "n_bags": (5,),
        "max_bins": (3,),
        "early_stopping": (True,),
        "scoring": ("cost", "surrogate"),
        "patience": (1,),
        "validation_fraction": (0.5,),
        "calibration": (None,),
        "categorical_features": (["k"],),
        "class_weight": (_WEIGHT,),
        "tol": (0.9,),
    },
    pm.StructuredSVMClassifier: {
        "cost_matrix": (2.0 * COSTS.T,),
        "alpha": (1.0,),
        "tol": (0.5,),
        "max_iter": (1,),
        "validation_fraction": (0.5,),
        "categorical_features": (["k"],),
        "class_weight": (_WEIGHT,),
    },
}
"""Of each parameter one or more values; a mode is given all that are not its own."""
READ = {"n_jobs": 0, "random_state": -1, "cache_size": -1.0}
"""Parameters that must not change the model, or only where something is random: a value that is none is refused in any mode."""
WATCHED = ("verbose", "warm_start")
"""Parameters with tests of their own."""


def excused(mode: Mode, name: str) -> str:
    """Why no value of a parameter shows in a mode, though it is obeyed; empty where it must show."""
    is_boundary = issubclass(mode.estimator, pm.BoundaryClassifier)
    if is_boundary and name == "learner" and "kernel" in mode.settings:
        return "'kernel' states what a named kernel does anyway, and 'rule' is refused there"
    if is_boundary and name == "kernel" and mode.settings.get("learner") == "kernel":
        return "'rbf' is its default; another one has a test of its own"
    if is_boundary and name == "tol" and mode.rows != "parts" and "tol" not in mode.settings:
        return "small dense problems are solved to the last digits; many rows have a test of their own"
    if mode.estimator is pm.MCBoostClassifier and mode.settings.get("cost_matrix", 0) is None:
        return {
            "decision": "without costs the most probable class is that of least expected cost",
            "calibration": "without costs theory gives the posterior, so there is nothing to calibrate",
        }.get(name, "")
    if mode.settings.get("learner") == "auto":
        return {
            "tol": "of the families only affine terms stop by it, and another one wins here",
            "decision": '"bayes" says what it does anyway, and "argmax" is the default',
        }.get(name, "")
    if mode.preset == "points" and name == "beam":
        return "a card of these five columns finds its rules with any; tests of cards have more columns"
    if mode.settings.get("monotonic_cst") and mode.settings.get("early_stopping") is False and name == "beam":
        return "the draws lead from one, two and five of these first literals to the same rules"
    if mode.preset == "compact" and name == "beam":
        return "three of the five columns lead to the same rules as all of them; one does not"
    if mode.settings.get("kernel") == "sigmoid" and name == "max_iter":
        return "one round of updates suffices here"
    return ""


def arguments(mode: Mode) -> dict[str, Any]:
    """A value for each argument of `fit` beside X and y."""
    frame, y = table(mode.classes)
    given = {"sample_weight": 1.0 + (np.arange(len(y)) % 5), "validation": table(mode.classes, seed=1)}
    if issubclass(mode.estimator, pm.MCBoostClassifier | pm.StructuredSVMClassifier):
        given["cost"] = COSTS[y] * (1.0 + frame["a"].to_numpy()[:, None] ** 2)
    return given
