"""A fitted estimator as a scorecard, with the actions it takes: what its exports and reports read.

All it needs is what fit stores: `model_` (or `models_`), `schema_` and `classes_`.
"""

from typing import Any

import numpy as np

from permissible.decisions import CostMatrix, Decision
from permissible.estimators.fitted import filed
from permissible.estimators.intake import check_names, rows
from permissible.models.actions import Actions, actions_of
from permissible.models.cards import one_versus_rest
from permissible.models.evaluate import adds, holds, words
from permissible.models.scorecard import RuleTerm, Scorecard, Term, scorecard
from permissible.table.reading import names_of, read
from permissible.table.schema import Column, Schema
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
    names = getattr(estimator, "feature_names_in_", None)
    made_up = [f"x{j}" for j in range(estimator.n_features_in_)]
    return Schema(tuple(Column(str(name)) for name in (made_up if names is None else names)), names is not None)


def table_of(estimator: Any, X: Any) -> Table:
    """Rows in the terms of the columns of fit."""
    if hasattr(estimator, "schema_"):
        return rows(estimator, X)
    check_names(estimator, names_of(X))
    return read(X, schema_of(estimator))


def labels_of(estimator: Any) -> list[Any]:
    """The classes as plain Python values."""
    return list(np.asarray(estimator.classes_).tolist())


def actions_for(estimator: Any, decision: Decision | None) -> Actions:
    """How an estimator decides: as asked, as it was saved to, or as `predict` does."""
    chosen = getattr(estimator, "decision_", None) if decision is None else decision
    link = card_of(estimator).link
    if link.kind == "softmax" and chosen is None:  # multiclass boosting: the largest score, or the least expected cost
        if getattr(estimator, "decision", "argmax") != "bayes":
            return Actions("largest", tuple(labels_of(estimator)), by_score=True)
        chosen = CostMatrix(estimator.cost_matrix_.matrix)
    target = getattr(estimator, "target_", None)  # of a boundary classifier, whose regions are right-closed
    cutoff = 0.0 if target is None else float(target.cutoff)
    return actions_of(chosen, labels_of(estimator), link.loss, cutoff, target is None, link.kind != "probabilities")


def contributions(estimator: Any, X: Any) -> tuple[Scorecard, list[tuple[str, bool | None, list[float]]]]:
    """Of each term for the first row of X: its words, whether it holds (None where that is no question), what it adds."""
    card, table = card_of(estimator), table_of(estimator, X)

    def holding(term: Term) -> bool | None:
        return bool(holds(term.rule, card, table)[0]) if isinstance(term, RuleTerm) else None

    return card, [(words(term, card), holding(term), adds(term, card, table)[0].tolist()) for term in card.terms]
