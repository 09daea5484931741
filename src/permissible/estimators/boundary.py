"""BoundaryClassifier: the scikit-learn estimator. It validates, calls the learner, and stores."""

import warnings
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from permissible.bins.literal import Rule
from permissible.decisions import Decision, Hard, decision_for
from permissible.estimators.classifier import Classifier, labels_of
from permissible.estimators.fit_warning import warn_of
from permissible.estimators.input.matrix import matrix, remember_kinds
from permissible.estimators.input.source import HasSource, source_of
from permissible.estimators.input.training import remember_names, seed, threads
from permissible.estimators.input.weights import ClassWeight
from permissible.estimators.parameters.boundary import (
    GENERATED,
    check_settings,
    check_source,
    encoded,
    kernel_named,
    kernel_of,
    row_weights,
)
from permissible.estimators.parameters.idle import BOUNDARY, BOUNDARY_STREAM, refuse_idle
from permissible.estimators.progress import rollback
from permissible.estimators.uls_rules import rules_columns
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.fit import BoundaryFit, BoundaryTask, fit_rows, fit_source
from permissible.learners.boundary.generation.certificate import TermCertificate
from permissible.learners.boundary.problem import Options, Penalty, Problem, Solution
from permissible.learners.boundary.segments import NO_SEGMENTS
from permissible.learners.boundary.subgradient import Stream, stream_step
from permissible.learners.boundary.target import Target, boundaries_of, decision_of, tie_is_positive
from permissible.models.card.actions import Actions, predicting
from permissible.models.kinds.kernel import KernelModel
from permissible.models.kinds.linear import LinearModel
from permissible.models.kinds.rules import RuleModel
from permissible.table.reading import Categorical
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray

_OF_SOME = ("support_", "dual_coef_", "support_vectors_", "coef_", "stream_", "fit_", "schema_", "_rounds", "_coverage")


def _streams(estimator: BaseEstimator) -> bool:
    """Whether there is a `partial_fit`: for linear classifiers with boundaries."""
    linear = hasattr(estimator, "alpha") and estimator.learner == "linear" and estimator.kernel is None
    return linear and boundaries_of(estimator.boundaries) is not None


class BoundaryClassifier(Classifier, ClassifierMixin, BaseEstimator):
    """Large-margin classifier trained for probability boundaries: hard, weighted, reject option, risk groups, soft.

    It minimises the piecewise-linear surrogate of the boundaries ([K] (18)) to a certified duality gap.

    Parameters
    ----------
    boundaries : sequence of float, "soft" or decision, default=(0.5,)
        Increasing probabilities in (0, 1): ``(0.5,)`` is the support vector machine, ``(pi,)`` has unequal costs, ``(d,
        1 - d)`` rejects at cost d, several of them make risk groups. Or ``pm.Hard()``, ``pm.Weighted(pi)``,
        ``pm.Reject(d)``, ``pm.Boundaries([...])``. ``"soft"`` (``pm.Soft()``) fits the smooth loss itself.
    loss : str, permissible loss or PiecewiseLinear, default="logistic"
        The loss whose tangents at the boundaries are the surrogate, or the surrogate itself.
    learner : {"linear", "kernel", "rule", "tree"}, default="linear"
        What the score is made of. ``"linear"``: the columns of X, or the feature space of `kernel` where one is given;
        ``"kernel"``: the same with the kernel ``"rbf"`` unless another is given. ``"rule"``: readable rules, built test by
        test; ``"tree"``: rules that are the leaves of trees. Both take missing values and categories.
    alpha : float, default=1e-3
        lambda of (18): ``alpha |h|^2 / 2`` is added to the mean loss. Of rules, alpha times the sum of their absolute
        coefficients is added, so that many are 0.
    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or function, default=None
        None is the linear classifier with `coef_`; the others give `dual_coef_`. Names and parameters as in LIBSVM.
    n_rounds : int, default=100
        Rules that a fit may find, leaves of trees among them. It stops earlier where no further one can lower the objective.
    max_literals : int, default=2
        Tests in a rule, at most; with 1 the fit is certified optimal over all rules. Only with ``learner="rule"``.
    max_leaf_nodes : int, default=8
        Leaves of a tree, at most. Only with ``learner="tree"``.
    gamma : "scale", "auto" or float, default="scale"
    degree : int, default=3
    coef0 : float, default=0.0
    cache_size : float, default=200
        Megabytes for kernel rows.
    fit_intercept : bool, default=True
    penalize_intercept : bool, default=False
        Add alpha b^2 / 2 to the objective, LIBLINEAR's convention.
    solver : {"auto", "newton", "dcd", "smo", "psgd"}, default="auto"
        Newton for dense rows, coordinate descent for sparse and wide ones, pair updates for kernels; ``"psgd"`` is the
        paper's projected sub-gradient method, corrected.
    tol : float, default=1e-6
        Stop once the certified gap is at most this fraction of the objective; small dense problems are solved further.
    max_iter : int, default=1000
        Newton steps, epochs, or rounds of as many pair updates as there are rows.
    class_weight : dict, "balanced" or None
    max_bins : int, default=255
        Of rules: columns with no more different values than this are not approximated.
    categorical_features : names, positions or mask, optional
        Of rules: numeric columns to be taken as categories.
    n_jobs : int or None
        Threads of the Newton solver; the result is the same bit for bit for any number of them.
    random_state : int, RandomState or None
        Order of coordinate descent; None is 0.
    warm_start : bool, default=False
        Start from the last solution: its coefficients, for ``"dcd"`` and kernels its dual point, which belongs to as
        many rows. A fit that cannot start from it starts from scratch, with a warning.
    verbose : int, default=0
        Print the objective and the gap after the fit.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Without a kernel.
    intercept_ : array of shape (1,)
    support_, dual_coef_ : arrays of shape (n_support,), (1, n_support)
        The support vectors, and gamma in f(x) = sum_j gamma_j k(x_j, x) + b; absent after `partial_fit`.
    support_vectors_ : array
        With a kernel.
    deltas_ : array
        The cut-offs of `decision_function` at which the boundaries lie.
    objective_, gap_ : float
        The value of (18), and a bound on its distance to the optimum.
    certificate_ : Certificate or TermCertificate
        Of rules with `largest_edge` and, for rules of one test, `class_gap`: the distance to the optimum over
        all of them.
    history_ : mapping of arrays
        ``objective`` and ``gap``, with one entry: the end of the fit. Of rules one entry per round, with
        ``edge``, the largest edge, and ``terms``, how many there were.
    rules_, coefficients_ : tuple and array
        With ``learner="rule"`` or ``"tree"``: the rules, and the coefficient of each.
    n_iter_ : int
        Iterations of the solver; of rules rounds.
    classes_ : array
        ``classes_[1]`` is the positive class.

    Notes
    -----
    Probabilities are monotone in the score and equal to a boundary exactly at its cut-off. On which side of
    a boundary a row lies is what the surrogate learns; between the boundaries only the order is informative, and the
    values are not calibrated. ``boundaries="soft"`` learns all probabilities.

    `predict` gives the side of the one boundary, or of probability 1/2 when there are several (or none). On a boundary
    itself it is the lower class, since regions are right-closed; at the probability 1/2 of ``pm.Hard()``, and of
    several boundaries or none, the second class, as in all classifiers of two classes.

    Examples
    --------
    >>> import permissible as pm
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(random_state=0)
    >>> risk_groups = pm.BoundaryClassifier(boundaries=(0.25, 0.5, 0.75)).fit(X, y)
    >>> sorted(set(risk_groups.predict_region(X).tolist()))
    [0, 1, 2, 3]
    >>> risk_groups.gap_ < 1e-6 * risk_groups.objective_
    True
    """

    def __init__(
        self,
        boundaries: object = (0.5,),
        *,
        loss: object = "logistic",
        learner: str = "linear",
        alpha: float = 1e-3,
        kernel: object = None,
        gamma: object = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_size: float = 200,
        n_rounds: int = 100,
        max_literals: int = 2,
        max_leaf_nodes: int = 8,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        class_weight: ClassWeight = None,
        max_bins: int = 255,
        categorical_features: Categorical = None,
        n_jobs: int | None = None,
        random_state: object = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.boundaries, self.loss, self.learner, self.alpha = boundaries, loss, learner, alpha
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0
        self.cache_size, self.n_rounds, self.max_literals = cache_size, n_rounds, max_literals
        self.max_leaf_nodes, self.fit_intercept = max_leaf_nodes, fit_intercept
        self.penalize_intercept, self.solver = penalize_intercept, solver
        self.tol, self.max_iter, self.class_weight = tol, max_iter, class_weight
        self.max_bins, self.categorical_features = max_bins, categorical_features
        self.n_jobs, self.random_state, self.warm_start = n_jobs, random_state, warm_start
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        """Two classes; dense or sparse rows, and missing values and categories for rules."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        found = self.learner in GENERATED
        tags.input_tags.sparse = not found
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = found
        tags.input_tags.pairwise = isinstance(self.kernel, str) and kernel_named(self) == "precomputed"
        return tags

    @rollback
    def fit(
        self, X: object, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> "BoundaryClassifier":
        """Fit to the rows of X with labels y; `sample_weight` 2 is the row twice.

        X may be a BinnedDataset made with ``keep_values=True``, which holds its target.
        """
        check_settings(self)
        target = Target.of(self.boundaries, self.loss)
        refuse_idle(self, BOUNDARY)
        if isinstance(X, HasSource):
            source = source_of(X, y, sample_weight, self.class_weight, values=True)
            check_source(self, source)
            penalty = Penalty(float(self.alpha), bool(self.fit_intercept), bool(self.penalize_intercept))
            fit = fit_source(source, target, penalty, self._options())
            schema, self.classes_ = source.binning.schema, source.classes
            remember_names(self, schema.names if schema.named else None, len(schema.columns))
            remember_kinds(self, schema)
            return self._store(fit, target)
        if self.learner in GENERATED:
            from permissible.estimators.variants.boundary_terms import fit_terms

            fit_terms(self, X, y, sample_weight, target)
            return self
        task = self._task(X, y, sample_weight, target)
        last = getattr(self, "fit_", None) if self.warm_start else None
        fit = fit_rows(task, last)
        if last is not None:
            self._warn_of_a_new_start(last, fit.solution)
        return self._store(fit, target, task)

    @available_if(_streams)  # type: ignore[untyped-decorator]
    @rollback
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> "BoundaryClassifier":
        """Take one projected sub-gradient step on a batch (linear, no certificate); `classes` on the first call."""
        check_settings(self)
        target = Target.of(self.boundaries, self.loss)
        refuse_idle(self, BOUNDARY_STREAM)
        first = not hasattr(self, "stream_")
        features = matrix(self, X, reset=first)
        self.classes_, codes = encoded(self, y, features.shape[0], classes if first else self.classes_)
        if first:
            self.stream_ = Stream.begin(features.shape[1])
        weight = row_weights(codes, self.classes_, sample_weight, self.class_weight, part=True)
        self.stream_ = stream_step(features, self._problem(target, codes == 1, weight, float(self.alpha)), self.stream_)
        coef, intercept = self.stream_.mean_coef, self.stream_.mean_intercept
        self.model_: LinearModel | KernelModel | RuleModel = LinearModel(
            coef, intercept, target.loss, target.boundaries, target.deltas
        )
        self.coef_, self.intercept_ = coef[None, :], np.array([intercept])
        self.target_, self.deltas_, self.n_iter_ = target, target.deltas, self.stream_.batches
        self._decides = decision_of(self.boundaries)
        self.gap_ = np.inf
        return self

    def _problem(self, target: Target, positive: AnyArray, weight: FloatArray, alpha: float) -> Problem:
        segments = target.segments if target.segments is not None else NO_SEGMENTS
        return Problem(segments, positive, weight, alpha, bool(self.fit_intercept), bool(self.penalize_intercept))

    def _options(self) -> Options:
        n_threads, order = threads(self.n_jobs), seed(self.random_state)
        return Options(self.solver, self.tol, self.max_iter, self.cache_size, n_threads, order)

    def _task(
        self, X: object, y: object, sample_weight: ArrayLike | None, target: Target, alpha: float | None = None
    ) -> BoundaryTask:
        """The rows in memory, and what to fit to them."""
        features = matrix(self, X, reset=True)
        self.classes_, codes = encoded(self, y, features.shape[0])
        weight = row_weights(codes, self.classes_, sample_weight, self.class_weight)
        problem = self._problem(target, codes == 1, weight, float(self.alpha if alpha is None else alpha))
        return BoundaryTask(features, problem, target, kernel_of(self, features, weight), self._options())

    def _warn_of_a_new_start(self, last: Solution, fit: Solution) -> None:
        """Warn that `warm_start` found nothing to continue from."""
        by_rows = fit.kernel or fit.solver == "dcd"
        place = "rows" if by_rows else "columns"
        before, now = (one.dual if by_rows else one.coef for one in (last, fit))
        if last.kernel != fit.kernel or before.shape != now.shape:
            warnings.warn(
                f"warm_start: the last fit cannot be continued with other {place} or another kind of model, so this fit started "
                "from scratch; set warm_start=False to do so on purpose.",
                UserWarning,
                stacklevel=4,
            )

    certificate_: Certificate | TermCertificate

    def _store(self, fit: BoundaryFit, target: Target, task: BoundaryTask | None = None) -> Self:
        """Keep the fit in place of an earlier one; of rows in memory also the support vectors."""
        self._forget()
        self.fit_, self.target_, self.deltas_ = fit.solution, target, target.deltas
        self._decides = decision_of(self.boundaries)
        self.model_ = fit.model
        self.intercept_ = np.array([fit.model.intercept])
        if isinstance(fit.model, LinearModel):
            self.coef_ = fit.model.coef[None, :]
        if task is not None:
            dual, problem, kernel = fit.solution.dual, task.problem, task.kernel
            self.support_ = np.flatnonzero(dual > 0)
            self.dual_coef_ = (problem.sign * problem.weight * dual / problem.strength)[None, self.support_]
            if kernel is not None:
                given = kernel.name == "precomputed"
                self.support_vectors_ = np.empty((0, task.X.shape[1])) if given else task.X[self.support_]
        self.certificate_, self.n_iter_ = fit.certificate, fit.solution.n_iter
        self.objective_, self.gap_ = fit.certificate.objective, fit.certificate.gap
        if self.verbose:
            print(
                f"BoundaryClassifier: {fit.solution.solver}, {self.n_iter_} iterations, objective {self.objective_:.8g}, "
                f"relative gap {fit.certificate.relative_gap:.1e}"
            )
        warn_of([fit.certificate.doubts])
        return self

    def _forget(self) -> None:
        """Drop what only some learners store."""
        for name in _OF_SOME:
            self.__dict__.pop(name, None)

    def predict_region(self, X: ArrayLike) -> IntArray:
        """Return the region 0..K of each row: k where pi_k < p <= pi_{k+1}; of ``pm.Hard()`` the class."""
        scores = self.decision_function(X)
        return np.searchsorted(
            self.model_.deltas, scores, side="right" if isinstance(self.boundaries, Hard) else "left"
        )

    @property
    def rules_(self) -> tuple[Rule, ...]:
        """The rules that have a coefficient; only with learner="rule" or "tree"."""
        return self._rule_model().rules

    @property
    def coefficients_(self) -> FloatArray:
        """The coefficient of each rule: it is added where the rule holds and subtracted where not."""
        return self._rule_model().coefficients

    @available_if(lambda estimator: isinstance(getattr(estimator, "model_", None), RuleModel))  # type: ignore[untyped-decorator]
    def rules_table(self) -> dict[str, list[object]]:
        """Return the rules as columns: rule, coefficient, support, precision, probability, as those of ULSClassifier."""
        return rules_columns(self, (self._rule_model(),))

    def _rule_model(self) -> RuleModel:
        check_is_fitted(self, "model_")
        if not isinstance(self.model_, RuleModel):
            raise AttributeError("Only learner='rule' and learner='tree' find rules.")
        return self.model_

    @property
    def history_(self) -> dict[str, FloatArray]:
        """The objective and the gap: of the end of the fit alone, of rules after every round."""
        check_is_fitted(self, "objective_")
        if hasattr(self, "_rounds"):
            return dict(self._rounds)
        return {"objective": np.array([self.objective_]), "gap": np.array([self.gap_])}

    def _predicting(self) -> Actions:
        return predicting(labels_of(self), True, self.target_.cutoff, tie_is_positive(self.boundaries))

    def _fitted_for(self) -> Decision:
        return decision_for(getattr(self, "_decides", decision_of(self.boundaries)), self.classes_)
