"""Every estimator in every mode, fitted through one function: what the tests of invariances run over.

A mode says how to fit given the unit of the weights (parameters that are weights are multiplied by it), how many classes it
takes, how near equal models must be, and which changes of the data may change the model in principle (docs/guarantees.md):

- `shuffles`: held-out rows or folds are drawn by a hash of all columns, so that a further column draws anew,
- `sampled`: a search looks at a sample, in which columns may tie that differ on all rows,
- `drawn`: columns or tests are drawn by their position,
- `ordered`: the order of three classes or more matters,
- `counts_rows`: a prior or test is worth one row of weight 1, so that the unit of the weights matters,
- `counts_copies`: whole weights count as copies (of a least number of rows, or of rounded terms), so that their unit matters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import permissible as pm
from permissible import losses

ULS, UDT, MCB, BND, CV = (
    pm.ULSClassifier,
    pm.UDTClassifier,
    pm.MCBoostClassifier,
    pm.BoundaryClassifier,
    pm.BoundaryClassifierCV,
)
OWN = losses.from_phi(lambda p: 4 * p * (1 - p), name="own")


@dataclass(frozen=True)
class Mode:
    make: Callable[[float], Any]
    classes: tuple[int, ...] = (2,)
    near: float = 1e-9
    shuffles: bool = False
    drawn: bool = False
    sampled: bool = False
    ordered: bool = False
    counts_rows: bool = False
    counts_copies: bool = False
    parts: bool = False


def uls(*given, l2=1.0, **more):
    literals = {} if more.get("learner") in ("column", "tree") else {"max_literals": 2}
    return lambda unit: ULS(
        *given, **{"n_rounds": 5, **literals, "early_stopping": False, "l2_regularization": l2 * unit, **more}
    )


def mcb(*given, l2=1.0, least=1.0, **more):
    learner = more.get("learner", "linear")

    def made(unit):
        grown = (
            {"l2_regularization": l2 * unit, "min_samples_leaf": least * unit} if learner in ("rule", "tree") else {}
        )
        return MCB(
            *given,
            **{
                "learner": learner,
                "n_rounds": 5,
                **grown,
                **({"max_leaf_nodes": 6} if learner == "tree" else {}),
                **more,
            },
        )

    return made


def fixed(kind, **more):
    return lambda unit: kind(**more)


BOTH = (2, 3)
MODES = {
    "rules": Mode(uls(), BOTH),
    "rules, l2 = 0": Mode(uls(l2=0.0, fit_intercept=False)),
    "rules, hold-out": Mode(uls(early_stopping=True, max_literals="auto"), BOTH, counts_copies=True),
    "rules, four literals": Mode(uls(max_literals=4, beam=4)),
    "rules, corrective": Mode(uls(scheme="corrective"), BOTH),
    "rules, blocks": Mode(uls(scheme=3)),
    "rules, exponential": Mode(uls("exponential")),
    "rules, own phi": Mode(uls(OWN, n_rounds=2, max_literals=1)),
    "rules, F1": Mode(uls("F1", fit_intercept=False)),
    "rules, F*": Mode(uls("F*", fit_intercept=False)),
    "rules, E2": Mode(uls("E2", fit_intercept=False)),
    "rules, auto loss": Mode(uls("auto")),
    "rules, balanced": Mode(uls(class_weight="balanced")),
    "rules, parts": Mode(uls(), BOTH, parts=True),
    "rules, hold-out, parts": Mode(uls(early_stopping=True), parts=True),
    "rules, corrective, parts": Mode(uls(scheme="corrective"), parts=True),
    "leaves": Mode(uls(learner="tree", search_fraction=1.0), BOTH),
    "leaves, sampled": Mode(uls(learner="tree"), BOTH, sampled=True),
    "leaves, parts": Mode(uls(learner="tree"), BOTH, sampled=True, parts=True),
    "leaves, hold-out": Mode(uls(learner="tree", early_stopping=True)),
    "columns": Mode(uls(learner="column"), BOTH),
    "columns, corrective": Mode(uls(learner="column", scheme="corrective"), near=1e-8),
    "tree": Mode(fixed(UDT, smoothing=0.0, max_leaf_nodes=8, min_samples_leaf=5), BOTH, counts_copies=True),
    "tree, least weight": Mode(fixed(UDT, smoothing=0.0, max_leaf_nodes=8, min_weight_fraction_leaf=0.05)),
    "tree, smoothed": Mode(lambda unit: UDT(max_leaf_nodes=8, min_samples_leaf=5, smoothing=unit), counts_copies=True),
    "tree, pruned": Mode(
        fixed(UDT, smoothing=0.0, max_leaf_nodes=12, min_samples_leaf=3, pruning=0.01), counts_copies=True
    ),
    "tree, pruned by folds": Mode(
        fixed(UDT, smoothing=0.0, max_leaf_nodes=12, min_samples_leaf=3, pruning="auto"),
        counts_rows=True,
    ),
    "tree, parts": Mode(
        fixed(UDT, smoothing=0.0, max_leaf_nodes=8, min_samples_leaf=5), BOTH, counts_copies=True, parts=True
    ),
    "boundary": Mode(fixed(BND, tol=1e-9), near=1e-6),
    "boundary, three": Mode(fixed(BND, boundaries=(0.3, 0.5, 0.7), tol=1e-9), near=1e-6),
    "boundary, balanced": Mode(fixed(BND, alpha=1.0, class_weight="balanced", tol=1e-9), near=1e-6),
    "boundary, coordinates": Mode(fixed(BND, solver="dcd", alpha=0.1, tol=1e-9), near=1e-4),
    "boundary, rules": Mode(fixed(BND, learner="rule", n_rounds=12, tol=1e-9), near=1e-6),
    "boundary, trees": Mode(
        fixed(BND, boundaries=(0.3, 0.7), learner="tree", n_rounds=12, max_leaf_nodes=5, tol=1e-9), near=1e-6
    ),
    "boundary, stumps": Mode(
        fixed(BND, boundaries=(0.3, 0.7), learner="rule", alpha=0.02, max_literals=1, tol=1e-9), near=1e-6
    ),
    "boundary, soft": Mode(fixed(BND, boundaries="soft"), near=1e-6),
    "boundary, kernel": Mode(fixed(BND, kernel="rbf", gamma=0.2, alpha=0.01), near=1e-6),
    "boundary, kernel, balanced": Mode(
        fixed(BND, kernel="rbf", gamma=0.2, alpha=0.1, class_weight="balanced"), near=1e-6
    ),
    "boundary, kernel, soft": Mode(fixed(BND, boundaries="soft", kernel="rbf", gamma=0.2, alpha=0.01), near=1e-6),
    "boundary, folds": Mode(fixed(CV, alphas=[0.1, 0.01], cv=3), near=1e-5, shuffles=True),
    "boundary, parts": Mode(fixed(BND, tol=1e-9), near=1e-4, parts=True),
    "mcboost, linear": Mode(mcb(), BOTH, ordered=True),
    "mcboost, linear, gradient": Mode(mcb(descent="gradient"), BOTH, counts_copies=True),
    "mcboost, all attributes": Mode(mcb(learner="linear-full"), BOTH, near=1e-7, ordered=True),
    "mcboost, exponential": Mode(mcb("gel"), ordered=True),
    "mcboost, rules": Mode(mcb(learner="rule"), BOTH, ordered=True),
    "mcboost, trees": Mode(mcb(learner="tree", least=3.0), BOTH, ordered=True, counts_copies=True),
    "mcboost, trees, gradient": Mode(mcb(learner="tree", least=3.0, descent="gradient"), BOTH, counts_copies=True),
    "mcboost, trees, hold-out": Mode(
        mcb(learner="tree", least=3.0, early_stopping=True, scoring="surrogate"),
        BOTH,
        ordered=True,
        counts_copies=True,
    ),
    "mcboost, trees, sampled": Mode(
        mcb(learner="tree", least=3.0, subsample=0.7, n_bags=2), BOTH, sampled=True, ordered=True, counts_copies=True
    ),
    "mcboost, trees, random tests": Mode(
        mcb(learner="tree", least=3.0, max_features=0.5), BOTH, drawn=True, ordered=True, counts_copies=True
    ),
    "mcboost, calibrated": Mode(mcb("ls"), (3,), near=1e-5, shuffles=True, ordered=True, counts_rows=True),
    "mcboost, auto": Mode(mcb(learner="auto", n_rounds=3), BOTH, 1e-5, drawn=True, ordered=True, counts_rows=True),
    "mcboost, trees, parts": Mode(mcb(learner="tree", least=3.0), BOTH, ordered=True, counts_copies=True, parts=True),
    "mcboost, linear, parts": Mode(mcb(), near=1e-7, ordered=True, parts=True),
}


@cache
def table(seed, n_classes, n_rows=110, n_columns=4):
    """Rows of numbers that float32 holds, classes that overlap."""
    generator = np.random.default_rng(seed)
    X = np.rint(generator.normal(size=(n_rows, n_columns)) * 64) / 64
    score = X @ generator.normal(size=n_columns) + generator.normal(size=n_rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def names_of(n_columns):
    return [f"c{j}" for j in range(n_columns)]


def frame(X, names=None):
    """The columns with their names: held-out rows depend on those, not on the order of the columns."""
    return pd.DataFrame(np.asarray(X), columns=names or names_of(X.shape[1]))


def fitted(mode, X, y, weight=None, unit=1.0, names=None):
    """A fitted estimator, in memory or from three batches."""
    estimator, columns = mode.make(unit), frame(X, names)
    if not mode.parts:
        return estimator.fit(columns, y, sample_weight=weight)
    batches = [
        {**{name: columns[name].to_numpy()[rows] for name in columns}, "y": np.asarray(y)[rows]}
        | ({} if weight is None else {"w": np.asarray(weight)[rows]})
        for rows in np.array_split(np.arange(len(y)), 3)
    ]
    linear = not isinstance(estimator, ULS | UDT) and getattr(estimator, "learner", "linear") == "linear"
    more = {"keep_values": True} if linear else {}
    data = pm.BinnedDataset.from_batches(batches, target="y", weight=None if weight is None else "w", **more)
    return estimator.fit(data)


def probabilities(estimator, X, names=None):
    return estimator.predict_proba(frame(X, names))


@cache
def plain(name, n_classes, seed):
    """The probabilities of a mode on its own rows, as they are: what every change of the data is compared with."""
    X, y = table(seed, n_classes)
    return probabilities(fitted(MODES[name], X, y), X)


STRETCHED = {name for name in MODES if name.startswith(("columns", "boundary"))}
"""Modes in which a column given twice counts more (penalties, kernels)."""


def cases(*, without=(), memory=False, stretched=True):
    """Pairs of a mode and a number of classes, without those for which a change may change the model."""
    return [
        (name, n_classes)
        for name, mode in MODES.items()
        for n_classes in mode.classes
        if not any(getattr(mode, tag) for tag in without)
        and not (memory and mode.parts)
        and (stretched or name not in STRETCHED)
    ]
