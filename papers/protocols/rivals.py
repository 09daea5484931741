"""The established libraries and our own estimators as one list: how each is built, what input it takes, how large its model is.

A rival whose package is not installed is left out and named. Columns are renamed, since some libraries refuse `<3` as a name;
one-hot input keeps NaN unless the rival cannot take it. Default settings unless the name says otherwise.
"""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from papers.protocols.public import public
from permissible.types import AnyArray

Group = Literal["full", "compact", "over"]
Input = Literal["frame", "onehot"]


@dataclass(frozen=True, slots=True)
class Rival:
    """One competitor: `fit(X, y, seed)` gives a fitted classifier, `size(model)` its leaves or terms."""

    name: str
    group: Group
    package: str
    input: Input
    fit: Callable[[Any, AnyArray, int], Any]
    size: Callable[[Any], int]
    ours: bool = False

    @property
    def installed(self) -> bool:
        """Whether its package is here."""
        return importlib.util.find_spec(self.package) is not None


def _sklearn(module: str, name: str, **settings: Any) -> Any:
    return getattr(importlib.import_module(f"sklearn.{module}"), name)(**settings)


def _piped(*steps: Any) -> Any:
    imputer = _sklearn("impute", "SimpleImputer", strategy="median", keep_empty_features=True)
    return importlib.import_module("sklearn.pipeline").make_pipeline(imputer, *steps)


def _filled(model: Any) -> Any:
    """Put a median imputer and a scaler before a model that takes neither NaN nor unscaled columns well."""
    return _piped(_sklearn("preprocessing", "StandardScaler"), model)


def _lightgbm(**settings: Any) -> Callable[[Any, AnyArray, int], Any]:
    def fit(table: Any, target: AnyArray, seed: int) -> Any:
        model = importlib.import_module("lightgbm").LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1, **settings)
        return model.fit(table, target)

    return fit


def _lightgbm_stopped(table: Any, target: AnyArray, seed: int) -> Any:
    lightgbm = importlib.import_module("lightgbm")
    train, valid = _split(target, seed)
    model = lightgbm.LGBMClassifier(n_estimators=1000, random_state=seed, n_jobs=1, verbose=-1)
    stop = lightgbm.early_stopping(20, verbose=False)
    return model.fit(
        _take(table, train), target[train], eval_set=[(_take(table, valid), target[valid])], callbacks=[stop]
    )


def _xgboost(table: Any, target: AnyArray, seed: int) -> Any:
    model = importlib.import_module("xgboost").XGBClassifier(random_state=seed, n_jobs=1, enable_categorical=True)
    return model.fit(table, target)


def _xgboost_stopped(table: Any, target: AnyArray, seed: int) -> Any:
    train, valid = _split(target, seed)
    settings = {"n_estimators": 1000, "early_stopping_rounds": 20, "enable_categorical": True}
    model = importlib.import_module("xgboost").XGBClassifier(random_state=seed, n_jobs=1, **settings)
    return model.fit(_take(table, train), target[train], eval_set=[(_take(table, valid), target[valid])], verbose=False)


def _split(target: AnyArray, seed: int) -> tuple[AnyArray, AnyArray]:
    split = importlib.import_module("sklearn.model_selection").train_test_split
    rows = np.arange(len(target))
    # A class with one example cannot be stratified; it stays with the training part.
    stratify = target if np.min(np.bincount(target)) >= 2 else None
    train, valid = split(rows, test_size=0.2, random_state=seed, stratify=stratify)
    if np.ptp(target[train]) == 0:
        return rows, rows
    return np.asarray(train), np.asarray(valid)


def _take(table: Any, rows: AnyArray) -> Any:
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def _hist(**settings: Any) -> Callable[[Any, AnyArray, int], Any]:
    def fit(table: Any, target: AnyArray, seed: int) -> Any:
        name = "HistGradientBoostingClassifier"
        return _sklearn("ensemble", name, random_state=seed, **settings).fit(table, target)

    return fit


def _forest(table: AnyArray, target: AnyArray, seed: int) -> Any:
    return _sklearn("ensemble", "RandomForestClassifier", n_estimators=500, random_state=seed).fit(table, target)


def _ebm(table: Any, target: AnyArray, seed: int) -> Any:
    glassbox = importlib.import_module("interpret.glassbox")
    model = glassbox.ExplainableBoostingClassifier(outer_bags=2, interactions=0, random_state=seed, n_jobs=1)
    return model.fit(table, target)


def _logistic(table: AnyArray, target: AnyArray, seed: int) -> Any:
    return _filled(_sklearn("linear_model", "LogisticRegression", max_iter=2000)).fit(table, target)


def _lasso_terms(table: AnyArray, target: AnyArray, seed: int) -> Any:
    """L1 logistic regression with the weakest penalty, on a fixed path, that keeps at most ten terms."""
    best = None
    for penalty in np.geomspace(1e-3, 1e2, 21):
        solver = _sklearn(
            "linear_model", "LogisticRegression", l1_ratio=1.0, solver="liblinear", C=float(penalty), random_state=seed
        )
        model = _filled(solver).fit(table, target)
        if np.count_nonzero(model[-1].coef_) > 10:
            break
        best = model
    return best


def _adaboost(rounds: int, depth: int) -> Callable[[AnyArray, AnyArray, int], Any]:
    def fit(table: AnyArray, target: AnyArray, seed: int) -> Any:
        tree = _sklearn("tree", "DecisionTreeClassifier", max_depth=depth)
        boosted = _sklearn("ensemble", "AdaBoostClassifier", estimator=tree, n_estimators=rounds, random_state=seed)
        return _piped(boosted).fit(table, target)

    return fit


def _tree(table: AnyArray, target: AnyArray, seed: int) -> Any:
    return _sklearn("tree", "DecisionTreeClassifier", max_leaf_nodes=11, random_state=seed).fit(table, target)


def _imodels(name: str, **settings: Any) -> Callable[[AnyArray, AnyArray, int], Any]:
    return lambda table, target, seed: _piped(getattr(importlib.import_module("imodels"), name)(**settings)).fit(
        table, target
    )


def _own(name: str, **settings: Any) -> Callable[[Any, AnyArray, int], Any]:
    return lambda table, target, seed: public(name)(random_state=seed, **settings).fit(table, target)


def _own_compact(table: Any, target: AnyArray, seed: int) -> Any:
    return public("ULSClassifier").compact(n_rules=10, max_literals=2).fit(table, target)


def _own_plain(table: Any, target: AnyArray, seed: int) -> Any:
    return public("ULSClassifier").plain("logistic", n_rules=10, max_literals=2).fit(table, target)


def _own_scaled(name: str, **settings: Any) -> Callable[[AnyArray, AnyArray, int], Any]:
    return lambda table, target, seed: _filled(public(name)(**settings)).fit(table, target)


def _lightgbm_leaves(model: Any) -> int:
    return sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"])


def _hist_leaves(model: Any) -> int:
    return sum(tree.get_n_leaf_nodes() for iteration in model._predictors for tree in iteration)


def _forest_leaves(model: Any) -> int:
    ensemble = model[-1] if hasattr(model, "steps") else model
    return sum(int(tree.get_n_leaves()) for tree in ensemble.estimators_)


def _xgboost_leaves(model: Any) -> int:
    return sum(dump.count("leaf=") for dump in model.get_booster().get_dump())


def _terms(model: Any) -> int:
    return int(np.count_nonzero(model[-1].coef_))


def _one_hot_lightgbm(name: str, group: Group, **settings: Any) -> Rival:
    return Rival(name, group, "lightgbm", "onehot", _lightgbm(**settings), _lightgbm_leaves)


_SMALL = {"min_child_samples": 5}
RIVALS = (
    Rival("ULS, default", "full", "permissible", "frame", _own("ULSClassifier"), lambda m: len(m.rules_), ours=True),
    Rival(
        "UDT, default",
        "full",
        "permissible",
        "frame",
        _own("UDTClassifier"),
        lambda m: 1 + len(m.history_["surrogate"]),
        ours=True,
    ),
    Rival("Boundary, default", "full", "permissible", "onehot", _own_scaled("BoundaryClassifier"), _terms, ours=True),
    Rival("random forest, 500", "full", "sklearn", "onehot", _forest, _forest_leaves),
    Rival("EBM, 2 bags", "full", "interpret", "frame", _ebm, lambda m: len(m.term_features_)),
    Rival("HistGradientBoosting", "full", "sklearn", "frame", _hist(), _hist_leaves),
    Rival("HistGradientBoosting, stopped", "full", "sklearn", "frame", _hist(early_stopping=True), _hist_leaves),
    Rival("LightGBM", "full", "lightgbm", "frame", _lightgbm(), _lightgbm_leaves),
    Rival("LightGBM, stopped", "full", "lightgbm", "frame", _lightgbm_stopped, _lightgbm_leaves),
    _one_hot_lightgbm("LightGBM, one-hot, 5 rows a leaf", "full", **_SMALL),
    Rival("XGBoost", "full", "xgboost", "frame", _xgboost, _xgboost_leaves),
    Rival("XGBoost, stopped", "full", "xgboost", "frame", _xgboost_stopped, _xgboost_leaves),
    Rival("logistic regression", "full", "sklearn", "onehot", _logistic, _terms),
    Rival("AdaBoost, 100 stumps", "full", "sklearn", "onehot", _adaboost(100, 1), _forest_leaves),
    Rival(
        "imodels BoostedRules",
        "full",
        "imodels",
        "onehot",
        _imodels("BoostedRulesClassifier"),
        lambda m: len(m[-1].estimators_),
    ),
    Rival("ULS, compact", "compact", "permissible", "frame", _own_compact, lambda m: len(m.rules_), ours=True),
    Rival("ULS, as in the papers", "compact", "permissible", "frame", _own_plain, lambda m: len(m.rules_), ours=True),
    _one_hot_lightgbm("LightGBM, 10 stumps", "compact", n_estimators=10, num_leaves=2, learning_rate=0.5, **_SMALL),
    _one_hot_lightgbm(
        "LightGBM, 5 trees of 3 leaves", "compact", n_estimators=5, num_leaves=3, learning_rate=0.5, **_SMALL
    ),
    Rival("AdaBoost, 10 stumps", "compact", "sklearn", "onehot", _adaboost(10, 1), _forest_leaves),
    Rival("L1 logistic, 10 terms", "compact", "sklearn", "onehot", _lasso_terms, _terms),
    _one_hot_lightgbm(
        "LightGBM, 10 trees of 3 leaves", "over", n_estimators=10, num_leaves=3, learning_rate=0.5, **_SMALL
    ),
    Rival("AdaBoost, 10 trees of depth 2", "over", "sklearn", "onehot", _adaboost(10, 2), _forest_leaves),
    Rival(
        "imodels FIGS, 10 splits",
        "over",
        "imodels",
        "onehot",
        _imodels("FIGSClassifier", max_rules=10),
        lambda m: m[-1].complexity_,
    ),
    Rival("tree of 11 leaves", "over", "sklearn", "onehot", _tree, lambda m: int(m.get_n_leaves())),
)
BY_NAME = {rival.name: rival for rival in RIVALS}
