"""UDTClassifier: the scikit-learn face of the decision tree. It validates, calls the learner, and stores."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from permissible import losses
from permissible.decisions import Hard, decision_for
from permissible.estimators.exports import Exports
from permissible.estimators.fit_warning import warn_of
from permissible.estimators.input.source import HasSource, memory_source, source_of
from permissible.estimators.input.target import codes_among
from permissible.estimators.input.training import remember_schema, rows, seed, threads, training_rows
from permissible.estimators.parameters.idle import UDT, refuse_idle
from permissible.estimators.rollback import whole
from permissible.learners.trees.criteria import TreeLimits, TreeTask
from permissible.learners.udt.certificate import history_of
from permissible.learners.udt.fit import Pruning, fit_tree
from permissible.models.card.tree_explanation import TreeExplanation, explain_rows
from permissible.models.kinds.tree import TreeModel
from permissible.models.kinds.tree_rules import LeafRule, LinearisedTree, leaf_rules, linearised
from permissible.models.render.tree_text import tree_text
from permissible.table.schema import Schema
from permissible.types import AnyArray, FloatArray, IntArray
from permissible.validation import Words, refusal
from permissible.validation.numbers import real_number, whole_number


class UDTClassifier(Exports, ClassifierMixin, BaseEstimator):
    """Decision tree for any permissible loss, grown best-first by the decrease of its surrogate.

    Gini trees (``loss="squared"``), entropy trees (``"logistic"``), Kearns and Mansour's (``"matsushita"``) and those of a
    user's own phi are one algorithm ([T] section 4.2). Missing values and categories are taken as they are.

    Parameters
    ----------
    loss : str or loss, default="logistic"
        Whose phi is the impurity. A user's own (``losses.from_phi``) needs nothing more.
    max_leaves : int or None, default=31
    max_depth : int or None, default=None
    min_samples_leaf : int, default=1
        Rows in a leaf. Where every sample weight is an integer they are counts of examples and are added up instead, so that
        weight 2 is the row twice.
    pruning : None, float or "cv", default=None
        Cost-complexity pruning by the surrogate: the level (decrease of the mean surrogate that a leaf must bring), or "cv"
        to choose it by cross-validation.
    min_gain : float, default=0.0
        Least decrease of the mean surrogate by a split.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight in a leaf.
    smoothing : float, default=0.0
        Added to each class's weight in a leaf before probabilities are taken; 1 is Laplace's rule.
    monotonic_cst : sequence of {-1, 0, 1} or mapping from column name, optional
        Direction in which the probability of ``classes_[1]`` may move with a column. Two classes only.
    categorical : names, positions or mask, optional
        Numeric columns to be taken as categories; columns of text or of a categorical type are anyway.
    class_weight : mapping, "balanced" or None
    max_bins : int, default=255
        Columns with no more different values than this are not approximated.
    pruning_folds : int, default=5
        Folds for ``pruning="cv"``, by the content of the rows and `random_state`: equal rows are in one fold.
    n_jobs : int or None
        Threads; the tree is the same for any number of them.
    random_state : int, generator or None
        None is the seed 0: the same rows give the same model. A generator draws a seed for each fit.

    Attributes
    ----------
    tree_ : TreeModel
    history_ : mapping of arrays
        One entry a split: ``surrogate``, ``gain``, ``train_error``, ``edge``, ``loss``, ``node``.
    certificate_ : TreeCertificate
        What is proved of the tree, and why growth stopped.
    pruning_path_ : PruningPath or None
        What ``pruning="cv"`` saw.
    classes_ : array
        ``classes_[1]`` is the positive class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from permissible.estimators.udt import UDTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = UDTClassifier(max_leaves=3).fit(X, y)
    >>> print(tree.to_text())
    if petal length (cm) <= 2: 0 (probability 1.000; 50 examples)
    if petal length (cm) > 2:
      if petal width (cm) <= 1.75: 1 (probability 0.907; 54 examples)
      if petal width (cm) > 1.75: 2 (probability 0.978; 46 examples)
    """

    def __init__(
        self,
        loss: Any = "logistic",
        max_leaves: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        pruning: Any = None,
        *,
        min_gain: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        smoothing: float = 0.0,
        monotonic_cst: Any = None,
        categorical: Any = None,
        class_weight: Any = None,
        max_bins: int = 255,
        pruning_folds: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.pruning = pruning
        self.min_gain = min_gain
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.smoothing = smoothing
        self.monotonic_cst = monotonic_cst
        self.categorical = categorical
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.pruning_folds = pruning_folds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Missing values and categories are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @whole
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "UDTClassifier":
        """Grow the tree on the rows of X with labels y.

        Parameters
        ----------
        X : NumPy, pandas, polars or pyarrow table
        y : labels
        sample_weight : array, optional
            Weight 2 is the row twice.
        """
        limits = self._limits()
        loss = losses.get(self.loss)
        smoothing = real_number("smoothing", self.smoothing)
        pruning = self._pruning()
        n_threads, fit_seed = threads(self.n_jobs), seed(self.random_state)
        refuse_idle(self, UDT, parts=isinstance(X, HasSource))
        if isinstance(X, HasSource):
            source = source_of(X, y, sample_weight, self.class_weight)
        else:
            weighting, kinds = (sample_weight, self.class_weight), self.categorical
            given = training_rows(self, X, y, *weighting, categorical=kinds, n_threads=n_threads)
            source = memory_source(given, given.bins(self.max_bins, fit_seed, n_threads), fit_seed, n_threads)
        schema = source.binning.schema
        monotone = monotone_directions(self.monotonic_cst, schema, len(source.classes))
        fitted = fit_tree(source, TreeTask(loss, limits, monotone, smoothing, n_threads), pruning)
        self.classes_ = source.classes
        remember_schema(self, schema)
        self.tree_ = fitted.tree
        self.history_: Mapping[str, AnyArray] = history_of(fitted.tree, fitted.trace)
        self.certificate_ = fitted.certificate
        self.pruning_path_ = fitted.path
        warn_of([fitted.certificate.doubts])
        return self

    def _limits(self) -> TreeLimits:
        return TreeLimits(
            max_leaves=whole_number("max_leaves", self.max_leaves, 1, none="no limit"),
            max_depth=whole_number("max_depth", self.max_depth, 0, none="no limit"),
            min_samples_leaf=whole_number("min_samples_leaf", self.min_samples_leaf, 1) or 1,
            min_weight_fraction_leaf=real_number("min_weight_fraction_leaf", self.min_weight_fraction_leaf),
            min_gain=real_number("min_gain", self.min_gain),
        )

    def _pruning(self) -> Pruning | None:
        n_folds = whole_number("pruning_folds", self.pruning_folds, 2) or 2
        if self.pruning is None:
            return None
        if isinstance(self.pruning, str) and self.pruning != "cv":
            raise refusal("pruning", 'None, a level of at least 0, or "cv"', self.pruning)
        return Pruning(None if isinstance(self.pruning, str) else real_number("pruning", self.pruning), n_folds)

    def apply(self, X: Any) -> IntArray:
        """Return the leaf (a node number of `tree_`) of each row."""
        return self._tree_and_leaves(X)[1]

    def _tree_and_leaves(self, X: Any) -> tuple[TreeModel, IntArray]:
        tree, n_threads = self._fitted_tree(), threads(self.n_jobs)
        return tree, tree.apply(rows(self, X, n_threads=n_threads), n_threads)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class probabilities of each row, those of its leaf."""
        tree, leaves = self._tree_and_leaves(X)
        return np.take(tree.node_probability, leaves, axis=0)

    def decision_function(self, X: Any) -> FloatArray:
        """Return scores g(p): one of the positive class, or one per class when there are more than two; always finite."""
        tree, leaves = self._tree_and_leaves(X)
        return np.take(tree.node_score, leaves, axis=0)

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class; an even leaf of two classes says the positive one, of more the first."""
        tree, leaves = self._tree_and_leaves(X)
        probability = tree.node_probability
        return np.asarray(self.classes_[Hard().decide(probability)[leaves]])

    def decide(self, X: Any, decision: Any) -> AnyArray:
        """Return the actions of a decision (``pm.Reject(0.1)``, ``pm.CostMatrix(C)``, an array of costs) on the probabilities."""
        proba = self.predict_proba(X)
        return np.asarray(decision_for(decision, self.classes_).decide(proba))

    def margins(self, X: Any, y: Any) -> FloatArray:
        """Return the margin of each example in [-1, 1], 2 Pr[its class] - 1, which for two classes is (27)."""
        probability = self.predict_proba(X)
        own = codes_among(self.classes_, y, len(probability))
        return np.asarray(2 * probability[np.arange(len(own)), own] - 1, dtype=np.float64)

    def to_rules(self) -> tuple[LeafRule, ...]:
        """Return the leaves as disjoint rules, left to right: exactly one covers a row."""
        return leaf_rules(self._fitted_tree())

    def rules_table(self) -> dict[str, list[Any]]:
        """Return the rules as columns: rule, label, probability of each class, score, support, samples, pure."""
        tree, rules = self._fitted_tree(), self.to_rules()
        table: dict[str, list[Any]] = {"rule": [rule.words for rule in rules]}
        best = [1 if tree.n_classes == 2 and r.probability[1] >= 0.5 else int(np.argmax(r.probability)) for r in rules]
        table["label"] = [
            self.classes_[k].item() if hasattr(self.classes_[k], "item") else self.classes_[k] for k in best
        ]
        for k, label in enumerate(self.classes_):
            table[f"probability of {label}"] = [rule.probability[k] for rule in rules]
        if tree.n_classes == 2:
            table["score"] = [rule.score[0] for rule in rules]
        table["support"] = [rule.support for rule in rules]
        table["samples"] = [rule.samples for rule in rules]
        table["pure"] = [rule.pure for rule in rules]
        return table

    def linearised(self) -> LinearisedTree:
        """Return the tree as a linear separator over the indicators of its nodes ([T] Theorem 3)."""
        return linearised(self._fitted_tree())

    def to_text(self) -> str:
        """Return the tree as indented text."""
        return tree_text(self._fitted_tree(), self.classes_.tolist())

    def explain(self, X: Any) -> list[TreeExplanation]:
        """Return for each row the tests on its path and what each added to the score."""
        tree, n_threads = self._fitted_tree(), threads(self.n_jobs)
        return explain_rows(tree, rows(self, X, n_threads=n_threads), n_threads)

    def _fitted_tree(self) -> TreeModel:
        check_is_fitted(self, "tree_")
        return self.tree_


def monotone_directions(given: Any, schema: Schema, n_classes: int) -> AnyArray | None:
    """The direction of each column, checked: -1, 0 or 1 for each, or a mapping from names."""
    if given is None:
        return None
    expected = f"-1, 0 or 1 for each of the {len(schema.columns)} columns, or a mapping from column names to these"
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in schema.names]
        if unknown:
            raise refusal("monotonic_cst", expected, Words(f"a mapping with the unknown column {unknown[0]!r}"))
        given = [given.get(name, 0) for name in schema.names]
    directions = np.asarray(given)
    if directions.shape != (len(schema.columns),) or not np.isin(directions, (-1, 0, 1)).all():
        raise refusal("monotonic_cst", expected, given)
    if not directions.any():
        return None
    if n_classes > 2:
        raise refusal("monotonic_cst", "None for more than two classes", given)
    for column, direction in zip(schema.columns, directions, strict=True):
        if direction and column.kind == "categorical":
            raise refusal("monotonic_cst", "0 for a column of categories", Words(f"{direction} for {column.name!r}"))
    return directions
