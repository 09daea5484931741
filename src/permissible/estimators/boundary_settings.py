"""What the boundary estimators check and read before they call the learner: settings, labels, weights, kernel."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight

from permissible.models.kernel import Kernel
from permissible.types import AnyArray, ArrayLike, BoolArray, FloatArray, Matrix
from permissible.validation import Words, refusal, refusal_type

SOLVERS = ("auto", "newton", "dcd", "smo", "psgd")


def check_settings(estimator: Any) -> None:
    """Refuse what no fit could use, in one sentence."""
    for name in ("alpha", "tol", "cache_size"):
        if hasattr(estimator, name):
            _positive(name, getattr(estimator, name))
    for name in ("max_iter", "degree"):
        value = getattr(estimator, name)
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
            raise refusal(name, "a whole number of at least 1", value)
    if estimator.solver not in SOLVERS:
        raise refusal("solver", f"one of {', '.join(SOLVERS)}", estimator.solver)
    if estimator.kernel is None and estimator.solver == "smo":
        raise refusal(
            "solver", "auto, newton, dcd or psgd without a kernel", "smo", "set kernel='linear' for pair updates"
        )
    if estimator.kernel is not None and estimator.solver not in ("auto", "smo"):
        raise refusal("solver", "auto or smo with a kernel", estimator.solver)


def _positive(name: str, value: object) -> None:
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
        raise refusal_type(name, "a positive number", value)
    if not (value > 0 and np.isfinite(value)):
        raise refusal(name, "a positive number", value, "lambda = 0 is a linear program: use a small one such as 1e-8")


def encoded(labels: AnyArray, classes: AnyArray | None = None) -> tuple[AnyArray, BoolArray]:
    """Return the two classes in order, and which rows belong to the second; refuse another number of classes."""
    check_classification_targets(labels)
    found = np.unique(labels) if classes is None else classes
    if classes is not None and not np.isin(labels, classes).all():
        raise refusal("y", f"labels among {classes.tolist()}", labels[~np.isin(labels, classes)][0])
    if len(found) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(labels)}; "
            "a boundary of a probability needs two classes, so wrap the classifier in OneVsRestClassifier."
        )
    if len(found) < 2:
        raise refusal("y", "labels of two classes", Words(f"one class: {found[0]!r}"))
    return found, np.asarray(labels == found[1])


def row_weights(
    X: Matrix,
    labels: AnyArray,
    classes: AnyArray,
    sample_weight: ArrayLike | None,
    class_weight: Any,
    part: bool = False,
) -> FloatArray:
    """Return c_i = sample weight times class weight; a class without weight is refused, unless this is `part` of a stream."""
    weight: FloatArray = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=class_weight is not None
    )
    if class_weight is not None:
        by_class = compute_class_weight(class_weight, classes=classes, y=labels)
        weight *= by_class[np.searchsorted(classes, labels)]
    for label in classes:
        if not part and not weight[labels == label].sum() > 0:
            raise refusal(
                "sample_weight", "positive for some rows of each class", Words(f"no weight on class {label!r}")
            )
    return np.ascontiguousarray(weight)


def kernel_of(estimator: Any, X: Matrix, weight: FloatArray) -> Kernel | None:
    """Return the kernel asked for; None for the linear classifier.

    ``gamma="scale"`` is scikit-learn's 1 / (n_features * X.var()), the variance weighted: weight 2 is the row twice.
    """
    if estimator.kernel is None:
        return None
    gamma = estimator.gamma
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise refusal("gamma", "'scale', 'auto' or a positive number", gamma)
        spread = 1.0
        if gamma == "scale" and estimator.kernel != "precomputed":
            share = weight / (weight.sum() * X.shape[1])
            squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)
            spread = float((share @ squares).sum() - (share @ X).sum() ** 2)
        gamma = 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
    else:
        _positive("gamma", gamma)
    return Kernel(estimator.kernel, float(gamma), float(estimator.coef0), int(estimator.degree))


def seed_of(random_state: Any) -> int:
    """Return a seed; None is 0, so that fits repeat."""
    if random_state is None:
        return 0
    return int(check_random_state(random_state).randint(2**31 - 1))
