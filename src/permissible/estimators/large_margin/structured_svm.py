"""StructuredSVMClassifier: the scikit-learn estimator. It validates, calls the learner, and stores."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from permissible.decisions import CostMatrix
from permissible.estimators.classifier import CostClassifier
from permissible.estimators.fit_warning import warn_of
from permissible.estimators.input import training as intake
from permissible.estimators.input.source import HasSource, memory_source, without_codes
from permissible.estimators.input.weights import ClassWeight, canonical
from permissible.estimators.parameters.mcboost import task_of
from permissible.estimators.progress import rollback
from permissible.learners.doubts import Doubt
from permissible.learners.mcboost.linear.standardise import Standardised, standardise
from permissible.learners.mcboost.problem import CostProblem, CostTask
from permissible.learners.mcboost.rows import RowView, SelectedRows
from permissible.learners.mcboost.temperature import fitted_exponent, log_loss_limbs
from permissible.learners.structured_svm import StructuredCertificate, StructuredFit, fit_structured
from permissible.losses import StructuredHinge
from permissible.models.kinds.additive import AdditiveModel
from permissible.models.kinds.affine import AffineTerms
from permissible.models.kinds.simplex import codewords
from permissible.rows.local import LocalSource
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.splits import hold_out
from permissible.table.reading import Categorical
from permissible.types import AnyArray, ArrayLike, FloatArray
from permissible.validation import Words, refusal
from permissible.validation.numbers import count, fraction, positive_number


class StructuredSVMClassifier(CostClassifier, ClassifierMixin, BaseEstimator):
    """Linear large-margin classifier for a cost matrix: the structured SVM of [B] (SVM-CSMC).

    It minimises ``(alpha/2) |W|^2`` plus the mean structured hinge max_k (C[y, k] + S_k - S_y) of scores S = W x, to a certified
    duality gap. Without costs it is Crammer and Singer's machine.

    Parameters
    ----------
    cost_matrix : CostMatrix or array (M, M), optional
        ``cost_matrix[true, predicted]``, classes in sorted order unless named. None: every mistake costs 1.
    alpha : float, default=1e-3
        The penalty lambda, on columns scaled to unit mean square; the constant is a column and is penalised too.
    tol : float, default=1e-3
        The relative duality gap at which the fit stops.
    max_iter : int, default=1000
        Maximum number of passes over the rows.
    validation_fraction : float, default=0.2
        Fraction of the rows held out for the temperature: a hinge gives no posterior, so the exponent of the softmax is
        found on rows that the machine has not seen. The final machine is fitted to all rows.
    categorical_features : sequence of names or positions, or mask, optional
        Numeric columns to treat as categorical. A category is an indicator column; a missing value counts as the mean.
    class_weight : mapping or "balanced", optional
    n_jobs : int, optional
        Threads that read and score rows; the passes themselves use one.
    random_state : int, generator or None
        Order of the rows in each pass, and the held-out rows; None is the seed 0.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
    model_ : AdditiveModel
    cost_matrix_ : CostMatrix
    objective_, gap_ : float
        The objective, and a bound on its distance from the minimum.
    n_iter_ : int
    history_ : mapping of arrays, one value per pass
    certificate_ : StructuredCertificate

    References
    ----------
    [B] Beijbom, Saberian, Kriegman, Vasconcelos: Guess-Averse Loss Functions for Cost-Sensitive Multiclass Boosting,
    ICML 2014, section 5.2 and appendix E.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import permissible as pm
    >>> X, y = load_iris(return_X_y=True)
    >>> model = pm.StructuredSVMClassifier([[0, 1, 1], [1, 0, 1], [4, 4, 0]], alpha=0.01).fit(X, y)
    >>> model.gap_ <= 1e-3 * model.objective_
    True
    """

    def __init__(
        self,
        cost_matrix: CostMatrix | ArrayLike | None = None,
        *,
        alpha: float = 1e-3,
        tol: float = 1e-3,
        max_iter: int = 1000,
        validation_fraction: float = 0.2,
        categorical_features: Categorical = None,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: object = None,
    ) -> None:
        self.cost_matrix, self.alpha, self.tol, self.max_iter = cost_matrix, alpha, tol, max_iter
        self.validation_fraction, self.categorical_features = validation_fraction, categorical_features
        self.class_weight, self.n_jobs, self.random_state = class_weight, n_jobs, random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    @rollback
    def fit(
        self, X: object, y: object = None, sample_weight: object = None, cost: object = None
    ) -> "StructuredSVMClassifier":
        """Fit the machine.

        Parameters
        ----------
        X : table of n rows
        y : array of n labels
        sample_weight : array of n weights, optional
        cost : array (n, M), optional
            What predicting each class would cost for each row (0 for its own class), in place of `cost_matrix`.
        """
        if isinstance(X, HasSource):
            came = Words(f"a {type(X).__name__}")
            raise refusal("X", "rows in memory for this classifier", came, "use MCBoostClassifier on data in parts")
        n_threads, seed = intake.threads(self.n_jobs), intake.seed(self.random_state)
        settings = {
            "alpha": positive_number("alpha", self.alpha),
            "tol": positive_number("tol", self.tol),
            "max_iter": count("max_iter", self.max_iter),
            "seed": seed,
        }
        share = fraction("validation_fraction", self.validation_fraction, 0.9)
        rows = intake.training_rows(self, X, y, sample_weight)
        rows = replace(rows, weight=canonical(rows.weight)[0])
        task, costs = task_of(self, rows, StructuredHinge.name, y, sample_weight, cost)
        source = memory_source(rows, without_codes(rows.table), seed, n_threads, values=True)
        split = hold_out(source, fraction=share, keep_rare=True)
        exponent = StructuredHinge.exponent
        if split is not None:
            standardised, fitted = _fitted(source, task, split.training, settings)
            held = _rows(source, RowView(task, split.held_out, standardised))
            scores, of = fitted.scores(held.values), held.problem
            exponent = fitted_exponent(exponent, lambda at: log_loss_limbs(at, scores, of.target, of.weight))
        standardised, fitted = _fitted(source, task, ALL_ROWS, settings)
        component = _component(standardised, fitted)
        prior = np.zeros(task.n_classes)
        model = AdditiveModel(source.binning.schema, task.loss, prior, (component,), exponent, split is not None)
        self._keep(rows, model, costs, fitted)
        return self

    def _keep(self, rows: intake.TrainingRows, model: AdditiveModel, costs: CostMatrix, fitted: StructuredFit) -> None:
        intake.remember(self, rows.classes, rows.schema)
        self.model_: AdditiveModel = model
        self.cost_matrix_ = costs
        self.objective_, self.gap_, self.n_iter_ = fitted.objective[-1], fitted.gap[-1], len(fitted.gap)
        self.history_: dict[str, AnyArray] = {"objective": np.array(fitted.objective), "gap": np.array(fitted.gap)}
        certificate = fitted.certificate(float(self.tol))
        if not fitted.converged:
            said = (
                f"The duality gap {self.gap_:.3g} is above tol after max_iter = {self.n_iter_} passes; "
                "set a larger max_iter, alpha or tol."
            )
            certificate = replace(certificate, doubts=(Doubt("not converged", self.gap_, said),))
        self.certificate_: StructuredCertificate = certificate
        warn_of([certificate.doubts])


def _rows(source: LocalSource, view: RowView) -> SelectedRows:
    """The selected rows, sorted, and equal ones merged: neither their order nor doubling a row changes the fit."""
    (part,) = source.parts
    read = view.read(part)
    of = read.problem
    costs = of.task.cost_rows(of.target)
    distinct, place = np.unique(
        np.column_stack([read.values, of.target, costs]), axis=0, return_inverse=True, equal_nan=False
    )
    order = np.lexsort((of.weight, place))
    weight: FloatArray = np.bincount(place[order], weights=of.weight[order], minlength=len(distinct)).astype(np.float64)
    d = read.values.shape[1]
    task = replace(view.task, costs=np.ascontiguousarray(distinct[:, d + 1 :]), by_row=True)
    problem = CostProblem(task, distinct[:, d].astype(np.int64), weight)
    return read._replace(values=np.ascontiguousarray(distinct[:, :d]), problem=problem)


def _fitted(
    source: LocalSource, task: CostTask, selection: Selection, settings: dict[str, Any]
) -> tuple[Standardised, StructuredFit]:
    standardised = standardise(source, selection)
    rows = _rows(source, RowView(task, selection, standardised))
    of = rows.problem
    return standardised, fit_structured(rows.values, of.target, of.task.costs, of.weight, **settings)


def _component(standardised: Standardised, fitted: StructuredFit) -> AffineTerms:
    """The scores as affine terms on the coordinates of the simplex: f = 2 (M - 1) / M Y' S."""
    n_classes = len(fitted.weights)
    outputs, d = n_classes - 1, len(standardised.attributes)
    functions = 2 * outputs / n_classes * codewords(n_classes).T @ fitted.weights
    slope = (functions[:, :d] / standardised.scale).ravel()
    coordinate = np.concatenate([np.repeat(np.arange(outputs), d), np.arange(outputs)])
    attribute = np.concatenate([np.tile(np.arange(d), outputs), np.full(outputs, -1)])
    level = np.concatenate([np.zeros(d * outputs), functions[:, d]])
    terms = np.zeros(len(level), dtype=np.int64), coordinate, attribute, np.append(slope, np.zeros(outputs)), level
    return AffineTerms(standardised.attributes, n_classes, *terms)
