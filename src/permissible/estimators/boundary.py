"""BoundaryClassifier: the scikit-learn face of the boundary learner. It validates, calls the learner, and stores."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from permissible.decisions import Decision, Hard, decision_for
from permissible.estimators.boundary_parts import fit_parts, refuse_on_parts
from permissible.estimators.classifier import Classifier, labels_of
from permissible.estimators.fit_warning import warn_of
from permissible.estimators.input.matrix import matrix, remember_kinds
from permissible.estimators.input.source import HasSource, source_of
from permissible.estimators.input.training import remember_schema, seed, threads
from permissible.estimators.parameters.boundary import check_settings, encoded, kernel_of, row_weights
from permissible.estimators.parameters.idle import BOUNDARY, BOUNDARY_STREAM, refuse_idle
from permissible.estimators.rollback import whole
from permissible.learners.boundary import (
    KernelFit,
    LinearFit,
    Problem,
    Segments,
    Target,
    decision_of,
    solve_kernel,
    solve_linear,
    solve_soft,
)
from permissible.learners.boundary.kernel_soft import solve_kernel_soft
from permissible.learners.boundary.subgradient import Stream, solve_subgradient, stream_step
from permissible.learners.boundary.target import boundaries_of, tie_is_positive
from permissible.learners.doubts import LOOK, Doubts, looked_at, of_boundary, saturated, shortfall, spread
from permissible.models.card.actions import Actions, predicting
from permissible.models.kinds.kernel import Kernel, KernelModel
from permissible.models.kinds.linear import LinearModel
from permissible.rows.source import Source
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray, Matrix

NO_SEGMENTS = Segments(np.empty((2, 0)), np.empty((2, 0)))


def _streams(estimator: Any) -> bool:
    """Whether there is a `partial_fit`: linear, with boundaries. Else map the rows (Nystroem), or take many boundaries."""
    return hasattr(estimator, "alpha") and estimator.kernel is None and boundaries_of(estimator.boundaries) is not None


class BoundaryClassifier(Classifier, ClassifierMixin, BaseEstimator):
    """Large-margin classifier trained for probability boundaries: hard, weighted, reject option, risk groups, soft.

    It minimises the piecewise-linear surrogate of the boundaries ([K] (18)) to a certified duality gap.

    Parameters
    ----------
    boundaries : sequence of float, "soft" or decision, default=(0.5,)
        Increasing probabilities in (0, 1): ``(0.5,)`` is the support vector machine, ``(pi,)`` has unequal costs, ``(d, 1 - d)``
        rejects at cost d, several of them make risk groups. Or ``pm.Hard()``, ``pm.Weighted(pi)``, ``pm.Reject(d)``,
        ``pm.Boundaries([...])``. ``"soft"`` (``pm.Soft()``) fits the smooth loss itself.
    loss : str, permissible loss or PiecewiseLinear, default="logistic"
        The loss whose tangents at the boundaries are the surrogate, or the surrogate itself.
    alpha : float, default=1e-3
        lambda of (18).
    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or function, default=None
        None is the linear classifier with `coef_`; the others give `dual_coef_`. Names and parameters as in LIBSVM.
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
        Stop once the certified gap is at most this share of the objective; small dense problems are solved further.
    max_iter : int, default=1000
        Newton steps, epochs, or rounds of as many pair updates as there are rows.
    class_weight : dict, "balanced" or None
    n_jobs : int or None
        Threads of the Newton solver; the result is the same bit for bit for any number of them.
    random_state : int, RandomState or None
        Order of coordinate descent; None is 0.
    warm_start : bool, default=False
        Start from the last solution: its coefficients, for ``"dcd"`` and kernels its dual point, which belongs to as many rows.
        A fit that cannot start from it begins anew, with a warning.
    verbose : int, default=0
        Say the objective and the gap after the fit.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
        Without a kernel.
    intercept_ : array of shape (1,)
    support_, dual_coef_ : arrays of shape (n_support,), (1, n_support)
        Rows that hold the boundary, and gamma in f(x) = sum_j gamma_j k(x_j, x) + b; absent after `partial_fit`.
    support_vectors_ : array
        With a kernel.
    deltas_ : array
        The cut-offs of `decision_function` at which the boundaries lie.
    objective_, gap_ : float
        The value of (18), and a bound on its distance to the optimum.
    certificate_ : Certificate
    history_ : mapping of arrays
        ``objective`` and ``gap``, with one entry: the end of the fit.
    n_iter_ : int
    classes_ : array
        ``classes_[1]`` is the positive class.

    Notes
    -----
    Probabilities are monotone in the score and equal to a boundary exactly at its cut-off. On which side of a boundary a row
    lies is what the surrogate learns; between the boundaries only the order means something, so do not read the numbers there
    as calibrated. ``boundaries="soft"`` learns them all.

    `predict` gives the side of the one boundary, or of probability 1/2 when there are several (or none). On a boundary itself it
    is the lower class, since regions are right-closed; at the probability 1/2 of ``pm.Hard()``, and of several boundaries or
    none, the second class, as in all classifiers of two classes.

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
        boundaries: Any = (0.5,),
        *,
        loss: Any = "logistic",
        alpha: float = 1e-3,
        kernel: Any = None,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_size: float = 200,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.boundaries = boundaries
        self.loss = loss
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.cache_size = cache_size
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Two classes; dense or sparse rows; a square matrix for a precomputed kernel."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    @whole
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> "BoundaryClassifier":
        """Fit to the rows of X with labels y; `sample_weight` 2 is the row twice.

        X may be a BinnedDataset made with ``keep_values=True``, which holds its target.
        """
        check_settings(self)
        target = Target.of(self.boundaries, self.loss)
        refuse_idle(self, BOUNDARY)
        if isinstance(X, HasSource):
            return self._fit_parted(source_of(X, y, sample_weight, self.class_weight), target)
        features = matrix(self, X, reset=True)
        classes, codes = encoded(self, y, features.shape[0])
        weight = row_weights(codes, classes, sample_weight, self.class_weight)
        problem = self._problem(target, codes == 1, weight, float(self.alpha))
        del codes  # a vector of all rows that the solvers need not wait for
        kernel = kernel_of(self, features, weight)
        self.classes_ = classes
        last = getattr(self, "fit_", None) if self.warm_start else None
        fit = self._solve(features, target, problem, kernel, last)
        if last is not None:
            self._warn_of_a_new_start(last, fit)
        self._store(fit, features, target, problem, kernel)
        self._report(fit)
        return self

    def _fit_parted(self, data: Source, target: Target) -> "BoundaryClassifier":
        """The linear fit on data in parts (blocks on disk, workers of a cluster)."""
        refuse_on_parts(self, data)
        fit, effects, share = fit_parts(self, data, target)
        self.classes_ = data.classes
        remember_schema(self, data.binning.schema)
        remember_kinds(self, data.binning.schema)
        for name in ("support_", "dual_coef_", "stream_", "schema_"):
            self.__dict__.pop(name, None)
        self.fit_: LinearFit | KernelFit = fit
        self.target_, self.deltas_ = target, target.deltas
        self.coef_, self.intercept_ = fit.coef[None, :], np.array([fit.intercept])
        self.model_: LinearModel | KernelModel = LinearModel(
            fit.coef, fit.intercept, target.loss, target.boundaries, target.deltas
        )
        doubts = self._found_doubts(fit, target, effects, share)
        self.certificate_ = fit.certificate.ended(fit.converged, fit.n_iter, self.max_iter, doubts)
        self.n_iter_ = fit.n_iter
        self.objective_, self.gap_ = fit.certificate.objective, fit.certificate.gap
        self._report(fit)
        return self

    @available_if(_streams)  # type: ignore[untyped-decorator]
    @whole
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
        self.model_ = LinearModel(coef, intercept, target.loss, target.boundaries, target.deltas)
        self.coef_, self.intercept_ = coef[None, :], np.array([intercept])
        self.target_, self.deltas_, self.n_iter_ = target, target.deltas, self.stream_.batches
        self.gap_ = np.inf
        return self

    def _problem(self, target: Target, positive: AnyArray, weight: FloatArray, alpha: float) -> Problem:
        segments = target.segments if target.segments is not None else NO_SEGMENTS
        return Problem(segments, positive, weight, alpha, bool(self.fit_intercept), bool(self.penalize_intercept))

    def _solve(
        self, X: Matrix, target: Target, problem: Problem, kernel: Kernel | None, last: LinearFit | KernelFit | None
    ) -> LinearFit | KernelFit:
        """Call the solver; `last` is a fit to start from: coefficients of as many columns, or duals of as many rows."""
        common: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        if kernel is not None:
            if target.segments is None:
                return solve_kernel_soft(X, problem, target.loss, kernel, **common)
            start = last if isinstance(last, KernelFit) and last.dual.shape == (X.shape[0],) else None
            return solve_kernel(X, problem, kernel, start=start, cache_size=self.cache_size, **common)
        start_linear = last if isinstance(last, LinearFit) and last.coef.shape == (X.shape[1],) else None
        if target.segments is None:
            return solve_soft(X, problem, target.loss, start=start_linear, **common)
        if self.solver == "psgd":
            return solve_subgradient(X, problem, **common)
        return solve_linear(
            X, problem, solver=self.solver, start=start_linear, n_threads=threads(self.n_jobs),
            seed=seed(self.random_state), **common,
        )  # fmt: skip

    def _warn_of_a_new_start(self, last: LinearFit | KernelFit, fit: LinearFit | KernelFit) -> None:
        """Say that `warm_start` found nothing to go on from."""
        by_rows = isinstance(fit, KernelFit) or fit.solver == "dcd"
        place = "rows" if by_rows else "columns"
        before, now = (one.dual if by_rows else one.coef for one in (last, fit))
        if type(last) is not type(fit) or before.shape != now.shape:
            warnings.warn(
                f"warm_start: the last fit has no start for other {place} or another kind of model, so this fit began anew; "
                "set warm_start=False to begin anew on purpose.",
                UserWarning,
                stacklevel=4,
            )

    def _store(
        self, fit: LinearFit | KernelFit, X: Matrix, target: Target, problem: Problem, kernel: Kernel | None
    ) -> None:
        self.fit_, self.target_, self.deltas_ = fit, target, target.deltas
        self.support_ = np.flatnonzero(fit.dual > 0)
        sign = np.where(problem.positive, 1.0, -1.0)[self.support_]
        gamma = sign * problem.weight[self.support_] * fit.dual[self.support_] / problem.strength
        self.dual_coef_, self.intercept_ = gamma[None, :], np.array([fit.intercept])
        self.model_ = self._model(fit, X, target, problem, kernel)
        self.__dict__.pop("support_vectors_" if kernel is None else "coef_", None)  # of an earlier fit
        if kernel is None:
            self.coef_ = fit.coef[None, :]
        else:
            self.support_vectors_ = X[self.support_] if kernel.name != "precomputed" else np.empty((0, X.shape[1]))
        doubts = self._doubts(fit, X, target, kernel)
        self.certificate_ = fit.certificate.ended(fit.converged, fit.n_iter, self.max_iter, doubts)
        self.n_iter_ = fit.n_iter
        self.objective_, self.gap_ = fit.certificate.objective, fit.certificate.gap
        self.__dict__.pop("stream_", None)

    def _model(
        self, fit: LinearFit | KernelFit, X: Matrix, target: Target, problem: Problem, kernel: Kernel | None
    ) -> LinearModel | KernelModel:
        shared = (fit.intercept, target.loss, target.boundaries, target.deltas)
        if kernel is None:
            return LinearModel(fit.coef, *shared)
        support = np.flatnonzero(fit.dual > 0)
        return KernelModel(kernel, support if kernel.name == "precomputed" else X[support], fit.coef[support], *shared)

    def _report(self, fit: LinearFit | KernelFit) -> None:
        if self.verbose:
            print(
                f"BoundaryClassifier: {fit.solver}, {fit.n_iter} iterations, objective {self.objective_:.8g}, "
                f"relative gap {fit.certificate.relative_gap:.1e}"
            )
        warn_of([self.certificate_.doubts])

    def _doubts(self, fit: LinearFit | KernelFit, X: Matrix, target: Target, kernel: Kernel | None) -> Doubts:
        effects = fit.coef * spread(X) if kernel is None else np.zeros(0)  # those of a kernel are bounded by alpha
        score = self.model_.scores(looked_at(X, LOOK if kernel is None else LOOK // 25))
        return self._found_doubts(fit, target, effects, saturated(target.loss, score))

    def _found_doubts(self, fit: LinearFit | KernelFit, target: Target, effects: FloatArray, share: float) -> Doubts:
        short = shortfall(fit.converged, fit.n_iter, self.max_iter)
        return of_boundary(target.loss, effects, share, fit.certificate.relative_gap, self.tol, short)

    def predict_region(self, X: ArrayLike) -> IntArray:
        """Return the region 0..K of each row: k where pi_k < p <= pi_{k+1}; of ``pm.Hard()`` the class, p = 1/2 the second."""
        scores = self.decision_function(X)
        return np.searchsorted(
            self.model_.deltas, scores, side="right" if isinstance(self.boundaries, Hard) else "left"
        )

    @property
    def history_(self) -> dict[str, FloatArray]:
        """The objective and the gap of the fit, of the last iteration alone."""
        check_is_fitted(self, "objective_")
        return {"objective": np.array([self.objective_]), "gap": np.array([self.gap_])}

    def _predicting(self) -> Actions:
        return predicting(labels_of(self), True, self.target_.cutoff, tie_is_positive(self.boundaries))

    def _fitted_for(self) -> Decision:
        return decision_for(decision_of(self.boundaries), self.classes_)
