"""BoundaryClassifier: the scikit-learn face of the boundary learner. It validates, calls the learner, and stores."""

import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from permissible import losses
from permissible.estimators.exports import Exports
from permissible.learners.boundary import Problem, Target, solve_linear
from permissible.models.linear import LinearModel
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray
from permissible.validation import Words, refusal, refusal_type


class BoundaryClassifier(Exports, ClassifierMixin, BaseEstimator):
    """Large-margin classifier trained for probability boundaries: hard, weighted, reject option, risk groups, soft.

    It minimises the piecewise-linear surrogate of the boundaries ([K] (18)) to a certified duality gap.

    Parameters
    ----------
    boundaries : sequence of float, default=(0.5,)
        Increasing probabilities in (0, 1). ``(0.5,)`` is the support vector machine, ``(pi,)`` unequal costs, ``(d, 1 - d)``
        the reject option at cost d, several of them risk groups.
    loss : str or loss, default="logistic"
        The permissible loss whose tangents at the boundaries are the surrogate.
    alpha : float, default=1e-3
        lambda of (18).
    fit_intercept : bool, default=True
    penalize_intercept : bool, default=False
        Add alpha b^2 / 2 to the objective, LIBLINEAR's convention.
    tol : float, default=1e-6
        Stop once the certified gap is at most this share of the objective.
    max_iter : int, default=1000
        Newton steps.
    class_weight : dict, "balanced" or None
    n_jobs : int or None
        Threads; the result is the same bit for bit for any number of them.

    Attributes
    ----------
    coef_ : array of shape (1, n_features_in_)
    intercept_ : array of shape (1,)
    deltas_ : array
        The cut-offs of `decision_function` at which the boundaries lie.
    objective_, gap_ : float
        The value of (18), and a bound on its distance to the optimum.
    certificate_ : Certificate
    n_iter_ : int
    classes_ : array
        ``classes_[1]`` is the positive class.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from permissible.estimators.boundary import BoundaryClassifier
    >>> X, y = make_classification(random_state=0)
    >>> risk_groups = BoundaryClassifier(boundaries=(0.25, 0.5, 0.75)).fit(X, y)
    >>> sorted(set(risk_groups.predict_region(X).tolist()))
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        boundaries: Any = (0.5,),
        *,
        loss: Any = "logistic",
        alpha: float = 1e-3,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        tol: float = 1e-6,
        max_iter: int = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.boundaries = boundaries
        self.loss = loss
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        """Binary only, dense rows."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "BoundaryClassifier":
        """Fit to the rows of X with labels y."""
        _check_parameters(self)
        target = Target.at(self.boundaries, losses.get(self.loss))
        features, labels = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        positive = self._encode(labels)
        problem = self._problem(target, positive, self._weights(features, labels, sample_weight))
        threads = effective_n_jobs(self.n_jobs)
        fit = solve_linear(features, problem, tol=self.tol, max_iter=self.max_iter, n_threads=threads)
        self.model_ = LinearModel(fit.coef, fit.intercept, target.loss, target.boundaries, target.deltas)
        self.coef_, self.intercept_ = fit.coef[None, :], np.array([fit.intercept])
        self.target_, self.deltas_ = target, target.deltas
        self.certificate_, self.n_iter_ = fit.certificate, fit.n_iter
        self.objective_, self.gap_ = fit.certificate.objective, fit.certificate.gap
        if not fit.converged:
            warnings.warn(
                f"BoundaryClassifier stopped after {fit.n_iter} iterations at a relative gap of "
                f"{fit.certificate.relative_gap:.1e}, above tol={self.tol:g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _encode(self, y: AnyArray) -> AnyArray:
        check_classification_targets(y)
        if type_of_target(y) not in ("binary",) and len(np.unique(y)) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}; "
                "boundaries of a probability need two classes."
            )
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise refusal("y", "labels of two classes", Words(f"one class: {self.classes_[0]!r}"))
        return np.asarray(codes == 1)

    def _weights(self, X: AnyArray, y: AnyArray, sample_weight: ArrayLike | None) -> FloatArray:
        weight: FloatArray = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=True
        )
        if self.class_weight is not None:
            by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            weight *= by_class[np.searchsorted(self.classes_, y)]
        if not weight.sum() > 0:
            raise refusal("sample_weight", "positive for at least one row", Words("zero everywhere"))
        return np.ascontiguousarray(weight)

    def _problem(self, target: Target, positive: AnyArray, weight: FloatArray) -> Problem:
        assert target.segments is not None
        return Problem(
            target.segments, positive, weight, float(self.alpha), bool(self.fit_intercept), bool(self.penalize_intercept)
        )  # fmt: skip

    def _rows(self, X: ArrayLike) -> AnyArray:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], reset=False))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return f(x); compare it with `deltas_`."""
        rows = self._rows(X)
        return self.model_.score(rows)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return probabilities (n, 2), monotone in f and equal to a boundary exactly at its cut-off.

        Between the boundaries only the order is learnt: which region a row lies in is what the surrogate promises.
        """
        rows = self._rows(X)
        positive = self.model_.probability(rows)
        return np.column_stack([1.0 - positive, positive])

    def predict_region(self, X: ArrayLike) -> IntArray:
        """Return the region 0..K of each row: k where pi_k < p <= pi_{k+1}."""
        rows = self._rows(X)
        return self.model_.region(rows)

    def predict(self, X: ArrayLike) -> AnyArray:
        """Return labels: the side of the one boundary, or of probability 1/2 when there are several."""
        above = self.decision_function(X) > self.target_.cutoff
        return np.asarray(self.classes_[above.astype(np.intp)])

    def decide(self, X: ArrayLike, decision: Any) -> AnyArray:
        """Return the actions of another decision on the same probabilities."""
        return np.asarray(decision.decide(self.predict_proba(X)))


def _check_parameters(estimator: BoundaryClassifier) -> None:
    for name in ("alpha", "tol"):
        value = getattr(estimator, name)
        if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
            raise refusal_type(name, "a positive number", value)
        if not (value > 0 and np.isfinite(value)):
            raise refusal(name, "a positive number", value, "use a small one such as 1e-3")
    if not isinstance(estimator.max_iter, (int, np.integer)) or estimator.max_iter < 1:
        raise refusal("max_iter", "a whole number of at least 1", estimator.max_iter)
