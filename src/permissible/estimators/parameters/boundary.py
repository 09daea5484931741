"""What the boundary estimators check and read before they call the learner: settings, labels, weights, kernel."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from permissible.distributed.data.passes import refuse_categories
from permissible.estimators.input import weights
from permissible.estimators.input.matrix import refuse_huge
from permissible.estimators.input.training import codes_among, decode_target, seed, threads
from permissible.estimators.input.weights import ClassWeight, with_class_weight
from permissible.models.kinds.kernel import Kernel
from permissible.rows.source import Source
from permissible.types import AnyArray, ArrayLike, FloatArray, IntArray, Matrix
from permissible.validation import Words, one_of, refusal
from permissible.validation.numbers import count, flag, positive_number, real_number

if TYPE_CHECKING:
    from permissible.estimators.boundary import BoundaryClassifier

LEARNERS = ("linear", "kernel", "rule", "tree")
GENERATED = ("rule", "tree")
"""Learners that find rules."""
KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")
SMALL = "lambda = 0 is a linear program: use a small one such as 1e-8"
SOLVERS = ("auto", "newton", "dcd", "smo", "psgd")


def kernel_named(estimator: "BoundaryClassifier") -> Any:
    """The kernel: None is the linear classifier, and "rbf" where learner="kernel" names none."""
    return "rbf" if estimator.kernel is None and estimator.learner == "kernel" else estimator.kernel


def check_settings(estimator: "BoundaryClassifier") -> None:
    """Refuse what no fit could use, in one sentence."""
    one_of("learner", estimator.learner, LEARNERS)
    for name in ("alpha", "tol", "cache_size"):
        if hasattr(estimator, name):
            positive_number(name, getattr(estimator, name), SMALL if name == "alpha" else None)
    for name in ("max_iter", "degree"):
        count(name, getattr(estimator, name))
    for name in ("fit_intercept", "penalize_intercept"):
        flag(name, getattr(estimator, name))
    if not (estimator.kernel is None or callable(estimator.kernel)):
        one_of("kernel", estimator.kernel, KERNELS)
    real_number("coef0", estimator.coef0, -np.finfo(np.float64).max)
    one_of("solver", estimator.solver, SOLVERS)
    threads(estimator.n_jobs)
    if not isinstance(estimator.random_state, np.random.RandomState):  # a generator is drawn from when it is needed
        seed(estimator.random_state)
    for name, least, most in (("n_rounds", 1, None), ("max_literals", 1, None), ("max_leaf_nodes", 2, 256)):
        if hasattr(estimator, name):
            count(name, getattr(estimator, name), least, most)
    if kernel_named(estimator) is None and estimator.solver == "smo":
        expected = "auto, newton, dcd or psgd without a kernel"
        raise refusal("solver", expected, "smo", "set kernel='linear' for pair updates")
    if kernel_named(estimator) is not None and estimator.solver not in ("auto", "smo"):
        raise refusal("solver", "auto or smo with a kernel", estimator.solver)


def check_source(estimator: "BoundaryClassifier", source: Source) -> None:
    """Refuse what rows in parts cannot do, in one sentence."""
    if estimator.learner != "linear":
        raise refusal("learner", "linear on data in parts", estimator.learner, "fit rows in memory")
    if estimator.kernel is not None:
        raise refusal("kernel", "None on data in parts", estimator.kernel, "map the rows first, or fit them in memory")
    if estimator.solver not in ("auto", "newton", "psgd"):
        raise refusal("solver", "auto, newton or psgd on data in parts", estimator.solver)
    if estimator.warm_start:
        raise refusal("warm_start", "False on data in parts", True, "fit rows in memory")
    if len(source.classes) != 2:
        came = Words(f"{len(source.classes)} classes")
        raise refusal("y", "labels of two classes", came, "fit one class against the rest")
    refuse_categories(source.binning)


def encoded(
    estimator: "BoundaryClassifier", y: object, n_rows: int, classes: object = None
) -> tuple[AnyArray, IntArray]:
    """Return the two classes in order, and each row's code; refuse other numbers of classes and other labels."""
    name = type(estimator).__name__
    if classes is None:
        found, codes = decode_target(name, y, n_rows)
    else:
        found, _ = decode_target(name, classes, len(np.atleast_1d(np.asarray(classes, dtype=object))))
        codes = codes_among(found, y, n_rows, name)
    refuse_many(found)
    if len(found) < 2:
        raise refusal("y", "labels of two classes", Words(f"one class: {found.tolist()[0]!r}"))
    return found, codes


def refuse_many(classes: AnyArray) -> None:
    """Refuse more than two classes; scikit-learn's wording is part of the message."""
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is multiclass: `y` has {len(classes)} classes, "
            "and a boundary of a probability needs two, so wrap the classifier in OneVsRestClassifier."
        )


def row_weights(
    codes: IntArray, classes: AnyArray, sample_weight: ArrayLike | None, class_weight: ClassWeight, part: bool = False
) -> FloatArray:
    """Return c_i = sample weight times class weight; refuse a class without weight, except in `part` of a stream."""
    weight = with_class_weight(weights.row_weights(sample_weight, len(codes)), class_weight, classes, codes)
    if weight is None:
        return np.ones(len(codes))
    for code, label in enumerate(classes.tolist()):
        if not part and not weight[codes == code].any():
            came = Words(f"no weight on class {label!r}")
            raise refusal("sample_weight", "positive for some rows of each class", came)
    return np.ascontiguousarray(weights.canonical(weight)[0])


def kernel_of(estimator: "BoundaryClassifier", X: Matrix, weight: FloatArray) -> Kernel | None:
    """Return the kernel; None for the linear classifier.

    ``gamma="scale"`` is scikit-learn's 1 / (n_features * X.var()), the variance weighted: weight 2 is the row twice.
    """
    name = kernel_named(estimator)
    if name is None:
        return None
    refuse_huge(estimator, X)
    gamma = estimator.gamma
    if isinstance(gamma, str):
        one_of("gamma", gamma, ("scale", "auto"))
        spread = 1.0
        if gamma == "scale" and name != "precomputed":
            share = weight / (weight.sum() * X.shape[1])
            squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)
            spread = float((share @ squares).sum() - (share @ X).sum() ** 2)
        gamma = 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
    gamma = positive_number("gamma", gamma)
    return Kernel(name, float(gamma), float(estimator.coef0), int(estimator.degree))
