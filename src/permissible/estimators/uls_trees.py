"""ULSClassifier on trees: it checks the parameters of trees, calls the learner, and stores."""

from dataclasses import replace
from typing import Any

import numpy as np

from permissible.estimators.fit_warning import warn_of
from permissible.estimators.input.source import memory_source
from permissible.estimators.input.training import remember, threads, training_rows
from permissible.estimators.input.weights import canonical, in_unit
from permissible.estimators.parameters.uls import loss_of, validation_rows
from permissible.estimators.progress import watched
from permissible.learners.trees.boosted import BoostedOptions
from permissible.learners.trees.boosted_fit import TreesTask, fit_trees
from permissible.losses import Loss
from permissible.types import FloatArray
from permissible.validation import refusal
from permissible.validation.numbers import count, flag, fraction, is_auto, real_number

RATE = 0.1
MIN_CURVATURE, CATEGORY_SMOOTHING, CATEGORY_L2 = 0.2, 1.0, 20.0
"""Of a leaf, and of categories, in units of `l2_regularization`: all four are weights."""
SMALLEST_CURVATURE = 1e-6
MOST_COPIES = 2**20


def fit_boosted_trees(estimator: Any, X: Any, y: Any, sample_weight: Any, validation: Any, seed: int) -> None:
    """Boosted trees, stored in the estimator."""
    n_threads, loss = threads(estimator.n_jobs), _one_loss(estimator.loss)
    given = training_rows(
        estimator,
        X,
        y,
        sample_weight,
        estimator.class_weight,
        categorical_features=estimator.categorical_features,
        n_threads=n_threads,
    )
    weight, scale = _in_own_unit(given.weight) if given.weighted else (None, 1.0)
    given = replace(given, weight=np.ones(0) if weight is None else weight)
    options = _options(estimator, seed, scale)
    binned = given.bins(estimator.max_bins, seed, n_threads)
    with watched(estimator, options.n_trees) as callback:
        task = TreesTask(
            loss,
            (options,),
            _stopping(estimator),
            None if validation is None else validation_rows(validation, given, binned.binning),
            real_number("tol", estimator.tol),
            0.0 if estimator.max_time is None else real_number("max_time", estimator.max_time),
            n_threads,
            callback,
        )
        found = fit_trees(memory_source(given, binned, seed, n_threads), task)
    remember(estimator, given)
    for name in ("_coverage", "_staged"):  # of rules that an earlier fit found
        estimator.__dict__.pop(name, None)
    estimator._remember_start(None)
    estimator.model_, estimator.history_ = found.model, found.history
    estimator.certificate_, estimator.selection_ = found.certificate, found.selection
    estimator.loss_evidence_ = None
    warn_of([found.certificate.doubts])


def _in_own_unit(given: FloatArray) -> tuple[FloatArray, float]:
    """Weights in a unit that does not depend on the one they were given in, and the factor to it.

    Whole weights stay; multiples of the least one become whole; any others are divided by the largest, since the kernel keeps
    them in single precision.
    """
    weight, scale = canonical(given)
    least, largest = float(weight.min()), float(weight.max())
    if largest < MOST_COPIES and np.array_equal(weight, np.rint(weight)):
        return weight, scale
    multiple = weight / least if least * MOST_COPIES > largest else np.zeros(0)
    if len(multiple) and np.abs(multiple - np.rint(multiple)).max() < 1e-9:
        return np.rint(multiple), scale / least
    return weight / largest, scale / largest


def _one_loss(given: Any) -> Loss:
    loss = loss_of(given)
    if isinstance(loss, str):
        raise refusal("loss", 'one loss with learner="tree"', loss, "choose it with learner='rule', or name one")
    return loss  # type: ignore[no-any-return]


def _stopping(estimator: Any) -> bool:
    if is_auto("early_stopping", estimator.early_stopping, "True, False"):
        return True
    return flag("early_stopping", estimator.early_stopping)


def _options(estimator: Any, seed: int, scale: float) -> BoostedOptions:
    """The parameters of trees, checked; all that is a weight times `scale`."""
    rate = RATE
    if not is_auto("learning_rate", estimator.learning_rate, "a fraction in (0, 1]"):
        rate = fraction("learning_rate", estimator.learning_rate, also=', or "auto"')
    l2 = in_unit(real_number("l2_regularization", estimator.l2_regularization), scale)
    options = BoostedOptions(
        n_trees=count("n_rounds", estimator.n_rounds),
        max_leaf_nodes=count("max_leaf_nodes", estimator.max_leaf_nodes, 2, 256),
        learning_rate=rate,
        l2=l2,
        min_curvature=max(MIN_CURVATURE * l2, SMALLEST_CURVATURE),
        category_smoothing=CATEGORY_SMOOTHING * l2,
        category_l2=CATEGORY_L2 * l2,
        exact=rate == 1.0,
        fit_intercept=flag("fit_intercept", estimator.fit_intercept),
        bundle=False,  # a test of a bundle is no literal, which exports and explanations need
        seed=seed,
    )
    if is_auto("search_fraction", estimator.search_fraction, "a fraction in (0, 1]"):
        return options
    return replace(
        options,
        search_rows=0.0,
        search_fraction=fraction("search_fraction", estimator.search_fraction, also=', or "auto"'),
    )
