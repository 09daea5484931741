"""The changes of the data that must not change a model, each with the modes for which that is promised."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import permissible as pm
from tests.estimators.invariant_modes import (
    BND,
    MCB,
    MODES,
    UDT,
    ULS,
    Mode,
    cases,
    fitted,
    frame,
    names_of,
    plain,
    probabilities,
    table,
)

LARGE_SCALES = (2.0**24, 2.0**-30, 1e10, 1e-10, 1e40, 1e-45, 1e240, 1e-240)


@dataclass(frozen=True)
class Case:
    """One claim for one mode."""

    claim: Callable[[str, int, int], None]
    name: str
    n_classes: int

    def check(self, seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pm.DoubtfulFitWarning)  # honest, and not the subject here
            self.claim(self.name, self.n_classes, seed)

    def __str__(self):
        return f"{self.claim.__name__.replace('_', ' ')} ({self.name}, {self.n_classes} classes)"


def same(name, seed, n_classes, estimator, X, mirrored=False):
    """The probabilities of the changed fit are those of the plain one."""
    found = probabilities(estimator, X)
    found = found[:, ::-1] if mirrored else found
    np.testing.assert_allclose(found, plain(name, n_classes, seed), rtol=0, atol=MODES[name].near)


def shuffled(seed, length):
    return np.random.default_rng(1000 + seed).permutation(length)


def the_order_of_the_rows(name, n_classes, seed):
    X, y = table(seed, n_classes)
    order = shuffled(seed, len(y))
    same(name, seed, n_classes, fitted(MODES[name], X[order], y[order]), X)


def the_order_of_the_columns(name, n_classes, seed):
    """Exact ties go to the first column; with weights that all differ only tests that part the rows alike can tie."""
    X, y = table(seed, n_classes)
    weight = np.random.default_rng(seed).random(len(y)) + 0.5
    order = shuffled(seed, X.shape[1])
    names = [names_of(X.shape[1])[j] for j in order]
    first = probabilities(fitted(MODES[name], X, y, weight), X)
    second = probabilities(fitted(MODES[name], X[:, order], y, weight, names=names), X[:, order], names)
    np.testing.assert_allclose(second, first, rtol=0, atol=MODES[name].near)


def a_constant_column(name, n_classes, seed):
    X, y = table(seed, n_classes)
    more = np.column_stack([X, np.full(len(y), 3.0)])
    same(name, seed, n_classes, fitted(MODES[name], more, y), more)


def a_column_given_twice(name, n_classes, seed):
    X, y = table(seed, n_classes)
    more = np.column_stack([X, X[:, 1]])
    same(name, seed, n_classes, fitted(MODES[name], more, y), more)


def the_names_of_the_classes(name, n_classes, seed):
    X, y = table(seed, n_classes)
    estimator = fitted(MODES[name], X, np.array(["ann", "bob", "cyd"])[y])
    assert estimator.classes_.tolist() == ["ann", "bob", "cyd"][:n_classes]
    same(name, seed, n_classes, estimator, X)


def the_order_of_the_classes(name, n_classes, seed):
    X, y = table(seed, n_classes)
    same(name, seed, n_classes, fitted(MODES[name], X, n_classes - 1 - y), X, mirrored=True)


def rows_of_weight_zero(name, n_classes, seed):
    X, y = table(seed, n_classes)
    more, labels = np.vstack([X, X[:30] + 0.5]), np.concatenate([y, (y[:30] + 1) % n_classes])
    order = shuffled(seed, len(labels))
    weight = np.repeat([1.0, 0.0], [len(y), 30])
    same(name, seed, n_classes, fitted(MODES[name], more[order], labels[order], weight[order]), X)


def single_precision(name, n_classes, seed):
    X, y = table(seed, n_classes)
    found = probabilities(fitted(MODES[name], X.astype(np.float32), y), X.astype(np.float32))
    np.testing.assert_allclose(found, plain(name, n_classes, seed), rtol=0, atol=max(MODES[name].near, 1e-6))


def whether_a_row_has_weight_two_or_comes_twice(name, n_classes, seed):
    X, y = table(seed, n_classes)
    copies = np.random.default_rng(seed).integers(1, 4, len(y))
    twice = np.repeat(np.arange(len(y)), copies)
    first = probabilities(fitted(MODES[name], X, y, copies.astype(np.float64)), X)
    second = probabilities(fitted(MODES[name], X[twice], y[twice]), X)
    np.testing.assert_allclose(first, second, rtol=0, atol=MODES[name].near)


def the_unit_of_the_weights(name, n_classes, seed):
    """Every weight times c, and every parameter that is a weight (l2, min_samples_leaf, smoothing) times c."""
    X, y = table(seed, n_classes)
    mode, generator = MODES[name], np.random.default_rng(seed)
    real, whole = generator.random(len(y)) + 0.2, generator.integers(1, 6, len(y)).astype(np.float64)
    for weight, own in ((real, 0),) if mode.counts_copies else ((real, 0), (whole, 4)):
        first = probabilities(fitted(mode, X, y, weight), X)
        scales = (2.0**24, 2.0**-20, 1e10) if mode.parts else LARGE_SCALES
        for scale in (scales[(seed + own) % len(scales)], scales[(seed + own + 1) % len(scales)]):
            found = probabilities(fitted(mode, X, y, weight * scale, unit=scale), X)
            np.testing.assert_allclose(found, first, rtol=0, atol=mode.near)


CLAIMS: dict[Callable[[str, int, int], None], dict[str, object]] = {
    the_order_of_the_rows: {},
    the_order_of_the_columns: {"without": ("shuffles", "drawn", "sampled")},
    a_constant_column: {"without": ("shuffles", "drawn"), "memory": True},
    a_column_given_twice: {"without": ("shuffles", "drawn"), "memory": True, "stretched": False},
    the_names_of_the_classes: {},
    the_order_of_the_classes: {},
    rows_of_weight_zero: {},
    single_precision: {"memory": True},
    whether_a_row_has_weight_two_or_comes_twice: {},
    the_unit_of_the_weights: {"without": ("counts_rows",)},
}
CASES = [
    Case(claim, name, n_classes)
    for claim, options in CLAIMS.items()
    for name, n_classes in cases(**options)
    if not (claim is the_order_of_the_classes and n_classes > 2 and MODES[name].ordered)
]

CONTAINERS: dict[str, Callable[[pd.DataFrame], object]] = {
    "pandas": lambda given: given,
    "polars": lambda given: pl.DataFrame({name: given[name].to_numpy() for name in given}),
    "arrow": lambda given: pa.table({name: given[name].to_numpy() for name in given}),
    "mapping": lambda given: {name: given[name].to_numpy() for name in given},
}
KINDS: dict[str, Mode] = {
    "rules": Mode(lambda unit: ULS(n_rounds=5)),
    "columns": Mode(lambda unit: ULS(n_rounds=5, learner="column")),
    "tree": Mode(lambda unit: UDT(max_leaf_nodes=8)),
    "boundary": Mode(lambda unit: BND()),
    "kernel": Mode(lambda unit: BND(kernel="rbf", alpha=0.01)),
    "mcboost": Mode(lambda unit: MCB(n_rounds=5)),
    "mcboost trees": Mode(lambda unit: MCB(n_rounds=5, learner="tree")),
}


def check_container(kind, container):
    """The same bits from a NumPy array and from a table of another library with the names that the array's columns get."""
    X, y = table(0, 2)
    given = frame(X, [f"x{j}" for j in range(X.shape[1])])
    first = KINDS[kind].make(1.0).fit(X, y)
    changed = CONTAINERS[container](given)
    second = KINDS[kind].make(1.0).fit(changed, y)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(changed))
