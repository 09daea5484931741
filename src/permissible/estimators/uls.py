"""ULSClassifier: the scikit-learn face of boosted rules. It validates, calls the learner, and stores."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from permissible import losses
from permissible.bins import row_hashes
from permissible.distributed.uls import Parted, fit_label
from permissible.estimators.exports import Exports
from permissible.estimators.intake import (
    TrainingRows,
    remember,
    remember_schema,
    rows,
    seed,
    threads,
    training_rows,
)
from permissible.estimators.parted import PartedSource, parted_data
from permissible.estimators.uls_settings import Plan, plan
from permissible.learners.uls_fast import Examples, boost_compiled
from permissible.learners.uls_holdout import Choice, choose, held_out
from permissible.learners.uls_losses import compiled
from permissible.learners.uls_options import ULSOptions
from permissible.learners.uls_trace import Trace
from permissible.learners.uls_tree import boost_trees
from permissible.models.rules import RuleModel
from permissible.types import AnyArray, FloatArray
from permissible.validation import refusal


class ULSClassifier(Exports, ClassifierMixin, BaseEstimator):
    """Boosted readable rules for any permissible or strictly convex loss.

    Parameters
    ----------
    loss : str or loss, default="logistic"
    n_rules : int, default=100
        Rounds, at most.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from permissible.estimators.uls import ULSClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = ULSClassifier(n_rules=5, max_literals=1, early_stopping=False).fit(X, y)
    >>> len(model.rules_)
    5
    """

    def __init__(
        self,
        loss: Any = "logistic",
        n_rules: int = 100,
        max_literals: Any = "auto",
        features: str = "rules",
        scheme: Any = "classic",
        fit_intercept: bool = True,
        learning_rate: Any = "auto",
        l2: float = 1.0,
        beam: int = 2,
        early_stopping: Any = "auto",
        search_fraction: Any = "auto",
        max_bins: int = 255,
        tol: float = 1e-10,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        class_weight: Any = None,
        categorical: Any = None,
        max_time: float | None = None,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.n_rules = n_rules
        self.max_literals = max_literals
        self.features = features
        self.scheme = scheme
        self.fit_intercept = fit_intercept
        self.learning_rate = learning_rate
        self.l2 = l2
        self.beam = beam
        self.early_stopping = early_stopping
        self.search_fraction = search_fraction
        self.max_bins = max_bins
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.class_weight = class_weight
        self.categorical = categorical
        self.max_time = max_time
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        """Missing values and categories are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "ULSClassifier":
        """Boost rules on the rows of X with labels y."""
        n_threads, fit_seed = threads(self.n_jobs), seed(self.random_state)
        loss = losses.get(self.loss)
        if isinstance(X, PartedSource):
            return self._fit_parted(parted_data(X, y, sample_weight, self.class_weight), loss, n_threads, fit_seed)
        given = training_rows(
            self, X, y, sample_weight, self.class_weight, categorical=self.categorical, n_threads=n_threads
        )
        asked = plan(self, given.table.n_rows, fit_seed)
        binned = given.bins(self.max_bins, fit_seed, n_threads)
        weight = given.weight if given.weighted else None
        targets = range(1, 2) if len(given.classes) == 2 else range(len(given.classes))
        traces = [
            self._boost(given, Examples(binned, given.target == label, weight), loss, asked, n_threads)
            for label in targets
        ]
        remember(self, given)
        self.models_ = tuple(trace.model(binned.binning, loss) for trace in traces)
        self._traces = tuple(traces)
        return self

    def _fit_parted(self, data: Parted, loss: Any, n_threads: int, fit_seed: int) -> "ULSClassifier":
        """The same fit on data in parts (blocks on disk, workers of a cluster)."""
        asked = plan(self, data.n_rows, fit_seed)
        if asked.features == "tree":
            raise refusal("features", '"rules" for data in parts', "tree", "fit a UDTClassifier, or rows in memory")
        targets = range(1, 2) if len(data.classes) == 2 else range(len(data.classes))
        traces = [
            fit_label(data, label, loss, asked.candidates, asked.stopping, n_threads=n_threads)[0] for label in targets
        ]
        self.classes_ = data.classes
        remember_schema(self, data.binning.schema)
        self.models_ = tuple(trace.model(data.binning, loss) for trace in traces)
        self._traces = tuple(traces)
        return self

    def _boost(self, given: TrainingRows, examples: Examples, loss: Any, asked: Plan, n_threads: int) -> Trace:
        kernel = compiled(loss)
        assert kernel is not None or asked.features == "tree"

        def run(examples: Examples, options: ULSOptions, validation: Examples | None = None) -> Trace:
            if kernel is None or asked.features == "tree":
                return boost_trees(examples, loss, options, validation=validation, n_threads=n_threads)
            return boost_compiled(examples, kernel, loss.name, options, validation=validation, n_threads=n_threads)

        chosen = Choice(asked.candidates[0], {})
        if asked.stopping:
            hashes = row_hashes(given.table, asked.candidates[0].seed, n_threads)
            held = held_out(hashes, examples.positive, examples.weight)
            if held is not None:
                chosen = choose(examples, held, asked.candidates, run)
        return run(examples, chosen.options)

    @property
    def rules_(self) -> Any:
        """The rules; for more than two classes one tuple of rules per class."""
        return self._one_or_all([model.rules for model in self._models()])

    @property
    def coef_(self) -> Any:
        """The coefficient of each rule; for more than two classes one array per class."""
        return self._one_or_all([model.coefficients for model in self._models()])

    @property
    def intercept_(self) -> Any:
        """The constant of the score; for more than two classes one per class."""
        return self._one_or_all([model.intercept for model in self._models()])

    @staticmethod
    def _one_or_all(values: list[Any]) -> Any:
        return values[0] if len(values) == 1 else values

    def _models(self) -> tuple[RuleModel, ...]:
        check_is_fitted(self, "models_")
        return self.models_

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of the positive class, or one per class when there are more than two."""
        models = self._models()
        table = rows(self, X, n_threads=threads(self.n_jobs))
        scores = [model.score(table) for model in models]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities: ginv of the score; of more than two classes one-versus-rest, made to sum to 1."""
        score = self.decision_function(X)
        models = self._models()
        if len(models) == 1:
            positive = np.asarray(models[0].loss.probability(score))
            return np.column_stack((1 - positive, positive))
        each = np.column_stack([model.loss.probability(score[:, k]) for k, model in enumerate(models)])
        total = each.sum(axis=1, keepdims=True)
        return np.where(total > 0, each / np.where(total > 0, total, 1.0), 1.0 / len(models))

    def predict(self, X: Any) -> AnyArray:
        """Return the class: positive where the score is at least 0; of more than two classes the one of highest score."""
        score = self.decision_function(X)
        best = (score >= 0).astype(np.intp) if score.ndim == 1 else score.argmax(axis=1)
        return np.asarray(self.classes_[best])
