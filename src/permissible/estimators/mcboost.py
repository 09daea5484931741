"""MCBoostClassifier: the scikit-learn estimator. It validates, calls the learner, and stores."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from permissible.bins.encoding import encode
from permissible.decisions import CostMatrix
from permissible.decisions.documents import costs_for
from permissible.estimators.classifier import CostClassifier, StagedClassifier, card_of, labels_of
from permissible.estimators.exports import framed
from permissible.estimators.fit_warning import warn_of
from permissible.estimators.input import training as intake
from permissible.estimators.input.source import HasSource, memory_source, source_of, without_codes
from permissible.estimators.input.weights import ClassWeight, canonical
from permissible.estimators.parameters.idle import MCBOOST, refuse_idle
from permissible.estimators.parameters.mcboost import (
    checked_settings,
    constrained,
    loss_name,
    own_loss,
    refuse_light,
    refuse_on_parts,
    task_of,
)
from permissible.estimators.progress import rollback
from permissible.learners.mcboost.auto import fit_auto
from permissible.learners.mcboost.fit import Fitted, Settings, fit
from permissible.learners.mcboost.loop import CostTrace, Report
from permissible.learners.mcboost.problem import CostTask
from permissible.models.card.actions import Actions, actions_of
from permissible.models.kinds.additive import AdditiveModel
from permissible.rows.source import Source
from permissible.table.reading import Categorical
from permissible.types import AnyArray, ArrayLike, FloatArray
from permissible.validation import refusal

DEFAULTS = ("gll", "coordinate")
"""Loss and descent where none is named."""


class MCBoostClassifier(CostClassifier, StagedClassifier, ClassifierMixin, BaseEstimator):
    """Multiclass boosting for a cost matrix (MCBoost with guess-averse losses).

    Parameters
    ----------
    loss : {"gll", "gel", "ls", "lt", "mc"} or loss object, default="gll"
        The surrogate: generalised logistic (21), generalised exponential (20), L_s (12), L_t (14), or MC (22), which
        ignores costs. "mc" with ``decision="bayes"`` is P-MCBoost. A ``losses.GammaPhi`` of your own (15) boosts affine
        terms on rows in memory.
    cost_matrix : CostMatrix or array (M, M), optional
        ``cost_matrix[true, predicted]``, classes in sorted order unless named. None: every mistake costs 1.
    n_rounds : int, default=100
        Number of rounds; with early stopping the maximum.
    learner : {"auto", "linear", "linear-full", "rule", "tree"}, default="auto"
        "linear" is a x + b on the best single column, the variant that reproduces the published table; "linear-full"
        uses all columns at once. There missing values count as the column's mean, categories as indicators. "rule" (a
        conjunction of literals with two values) and "tree" work on bins and support missing values and categories.
        "auto" chooses affine terms, trees or a blend, and how many rounds, by the cost of held-out rows; it fits a
        posterior and decides at least expected cost, so the parameters of a single learner are refused: name a learner
        to set them. Where `loss` or `descent` is given, "auto" is "linear", the paper's. Data in parts need a learner.
    descent : {"coordinate", "gradient"}, default="coordinate"
        A step for every coordinate of the simplex in turn (Algorithm 1), or one along the full gradient.
    decision : {"argmax", "bayes"}, default="argmax"
        Largest score, or least expected cost under the posterior.
    learning_rate : float or "auto", default="auto"
        Factor on each step; "auto" is 1 for affine terms and 0.1 for rules and trees.
    subsample : float or "auto", default="auto"
        Fraction of the rows that the search of a round uses. "auto": all, or for trees and rules on many rows a sample
        in which rows of large gradient are likelier. Values always come from all rows.
    max_features : float, default=1.0
        Fraction of the columns that the search of a round uses.
    max_leaf_nodes, max_depth : int or None, default=31 and None
        Maximum size of a tree; at most 256 leaves.
    max_literals : int, default=2
        Maximum number of literals of a rule.
    min_samples_leaf : float or "auto", default="auto"
        Least weight of the rows of a leaf, or on either side of a rule; "auto" is 10 for trees along the gradient, else 1.
    l2_regularization : float, default=1.0
        Added to the curvature of a leaf, which shrinks its value; in the unit of the weights.
    line_search : {"auto", "exact", "newton"}, default="auto"
        Step length along a tree or rule: "newton" takes the Newton steps of the leaves, "exact" minimises the surrogate
        along them as Algorithm 1 does. "auto" is "newton" for trees and rules; affine terms always use the exact step.
    monotonic_cst : sequence of {-1, 0, 1} or mapping from column name, optional
        Direction in which the probability of ``classes_[1]`` may move with a column, for every row there can be. Only with
        ``learner="tree"`` and two classes.
    interaction_cst : sequence of groups of columns, "pairwise", "no_interactions", optional
        Columns that may meet in one rule or on one path of a tree; those in no group form one more.
    n_bags : int, default=1
        Runs with different seeds whose scores are averaged.
    max_bins : int, default=255
        Bins of a column for rules and trees.
    early_stopping : bool, default=False
        Hold rows out to find the number of rounds, then refit on all rows.
    scoring : {"surrogate", "cost"}, default="surrogate"
        The measure of the held-out rows that decides when to stop.
    patience : int, default=10
        Rounds without improvement before the fit stops.
    validation_fraction : float, default=0.2
        Fraction of the rows held out, by a hash of their content.
    calibration : {"auto", None}, default="auto"
        "auto": where theory gives the loss no posterior, one temperature is found on held-out rows. None: exponent 1.
    categorical_features : sequence of names or positions, or mask, optional
        Numeric columns to treat as categorical.
    class_weight : mapping or "balanced", optional
    tol : float, default=1e-10
        Stop when a round decreases the surrogate by less (relative).
    warm_start : bool, default=False
        Continue from the rounds of the last fit until there are `n_rounds`.
    n_jobs, random_state, verbose
        As in scikit-learn, but None is the seed 0, so that fits repeat; `verbose` = k prints a line every k rounds.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
    model_ : AdditiveModel
    cost_matrix_ : CostMatrix
        The costs in the order of ``classes_`` (mean costs by class when `fit` had costs by row).
    n_rounds_ : int
    history_ : mapping of arrays, one value per round
    certificate_ : BoostCertificate
        ``statement``, ``stopped``, ``gap``, ``doubts``, and the remaining edge, capped steps, separability.

    References
    ----------
    [B] Beijbom, Saberian, Kriegman, Vasconcelos: Guess-Averse Loss Functions for Cost-Sensitive Multiclass Boosting,
    ICML 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import permissible as pm
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = pm.CostMatrix([[0, 1, 1], [1, 0, 1], [4, 4, 0]])
    >>> model = pm.MCBoostClassifier(cost_matrix=costs, n_rounds=20).fit(X, y)
    >>> model.predict(X[:3])
    array([0, 0, 0])
    """

    def __init__(
        self,
        loss: object = "gll",
        *,
        cost_matrix: CostMatrix | ArrayLike | None = None,
        n_rounds: int = 100,
        learner: str = "auto",
        descent: str = "coordinate",
        decision: str = "argmax",
        learning_rate: float | str = "auto",
        subsample: float | str = "auto",
        max_features: float = 1.0,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        max_literals: int = 2,
        min_samples_leaf: float | str = "auto",
        l2_regularization: float = 1.0,
        line_search: str = "auto",
        monotonic_cst: object = None,
        interaction_cst: object = None,
        n_bags: int = 1,
        max_bins: int = 255,
        early_stopping: bool = False,
        scoring: str = "surrogate",
        patience: int = 10,
        validation_fraction: float = 0.2,
        calibration: str | None = "auto",
        categorical_features: Categorical = None,
        class_weight: ClassWeight = None,
        tol: float = 1e-10,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: object = None,
        verbose: int = 0,
    ) -> None:
        self.loss, self.cost_matrix, self.n_rounds, self.learner = loss, cost_matrix, n_rounds, learner
        self.descent, self.decision, self.learning_rate = descent, decision, learning_rate
        self.subsample, self.max_features, self.max_leaf_nodes = subsample, max_features, max_leaf_nodes
        self.max_depth, self.max_literals, self.min_samples_leaf = max_depth, max_literals, min_samples_leaf
        self.l2_regularization, self.line_search, self.n_bags = l2_regularization, line_search, n_bags
        self.monotonic_cst, self.interaction_cst = monotonic_cst, interaction_cst
        self.max_bins, self.early_stopping, self.scoring = max_bins, early_stopping, scoring
        self.patience, self.validation_fraction, self.calibration = patience, validation_fraction, calibration
        self.categorical_features, self.class_weight, self.tol = categorical_features, class_weight, tol
        self.warm_start, self.n_jobs, self.random_state, self.verbose = warm_start, n_jobs, random_state, verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    @rollback
    def fit(
        self, X: object, y: object = None, sample_weight: object = None, cost: object = None
    ) -> "MCBoostClassifier":
        """Fit the rounds.

        Parameters
        ----------
        X : table of n rows, or a BinnedDataset that holds its target
        y : array of n labels
        sample_weight : array of n weights, optional
        cost : array (n, M), optional
            What predicting each class would cost for each row (0 for its own class), in place of `cost_matrix`. Columns
            are in the order of the sorted classes; those of a data frame are found by name.
        """
        n_threads = intake.threads(self.n_jobs)
        settings = checked_settings(self, intake.seed(self.random_state), n_threads)
        name = loss_name(self.loss)
        if isinstance(X, HasSource):
            source = source_of(X, y, sample_weight, self.class_weight, values=self.learner == "linear")
            start = None
            refuse_on_parts(self, settings, cost)
            own_loss(self, parts=True)
            costs = costs_for(self.cost_matrix, source.classes, "cost_matrix")
            task = CostTask(name, costs.matrix)
        else:
            rows = intake.training_rows(self, X, y, sample_weight, n_threads=n_threads)
            refuse_light(rows, settings)
            weight, scale = canonical(rows.weight)
            rows, settings = replace(rows, weight=weight), settings.in_unit(scale)
            task, costs = task_of(self, rows, name, y, sample_weight, cost)
            start = self._start(rows)
            source = self._source(rows, settings, start)
        facts = {"held_out": settings.holds_out(task), "n_classes": task.n_classes}
        refuse_idle(self, MCBOOST, parts=isinstance(X, HasSource), **facts)
        settings = constrained(self, settings, source)
        if start is not None:
            settings = replace(settings, n_rounds=self.n_rounds - start.n_rounds)
        if self._learner == "auto":
            fitted = fit_auto(source, task, settings, self._reporter())
        else:
            fitted = fit(source, task, settings, start, self._reporter())
        history: dict[str, AnyArray] = fitted.trace.history()
        if start is not None:
            history = {key: np.concatenate([self.history_[key], values]) for key, values in history.items()}
        intake.remember(self, source.classes, source.binning.schema)
        self._keep(fitted, costs, history)
        return self

    def _source(self, rows: intake.TrainingRows, settings: Settings, start: AdditiveModel | None) -> Source:
        """The rows as codes, values, or both; a continued fit uses the bins of its model."""
        first: Any = None if start is None or self._learner == "auto" else start.parts[0]
        if settings.affine:
            binned = without_codes(rows.table)
        elif first is None:
            binned = rows.bins(settings.max_bins, settings.bin_seed, settings.n_threads)
        else:
            binned = encode(first.binning, rows.table, settings.n_threads)
        values = settings.affine or self._learner == "auto"
        return memory_source(rows, binned, settings.seed, settings.n_threads, values=values)

    def _keep(self, fitted: Fitted, costs: CostMatrix, history: dict[str, AnyArray]) -> None:
        self.model_: AdditiveModel = fitted.model
        self.cost_matrix_ = costs
        self.n_rounds_ = fitted.model.n_rounds
        self.history_: dict[str, AnyArray] = history
        self.certificate_ = fitted.certificate
        warn_of([fitted.certificate.doubts])
        if self._learner == "auto":  # how `predict` decides, for the exports and files
            self.decision_ = CostMatrix(costs.matrix)
        elif hasattr(self, "decision_"):
            del self.decision_

    def _start(self, rows: intake.TrainingRows) -> AdditiveModel | None:
        """The model to continue from: the last fit's, with warm_start and the same columns and classes."""
        if not self.warm_start or not hasattr(self, "model_"):
            return None
        if self.model_.n_rounds > self.n_rounds:
            raise refusal("n_rounds", f"at least the {self.model_.n_rounds} rounds already fitted", self.n_rounds)
        if rows.schema != self.schema_ or not np.array_equal(rows.classes, self.classes_):
            raise refusal("X", "of the columns and classes of the first fit", rows.schema.names, "set warm_start=False")
        return self.model_

    def _reporter(self) -> Report | None:
        if not self.verbose:
            return None

        def report(number: int, trace: CostTrace) -> None:
            if (number + 1) % int(self.verbose) == 0:
                print(
                    f"round {number + 1:5d}  surrogate {trace.surrogate[-1]:.6f}  cost {trace.cost[-1]:.6f}", flush=True
                )

        return report

    # -- the fitted model --------------------------------------------------------------------------------------------

    @framed
    def rules_table(self) -> dict[str, list[object]]:
        """Return the terms as columns: words, what each adds to every class, and its importance given the costs."""
        from permissible.models.card.explanation import terms_table

        return terms_table(card_of(self), self.classes_, self.cost_matrix_.matrix)

    def staged_decision_function(self, X: object) -> Iterator[FloatArray]:
        """Yield the scores after 1, 2, ... rounds, as `decision_function` returns them."""
        yield from map(self._of_two_classes, super().staged_decision_function(X))

    def _stages(self) -> Iterator[AdditiveModel]:
        return (self.model_.first(number) for number in range(1, self.model_.n_rounds + 1))

    @property
    def _learner(self) -> Any:
        """The learner; a loss or a descent that is named asks for the paper's terms, since "auto" would not use it."""
        named = not (isinstance(self.loss, str) and (self.loss, self.descent) == DEFAULTS)
        return "linear" if named and isinstance(self.learner, str) and self.learner == "auto" else self.learner

    def _predicting(self) -> Actions:
        """The largest score, or the least expected cost under the posterior."""
        if self.decision == "bayes" or self._learner == "auto":
            return actions_of(CostMatrix(self.cost_matrix_.matrix), labels_of(self))
        return super()._predicting()
