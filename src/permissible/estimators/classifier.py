"""The methods of every fitted classifier, from `model_`: scores, probabilities, decisions, margins, explanations.

An estimator stores its frozen model in `model_`, the columns of fit and `classes_`; it inherits `Classifier`, or
`StagedClassifier` where the model grows round by round.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from permissible.decisions import CostMatrix, Decision, Hard, decision_for
from permissible.decisions.words import worded
from permissible.estimators.exports import Exports, FittedClassifier
from permissible.estimators.input.matrix import matrix, numeric_schema
from permissible.estimators.input.training import check_names, codes_among, rows, threads
from permissible.models.card.actions import Actions, actions_of, predicting
from permissible.models.card.scorecard import Scorecard
from permissible.models.kinds.rules import normalised_margins
from permissible.models.kinds.tree import TreeModel
from permissible.models.model import Model
from permissible.table.reading import names_of, read
from permissible.table.schema import Schema
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray
from permissible.validation import real_numbers
from permissible.validation.numbers import flag, whole_number

if TYPE_CHECKING:
    from permissible.models.card.explanation import Explanation
    from permissible.models.card.reasons import Reasons
    from permissible.models.card.recourse import Recourse


class Classifier(Exports):
    """The fitted side of an estimator."""

    def _rows(self, X: object) -> Any:
        """X in the form that the model scores: a table, or a matrix of numbers."""
        check_is_fitted(self, "model_")
        if self.model_.takes_matrix:
            return matrix(self, X, reset=False)
        return rows(self, X, n_threads=threads(self.n_jobs))

    def decision_function(self, X: object) -> FloatArray:
        """Return the score of the positive class, or one per class when there are more than two."""
        given = self._rows(X)
        return self.model_.scores(given, threads(self.n_jobs))

    def predict_proba(self, X: object) -> FloatArray:
        """Return the probability of each class, in the order of ``classes_``."""
        given = self._rows(X)
        return self.model_.probabilities(given, threads(self.n_jobs))

    def predict(self, X: object) -> AnyArray:
        """Return the class of each row: the positive one where the score is at least 0, or the most probable one."""
        given = self._rows(X)
        return np.asarray(self.classes_.take(self._decided(self.model_, given, self._predicting())))

    def decide(self, X: object, decision: object = None) -> AnyArray:
        """Return the actions of a decision on the probabilities: class index, region index, or -1 for a rejection.

        Parameters
        ----------
        X : rows
        decision : Decision or array of costs, optional
            Such as ``pm.Reject(0.1)`` or ``pm.CostMatrix(C)``; by default the one that the model was saved with, else the
            one of the fit.
        """
        given = self._rows(X)
        return self._decided(self.model_, given, actions_of(self._deciding(decision), labels_of(self)))

    def decide_labels(
        self, X: object, decision: object = None, refer: str = "refer", *, names: Sequence[str] | None = None
    ) -> AnyArray:
        """Return the actions of a decision in words: labels of classes, `refer`, or names of risk groups.

        Parameters
        ----------
        X : rows
        decision : Decision or array of costs, optional
            As for `decide`.
        refer : str
            The word for a row that is not decided.
        names : sequence of str, optional
            Of the risk groups of `pm.Boundaries`, from the lowest; their probabilities unless given.

        Examples
        --------
        >>> import permissible as pm
        >>> X, y = [[0.0], [1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
        >>> model = pm.UDTClassifier(max_leaf_nodes=3, smoothing=0).fit(X, y)
        >>> model.decide_labels(X, pm.Reject(0.2)).tolist()
        ['no', 'refer', 'refer', 'yes']
        >>> model.decide_labels(X, pm.Boundaries([0.2, 0.8])).tolist()
        ['P <= 0.2', '0.2 < P <= 0.8', '0.2 < P <= 0.8', 'P > 0.8']
        """
        codes = self.decide(X, decision)
        return worded(self._deciding(decision), codes, np.asarray(self.classes_), refer, names)

    def _decided(self, model: Model, given: object, actions: Actions) -> AnyArray:
        read_from = model.scores if actions.by_score else model.probabilities
        return actions.decide(read_from(given, threads(self.n_jobs)))

    def _predicting(self) -> Actions:
        return predicting(labels_of(self), self.model_.link.kind == "loss")

    def _fitted_for(self) -> Decision:
        """The decision of the fit."""
        return Hard()

    def _deciding(self, decision: object) -> Decision:
        """The given decision, else the one that the estimator was saved with, else that of the fit."""
        kept = getattr(self, "decision_", None) if decision is None else decision
        return decision_for(self._fitted_for() if kept is None else kept, self.classes_)

    def margins(self, X: object, y: object, *, normalised: bool = False) -> FloatArray:
        """Return the margin of each example: 2 Pr[its class] - 1, in [-1, 1], which for two classes is (27) of [T].

        With `normalised` that of the separator instead, ``y H / sum |alpha|``, for rules and columns of two classes.
        """
        given = self._rows(X)
        codes = codes_among(self.classes_, y, given.shape[0] if self.model_.takes_matrix else given.n_rows)
        if flag("normalised", normalised):
            return normalised_margins(self.model_, given, codes, threads(self.n_jobs))
        return self.model_.margins(given, codes, threads(self.n_jobs))

    def margin_distribution(self, X: object, y: object, at: object = None) -> tuple[FloatArray, FloatArray]:
        """Return thresholds and the fraction of margins up to each (cumulative margin distribution of [T])."""
        margins = np.sort(self.margins(X, y))
        thresholds = np.unique(margins) if at is None else real_numbers("at", at, "an array of margins")
        return thresholds, np.searchsorted(margins, thresholds, side="right") / len(margins)

    def explain(self, X: object, n_steps: int | None = None) -> "list[Explanation]":
        """Return for each row what the terms of the model, or the tests of a tree, added to its scores.

        Parameters
        ----------
        X : rows
        n_steps : int, optional
            The number of terms, or of tests of a tree, to name: those with the largest effect. The others are summed up in
            one step.

        Returns
        -------
        explanations : list of Explanation
            With ``start``, ``steps`` (``words``, ``adds``, ``holds``), ``scores`` and ``probability``; it prints
            itself.
        """
        from permissible.models.card.explanation import Outcomes, explain_card, explain_tree

        whole_number("n_steps", n_steps, 0, none="all")
        costs = self._costs()
        outcomes = Outcomes(np.asarray(self.classes_), self.predict_proba(X), costs)
        if isinstance(self.model_, TreeModel):
            return explain_tree(self.model_, self._rows(X), outcomes, n_steps, threads(self.n_jobs))
        return explain_card(card_of(self), table_of(self, X), outcomes, n_steps)

    def reasons(self, X: object, k: int = 4, *, decision: object = None) -> "list[Reasons]":
        """Return the principal reasons for the decision of each row, in words.

        For a decision against the positive class these are the rules that lowered the score most, compared with their best
        value. For a decision for it, they are the rules that raised the score most, compared with their worst value.

        Parameters
        ----------
        X : rows
        k : int
            The most reasons of a row.
        decision : Decision or array of costs, optional
            As `predict` decides unless given.

        Returns
        -------
        reasons : list of Reasons
            With ``decision``, ``reasons`` (``words``, ``score``, ``points``), ``rest``, ``score`` and ``reference``: the reasons
            and the rest add up to the difference of the last two.

        Examples
        --------
        >>> import numpy as np, permissible as pm
        >>> card = pm.ULSClassifier.points(n_rules=1).fit({"age": np.arange(20.0, 60.0)}, np.arange(40) > 25)
        >>> card.reasons({"age": [30.0]})[0].reasons[0].words
        'not: age > 45.5'
        """
        from permissible.estimators.cards.explaining import reasons

        return reasons(self, X, k, decision)

    def recourse(
        self,
        x: object,
        decision: object = None,
        *,
        target: object = None,
        costs: Mapping[str, float] | None = None,
        fixed: Sequence[str] = (),
        max_columns: int = 3,
        max_time: float = 10.0,
    ) -> "Recourse":
        """Return the cheapest change of a row that changes its decision, with a proof that none is cheaper.

        Parameters
        ----------
        x : one row
        decision : Decision or array of costs, optional
            As `predict` decides unless given.
        target : label, optional
            The decision that is wanted; any other one than now unless given.
        costs : mapping from column name, optional
            What a column costs: for each unit of a number, or once for a category; 1 for columns without one. Without costs
            the number of changed columns counts, and among equals the distance.
        fixed : sequence of column names
            Columns that cannot be changed.
        max_columns : int
            The most columns to change.
        max_time : float
            Seconds.

        Returns
        -------
        recourse : Recourse
            With ``found``, ``changes``, ``cost``, ``before``, ``after`` and ``proved``.

        Examples
        --------
        >>> import numpy as np, permissible as pm
        >>> card = pm.ULSClassifier.points(n_rules=1).fit({"age": np.arange(20.0, 60.0)}, np.arange(40) > 25)
        >>> card.recourse({"age": [30.0]}).changes
        {'age': (30.0, 45.51)}
        """
        from permissible.estimators.cards.explaining import recourse

        return recourse(self, x, decision, target, costs, fixed, max_columns, max_time)

    def _costs(self) -> FloatArray | None:
        """What each mistake costs, where the estimator was fitted for costs."""
        return None

    @property
    def feature_importances_(self) -> FloatArray:
        """How much each column matters, normalised to sum to 1.

        Of a tree the decrease of the surrogate by the splits on a column; otherwise how much the rules and slopes of a
        column change the scores. A kernel model has none.
        """
        from permissible.models.card.explanation import card_importances, tree_importances

        check_is_fitted(self, "model_")
        found = tree_importances(self.model_) if isinstance(self.model_, TreeModel) else card_importances(card_of(self))
        if found is None:
            raise AttributeError(
                "A kernel model has no importance by column: see sklearn.inspection.permutation_importance."
            )
        return found


class CostClassifier(Classifier):
    """A classifier fitted for a cost matrix, with a score per class."""

    cost_matrix_: CostMatrix

    def decision_function(self, X: object) -> FloatArray:
        """Return the scores S, (n, M); for two classes the difference S_1 - S_0, (n,)."""
        return self._of_two_classes(super().decision_function(X))

    def _of_two_classes(self, scores: FloatArray) -> FloatArray:
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def _predicting(self) -> Actions:
        """The largest score, as the classifier was trained."""
        return Actions("largest", tuple(labels_of(self)), by_score=True)

    def _fitted_for(self) -> Decision:
        return self.cost_matrix_

    def _costs(self) -> FloatArray | None:
        return self.cost_matrix_.matrix


class StagedClassifier(Classifier):
    """A classifier whose model grows round by round."""

    def _stages(self) -> Iterator[Model]:
        """The model after 1, 2, ... rounds."""
        raise NotImplementedError

    def staged_decision_function(self, X: object) -> Iterator[FloatArray]:
        """Yield the scores after 1, 2, ... rounds."""
        given = self._rows(X)
        for model in self._stages():
            yield model.scores(given, threads(self.n_jobs))

    def staged_predict_proba(self, X: object) -> Iterator[FloatArray]:
        """Yield the class probabilities after 1, 2, ... rounds."""
        given = self._rows(X)
        for model in self._stages():
            yield model.probabilities(given, threads(self.n_jobs))

    def staged_predict(self, X: object) -> Iterator[AnyArray]:
        """Yield the classes after 1, 2, ... rounds."""
        given, actions = self._rows(X), self._predicting()
        for model in self._stages():
            yield np.asarray(self.classes_.take(self._decided(model, given, actions)))


def card_of(estimator: FittedClassifier) -> Scorecard:
    """The scorecard of a fitted estimator: what its exports and reports read."""
    from permissible.models.card.from_model import scorecard

    check_is_fitted(estimator, "model_")
    return scorecard(estimator.model_, schema_of(estimator))


def schema_of(estimator: FittedClassifier) -> Schema:
    """The columns of fit, named x0, x1, ... where there were no names."""
    return estimator.schema_ if hasattr(estimator, "schema_") else numeric_schema(estimator)


def table_of(estimator: FittedClassifier, X: object) -> Table:
    """Rows as a table of the columns of fit."""
    if hasattr(estimator, "schema_"):
        return rows(estimator, X)
    check_names(estimator, names_of(X))
    return read(X, schema_of(estimator))


def labels_of(estimator: FittedClassifier) -> list[Any]:
    """The classes as plain Python values."""
    return list(np.asarray(estimator.classes_).tolist())


def decision_asked(estimator: FittedClassifier, decision: object) -> Decision | None:
    """The given decision, else the one that the estimator was saved with, for its classes; None: `predict`."""
    chosen = getattr(estimator, "decision_", None) if decision is None else decision
    return None if chosen is None else decision_for(chosen, estimator.classes_)


def judged_by(estimator: FittedClassifier, decision: object = None) -> Decision | None:
    """The decision that an estimator is evaluated by, as `decide` uses it; None where every mistake costs 1."""
    chosen = estimator._deciding(decision)
    if decision is None and isinstance(chosen, CostMatrix) and chosen.reject_cost is None:
        return None if np.array_equal(chosen.matrix, 1.0 - np.eye(chosen.n_classes)) else chosen
    return None if decision is None and isinstance(chosen, Hard) else chosen


def actions_for(estimator: FittedClassifier, decision: object) -> Actions:
    """How an estimator decides: by the given decision, by the saved one, or as `predict` does."""
    chosen = decision_asked(estimator, decision)
    if chosen is None:
        return estimator._predicting()
    return actions_of(chosen, labels_of(estimator), estimator.model_.link.losses)
