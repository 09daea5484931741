"""What every fitted classifier stores, and its exports: SQL, ONNX, Python, text, HTML, which read its scorecard.

An estimator inherits `Exports`. The renderings are imported when first used, so that importing the library stays fast.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from permissible.decisions import Decision
from permissible.models.card.actions import Actions
from permissible.models.model import Model
from permissible.table.schema import Kind, Schema
from permissible.types import AnyArray
from permissible.validation import refusal
from permissible.validation.numbers import count, whole_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from permissible.models.render.dialects import Dialect


MOST_LINES = 60
"""Lines of rules in a text unless another number is asked for."""


def written_whole(max_rules: int | None, what: str) -> None:
    """Refuse a number of lines for what is never cut."""
    if max_rules not in (MOST_LINES, None):
        raise refusal("max_rules", f"left out for {what}, which is written whole", max_rules)


class FittedClassifier:
    """The attributes of a fitted classifier, and how it decides: the type that functions of fitted classifiers take."""

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


class Exports(FittedClassifier):
    """Renderings of a fitted estimator: every estimator of the library has these methods.

    Examples
    --------
    >>> import numpy as np, permissible as pm
    >>> model = pm.UDTClassifier(max_leaf_nodes=2).fit({"age": np.arange(20.0, 60.0)}, np.arange(40) > 25)
    >>> print(model.to_sql(table="patients", dialect="sqlite").splitlines()[0])
    SELECT
    >>> space = {}
    >>> exec(model.to_python(), space)
    >>> space["probability"]({"age": 50.0}) > 0.9
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
        reasons: int = 0,
    ) -> str:
        """Write the model as one SELECT that adds score, probability and decision to the rows of a table.

        Parameters
        ----------
        table : str
            The table that holds the rows, its columns named as in fit.
        dialect : {"ansi", "duckdb", "postgres", "sqlite"}
        decision : Decision or array of costs, optional
            How to decide; as `predict` does unless given. "No decision" is NULL, and so is every answer for a row in
            which a value is missing that the model needs (linear and kernel models refuse such rows in Python).
        keep : sequence of str, optional
            Columns to return with the answer; all of them unless given.
        prefix : str
            Put before the names score, probability and decision, for a table that has such columns.
        reasons : int
            Add the columns reasons_against and reasons_for, the words of so many principal reasons against and for the
            positive class (see `reasons`), each with a semicolon after it.
        """
        from permissible.estimators.classifier import actions_for, card_of
        from permissible.models.render import sql
        from permissible.models.render.reasons import reasons_sql

        card, k = card_of(self), count("reasons", reasons, 0)

        def more(target: "Dialect") -> dict[str, str]:
            sides = (("reasons_against", False), ("reasons_for", True)) if k else ()
            return {name: reasons_sql(card, k, wins, target) for name, wins in sides}

        actions = actions_for(self, decision)
        return sql.select(card, actions, table=table, dialect_name=dialect, keep=keep, prefix=prefix, more=more)

    def to_python(self, *, decision: Decision | None = None, reasons: bool = False) -> str:
        """Write the model as Python source with score(row), probability(row) and decide(row); it imports only math.

        `decision` is how to decide, as `predict` does unless given; "no decision" is None. With `reasons` the source also has
        reasons(row, k), for a model of two classes whose score is a sum of rules.
        """
        from permissible.estimators.classifier import actions_for, card_of
        from permissible.models.render import python
        from permissible.models.render.reasons import reasons_python

        card, actions = card_of(self), actions_for(self, decision)
        return python.module(card, actions, reasons_python(card, actions.labels[-1]) if reasons else ())

    def to_onnx(self, *, dtype: str = "float32", decision: Decision | None = None) -> Any:
        """Write the model as an ONNX graph (an `onnx.ModelProto`), with outputs label, probabilities and scores.

        A table of numbers is the one input ``X``; a table with categories has an input per column, shape (n, 1): text
        where a category is text, int64 where all are integers, else a number. Missing is NaN, "" in text, and the
        smallest int64.

        Parameters
        ----------
        dtype : {"float32", "float64"}
            Of the numbers, those that go in among them. float32 has seven digits: values that agree in these fall on
            the same side of every threshold, so that a column of large numbers that differ little (long identifiers,
            times in seconds since 1970) gets other predictions than `predict`. Use "float64" for such columns: it
            decides as `predict` does.
        decision : Decision or array of costs, optional
            How to decide; as `predict` does unless given. "No decision" is the label "reject".
        """
        from permissible.estimators.classifier import actions_for, card_of
        from permissible.models.render.onnx import to_graph

        return to_graph(card_of(self), actions_for(self, decision), dtype)

    def to_text(self, max_rules: int | None = MOST_LINES) -> str:
        """Return the model as text.

        Parameters
        ----------
        max_rules : int or None, default=60
            Lines of rules, the heaviest first; the others are counted in a last line. None writes all. A tree is always whole.
        """
        from permissible.estimators.classifier import card_of, labels_of
        from permissible.estimators.pictures.tree import predicted_at_nodes
        from permissible.models.kinds.tree import TreeModel
        from permissible.models.render import text

        whole_number("max_rules", max_rules, 0, none="all")
        model = getattr(self, "model_", None)
        if isinstance(model, TreeModel):
            written_whole(max_rules, "a tree")
            return text.tree_text(model, labels_of(self), predicted_at_nodes(self))
        return text.text(card_of(self), tuple(labels_of(self)), max_rules)

    def plot(self, ax: "Axes | None" = None, *, n_terms: int = 15) -> Any:
        """Draw the model: a tree as its tests, rules and columns as what they add to the score, boosted trees as importances.

        Returns the axes, an array of them where several classes have a panel each.

        Parameters
        ----------
        ax : matplotlib axes, optional
        n_terms : int
            The most bars; not used for a single tree.

        Examples
        --------
        >>> import numpy as np, permissible as pm
        >>> model = pm.ULSClassifier.compact(2).fit({"age": np.arange(20.0, 60.0)}, np.arange(40) > 25)
        >>> model.plot().get_xlabel()
        'adds to the score of True'
        """
        from permissible.estimators.classifier import card_of, labels_of
        from permissible.estimators.pictures.terms import plot_terms
        from permissible.estimators.pictures.tree import plot_tree
        from permissible.models.kinds.tree import TreeModel

        count("n_terms", n_terms)
        if isinstance(getattr(self, "model_", None), TreeModel):
            return plot_tree(self, ax)
        return plot_terms(card_of(self), labels_of(self), ax, n_terms)

    def to_html(self) -> str:
        """Show the model as an HTML table, as notebooks do."""
        from permissible.estimators.classifier import card_of, labels_of
        from permissible.models.render import html

        return html.table(card_of(self), tuple(labels_of(self)))

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's diagram, and under it the fitted model."""
        diagram: str = super()._html_repr()  # type: ignore[misc]
        return diagram + self.to_html() if hasattr(self, "classes_") else diagram


def framed(columns: Callable[[Any], dict[str, list[object]]]) -> Callable[[Any], Any]:
    """Make a method that returns columns return a data frame: of pandas where it is installed, else of polars, else the dict."""

    @wraps(columns)
    def table(self: Any) -> Any:
        found = columns(self)
        if find_spec("pandas") is not None:
            import pandas

            return pandas.DataFrame(found)
        if find_spec("polars") is not None:
            import polars

            return polars.DataFrame(found, strict=False)
        return found

    return table


def _json(model: FittedClassifier) -> str:
    from permissible.estimators.files.save_load import text_of

    return text_of(model)


def _excel(model: Any) -> bytes:
    from permissible.estimators.cards.methods import CardMethods
    from permissible.models.points.excel import refuse_no_card, workbook

    if not isinstance(model, CardMethods):
        refuse_no_card(model)
    return workbook(model._sheets())


FORMATS: dict[str, Callable[..., str | bytes]] = {
    "text": lambda model, **_: model.to_text(max_rules=None) + "\n",
    "sql": lambda model, **sql: model.to_sql(**sql) + "\n",
    "onnx": lambda model, **_: model.to_onnx().SerializeToString(),
    "json": lambda model, **_: _json(model),
    "python": lambda model, **_: model.to_python(),
    "html": lambda model, **_: model.to_html(),
    "excel": lambda model, **_: _excel(model),
}
"""What `permissible export` writes, by the name of the format; the options of SQL are its table, dialect and columns."""
