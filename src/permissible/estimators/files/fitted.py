"""What fit leaves behind, for files: which model an estimator holds, what else is kept of the fit, and how both come back."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from permissible.decisions import CostMatrix
from permissible.estimators.input.matrix import remember_kinds
from permissible.estimators.input.training import remember_schema
from permissible.models.files.json_node import Node
from permissible.models.kinds.kernel import KernelModel
from permissible.table.schema import Schema
from permissible.types import AnyArray

FILED: dict[str, tuple[str, ...]] = {
    "ULSClassifier": ("history_", "certificate_", "selection_", "loss_evidence_", "_coverage"),
    "UDTClassifier": ("history_", "certificate_"),
    "BoundaryClassifier": ("certificate_", "n_iter_", "objective_", "gap_", "support_", "dual_coef_"),
    "BoundaryClassifierCV": (
        "certificate_",
        "n_iter_",
        "objective_",
        "gap_",
        "support_",
        "dual_coef_",
        "alpha_",
        "alphas_",
        "cv_risks_",
    ),
    "MCBoostClassifier": ("history_", "certificate_", "cost_matrix_"),
}
"""The estimators that can be filed, and what is kept beside their models, for reading."""


def filed(estimator: Any) -> Any:
    """The model that an estimator holds: one, or a tuple of one a class."""
    if hasattr(estimator, "models_"):
        return estimator.models_[0] if len(estimator.models_) == 1 else tuple(estimator.models_)
    for name in ("model_", "tree_"):
        if hasattr(estimator, name):
            return getattr(estimator, name)
    from sklearn.exceptions import NotFittedError

    kind = type(estimator).__name__
    raise NotFittedError(f"This {kind} instance is not fitted yet: call 'fit' before saving or exporting it.")


def restored(
    kind: str,
    parameters: Mapping[str, Any],
    model: Any,
    schema: Schema,
    classes: AnyArray,
    kept: Mapping[str, Any],
    node: Node,
) -> Any:
    """An estimator that behaves as the one that was filed."""
    import permissible as pm

    maker = getattr(pm, kind)
    known = set(maker().get_params(deep=False))
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise node.refused(f"a document with parameters of {kind}", unknown)
    estimator = maker(**parameters)
    estimator.classes_ = classes
    remember_schema(estimator, schema)
    for name, value in kept.items():
        if name in FILED[kind]:
            setattr(estimator, name, value)
    _RESTORERS[kind](estimator, model)
    return estimator


def _restore_tree(estimator: Any, model: Any) -> None:
    estimator.tree_ = model
    estimator.pruning_path_ = None


def _restore_boundary(estimator: Any, model: Any) -> None:
    from permissible.learners.boundary import Target

    estimator.model_ = model
    soft = len(model.boundaries) == 0
    estimator.target_ = Target.soft(model.loss) if soft else Target.of(tuple(model.boundaries.tolist()), model.loss)
    estimator.deltas_ = model.deltas
    estimator.intercept_ = np.array([model.intercept])
    if isinstance(model, KernelModel):
        estimator.support_vectors_ = model.support
    else:
        estimator.coef_ = model.coef[None, :]
    remember_kinds(estimator, estimator.schema_)
    del estimator.schema_  # it checks its rows by scikit-learn's own rules


def _restore_boosted(estimator: Any, model: Any) -> None:
    estimator.model_ = model
    estimator.n_rounds_ = model.n_rounds
    if "cost_matrix_" in vars(estimator) and not isinstance(estimator.cost_matrix_, CostMatrix):
        estimator.cost_matrix_ = CostMatrix(**{k: v for k, v in estimator.cost_matrix_.items() if v is not None})


def _restore_rules(estimator: Any, model: Any) -> None:
    estimator.models_ = model if isinstance(model, tuple) else (model,)


_RESTORERS: dict[str, Callable[[Any, Any], None]] = {
    "UDTClassifier": _restore_tree,
    "BoundaryClassifier": _restore_boundary,
    "BoundaryClassifierCV": _restore_boundary,
    "ULSClassifier": _restore_rules,
    "MCBoostClassifier": _restore_boosted,
}
