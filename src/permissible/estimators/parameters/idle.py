"""Parameters that a mode of an estimator does not use: a table for each estimator, and the check.

A value that would have no effect is refused, so that no user relies on it. A default is never refused, nor is a value
that states what the mode does anyway (`early_stopping=False` where nothing is held out). What data in parts cannot do
at all is refused next to the code that cannot do it.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.base import BaseEstimator

from permissible.estimators.parameters.boundary import GENERATED, kernel_named
from permissible.learners.boundary.target import boundaries_of
from permissible.losses import BAGS
from permissible.validation import Words, refusal

MIXED = tuple(name for name in BAGS if name != "F*")
"""The flavours that change the loss between rounds; F* fits ordinary ones and keeps the best."""


Holds = Callable[[BaseEstimator, Mapping[str, object]], bool]
"""Whether an estimator is in a mode, by its parameters and by the facts known only in fit."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A mode in words, whether a fit is in it, and what it does not use.

    `unused` gives each parameter the values, beside its default, that state what the mode does anyway. `remedy` says how
    they would have an effect.
    """

    words: str
    holds: Holds
    unused: Mapping[str, Sequence[object]]
    remedy: str | None = None


def refuse_idle(estimator: BaseEstimator, modes: Sequence[Mode], **facts: object) -> None:
    """Refuse the first parameter (or argument of `fit`, among the facts) that has a value of its own but no effect."""
    defaults = _parameters(type(estimator).__init__)
    for mode in modes:
        if not mode.holds(estimator, facts):
            continue
        for name, neutral in mode.unused.items():
            parameter = name in defaults
            default = defaults[name].default if parameter else None
            value = getattr(estimator, name) if parameter else facts.get(name)
            if not any(_same(value, other) for other in (default, *neutral)):
                expected = f"left at its default {default!r} {mode.words}, where it has no effect"
                plain = isinstance(value, (str, bool, int, float, list, dict, np.generic))
                raise refusal(name, expected, value if plain else Words(f"a {type(value).__name__}"), mode.remedy)


@cache
def _parameters(constructor: Callable[..., None]) -> Mapping[str, inspect.Parameter]:
    """The parameters of an estimator's constructor."""
    return inspect.signature(constructor).parameters


def _same(value: object, other: object) -> bool:
    if value is other:
        return True
    plain = (str, bool, int, float, np.generic)
    return isinstance(value, plain) and isinstance(other, plain) and bool(value == other)


def _is(name: str, *values: object) -> Holds:
    """Whether a parameter has one of the values."""
    return lambda estimator, _: any(_same(getattr(estimator, name), value) for value in values)


def _fact(name: str) -> Holds:
    return lambda _, facts: bool(facts.get(name))


def _unused(*names: str, **neutral: object) -> Mapping[str, Sequence[object]]:
    """Parameters without effect; `neutral` gives the one other value that states what the mode does anyway."""
    return {**dict.fromkeys(names, ()), **{name: (value,) for name, value in neutral.items()}}


ON_PARTS = Mode(
    "on data in parts", _fact("parts"), _unused("max_bins", "categorical_features"), "say it when the data set is made"
)


def _one_test(estimator: BaseEstimator, _: Mapping[str, object]) -> bool:
    """Whether no two columns can meet in a rule or on a path."""
    if _same(estimator.learner, "tree"):
        return _same(estimator.max_leaf_nodes, 2) or _same(estimator.max_depth, 1)
    return _same(estimator.learner, "rule") and _same(estimator.max_literals, 1)


_CONSTRAINTS = ("monotonic_cst", "interaction_cst")
_RULES = ("max_literals", "beam", "criterion", "max_bins", "categorical_features", "validation", "ensemble")
ULS = (
    Mode(
        'with learner="column"',
        _is("learner", "column"),
        _unused(*_RULES, *_CONSTRAINTS, search_fraction=1.0, learning_rate=1.0, early_stopping=False),
    ),
    Mode(
        'with learner="tree"',
        _is("learner", "tree"),
        _unused("beam", "max_literals", "criterion", "warm_start", "ensemble", scheme=1),
    ),
    Mode(
        'without learner="tree"',
        _is("learner", "rule", "column"),
        _unused("max_leaf_nodes", "max_depth", max_features=1.0),
    ),
    Mode(
        "with points",
        lambda estimator, _: estimator.points is not None,
        _unused(
            *("learner", "fit_intercept", "warm_start", "search_fraction", "scheme", "criterion", "ensemble"),
            learning_rate=1.0,
        ),
    ),
    Mode(
        "with a loss that changes between rounds",
        _is("loss", *MIXED),
        _unused("learner", "points", *_CONSTRAINTS, scheme=1),
    ),
    Mode("with a loss that is a bag of losses", _is("loss", *BAGS), _unused("ensemble"), 'name one loss, or "auto"'),
    Mode("with validation rows", lambda _, facts: facts.get("validation") is not None, _unused("ensemble")),
    Mode('without criterion="newton"', _is("criterion", "exact", "impurity"), _unused(*_CONSTRAINTS)),
    Mode("with rules or trees of one test", _one_test, _unused("interaction_cst")),
    Mode(
        "where coefficients are refitted",
        lambda estimator, facts: not _is("scheme", "classic", 1)(estimator, facts),
        _unused("ensemble", learning_rate=1.0),
    ),
    Mode(
        "with warm_start=True",
        _is("warm_start", True),
        _unused("validation", "ensemble", early_stopping=False),
        "set early_stopping=False, or warm_start=False",
    ),
    ON_PARTS,
)


UDT = (
    Mode('without pruning="auto"', lambda estimator, _: not _same(estimator.pruning, "auto"), _unused("pruning_folds")),
    Mode("for two classes, with costs, or a loss without one entropy", _fact("one_entropy"), _unused("multiclass")),
    ON_PARTS,
)


def _kernel(*names: object) -> Holds:
    return lambda estimator, _: kernel_named(estimator) in names or (callable(estimator.kernel) and callable in names)


def _soft(kernel: bool) -> Holds:
    """Whether the boundaries are "soft", with or without a kernel."""
    return lambda estimator, _: (
        boundaries_of(estimator.boundaries) is None and (kernel_named(estimator) is not None) == kernel
    )


_KERNEL = ("gamma", "degree", "coef0")
_GENERATED = ("n_rounds", "max_bins", "categorical_features")
BOUNDARY = (
    Mode("with rules", _is("learner", *GENERATED), _unused("kernel"), "set learner='kernel' for it"),
    Mode(
        "with rules",
        _is("learner", *GENERATED),
        _unused("penalize_intercept", "solver", "max_iter", "warm_start"),
        "set learner='linear' for it",
    ),
    Mode("without learner='rule'", _is("learner", "linear", "kernel", "tree"), _unused("max_literals")),
    Mode("without learner='tree'", _is("learner", "linear", "kernel", "rule"), _unused("max_leaf_nodes")),
    Mode("without rules", _is("learner", "linear", "kernel"), _unused(*_GENERATED)),
    Mode("without a kernel", _kernel(None), _unused(*_KERNEL, "cache_size")),
    Mode("with a kernel that has no parameters", _kernel("linear", "precomputed", callable), _unused(*_KERNEL)),
    Mode('with kernel="rbf"', _kernel("rbf"), _unused("degree", "coef0")),
    Mode('with kernel="sigmoid"', _kernel("sigmoid"), _unused("degree")),
    Mode("without an intercept", _is("fit_intercept", False), _unused("penalize_intercept")),
    Mode('with boundaries="soft" and no kernel', _soft(kernel=False), _unused(solver="newton")),
    Mode('with boundaries="soft" and a kernel', _soft(kernel=True), _unused("solver", "cache_size", "warm_start")),
    Mode('with solver="psgd"', _is("solver", "psgd"), _unused("warm_start")),
)
_STEP = "in partial_fit, one step of the sub-gradient method"
BOUNDARY_STREAM = (
    Mode(_STEP, lambda *_: True, _unused("tol", "max_iter", solver="psgd", warm_start=True), "call fit to set it"),
)

_SIZE = ("max_leaf_nodes", "max_depth")
_GROWTH = (*_SIZE, "max_literals", "min_samples_leaf", "l2_regularization", *_CONSTRAINTS)


def _sampled(estimator: BaseEstimator, _: Mapping[str, object]) -> bool:
    return bool((estimator.subsample != "auto" and estimator.subsample < 1) or estimator.max_features < 1)


def _projected(estimator: BaseEstimator, facts: Mapping[str, object]) -> bool:
    """Whether trees are grown on random projections of the gradient."""
    several = facts.get("n_classes") != 2 and estimator.learner in ("tree", "rule")
    return bool(several and estimator.descent == "gradient")


def _nothing_random(estimator: BaseEstimator, facts: Mapping[str, object]) -> bool:
    return not (_is("_learner", "auto")(estimator, facts) or _sampled(estimator, facts) or _projected(estimator, facts))


_AUTO = (
    *("learning_rate", "subsample", "max_features", *_GROWTH, "line_search"),
    *("early_stopping", "scoring", "patience", "validation_fraction", "calibration", "warm_start"),
)
_NAME = "name a learner to set it, such as learner='tree'"
_RANDOM = "set subsample or max_features below 1, or descent='gradient' with trees"
MCBOOST = (
    Mode('with learner="auto"', _is("_learner", "auto"), _unused(*_AUTO, decision="bayes"), _NAME),
    Mode(
        "with affine terms",
        _is("_learner", "linear", "linear-full"),
        _unused(*_GROWTH, "max_bins", line_search="exact"),
    ),
    Mode('with learner="rule"', _is("_learner", "rule"), _unused(*_SIZE, "monotonic_cst"), "use learner='tree' for it"),
    Mode('with learner="tree"', _is("_learner", "tree"), _unused("max_literals")),
    Mode("with trees or rules of one test", _one_test, _unused("interaction_cst")),
    Mode("without early stopping", _is("early_stopping", False), _unused("patience", "scoring")),
    Mode("where no rows are held out", lambda _, facts: not facts.get("held_out"), _unused("validation_fraction")),
    Mode("where nothing is random", _nothing_random, _unused("n_bags"), _RANDOM),
    Mode("with warm_start=True", _is("warm_start", True), _unused("n_bags")),
    Mode("where rounds see a sample of the rows or columns", _sampled, _unused(tol=0.0)),
    ON_PARTS,
)
