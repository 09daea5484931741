"""UDTClassifier: the scikit-learn estimator. It validates, calls the learner, and stores."""

from collections.abc import Mapping

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from permissible import losses
from permissible.decisions import CostMatrix, Decision
from permissible.decisions.documents import costs_for
from permissible.estimators.classifier import Classifier, labels_of
from permissible.estimators.exports import framed
from permissible.estimators.fit_warning import warn_of
from permissible.estimators.input.source import HasSource, memory_source, source_of
from permissible.estimators.input.training import remember, seed, threads, training_rows
from permissible.estimators.input.weights import ClassWeight
from permissible.estimators.parameters.constraints import interaction_groups, monotone_directions
from permissible.estimators.parameters.idle import UDT, refuse_idle
from permissible.estimators.progress import rollback
from permissible.learners.trees.criteria import TreeLimits, TreeTask
from permissible.learners.udt.certificate import history_of
from permissible.learners.udt.fit import Pruning, fit_tree
from permissible.models.card.actions import Actions, actions_of
from permissible.models.kinds.tree import TreeModel
from permissible.models.kinds.tree_rules import LeafRule, LinearisedTree, leaf_rules, linearised
from permissible.table.reading import Categorical
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray
from permissible.validation import one_of, refusal
from permissible.validation.numbers import count, real_number, whole_number


class UDTClassifier(Classifier, ClassifierMixin, BaseEstimator):
    """Decision tree for any permissible loss, grown best-first by the decrease of its surrogate.

    Gini trees (``loss="squared"``), entropy trees (``"logistic"``), Kearns and Mansour's (``"matsushita"``) and those
    of a user's own phi are one algorithm ([T] section 4.2). Missing values and categories are supported.

    Parameters
    ----------
    loss : str or loss, default="logistic"
        Whose phi is the impurity. A user's own (``losses.from_phi``) needs nothing more.
    max_leaf_nodes : int or None, default=31
    max_depth : int or None, default=None
    min_samples_leaf : int, default=1
        Rows in a leaf; the sum of the sample weights where all are integers, so that weight 2 is the row twice.
    pruning : None, float or "auto", default=None
        Cost-complexity pruning by the surrogate: the level (decrease of the mean surrogate that a leaf must bring), or
        "auto" to choose it by cross-validation.
    min_gain : float, default=0.0
        Least decrease of the mean surrogate by a split.
    min_weight_fraction_leaf : float, default=0.0
        Least fraction of the total weight in a leaf.
    smoothing : float, default=1.0
        Added to each class's weight in a leaf before probabilities are computed; 1 is Laplace's rule, 0 the fractions
        themselves, which give a pure leaf probability 1 and an infinite log-loss where it errs.
    multiclass : {"joint", "sum"}, default="joint"
        The impurity of three or more classes: one entropy of all of them (Shannon's for "logistic", as C4.5; Gini's index
        for "squared" either way, as CART), or the sum of phi over the classes, each against the rest.
    cost_matrix : CostMatrix or array (M, M), optional
        ``cost_matrix[true, predicted]``. The costs enter the splits, by a concave surrogate of the least expected cost built
        from phi, and `predict` decides at least expected cost.
    monotonic_cst : sequence of {-1, 0, 1} or mapping from column name, optional
        Direction in which the probability of ``classes_[1]`` may move with a column. Two classes only.
    interaction_cst : sequence of groups of columns, "pairwise", "no_interactions", optional
        Columns that may meet on a path from the root to a leaf; those in no group form one more.
    categorical_features : names, positions or mask, optional
        Numeric columns to treat as categorical; columns of text or of a categorical type always are.
    class_weight : mapping, "balanced" or None
    max_bins : int, default=255
        Maximum number of bins of a column; columns with at most this many distinct values are not approximated.
    pruning_folds : int, default=5
        Folds for ``pruning="auto"``, by the content of the rows and `random_state`: equal rows are in one fold.
    n_jobs : int or None
        Threads; the tree is the same for any number of them.
    random_state : int, generator or None
        None is the seed 0: the same rows give the same model. A generator draws a seed for each fit.

    Attributes
    ----------
    model_ : TreeModel
    history_ : mapping of arrays
        One entry per split: ``surrogate``, ``gain``, ``train_error``, ``edge``, ``loss``, ``node``.
    certificate_ : TreeCertificate
        What is proved of the tree, and why growth stopped.
    cost_matrix_ : CostMatrix or None
        The costs in the order of ``classes_``.
    pruning_path_ : PruningPath or None
        What ``pruning="auto"`` saw.
    classes_ : array
        ``classes_[1]`` is the positive class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from permissible.estimators.udt import UDTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = UDTClassifier(max_leaf_nodes=3).fit(X, y)
    >>> print(tree.to_text())
    if petal length (cm) <= 2: 0 (probability 0.962; 50 examples)
    if petal length (cm) > 2:
      if petal width (cm) <= 1.75: 1 (probability 0.877; 54 examples)
      if petal width (cm) > 1.75: 2 (probability 0.939; 46 examples)
    """

    model_: TreeModel

    def __init__(
        self,
        loss: str | losses.Loss = "logistic",
        *,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        pruning: object = None,
        min_gain: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        smoothing: float = 1.0,
        multiclass: str = "joint",
        cost_matrix: CostMatrix | ArrayLike | None = None,
        monotonic_cst: object = None,
        interaction_cst: object = None,
        categorical_features: Categorical = None,
        class_weight: ClassWeight = None,
        max_bins: int = 255,
        pruning_folds: int = 5,
        n_jobs: int | None = None,
        random_state: object = None,
    ) -> None:
        self.loss, self.multiclass, self.cost_matrix = loss, multiclass, cost_matrix
        self.max_leaf_nodes, self.max_depth = max_leaf_nodes, max_depth
        self.min_samples_leaf, self.min_weight_fraction_leaf = min_samples_leaf, min_weight_fraction_leaf
        self.min_gain, self.smoothing = min_gain, smoothing
        self.pruning, self.pruning_folds = pruning, pruning_folds
        self.monotonic_cst, self.interaction_cst = monotonic_cst, interaction_cst
        self.categorical_features, self.class_weight = categorical_features, class_weight
        self.max_bins, self.n_jobs, self.random_state = max_bins, n_jobs, random_state

    def __sklearn_tags__(self) -> Tags:
        """Missing values and categories are supported."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @rollback
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "UDTClassifier":
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
        n_threads, fit_seed = threads(self.n_jobs), seed(self.random_state)
        pruning = self._pruning(fit_seed)
        joint = one_of("multiclass", self.multiclass, ("joint", "sum")) == "joint"
        if isinstance(X, HasSource):
            source = source_of(X, y, sample_weight, self.class_weight)
        else:
            given = training_rows(self, X, y, sample_weight, n_threads=n_threads)
            source = memory_source(given, given.bins(self.max_bins, fit_seed, n_threads), fit_seed, n_threads)
        schema = source.binning.schema
        monotone = monotone_directions(self.monotonic_cst, schema, len(source.classes))
        several = len(source.classes) > 2 and self.cost_matrix is None and loss.joint_entropy
        refuse_idle(self, UDT, parts=isinstance(X, HasSource), one_entropy=not several)
        costs = None if self.cost_matrix is None else costs_for(self.cost_matrix, source.classes, "cost_matrix")
        groups = interaction_groups(self.interaction_cst, schema)
        task = TreeTask(loss, limits, monotone, smoothing, n_threads, joint, _unit_costs(costs), groups)
        fitted = fit_tree(source, task, pruning)
        remember(self, source.classes, schema)
        self.model_ = fitted.tree
        self.history_: Mapping[str, AnyArray] = history_of(fitted.tree, fitted.trace)
        self.certificate_ = fitted.certificate
        self.pruning_path_ = fitted.path
        self.cost_matrix_: CostMatrix | None = costs
        warn_of([fitted.certificate.doubts])
        return self

    def _limits(self) -> TreeLimits:
        return TreeLimits(
            max_leaf_nodes=whole_number("max_leaf_nodes", self.max_leaf_nodes, 1, none="no limit"),
            max_depth=whole_number("max_depth", self.max_depth, 0, none="no limit"),
            min_samples_leaf=count("min_samples_leaf", self.min_samples_leaf),
            min_weight_fraction_leaf=real_number("min_weight_fraction_leaf", self.min_weight_fraction_leaf),
            min_gain=real_number("min_gain", self.min_gain),
        )

    def _pruning(self, seed: int) -> Pruning | None:
        n_folds = count("pruning_folds", self.pruning_folds, 2)
        if self.pruning is None:
            return None
        if isinstance(self.pruning, str) and self.pruning != "auto":
            raise refusal("pruning", 'None, a level of at least 0, or "auto"', self.pruning)
        return Pruning(None if isinstance(self.pruning, str) else real_number("pruning", self.pruning), n_folds, seed)

    def _predicting(self) -> Actions:
        """The least expected cost where costs were given."""
        if self.cost_matrix_ is None:
            return super()._predicting()
        return actions_of(self.cost_matrix_, labels_of(self))

    def _fitted_for(self) -> Decision:
        return super()._fitted_for() if self.cost_matrix_ is None else self.cost_matrix_

    def _costs(self) -> FloatArray | None:
        return None if self.cost_matrix_ is None else self.cost_matrix_.matrix

    def apply(self, X: object) -> IntArray:
        """Return the leaf (a node number of `model_`) of each row."""
        given = self._rows(X)
        return self.model_.apply(given, threads(self.n_jobs))

    def to_rules(self) -> tuple[LeafRule, ...]:
        """Return the leaves as disjoint rules, left to right: exactly one covers a row."""
        check_is_fitted(self, "model_")
        return leaf_rules(self.model_)

    @framed
    def rules_table(self) -> dict[str, list[object]]:
        """Return the rules as columns: rule, label, probability of each class, score, support, samples, pure."""
        rules = self.to_rules()
        best = self._predicting().decide(np.array([rule.probability for rule in rules]))
        table: dict[str, list[object]] = {"rule": [rule.words for rule in rules]}
        table["label"] = self.classes_[best].tolist()
        for k, label in enumerate(self.classes_):
            table[f"probability of {label}"] = [rule.probability[k] for rule in rules]
        if len(self.classes_) == 2:
            table["score"] = [rule.score[0] for rule in rules]
        for name in ("support", "samples", "pure"):
            table[name] = [getattr(rule, name) for rule in rules]
        return table

    def linearised(self) -> LinearisedTree:
        """Return the tree as a linear separator over the indicators of its nodes ([T] Theorem 3)."""
        check_is_fitted(self, "model_")
        return linearised(self.model_)


def _unit_costs(costs: CostMatrix | None) -> FloatArray | None:
    """The costs of the splits, in units of the mean cost of a mistake, so that rounding and limits keep their scale."""
    if costs is None:
        return None
    matrix = np.asarray(costs.matrix)
    return np.ascontiguousarray(matrix * (matrix.size - len(matrix)) / matrix.sum())
