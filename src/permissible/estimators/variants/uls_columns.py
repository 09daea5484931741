"""ULSClassifier on the columns themselves: a dense or sparse matrix of numbers, without missing values."""

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from permissible import losses
from permissible.estimators.input.matrix import matrix, numeric_schema, refuse_huge
from permissible.estimators.input.training import decode_target, positive_rows, refuse_one_class, remember
from permissible.estimators.input.weights import canonical, row_weights, with_class_weight
from permissible.estimators.parameters.uls import goes_on, plan, refuse_other_data
from permissible.estimators.progress import watched
from permissible.learners.doubts import Doubts, of_rules, spread
from permissible.learners.uls.certificate import certify, history_of, in_unit, largest_norm
from permissible.learners.uls.columns import ColumnTrace, boost_columns
from permissible.learners.uls.guarantees.separability import separation
from permissible.models.kinds.linear import LinearModel
from permissible.models.kinds.one_versus_rest import joined
from permissible.types import AnyArray, FloatArray, Matrix

if TYPE_CHECKING:
    from permissible.estimators.uls import ULSClassifier


def training_matrix(
    estimator: "ULSClassifier", X: object, y: object, sample_weight: object
) -> tuple[Matrix, AnyArray, AnyArray, FloatArray | None]:
    """The matrix, classes, each row's class and weight (rows of weight 0 are removed)."""
    features = matrix(estimator, X, reset=True).astype(np.float64, copy=False)
    refuse_huge(estimator, features)
    classes, codes = decode_target(type(estimator).__name__, y, features.shape[0])
    weight = with_class_weight(row_weights(sample_weight, features.shape[0]), estimator.class_weight, classes, codes)
    if weight is not None and not weight.all():
        counts, classes, codes = positive_rows(classes, codes, weight)
        features, weight = features[counts], weight[counts]
    refuse_one_class(classes, len(codes), weight is not None)
    return features, classes, codes, weight


def fit_columns(estimator: "ULSClassifier", X: object, y: object, sample_weight: object, fit_seed: int) -> None:
    """Algorithm 1 on the columns of X, stored in the estimator."""
    loss = losses.get(estimator.loss)
    features, classes, codes, weight = training_matrix(estimator, X, y, sample_weight)
    weight, unit = (None, 1.0) if weight is None else canonical(weight)
    options = plan(estimator, features.shape[0], features.shape[1], fit_seed).in_unit(unit).candidates[0]
    labels = [1] if len(classes) == 2 else list(range(len(classes)))
    schema = numeric_schema(estimator)
    starts: list[Any] = [None] * len(labels)
    if goes_on(estimator):
        refuse_other_data(estimator, schema, classes)
        starts = list(estimator._traces)
    with watched(estimator, options.n_rounds) as watch:
        fits = [
            boost_columns(features, codes == label, weight, loss, options, callback=watch, start=start)
            for label, start in zip(labels, starts, strict=True)
        ]
    remember(estimator, classes, schema)
    estimator.__dict__.pop("_coverage", None)  # of rules that an earlier fit found
    estimator._remember_start(tuple(fits))
    half = np.array([0.5])
    models = tuple(LinearModel(fit.coefficients, fit.intercept, loss, half, np.zeros(1)) for fit in fits)
    estimator.model_ = joined(models)
    scale, norm = spread(features), largest_norm(features, weight, options.fit_intercept)

    def doubts(fit: ColumnTrace, model: LinearModel) -> Doubts:
        score = partial(model.scores, features)
        return of_rules(fit.trace, loss, fit.intercept, fit.coefficients * scale, True, score, name)

    def name(place: int) -> str:
        return f"the column '{schema.names[place]}'" if schema.named else f"column {place}"

    def separated(label: int) -> str | None:
        if math.isfinite(loss.score_limit):
            return None  # a finite minimiser always exists
        found = separation(features, codes == label, options.fit_intercept)
        return None if found is None else found.kind

    pairs = zip(fits, models, labels, strict=True)
    found = [
        in_unit(certify(fit.trace, loss, doubts(fit, model), norm, separated(label)), unit)
        for fit, model, label in pairs
    ]
    estimator._tell((), [history_of(fit.trace, loss, options.scheme, norm) for fit in fits], found)
