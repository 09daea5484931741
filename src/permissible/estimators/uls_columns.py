"""The intake of features="columns": a dense or sparse matrix of numbers, without missing values."""

from typing import Any

import numpy as np
from scipy import sparse

from permissible.estimators.input.matrix import matrix as intake_matrix
from permissible.estimators.input.target import decode_target
from permissible.estimators.input.weights import row_weights, with_class_weight
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, refusal
from permissible.validation.arrays import squarable


def training_matrix(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, AnyArray, AnyArray, FloatArray | None]:
    """The matrix, classes, each row's class and weight (rows of weight 0 are gone)."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    features = intake_matrix(estimator, X, reset=True).astype(np.float64, copy=False)
    _refuse_huge(estimator, features)
    classes, codes = decode_target(type(estimator).__name__, y, features.shape[0])
    weight = with_class_weight(row_weights(sample_weight, features.shape[0]), estimator.class_weight, classes, codes)
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight > 0)
        features, codes, weight = features[kept], codes[kept], weight[kept]
        present = np.unique(codes)
        classes, codes = classes[present], np.searchsorted(present, codes)
    if len(classes) < 2:
        raise refusal("y", "labels of at least two classes", Words(f"one class only, {classes.tolist()[0]!r}"))
    return features, classes, codes, weight


def _refuse_huge(estimator: Any, features: Any) -> None:
    """The steps square what is in a column."""
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(features.shape[1])])
    for j, name in enumerate(names):
        column = features[:, [j]].data if sparse.issparse(features) else features[:, j]
        squarable("X", column, str(name))


def matrix(estimator: Any, X: Any) -> Any:
    """The matrix to predict on."""
    return intake_matrix(estimator, X, reset=False).astype(np.float64, copy=False)
