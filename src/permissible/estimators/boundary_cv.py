"""BoundaryClassifierCV: lambda chosen by cross-validation of the decision's own loss, along a warm-started path."""

from functools import partial

import numpy as np
from sklearn.model_selection import check_cv

from permissible.bins.hashing import hash_matrix
from permissible.decisions import Decision, class_codes, decision_for
from permissible.estimators.boundary import BoundaryClassifier
from permissible.estimators.input.source import HasSource
from permissible.estimators.input.training import seed
from permissible.estimators.input.weights import ClassWeight
from permissible.estimators.parameters.boundary import GENERATED, check_settings
from permissible.estimators.parameters.idle import BOUNDARY, refuse_idle
from permissible.estimators.progress import rollback
from permissible.learners.boundary.fit import fit_rows
from permissible.learners.boundary.path import best_alpha, path_risks
from permissible.learners.boundary.target import Target, decision_of
from permissible.rows.splits import fold_of_rows
from permissible.types import AnyArray, ArrayLike, BoolArray, FloatArray, Matrix
from permissible.validation import Words, real_numbers, refusal

ALPHAS = tuple(2.0**exponent for exponent in range(-15, 11))
"""The grid of [K] section 6."""


class BoundaryClassifierCV(BoundaryClassifier):
    """`BoundaryClassifier` with `alpha` chosen by cross-validation.

    Each fold follows the path from the largest lambda down, every fit starting from the previous one; the risk of the
    decision (its theoretical loss, [K] (7)) on the held-out fold decides (ties: the largest lambda); then all rows are
    fitted.

    Parameters
    ----------
    boundaries, loss, kernel, ... :
        As in `BoundaryClassifier`.
    alphas : sequence of float, optional
        The grid; 2^-15 ... 2^10 unless given.
    cv : int, splitter or None, default=5
        A number of folds, assigned by the content of the rows, so that their order does not matter and duplicated rows
        stay together; or a scikit-learn splitter.
    tuning : {"decision", "surrogate"} or decision, default="decision"
        What is minimised over the folds: the risk of the decision that `boundaries` names, the surrogate loss that is
        minimised (the likelihood for ``boundaries="soft"`` and the logistic loss), or the risk of another decision.

    Attributes
    ----------
    alpha_ : float
        The lambda chosen.
    alphas_, cv_risks_ : arrays
        The grid in decreasing order, and the risk of each over the held-out folds.

    Examples
    --------
    >>> import permissible as pm
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(flip_y=0.3, random_state=0)
    >>> model = pm.BoundaryClassifierCV(pm.Reject(0.2)).fit(X, y)
    >>> bool(model.cv_risks_.min() <= 0.2)
    True
    """

    def __init__(
        self,
        boundaries: object = (0.5,),
        *,
        alphas: object = None,
        cv: object = 5,
        tuning: object = "decision",
        loss: object = "logistic",
        learner: str = "linear",
        kernel: object = None,
        gamma: object = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        cache_size: float = 200,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: object = None,
        verbose: int = 0,
    ) -> None:
        self.boundaries, self.alphas, self.cv, self.tuning = boundaries, alphas, cv, tuning
        self.loss, self.learner, self.kernel, self.gamma = loss, learner, kernel, gamma
        self.degree, self.coef0, self.cache_size = degree, coef0, cache_size
        self.fit_intercept, self.penalize_intercept = fit_intercept, penalize_intercept
        self.solver, self.tol, self.max_iter = solver, tol, max_iter
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.random_state, self.verbose = random_state, verbose

    @rollback
    def fit(
        self, X: object, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> "BoundaryClassifierCV":
        """Choose alpha and fit to all rows."""
        if isinstance(X, HasSource):
            came, remedy = Words("data in parts"), "fit a BoundaryClassifier for each alpha"
            raise refusal("X", "rows in memory for cross-validation", came, remedy)
        check_settings(self)
        if self.learner in GENERATED:
            raise refusal("learner", "linear or kernel", self.learner, "search over alpha with GridSearchCV")
        alphas = checked_alphas(self.alphas)
        target = Target.of(self.boundaries, self.loss)
        named = isinstance(self.tuning, str) and self.tuning in ("decision", "surrogate")
        if not (named or isinstance(self.tuning, Decision)):
            raise refusal("tuning", "'decision', 'surrogate' or a decision", self.tuning)
        refuse_idle(self, BOUNDARY)
        task = self._task(X, y, sample_weight, target, alpha=float(alphas[0]))
        splits = self._splits(task.X, task.problem.positive, task.problem.weight)
        risks = path_risks(task, alphas, splits, partial(self._losses, target))
        if risks is None:
            raise refusal("cv", "folds that leave both classes to train on", self.cv, "use fewer folds or more rows")
        self.alphas_, self.cv_risks_, self.alpha_ = alphas, risks, best_alpha(alphas, risks)
        task = task.with_alpha(self.alpha_)
        return self._store(fit_rows(task), target, task)

    def _splits(self, X: Matrix, positive: BoolArray, weight: FloatArray) -> list[tuple[AnyArray, AnyArray]]:
        if isinstance(self.cv, (int, np.integer)):
            if self.cv < 2:
                raise refusal("cv", "at least 2 folds", self.cv)
            used = np.flatnonzero(weight > 0)
            hashes = hash_matrix(X[used], seed(self.random_state))
            fold = fold_of_rows(hashes, positive[used], weight[used], int(self.cv))
            return [(used[fold != k], used[fold == k]) for k in range(int(self.cv))]
        try:
            splitter = check_cv(self.cv, positive, classifier=True)
        except (TypeError, ValueError):
            expected = "a number of folds, a splitter of scikit-learn, or pairs of row numbers"
            raise refusal("cv", expected, self.cv) from None
        return list(splitter.split(X, positive))

    def _losses(self, target: Target, positive: BoolArray, score: FloatArray) -> FloatArray:
        if self.tuning == "surrogate":
            margin = np.where(positive, score, -score)
            if target.segments is None:
                return np.asarray(target.loss.b * np.asarray(target.loss.value(margin)))
            return target.segments.loss(positive, margin)
        decision = decision_for(
            decision_of(self.boundaries) if isinstance(self.tuning, str) else self.tuning, self.classes_
        )
        codes = class_codes(positive.astype(np.int64), np.array([0, 1]))
        return np.asarray(decision.loss(codes, np.asarray(target.loss.probability(score))))


def checked_alphas(alphas: object) -> FloatArray:
    """Return the grid in decreasing order; refuse numbers that are not positive."""
    expected = "a non-empty sequence of positive numbers"
    grid = np.atleast_1d(real_numbers("alphas", ALPHAS if alphas is None else alphas, expected))
    if grid.ndim != 1 or not grid.size or not (np.isfinite(grid) & (grid > 0)).all():
        raise refusal("alphas", expected, alphas)
    return np.unique(grid)[::-1]
