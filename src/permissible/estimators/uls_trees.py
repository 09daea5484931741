"""ULSClassifier on trees: it checks the parameters of trees, calls the learner, and stores."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from permissible.estimators.fit_warning import warn_of
from permissible.estimators.input.source import HasSource, memory_source, source_of
from permissible.estimators.input.training import remember, threads, training_rows
from permissible.estimators.input.weights import canonical, in_unit
from permissible.estimators.parameters.constraints import interaction_groups, monotone_directions
from permissible.estimators.parameters.uls import loss_of, validation_rows
from permissible.estimators.progress import watched
from permissible.learners.trees.boosted_choice import DEFAULT_RATE, LEAVES, Free
from permissible.learners.trees.boosted_fit import FittedTrees, TreesTask, fit_trees
from permissible.learners.trees.boosted_options import BoostedOptions
from permissible.losses import Loss
from permissible.rows.local import LocalSource
from permissible.rows.source import Source
from permissible.types import AnyArray
from permissible.validation import Words, refusal
from permissible.validation.numbers import count, flag, fraction, is_auto, real_number

if TYPE_CHECKING:
    from permissible.estimators.uls import ULSClassifier

MIN_CURVATURE, CATEGORY_SMOOTHING, CATEGORY_L2 = 0.2, 1.0, 20.0
"""Of a leaf, and of categories, in units of `l2_regularization`: all four are weights."""
SMALL_SAMPLE = 0.5
"""The fraction of a small table that a search looks at: trees that differ more generalise better."""


def fit_boosted_trees(
    estimator: "ULSClassifier", X: object, y: object, sample_weight: object, validation: object, seed: int
) -> None:
    """Boosted trees, stored in the estimator."""
    n_threads, loss = threads(estimator.n_jobs), _one_loss(estimator.loss)
    rows, scale = None, 1.0
    if isinstance(X, HasSource):
        source = source_of(X, y, sample_weight, estimator.class_weight)
        if validation is not None:
            raise refusal("validation", "None on data in parts", Words("rows"), "rows are held out by their content")
    else:
        given = training_rows(estimator, X, y, sample_weight, n_threads=n_threads)
        weight, scale = canonical(given.weight) if given.weighted else (np.ones(0), 1.0)
        narrow = np.promote_types(np.uint16, np.min_scalar_type(len(given.classes)))  # as the kernel keeps them
        target: AnyArray = given.target.astype(narrow)
        given = replace(given, target=target, weight=weight)
        binned = given.bins(estimator.max_bins, seed, n_threads)
        rows = None if validation is None else validation_rows(validation, given, binned.binning)
        source = memory_source(given, binned, seed, n_threads)
    options = _constrained(estimator, _options(estimator, seed, scale), source)
    found = _fitted(estimator, source, loss, options, rows, n_threads)
    remember(estimator, source.classes, source.binning.schema)
    _store(estimator, found)


def _fitted(
    estimator: "ULSClassifier",
    source: Source,
    loss: Loss,
    options: BoostedOptions,
    validation: LocalSource | None,
    n_threads: int,
) -> FittedTrees:
    stopping = estimator.early_stopping
    with watched(estimator, options.n_trees) as callback:
        task = TreesTask(
            loss,
            options,
            _free(estimator),
            is_auto("early_stopping", stopping, "True, False") or flag("early_stopping", stopping),
            validation,
            real_number("tol", estimator.tol),
            0.0 if estimator.max_time is None else real_number("max_time", estimator.max_time),
            n_threads,
            callback,
        )
        return fit_trees(source, task)


def _store(estimator: "ULSClassifier", found: FittedTrees) -> None:
    estimator.__dict__.pop("_coverage", None)  # of rules that an earlier fit found
    estimator._remember_start(None)
    estimator.model_, estimator.history_ = found.model, found.history
    estimator.certificate_, estimator.selection_ = found.certificate, found.selection
    estimator.loss_evidence_ = None
    warn_of([found.certificate.doubts])


def _one_loss(given: str | Loss) -> Loss:
    loss = loss_of(given)
    if isinstance(loss, str):
        raise refusal("loss", 'one loss with learner="tree"', loss, "choose it with learner='rule', or name one")
    return loss


def _free(estimator: "ULSClassifier") -> Free:
    """What the held-out rows choose: whatever is "auto"."""
    values = estimator.learning_rate, estimator.max_leaf_nodes, estimator.max_features
    return Free(*(isinstance(value, str) and value == "auto" for value in values))


def _constrained(estimator: "ULSClassifier", options: BoostedOptions, source: Source) -> BoostedOptions:
    """The options with the directions of the columns and the groups that may meet on a path."""
    schema = source.binning.schema
    directions = monotone_directions(estimator.monotonic_cst, schema, len(source.classes))
    groups = interaction_groups(estimator.interaction_cst, schema)
    return replace(
        options,
        monotone=() if directions is None else tuple(int(way) for way in directions),
        interactions=() if groups is None else tuple(tuple(sorted(group)) for group in groups),
    )


def _options(estimator: "ULSClassifier", seed: int, scale: float) -> BoostedOptions:
    """The parameters of trees, checked; all that is a weight times `scale`, and what is "auto" where a search begins."""
    rate, leaves, columns = DEFAULT_RATE, LEAVES, 1.0
    if not is_auto("learning_rate", estimator.learning_rate, "a fraction in (0, 1]"):
        rate = fraction("learning_rate", estimator.learning_rate, also=', or "auto"')
    if not is_auto("max_leaf_nodes", estimator.max_leaf_nodes, "a whole number from 2 to 256"):
        leaves = count("max_leaf_nodes", estimator.max_leaf_nodes, 2, 256)
    if not is_auto("max_features", estimator.max_features, "a fraction in (0, 1]"):
        columns = fraction("max_features", estimator.max_features, also=', or "auto"')
    l2 = in_unit(real_number("l2_regularization", estimator.l2_regularization), scale)
    options = BoostedOptions(
        n_trees=count("n_rounds", estimator.n_rounds),
        max_leaf_nodes=leaves,
        max_depth=0 if estimator.max_depth is None else count("max_depth", estimator.max_depth),
        learning_rate=rate,
        column_fraction=columns,
        l2=l2,
        min_curvature=MIN_CURVATURE * l2,
        category_smoothing=CATEGORY_SMOOTHING * l2,
        category_l2=CATEGORY_L2 * l2,
        exact=rate == 1.0,
        fit_intercept=flag("fit_intercept", estimator.fit_intercept),
        seed=seed,
    )
    if is_auto("search_fraction", estimator.search_fraction, "a fraction in (0, 1]"):
        return replace(options, small_fraction=1.0 if rate == 1.0 else SMALL_SAMPLE)
    searched = fraction("search_fraction", estimator.search_fraction, also=', or "auto"')
    return replace(options, search_rows=0.0, search_fraction=searched)
