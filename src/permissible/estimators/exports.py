"""The exports that every estimator has: SQL, ONNX, Python, text, HTML. Each reads the estimator's scorecard; none learns.

An estimator inherits `Exports`; all it needs is what fit stores: `model_`, `schema_` and `classes_`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from permissible.decisions import CostMatrix, Decision
from permissible.estimators.fitted import filed
from permissible.estimators.intake import rows
from permissible.models import html, python, sql, text
from permissible.models.actions import Actions, actions_of
from permissible.models.cards import one_versus_rest
from permissible.models.evaluate import adds, words
from permissible.models.scorecard import Scorecard, scorecard
from permissible.table.reading import read
from permissible.table.schema import Column, Schema
from permissible.table.table import Table


class Exports:
    """Renderings of a fitted estimator: every estimator of the library has these methods.

    Examples
    --------
    >>> import numpy as np, permissible as pm
    >>> model = pm.UDTClassifier(max_leaves=2).fit({"age": np.arange(20.0, 60.0)}, np.arange(40) > 25)
    >>> print(model.to_sql(table="patients", dialect="sqlite").splitlines()[0])
    SELECT
    >>> space = {}
    >>> exec(model.to_python(), space)
    >>> space["probability"]({"age": 50.0}) > 0.99
    True
    """

    def to_sql(
        self,
        table: str = "data",
        dialect: str = "ansi",
        *,
        decision: Decision | None = None,
        keep: Sequence[str] | None = None,
        prefix: str = "",
    ) -> str:
        """Write the model as one SELECT that adds score, probability and decision to the rows of a table.

        Parameters
        ----------
        table : str
            The table that holds the rows, its columns named as in fit.
        dialect : {"ansi", "duckdb", "postgres", "sqlite"}
        decision : Decision, optional
            How to decide; as `predict` does unless given. "No decision" is NULL.
        keep : sequence of str, optional
            Columns to return beside the answer; all of them unless given.
        prefix : str
            Put before the names score, probability and decision, for a table that has such columns.
        """
        return sql.select(
            card_of(self), actions_for(self, decision), table=table, dialect_name=dialect, keep=keep, prefix=prefix
        )

    def to_python(self, *, decision: Decision | None = None) -> str:
        """Write the model as Python source with functions score(row), probability(row) and decide(row); it imports only math."""
        return python.module(card_of(self), actions_for(self, decision))

    def to_onnx(self, *, dtype: str = "float32", decision: Decision | None = None) -> Any:
        """Write the model as an ONNX graph (an `onnx.ModelProto`), with outputs label, probabilities and scores.

        A table of numbers is the one input ``X``; a table with categories has an input a column, shape (n, 1).
        """
        from permissible.models.onnx import to_graph

        return to_graph(card_of(self), actions_for(self, decision), dtype)

    def to_text(self) -> str:
        """Say the model in words."""
        return text.text(card_of(self), actions_for(self, None), tuple(_labels(self)))

    def to_html(self) -> str:
        """Show the model as an HTML table, as notebooks do."""
        return html.table(card_of(self), tuple(_labels(self)))

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's diagram, and under it the fitted model."""
        diagram: str = super()._html_repr()  # type: ignore[misc]
        return diagram + self.to_html() if hasattr(self, "classes_") else diagram


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
    return rows(estimator, X) if hasattr(estimator, "schema_") else read(X, schema_of(estimator))


def _labels(estimator: Any) -> list[Any]:
    return list(np.asarray(estimator.classes_).tolist())


def actions_for(estimator: Any, decision: Decision | None) -> Actions:
    """How an estimator decides: as asked, as it was saved to, or as `predict` does."""
    chosen = getattr(estimator, "decision_", None) if decision is None else decision
    link = card_of(estimator).link
    if link.kind == "softmax" and chosen is None:  # multiclass boosting: the largest score, or the least expected cost
        if getattr(estimator, "decision", "argmax") != "bayes":
            return Actions("largest", tuple(_labels(estimator)), by_score=True)
        chosen = CostMatrix(estimator.cost_matrix_.matrix)
    target = getattr(estimator, "target_", None)  # of a boundary classifier, whose regions are right-closed
    cutoff = 0.0 if target is None else float(target.cutoff)
    return actions_of(chosen, _labels(estimator), link.loss, cutoff, target is None, link.kind != "probabilities")


def contributions(estimator: Any, X: Any) -> tuple[Scorecard, list[tuple[str, list[float]]]]:
    """What each term, in words, adds to the scores of the first row of X."""
    card, table = card_of(estimator), table_of(estimator, X)
    return card, [(words(term, card), adds(term, card, table)[0].tolist()) for term in card.terms]
