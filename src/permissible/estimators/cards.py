"""A fitted estimator as a scorecard, with the actions it takes: what its exports and reports read.

All it needs is what fit stores: `model_` (or `models_`), `schema_` and `classes_`.
"""

from typing import Any

import numpy as np

from permissible.decisions import CostMatrix, Decision, decision_for
from permissible.estimators.files.fitted import filed
from permissible.estimators.input.matrix import numeric_schema
from permissible.estimators.input.training import check_names, rows
from permissible.learners.boundary.target import tie_is_positive
from permissible.models.card.actions import Actions, actions_of
from permissible.models.card.evaluate import adds, holds, words
from permissible.models.card.from_model import one_versus_rest
from permissible.models.card.scorecard import RuleTerm, Scorecard, Term, scorecard
from permissible.table.reading import names_of, read
from permissible.table.schema import Schema
from permissible.table.table import Table


def card_of(estimator: Any) -> Scorecard:
    """The scorecard of a fitted estimator."""
    model, schema = filed(estimator), schema_of(estimator)
    if isinstance(model, tuple | list):
        return one_versus_rest(model, schema)
    return scorecard(model, schema)


def schema_of(estimator: Any) -> Schema:
    """The columns of fit, made up (x0, x1, ...) where there were no names."""
    known: Schema | None = getattr(estimator, "schema_", None)
    if known is not None:
        return known
    return numeric_schema(estimator)


def table_of(estimator: Any, X: Any) -> Table:
    """Rows in the terms of the columns of fit."""
    if hasattr(estimator, "schema_"):
        return rows(estimator, X)
    check_names(estimator, names_of(X))
    return read(X, schema_of(estimator))


def labels_of(estimator: Any) -> list[Any]:
    """The classes as plain Python values."""
    return list(np.asarray(estimator.classes_).tolist())


def decision_asked(estimator: Any, decision: Any) -> Decision | None:
    """The decision that was asked for, else the one that the estimator was saved with, for its classes; None: `predict`."""
    chosen = getattr(estimator, "decision_", None) if decision is None else decision
    return None if chosen is None else decision_for(chosen, estimator.classes_)


def actions_for(estimator: Any, decision: Any) -> Actions:
    """How an estimator decides: as asked, as it was saved to, or as `predict` does."""
    chosen, labels, link = decision_asked(estimator, decision), labels_of(estimator), card_of(estimator).link
    if link.kind == "softmax" and chosen is None:  # multiclass boosting: the largest score, or the least expected cost
        if estimator.decision != "bayes" and estimator.learner != "auto":
            return Actions("largest", tuple(labels), by_score=True)
        chosen = CostMatrix(estimator.cost_matrix_.matrix)
    target = getattr(estimator, "target_", None)  # of a boundary classifier
    cutoff, goes_up = (0.0, True) if target is None else (float(target.cutoff), tie_is_positive(estimator.boundaries))
    return actions_of(chosen, labels, link.losses, cutoff, goes_up, link.kind == "loss")


def contributions(estimator: Any, X: Any) -> tuple[Scorecard, list[tuple[str, bool | None, list[float]]]]:
    """Of each term for the first row of X: its words, whether it holds (None where that is no question), what it adds."""
    card, table = card_of(estimator), table_of(estimator, X)

    def holding(term: Term) -> bool | None:
        return bool(holds(term.rule, card, table)[0]) if isinstance(term, RuleTerm) else None

    return card, [(words(term, card), holding(term), adds(term, card, table)[0].tolist()) for term in card.terms]
