"""What a model file stores of a fitted estimator, and how it is restored."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from permissible.decisions import CostMatrix
from permissible.estimators.input.matrix import remember_kinds
from permissible.estimators.input.training import remember
from permissible.models.files.json_node import Node
from permissible.models.kinds.kernel import KernelModel
from permissible.models.model import Model
from permissible.table.schema import Schema
from permissible.types import AnyArray

RENAMED = {
    "n_rules": "n_rounds",
    "features": "learner",
    "l2": "l2_regularization",
    "categorical": "categorical_features",
    "max_leaves": "max_leaf_nodes",
    "colsample": "max_features",
}
VALUES: dict[tuple[str, object], object] = {
    ("features", "rules"): "rule",
    ("features", "columns"): "column",
    ("early_stopping", None): False,
    ("pruning", "cv"): "auto",
}
GONE = ("random_tests",)
"""Parameters of learners that are no more; a fitted model does not need them."""


def parameters_of_today(given: Mapping[str, object]) -> dict[str, object]:
    """Rename parameters; the measure of MCBoost's early stopping, once its value, has a parameter of its own.

    >>> parameters_of_today({"features": "columns", "n_rules": 5, "early_stopping": "cost"})
    {'learner': 'column', 'n_rounds': 5, 'early_stopping': True, 'scoring': 'cost'}
    """
    found: dict[str, object] = {}
    for name, value in given.items():
        if name in GONE:
            continue
        plain = value is None or isinstance(value, str)
        found[RENAMED.get(name, name)] = VALUES.get((name, value), value) if plain else value
        if name == "early_stopping" and plain and value in ("cost", "surrogate"):
            found |= {name: True, "scoring": value}
    return found


_BOUNDARY = ("certificate_", "n_iter_", "objective_", "gap_", "support_", "dual_coef_", "_rounds", "_coverage")
FILED: dict[str, tuple[str, ...]] = {
    "ULSClassifier": ("history_", "certificate_", "selection_", "loss_evidence_", "_coverage"),
    "UDTClassifier": ("history_", "certificate_", "cost_matrix_"),
    "BoundaryClassifier": _BOUNDARY,
    "BoundaryClassifierCV": (*_BOUNDARY, "alpha_", "alphas_", "cv_risks_"),
    "MCBoostClassifier": ("history_", "certificate_", "cost_matrix_"),
    "StructuredSVMClassifier": ("history_", "certificate_", "cost_matrix_", "objective_", "gap_", "n_iter_"),
}
"""The estimators that can be filed, and what is kept beside their models, for reading."""


def restored(
    kind: str,
    parameters: Mapping[str, object],
    model: Model,
    schema: Schema,
    classes: AnyArray,
    kept: Mapping[str, object],
    node: Node,
) -> BaseEstimator:
    """An estimator that behaves as the one that was saved."""
    import permissible as pm

    maker = getattr(pm, kind)
    today = parameters_of_today(parameters)
    if unknown := sorted(set(today) - set(maker().get_params(deep=False))):
        raise node.refused(f"a document with parameters of {kind}", unknown)
    estimator = maker(**today)
    remember(estimator, classes, schema)
    for name, value in kept.items():
        if name in FILED[kind]:
            setattr(estimator, name, value)
    estimator.model_ = model
    if kind in _RESTORERS:
        _RESTORERS[kind](estimator, model)
    return estimator


def _restore_tree(estimator: BaseEstimator, model: Model) -> None:
    estimator.pruning_path_ = None
    estimator.cost_matrix_ = getattr(estimator, "cost_matrix_", None)  # not in files of earlier versions
    if estimator.cost_matrix_ is not None:
        _restore_costs(estimator, model)


def _restore_boundary(estimator: BaseEstimator, model: Any) -> None:
    from permissible.learners.boundary.target import Target

    soft = len(model.boundaries) == 0
    estimator.target_ = Target.soft(model.loss) if soft else Target.of(tuple(model.boundaries.tolist()), model.loss)
    estimator.deltas_ = model.deltas
    estimator.intercept_ = np.array([model.intercept])
    if not model.takes_matrix:
        return
    if isinstance(model, KernelModel):
        estimator.support_vectors_ = model.support
    else:
        estimator.coef_ = model.coef[None, :]
    remember_kinds(estimator, estimator.schema_)
    del estimator.schema_  # it checks its rows by scikit-learn's own rules


def _restore_boosted(estimator: BaseEstimator, model: Any) -> None:
    estimator.n_rounds_ = model.n_rounds
    _restore_costs(estimator, model)


def _restore_costs(estimator: BaseEstimator, model: Model) -> None:
    if "cost_matrix_" in vars(estimator) and not isinstance(estimator.cost_matrix_, CostMatrix):
        estimator.cost_matrix_ = CostMatrix(**{k: v for k, v in estimator.cost_matrix_.items() if v is not None})


_RESTORERS: dict[str, Callable[[BaseEstimator, Model], None]] = {
    "UDTClassifier": _restore_tree,
    "BoundaryClassifier": _restore_boundary,
    "BoundaryClassifierCV": _restore_boundary,
    "MCBoostClassifier": _restore_boosted,
    "StructuredSVMClassifier": _restore_costs,
}
