"""The fitted attributes of ULSClassifier: its rules, their coefficients, and the model after each round."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from permissible.bins.binning import Binning
from permissible.bins.describe import rule_words
from permissible.estimators.cards.methods import CardMethods
from permissible.estimators.classifier import Classifier, schema_of
from permissible.estimators.exports import framed
from permissible.estimators.fit_warning import warn_of
from permissible.estimators.parameters.uls import KEPT, scheme_of
from permissible.estimators.variants.stability import Stability, stability
from permissible.learners.certificate import CertificateHead, joined_certificates
from permissible.learners.doubts import Doubts, of_rules
from permissible.learners.uls.certificate import certify, history_of, in_unit
from permissible.learners.uls.columns import ColumnTrace
from permissible.learners.uls.fit import FittedRules
from permissible.learners.uls.trace import Trace
from permissible.models.kinds.boosted import BoostedModel
from permissible.models.kinds.linear import LinearModel
from permissible.models.kinds.one_versus_rest import BinaryModel, OneVersusRest, joined, members
from permissible.models.kinds.rules import RuleModel
from permissible.models.model import Model
from permissible.models.points.model import PointsModel
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, refusal


class RuleAttributes(CardMethods):
    """The rules, or columns, of a fitted classifier and their coefficients."""

    model_: BinaryModel | OneVersusRest | BoostedModel
    l2_regularization: object
    scheme: object

    def _members(self) -> tuple[BinaryModel, ...]:
        check_is_fitted(self, "model_")
        if isinstance(self.model_, BoostedModel):
            raise AttributeError(
                "Trees have no rules with a coefficient each: see `model_`, `rules_table` and `explain`."
            )
        return members(self.model_)

    @property
    def rules_(self) -> Any:
        """The rules; for more than two classes one tuple of rules per class. With learner="column" there are none."""
        return _one_or_all([() if isinstance(model, LinearModel) else model.rules for model in self._members()])

    @property
    def coefficients_(self) -> Any:
        """The coefficient of each rule (or column); for more than two classes one array per class."""
        return _one_or_all([_coefficients(model) for model in self._members()])

    @property
    def coef_(self) -> FloatArray:
        """The coefficient of each column, shape (1 or n_classes, n_features); only with learner="column"."""
        models = self._members()
        if not all(isinstance(model, LinearModel) for model in models):
            raise AttributeError("Rules have `coefficients_`, one per rule; `coef_` has one number per column.")
        return np.array([_coefficients(model) for model in models])

    @property
    def intercept_(self) -> Any:
        """The intercept of the score; for more than two classes one per class."""
        check_is_fitted(self, "model_")
        if isinstance(self.model_, BoostedModel):
            return _one_or_all([float(value) for value in self.model_.constant])
        return _one_or_all([model.intercept for model in self._members()])

    def _stages(self) -> Iterator[Model]:
        if isinstance(self.model_, BoostedModel):
            trees = self.model_
            yield from (trees.first(number) for number in range(1, trees.n_trees + 1))
            return
        if any(isinstance(model, PointsModel) for model in members(self.model_)):
            raise refusal("estimator", "one whose model grows round by round", Words("a point card"))
        traces = getattr(self, "_traces", None)
        if traces is None:
            came = Words("one read from a file, which keeps the last stage only")
            raise refusal("estimator", "fitted in this process", came)
        each = list(zip(members(self.model_), traces, strict=True))
        for number in range(1, max(len(trace.rounds) for trace in traces) + 1):
            yield joined(tuple(_at(model, trace, number) for model, trace in each))

    def _store(
        self, binning: Binning, found: list[FittedRules], table: Table | None = None, scale: float = 1.0
    ) -> None:
        models = tuple(fitted.trace.model(binning, fitted.loss) for fitted in found)
        self.model_ = joined(models)
        self._remember_start(tuple(fitted.trace for fitted in found), binning)
        self._coverage = tuple(list(fitted.trace.coverage().values()) for fitted in found)
        histories = [history_of(fitted.trace, fitted.loss, scheme_of(self.scheme)) for fitted in found]
        certificates = [
            in_unit(certify(fitted.trace, fitted.loss, self._doubts(fitted, model, table)), scale)
            for fitted, model in zip(found, models, strict=True)
        ]
        self._tell(found, histories, certificates, scale)

    def _tell(
        self,
        found: Sequence[FittedRules],
        histories: list[dict[str, AnyArray]],
        certificates: Sequence[CertificateHead],
        scale: float = 1.0,
    ) -> None:
        """Store what is known of the fit of each class, and warn of what is doubtful; nothing was `found` of columns."""
        self.history_ = joined_histories(histories, self.classes_)
        self.certificate_ = joined_certificates(certificates, self.classes_)
        choices = tuple(in_given_unit(fitted.selection, scale) for fitted in found)
        self.selection_: Any = choices if len(choices) > 1 else next(iter(choices), None)
        evidence = tuple(fitted.evidence for fitted in found if fitted.evidence is not None)
        self.loss_evidence_: Any = evidence if len(found) > 1 and evidence else next(iter(evidence), None)
        warn_of([certificate.doubts for certificate in certificates], self.classes_)

    def _doubts(self, fitted: FittedRules, model: RuleModel, table: Table | None) -> Doubts:
        # Refits lower the penalised surrogate, and a step of one of several fits was not made for all.
        stepwise = not self.l2_regularization or self.scheme in ("classic", 1)
        exact = stepwise and "averaged" not in fitted.trace.evidence
        score = None if table is None else partial(model.scores, table)

        def name(place: int) -> str:
            return f"the rule '{rule_words(model.rules[place], model)}'"

        return of_rules(fitted.trace, fitted.loss, model.intercept, model.coefficients, exact, score, name)

    def _remember_start(self, traces: Any, binning: Any = None) -> None:
        """Keep what a continuation needs of this fit."""
        self._traces, self._binning = traces, binning
        self._fitted_with = {name: getattr(self, name) for name in KEPT}

    def stability(self, X: object, y: object, *, n_resamples: int = 20, random_state: int = 0) -> Stability:
        """Return how much of the model survives resampling: rules, thresholds, size, and the labels and probabilities of X.

        Parameters
        ----------
        X, y : the rows of the fit
        n_resamples : int, default=20
            Bootstrap samples, each of which is fitted like the model.
        random_state : int, default=0
            Draws the samples.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> import permissible as pm
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = pm.ULSClassifier(n_rounds=5, max_literals=1, early_stopping=False).fit(X, y)
        >>> found = model.stability(X, y, n_resamples=5)
        >>> bool(found.flipped.mean() < 0.1), found.n_rules.tolist() == [5, 5, 5, 5, 5]
        (True, True)
        """
        for model in self._members():
            if not isinstance(model, RuleModel):
                raise refusal("estimator", 'one of rules, learner="rule"', Words("one of columns or points"))
        return stability(self, X, y, n_resamples, random_state)

    @framed
    def rules_table(self) -> dict[str, list[object]]:
        """Return the rules as columns: rule, coefficient, support, precision, probability (and class where several).

        Support is the weighted fraction of the training rows that a rule covers, precision the fraction of the class
        that it predicts among them, probability that of the positive class among them. The largest coefficients, by size, come
        first (of a class). Boosted trees have one line per tree: its
        leaves, the columns that it tests, and the least and largest value that it adds to a score.

        A data frame of pandas, or of polars, where one of them is installed, else a mapping from column name to list.
        """
        check_is_fitted(self, "model_")
        if isinstance(self.model_, BoostedModel):
            return self.model_.table()
        return rules_columns(self, self._members())


def in_given_unit(selection: Mapping[str, object] | None, scale: float) -> Mapping[str, object] | None:
    """What a choice saw on weights times `scale`, with its penalties in the original unit of the weights."""
    candidates = None if selection is None else selection["candidates"]
    if selection is None or scale == 1.0 or not isinstance(candidates, list):
        return selection
    tried = [{**one, "l2_regularization": one["l2_regularization"] / scale} for one in candidates]
    return {**selection, "candidates": tried}


def rules_columns(estimator: Classifier, models: tuple[BinaryModel, ...]) -> dict[str, list[object]]:
    """The rules of an estimator's models as columns, with what they cover where the fit remembers it."""
    names = ["rule", "coefficient", "support", "precision", "probability"]
    table: dict[str, list[object]] = {name: [] for name in (["class", *names] if len(models) > 1 else names)}
    coverages = getattr(estimator, "_coverage", None) or [None] * len(models)
    for label, model, coverage in zip(estimator.classes_[-len(models) :], models, coverages, strict=True):
        order = np.argsort(-np.abs(_coefficients(model)), kind="stable").tolist()
        coefficients = _coefficients(model)[order].tolist()
        found = [(np.nan, np.nan)] * len(order) if coverage is None else [coverage[place] for place in order]
        if isinstance(model, LinearModel):
            table["rule"] += [schema_of(estimator).columns[place].name for place in order]
        else:
            table["rule"] += [rule_words(model.rules[place], model) for place in order]
        table["coefficient"] += coefficients
        table["support"] += [float(support) for support, _ in found]
        table["probability"] += [float(share) for _, share in found]
        speaks = zip(coefficients, found, strict=True)
        table["precision"] += [float(share if coefficient >= 0 else 1 - share) for coefficient, (_, share) in speaks]
        if "class" in table:
            table["class"] += [label] * len(coefficients)
    return table


def _one_or_all(values: list[object]) -> Any:
    return values[0] if len(values) == 1 else values


def _coefficients(model: BinaryModel) -> FloatArray:
    return model.coef if isinstance(model, LinearModel) else model.coefficients


def _at(model: BinaryModel, trace: Trace | ColumnTrace, number: int) -> BinaryModel:
    """The model after so many rounds; for a class that stopped earlier its last one."""
    if not trace.rounds:
        return model
    intercept, found = trace.terms(min(number, len(trace.rounds)))
    if isinstance(model, RuleModel) and isinstance(found, dict):
        return replace(model, intercept=intercept, rules=tuple(found), coefficients=np.array(list(found.values())))
    assert isinstance(model, LinearModel)
    return replace(model, intercept=intercept, coef=np.asarray(found))


def joined_histories(histories: list[dict[str, AnyArray]], classes: AnyArray) -> dict[str, AnyArray]:
    """The history of the one model, or those of several classes one after the other with the class of each entry."""
    if len(histories) == 1:
        return histories[0]
    found = {key: np.concatenate([history[key] for history in histories]) for key in histories[0]}
    return {**found, "class": np.repeat(classes, [len(history["surrogate"]) for history in histories])}
