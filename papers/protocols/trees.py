"""[T] section 4.2: UDT, top-down trees for each permissible function on the same domains: size against error.

The paper proves, and plots nothing: with two classes B is CART's criterion, Q that of C4.5, M that
of Kearns and Mansour. Trees grow
best-first, so a tree of 8 leaves is the first eight leaves of the one of 32.
"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from papers import statistics
from papers.datasets import suite
from papers.figures.multiclass import linearised_figure
from papers.pages import Chapter, Drawing, Prose, Table, claims
from papers.pages.figures import canvas, lines_with_errors
from papers.pages.verdict import UNTOLD, Statement, chain, same
from papers.protocols import comparison
from papers.protocols.public import loss, public
from papers.scope import Scope, binary_task, constant, folds
from papers.store import Payload, Unit, unit
from permissible.estimators.udt import UDTClassifier
from permissible.evaluation import paired
from permissible.types import AnyArray

SIZES = (2, 4, 8, 16, 32, 64, 128)
METHODS = ("M", "Q", "B", "mu", "zeta")
NAMES = {"M": "Kearns-Mansour", "Q": "C4.5", "B": "CART", "mu": "mu = .99", "zeta": "zeta = -8"}


def plan(scope: Scope) -> tuple[list[Unit], dict[str, str]]:
    """List the units: data sets, sizes, functions, folds."""
    found = scope.find(suite("uls"))
    if scope.quick:
        found = found.at_most(rows=800, count=14)
    count = 3 if scope.quick else 10
    units = [
        unit("trees", name, method, fold, {"leaves": leaves, "folds": count, "seed": scope.seed, "source": source})
        for name, source in found.sources.items()
        for fold in range(count)
        for leaves in SIZES
        for method in METHODS
    ]
    return units, found.missing


def work(one: Unit) -> Payload:
    """Grow one tree; give its error, its number of leaves and the surrogate's value."""
    options = one.options
    task = binary_task(one.dataset)
    train, test = folds(one.dataset, options["folds"], options["seed"])[one.fold]
    target = task.target[train]
    if constant(target):
        return {
            "rows": len(test),
            "error": float(np.mean(task.target[test] != target[0])),
            "train_error": 0.0,
            "leaves": 1,
            "surrogate": 0.0,
        }
    losses = {
        "M": lambda: loss("matsushita"),
        "Q": lambda: loss("logistic"),
        "B": lambda: loss("squared"),
        "mu": lambda: loss("mu", mu=0.99),
        "zeta": lambda: loss("logcosh", zeta=-8.0),
    }
    model = public("UDTClassifier")(loss=losses[one.method](), max_leaf_nodes=options["leaves"], smoothing=0.0)
    model.fit(task.rows(train), target)
    return {
        "rows": len(test),
        "error": float(np.mean(model.predict(task.rows(test)) != task.target[test])),
        "train_error": float(np.mean(model.predict(task.rows(train)) != target)),
        "leaves": 1 + len(model.history_["surrogate"]),
        "surrogate": float(model.certificate_.surrogate),
    }


def _linearised() -> Drawing:
    """Draw Figure 5 of [T] for the tree of a small problem: a positive label where one of two columns is 1."""
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    figure, axes = canvas(width=7.0)
    linearised_figure(UDTClassifier(max_leaf_nodes=3).fit(rows, [0, 1, 1, 1] * 3).model_, axes[0, 0])
    words = "Figure 5: a tree with its leaf scores, and the linearised one, whose values add up along a path"
    return Drawing("figure-5", words, figure)


def chapter(results: Mapping[Unit, Payload], scope: Scope, missing: Mapping[str, str]) -> Chapter:
    """Plot mean error against size, and compare the functions at each size."""
    datasets = comparison.datasets_of(results)
    test = {size: comparison.error_table(_of(results, size), datasets, METHODS) for size in SIZES}
    training = {size: comparison.error_table(_of(results, size), datasets, METHODS, "train_error") for size in SIZES}
    surrogate = {size: comparison.error_table(_of(results, size), datasets, METHODS, "surrogate") for size in SIZES}
    panels = [
        ("test error", _curves(test), None),
        ("training error", _curves(training), None),
    ]
    rows: list[list[str | int | float]] = []
    for size in SIZES:
        wins = statistics.beaten(test[size])
        ranks = paired.average_ranks(test[size])
        rows += [
            [
                size,
                NAMES[method],
                float(test[size][:, i].mean()),
                float(training[size][:, i].mean()),
                float(ranks[i]),
                int(wins[i]),
            ]
            for i, method in enumerate(METHODS)
        ]
    count = next(iter(results)).options["folds"]
    columns = ["leaves, at most", "function", "mean error", "mean training error", "average rank", "beats"]
    blocks: list[Prose | Table | Drawing] = [
        Prose(
            f"{len(datasets)} domains, the first label in sorted order against the rest, stratified {count}-fold, no pruning."
        ),
        *comparison.left_out(missing),
        _linearised(),
        Drawing(
            "size",
            "Mean error against the number of leaves",
            lines_with_errors(panels, "leaves, at most", "mean error"),
        ),
        Table("size", "Size against error; number beaten by a paired t-test at .1", columns, rows, decimals=4),
        comparison.friedman_sentence([NAMES[method] for method in METHODS], test[32]),
        _claims(test, surrogate),
        comparison.per_dataset("errors-32", "Error on every domain, at most 32 leaves", datasets, METHODS, test[32]),
        comparison.sources(results),
    ]
    shown = {"folds": count, "seed": scope.seed, "leaves": " ".join(map(str, SIZES))}
    return Chapter(
        "trees", "Top-down trees for each permissible function ([T] section 4.2)", ("T",), blocks, shown, ("size",)
    )


def _of(results: Mapping[Unit, Payload], size: int) -> dict[Unit, Payload]:
    return {one: payload for one, payload in results.items() if one.options["leaves"] == size}


def _curves(tables: Mapping[int, AnyArray]) -> dict[str, tuple[AnyArray, AnyArray, AnyArray]]:
    sizes = np.array(SIZES)
    none = np.zeros(len(SIZES))
    return {
        NAMES[method]: (sizes, np.array([tables[size][:, i].mean() for size in SIZES]), none)
        for i, method in enumerate(METHODS)
    }


def _claims(test: Mapping[int, AnyArray], surrogate: Mapping[int, AnyArray]) -> Table:
    gap = max(float(np.max(np.abs(table[:, 0] - table[:, 3]))) for table in test.values())
    kept = bool(np.isfinite(surrogate[8]).all())
    rises = max(float(np.max(surrogate[after] - surrogate[before])) for before, after in pairwise(SIZES))
    minimised = "no split of UDT raises the surrogate (part of Theorem 3)"
    faster = "stronger concavity decreases the surrogate faster in the early rounds (Kearns and Mansour)"
    greedy = "the other part, that UDT reaches the minimum, is false: no split helps on XOR (erratum E6)"
    absent = "the surrogates of the trees were not kept in this run"
    return claims(
        "claims",
        [
            same(
                minimised,
                "largest rise of the mean surrogate of a domain from a size to the next",
                max(rises, 0.0),
                greedy,
            )
            if kept
            else Statement(minimised, absent, UNTOLD, greedy),
            chain(
                faster,
                [
                    (f"{NAMES[method]} at 8 leaves", surrogate[8][:, METHODS.index(method)])
                    for method in ("M", "Q", "B")
                ],
                "mean surrogates, each scaled to 1 at a share of one half; of equal leaves that of M is the largest and that "
                "of B the least at every share, so that their order says little of the trees; the statement is about a "
                "worst-case bound",
            )
            if kept
            else Statement(faster, absent, UNTOLD, "the statement is about a worst-case bound"),
            same(
                "mu is a function of its own",
                "largest difference of error between mu = .99 and M on a domain and size",
                gap,
                "the split of least sum of phi is the same for c phi + d (erratum E5)",
                claimed=False,
            ),
        ],
    )
