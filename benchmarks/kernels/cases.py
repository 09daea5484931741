"""The kernels that are watched, each on small data of its own: a name to a function that makes the data and returns the work.

The reference is NumPy's own histogram, which is no code of ours: how many times its time a kernel takes says something on any
machine, what the clock showed on one machine does not.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.data import higgs_like

Thunk = Callable[[], Any]
ROWS, COLUMNS = 100_000, 8


@cache
def reference() -> Thunk:
    """A histogram of a million codes by NumPy."""
    random = np.random.default_rng(0)
    codes, weight = random.integers(0, 255, 1_000_000), random.random(1_000_000)
    return lambda: np.bincount(codes, weights=weight, minlength=256)


@cache
def _binned() -> Any:
    from permissible.bins.encoding import encode
    from permissible.bins.find import find_bins
    from permissible.table import read

    table = read(higgs_like(ROWS, COLUMNS)[0])
    return encode(find_bins(table), table)


def binning() -> Thunk:
    """Edges of 255 bins and the codes of every row."""
    from permissible.bins.encoding import encode
    from permissible.bins.find import find_bins
    from permissible.table import read

    table = read(higgs_like(ROWS, COLUMNS)[0])
    return lambda: encode(find_bins(table), table)


def histogram() -> Thunk:
    """Integer sums of signed weights in every bin of eight columns."""
    from permissible.kernels._core import boosting

    weight = np.random.default_rng(0).normal(size=ROWS).astype(np.float32)
    blocks = _binned().blocks
    return lambda: boosting.histogram(blocks, COLUMNS, weight, None, None, None, 2.0**20, 2.0**20)


def rule_mask() -> Thunk:
    """The rows that a rule of two literals covers."""
    from permissible.bins.literal import Literal
    from permissible.kernels._core import boosting

    blocks, rule = _binned().blocks, tuple(Literal(column, "<=", codes=(99,)) for column in (0, 5))
    return lambda: boosting.rule_mask(blocks, COLUMNS, rule)


def boosting() -> Thunk:
    """Ten rounds of rules of two literals with exact leverage."""
    from permissible import losses
    from permissible.learners.uls.fit import Task, fit_rules
    from permissible.learners.uls.options import ULSOptions
    from permissible.rows.local import LocalSource
    from permissible.rows.part import MemoryPart

    binned, y = _binned(), higgs_like(ROWS, COLUMNS)[1].astype(np.int64)
    source = LocalSource((MemoryPart(binned, y),), binned.binning, np.arange(2), ROWS, weighted=False)
    task = Task(losses.get("logistic"), (ULSOptions(10, 2, l2=1.0, learning_rate=0.3),), stopping=False)
    return lambda: fit_rules(source, 1, task)


def rule_scores() -> Thunk:
    """Scores of a hundred rules of two literals."""
    from permissible import ULSClassifier

    X, y = higgs_like(ROWS, COLUMNS)
    model = ULSClassifier(n_rounds=100, max_literals=2, early_stopping=False, random_state=0).fit(X[:5000], y[:5000])
    return lambda: model.decision_function(X)


def tree_growth() -> Thunk:
    """A tree of 63 leaves, binning included."""
    from permissible import UDTClassifier

    X, y = higgs_like(ROWS, COLUMNS)
    return lambda: UDTClassifier(max_leaf_nodes=63).fit(X, y)


def tree_leaves() -> Thunk:
    """The leaf of every row."""
    from permissible import UDTClassifier

    X, y = higgs_like(ROWS, COLUMNS)
    tree = UDTClassifier(max_leaf_nodes=63).fit(X, y)
    return lambda: tree.apply(X)


def dense_solver() -> Thunk:
    """Three boundaries on dense rows, to a gap of 1e-6."""
    from permissible import BoundaryClassifier

    X, y = higgs_like(20_000, 20)
    scaled = np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0), dtype=np.float64)
    return lambda: BoundaryClassifier([0.25, 0.5, 0.75], alpha=1e-3).fit(scaled, y)


def kernel_solver() -> Thunk:
    """Three boundaries with a Gaussian kernel."""
    from permissible import BoundaryClassifier

    X, y = higgs_like(1000, 10)
    return lambda: BoundaryClassifier([0.25, 0.5, 0.75], alpha=1e-3, kernel="rbf", gamma=0.05, tol=1e-4).fit(X, y)


def multiclass_linear() -> Thunk:
    """Five rounds of affine terms for five classes."""
    return _multiclass("linear")


def multiclass_trees() -> Thunk:
    """Five rounds of stumps for five classes."""
    return _multiclass("tree", max_leaf_nodes=2)


def _multiclass(learner: str, **more: Any) -> Thunk:
    from permissible import MCBoostClassifier

    X, _ = higgs_like(20_000, COLUMNS)
    noise = np.random.default_rng(0).normal(size=len(X))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 3] + 0.5 * noise, [-1, -0.3, 0.3, 1])
    return lambda: MCBoostClassifier(n_rounds=5, learner=learner, calibration=None, random_state=0, **more).fit(X, y)


CASES: dict[str, Callable[[], Thunk]] = {
    function.__name__.replace("_", " "): function
    for function in (
        binning,
        histogram,
        rule_mask,
        boosting,
        rule_scores,
        tree_growth,
        tree_leaves,
        dense_solver,
        kernel_solver,
        multiclass_linear,
        multiclass_trees,
    )
}
