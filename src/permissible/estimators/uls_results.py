"""What a fitted ULSClassifier can show: rules, coefficients, staged scores, contributions, margins. It reads what fit stored."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from permissible.bins.describe import describe
from permissible.bins.literal import Rule
from permissible.decisions import decision_for
from permissible.estimators.input.target import codes_among
from permissible.estimators.input.training import rows, threads
from permissible.learners.uls.trace import Trace
from permissible.models.kinds.linear import LinearModel
from permissible.models.kinds.rules import RuleModel
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, refusal

Model = RuleModel | LinearModel
CHUNK = 16384


class RuleStages:
    """Intercept and coefficients after 1, 2, ... rounds, from the trace of a fit."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def __len__(self) -> int:
        return len(self.trace.rounds)

    def __getitem__(self, stage: int) -> tuple[float, dict[Rule, float]]:
        return self.trace.terms(stage + 1)


class RuleResults:
    """The readable side of a fitted classifier made of rules (or of columns)."""

    models_: tuple[Any, ...]
    classes_: AnyArray
    n_jobs: int | None

    def _models(self) -> tuple[Any, ...]:
        check_is_fitted(self, "models_")
        return self.models_

    @property
    def rules_(self) -> Any:
        """The rules; for more than two classes one tuple of rules per class. With features="columns" there are none."""
        return _one_or_all([getattr(model, "rules", ()) for model in self._models()])

    @property
    def coef_(self) -> Any:
        """The coefficient of each rule (or column); for more than two classes one array per class."""
        return _one_or_all([coefficients(model) for model in self._models()])

    @property
    def intercept_(self) -> Any:
        """The constant of the score; for more than two classes one per class."""
        return _one_or_all([model.intercept for model in self._models()])

    def _input(self, X: Any) -> Any:
        """X as the models take it: a table, or a matrix when the columns themselves are the features."""
        models = self._models()
        if isinstance(models[0], LinearModel):
            from permissible.estimators.uls_columns import matrix

            return matrix(self, X)
        return rows(self, X, n_threads=threads(self.n_jobs))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of the positive class, or one per class when there are more than two."""
        models, given = self._models(), self._input(X)
        scores = [score(model, given, threads(self.n_jobs)) for model in models]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities: ginv of the score; of more than two classes one-versus-rest, made to sum to 1."""
        return self._probabilities(self.decision_function(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the class: positive where the score is at least 0; of more than two classes the most probable one."""
        return self._labels(self.decision_function(X))

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        models = self._models()
        if len(models) == 1:
            out = np.empty((len(scores), 2))
            for start in range(0, len(scores), CHUNK):  # chunks that stay in the cache
                part = slice(start, start + CHUNK)
                out[part, 1] = models[0].loss.probability(scores[part])
                np.subtract(1.0, out[part, 1], out=out[part, 0])
            return out
        each = np.column_stack([model.loss.probability(scores[:, k]) for k, model in enumerate(models)])
        total = each.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, each / np.where(total > 0, total, 1.0), 1.0 / len(models)))

    def _labels(self, scores: FloatArray) -> AnyArray:
        best = (scores >= 0).view(np.int8) if scores.ndim == 1 else self._probabilities(scores).argmax(axis=1)
        return np.asarray(self.classes_.take(best))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Yield the scores after 1, 2, ... rounds."""
        models, given = self._models(), self._input(X)
        paths = self._paths()
        for stage in range(max(len(path) for path in paths)):
            scores = [score_at(model, given, path, stage) for model, path in zip(models, paths, strict=True)]
            yield scores[0] if len(scores) == 1 else np.column_stack(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield the class probabilities after 1, 2, ... rounds."""
        for scores in self.staged_decision_function(X):
            yield self._probabilities(scores)

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """Yield the classes after 1, 2, ... rounds."""
        for scores in self.staged_decision_function(X):
            yield self._labels(scores)

    def _paths(self) -> list[Any]:
        paths = getattr(self, "_staged", None)
        if paths is None:
            raise refusal(
                "estimator", "fitted in this process", Words("one read from a file, which keeps the last stage only")
            )
        return list(paths)

    def decide(self, X: Any, decision: Any) -> AnyArray:
        """Return the actions of a decision (``pm.Reject(0.1)``, ``pm.CostMatrix(C)``, an array of costs) on the probabilities."""
        proba = self.predict_proba(X)
        return np.asarray(decision_for(decision, self.classes_).decide(proba))

    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return the margin of each example in [-1, 1]: 2 ginv(y H) - 1 ((27) of [T]); 2 Pr[its class] - 1 for more classes."""
        scores = self.decision_function(X)
        place = codes_among(self.classes_, y, len(scores))
        models = self._models()
        if len(models) == 1:
            return np.asarray(models[0].loss.margin(np.where(place == 1, scores, -scores)))
        return np.asarray(2 * self._probabilities(scores)[np.arange(len(place)), place] - 1)

    def margin_distribution(self, X: Any, y: Any, at: Any = None) -> tuple[FloatArray, FloatArray]:
        """Return thresholds and the share of margins at most as large (the cumulative margin distribution of [T])."""
        margins = np.sort(self.margins(X, y))
        thresholds = np.unique(margins) if at is None else np.asarray(at, dtype=np.float64)
        return thresholds, np.searchsorted(margins, thresholds, side="right") / len(margins)

    def explain(self, X: Any) -> Any:
        """Return what each rule (and the constant) adds to the score of each row.

        A mapping with ``intercept``, ``rules`` (in words), ``contributions`` of shape (rows, rules), ``score`` and, for two
        classes, ``probability``; for more than two classes one such mapping per class.
        """
        given = self._input(X)
        return _one_or_all([contributions(model, given, self.schema_) for model in self._models()])  # type: ignore[attr-defined]

    def rules_table(self) -> dict[str, list[Any]]:
        """Return the rules as columns: rule, coefficient, support, precision, probability (and class where several).

        Support is the weighted share of the training rows that a rule covers, precision the share of the class that it speaks
        for among them, probability that of the positive class among them.
        """
        table: dict[str, list[Any]] = {"rule": [], "coefficient": [], "support": [], "precision": [], "probability": []}
        models = self._models()
        if len(models) > 1:
            table = {"class": [], **table}
        covers = getattr(self, "_coverage", None) or [None] * len(models)
        for position, (model, coverage) in enumerate(zip(models, covers, strict=True)):
            names = rule_words(model, self.schema_)  # type: ignore[attr-defined]
            coefs = coefficients(model).tolist()
            table["rule"] += names
            table["coefficient"] += coefs
            for number, coefficient in enumerate(coefs):
                support, positive = (np.nan, np.nan) if coverage is None else coverage[number]
                table["support"].append(float(support))
                table["probability"].append(float(positive))
                table["precision"].append(float(positive if coefficient >= 0 else 1 - positive))
                if "class" in table:
                    table["class"].append(self.classes_[position])
        return table


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def coefficients(model: Model) -> FloatArray:
    """The coefficients of a model, of rules or columns."""
    return model.coef if isinstance(model, LinearModel) else model.coefficients


def score(model: Model, given: Any, n_threads: int = 1) -> FloatArray:
    """Score rows by either kind of model."""
    return model.score(given) if isinstance(model, LinearModel) else model.score(given, n_threads)


def score_at(model: Model, given: Any, path: Any, stage: int) -> FloatArray:
    """The score after stage + 1 rounds (the last one there is, for a class that stopped earlier)."""
    if not path:
        return score(model, given)
    intercept, found = path[min(stage, len(path) - 1)]
    if isinstance(model, LinearModel):
        return np.asarray(np.asarray(given @ found).ravel() + intercept)
    staged = RuleModel(
        model.schema, model.loss, intercept, tuple(found), np.array(list(found.values())), model.code_of_category
    )
    return staged.score(given)


def rule_words(model: Model, schema: Any) -> list[str]:
    """Each rule (or column) in words."""
    if isinstance(model, LinearModel):
        return [column.name for column in schema.columns]
    return [
        " and ".join(describe(literal, model.schema, model.code_of_category.get(literal.column)) for literal in rule)
        or "always"
        for rule in model.rules
    ]


def contributions(model: Model, given: Any, schema: Any) -> dict[str, Any]:
    """What each rule or column adds to the score of each row."""
    if isinstance(model, LinearModel):
        dense = given.toarray() if hasattr(given, "toarray") else np.asarray(given)
        parts = dense * model.coef
    else:
        table: Table = given
        parts = np.zeros((table.n_rows, len(model.rules)))
        for place, (rule, coefficient) in enumerate(zip(model.rules, model.coefficients.tolist(), strict=True)):
            parts[:, place] = np.where(model.covers(rule, table), coefficient, -coefficient)
    scores = score(model, given)
    return {
        "intercept": model.intercept, "rules": rule_words(model, schema), "contributions": parts, "score": scores,
        "probability": np.asarray(model.loss.probability(scores)),
    }  # fmt: skip
