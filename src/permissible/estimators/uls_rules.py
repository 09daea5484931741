"""The fitted attributes of ULSClassifier: its rules, their coefficients, and the model after each round."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from permissible.bins.literal import Rule
from permissible.estimators.classifier import StagedClassifier, schema_of
from permissible.learners.uls.trace import Trace
from permissible.models.kinds.boosted import BoostedModel
from permissible.models.kinds.linear import LinearModel
from permissible.models.kinds.one_versus_rest import BinaryModel, OneVersusRest, joined, members
from permissible.models.kinds.rules import RuleModel
from permissible.models.model import Model
from permissible.models.words import rule_words
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, refusal


class RuleStages(Sequence[tuple[float, dict[Rule, float]]]):
    """Intercept and coefficients after 1, 2, ... rounds, from the trace of a fit."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def __len__(self) -> int:
        return len(self.trace.rounds)

    def __getitem__(self, stage: Any) -> Any:
        return self.trace.terms(stage + 1)


class RuleAttributes(StagedClassifier):
    """The rules, or columns, of a fitted classifier and their coefficients."""

    model_: BinaryModel | OneVersusRest | BoostedModel

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
            raise AttributeError("Rules have `coefficients_`, one a rule; `coef_` has one number a column.")
        return np.array([_coefficients(model) for model in models])

    @property
    def intercept_(self) -> Any:
        """The intercept of the score; for more than two classes one per class."""
        check_is_fitted(self, "model_")
        if isinstance(self.model_, BoostedModel):
            return _one_or_all([float(value) for value in self.model_.constant])
        return _one_or_all([model.intercept for model in self._members()])

    def _stages(self) -> Iterator[Model[Any]]:
        if isinstance(self.model_, BoostedModel):
            trees = self.model_
            yield from (trees.first(number) for number in range(1, trees.n_trees + 1))
            return
        paths = getattr(self, "_staged", None)
        if paths is None:
            came = Words("one read from a file, which keeps the last stage only")
            raise refusal("estimator", "fitted in this process", came)
        each = list(zip(members(self.model_), paths, strict=True))
        for stage in range(max(len(path) for path in paths)):
            yield joined(tuple(_at(model, path, stage) for model, path in each))

    def rules_table(self) -> dict[str, list[Any]]:
        """Return the rules as columns: rule, coefficient, support, precision, probability (and class where several).

        Support is the weighted fraction of the training rows that a rule covers, precision the fraction of the class
        that it predicts among them, probability that of the positive class among them. Boosted trees have one line a tree: its
        leaves, the columns that it tests, and the least and largest value that it adds to a score.
        """
        check_is_fitted(self, "model_")
        if isinstance(self.model_, BoostedModel):
            return self.model_.table()
        models, columns = self._members(), schema_of(self).columns
        names = ["rule", "coefficient", "support", "precision", "probability"]
        table: dict[str, list[Any]] = {name: [] for name in (["class", *names] if len(models) > 1 else names)}
        coverages = getattr(self, "_coverage", None) or [None] * len(models)
        for label, model, coverage in zip(self.classes_[-len(models) :], models, coverages, strict=True):
            coefficients = _coefficients(model).tolist()
            found = [(np.nan, np.nan)] * len(coefficients) if coverage is None else coverage
            if isinstance(model, LinearModel):
                table["rule"] += [column.name for column in columns]
            else:
                table["rule"] += [rule_words(rule, model) for rule in model.rules]
            table["coefficient"] += coefficients
            table["support"] += [float(support) for support, _ in found]
            table["probability"] += [float(share) for _, share in found]
            speaks = zip(coefficients, found, strict=True)
            table["precision"] += [
                float(share if coefficient >= 0 else 1 - share) for coefficient, (_, share) in speaks
            ]
            if "class" in table:
                table["class"] += [label] * len(coefficients)
        return table


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _coefficients(model: BinaryModel) -> FloatArray:
    return model.coef if isinstance(model, LinearModel) else model.coefficients


def _at(model: BinaryModel, path: Any, stage: int) -> BinaryModel:
    """The model after stage + 1 rounds; for a class that stopped earlier its last one."""
    if not len(path):
        return model
    intercept, found = path[min(stage, len(path) - 1)]
    if isinstance(model, RuleModel):
        return replace(model, intercept=intercept, rules=tuple(found), coefficients=np.array(list(found.values())))
    return replace(model, intercept=intercept, coef=np.asarray(found))


def joined_histories(histories: list[dict[str, AnyArray]], classes: AnyArray) -> dict[str, AnyArray]:
    """The history of the one model, or those of several classes one after the other with the class of each entry."""
    if len(histories) == 1:
        return histories[0]
    found = {key: np.concatenate([history[key] for history in histories]) for key in histories[0]}
    return {**found, "class": np.repeat(classes, [len(history["surrogate"]) for history in histories])}
