"""What every fitted classifier stores, and how it decides: the type that functions of fitted classifiers take."""

from typing import Any

from permissible.decisions import Decision
from permissible.models.card.actions import Actions
from permissible.models.model import Model
from permissible.table.schema import Kind, Schema
from permissible.types import AnyArray


class FittedClassifier:
    """The attributes of a fitted classifier."""

    model_: Model
    classes_: AnyArray
    n_features_in_: int
    feature_names_in_: AnyArray
    schema_: Schema
    column_kinds_: tuple[Kind, ...]
    decision_: Decision | None
    notes_: dict[str, Any]
    n_jobs: int | None

    def _predicting(self) -> Actions:
        """What `predict` does, for the exports too."""
        raise NotImplementedError

    def _deciding(self, decision: object) -> Decision:
        """The given decision, else the one that the estimator was saved with, else that of the fit."""
        raise NotImplementedError
