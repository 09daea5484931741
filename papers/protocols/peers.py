"""Our estimators with default settings beside the established libraries, on the same folds of the same domains.

Error, log-loss, Brier score, fit time, model size; then the compact budget: ten rules of at most two literals. err100 is the
mean error over the sets with at least 100 rows and 10 positive ones, since the tiny sets swing the plain mean.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from papers.datasets import suite
from papers.pages import Chapter, Prose, Table
from papers.pages.chapter import Cell
from papers.protocols import comparison
from papers.protocols.rivals import BY_NAME, RIVALS, Rival
from papers.scope import Scope, binary_task, constant, folds, one_hot
from papers.store import Payload, Unit, unit
from permissible.evaluation import paired
from permissible.types import AnyArray


def plan(scope: Scope) -> tuple[list[Unit], dict[str, str]]:
    """List the units: data sets, folds, rivals."""
    found = scope.find(suite("uls"))
    if scope.quick:
        found = found.at_most(rows=700, count=8)
    count = 2 if scope.quick else 10
    units = [
        unit("peers", name, rival.name, fold, {"folds": count, "seed": scope.seed, "source": source})
        for name, source in found.sources.items()
        for fold in range(count)
        for rival in RIVALS
        if rival.installed
    ]
    absent = {rival.package: "not installed" for rival in RIVALS if not rival.installed}
    return units, {**found.missing, **absent}


def work(one: Unit) -> Payload:
    """Fit one rival on one training part and measure it on the test part; a rival that fails predicts the base rate."""
    options = one.options
    task = binary_task(one.dataset)
    train, test = folds(one.dataset, options["folds"], options["seed"])[one.fold]
    target = task.target[train]
    base = np.full(len(test), float(np.mean(target)))
    positives = int(np.sum(task.target))
    facts = {"rows": len(test), "positives": positives, "all_rows": len(task.target)}
    if constant(target):
        return {**facts, **_measures(task.target[test], base), "seconds": 0.0, "size": 0}
    rival = BY_NAME[one.method]
    table = _input(rival, one.dataset)
    start = time.process_time()
    try:
        with warnings.catch_warnings():  # what a rival mutters about its defaults is its own affair
            warnings.simplefilter("ignore")
            model = rival.fit(_rows(table, train), target, options["seed"])
            seconds = time.process_time() - start
            probability = np.asarray(model.predict_proba(_rows(table, test)), dtype=np.float64)[:, 1]
            size = int(rival.size(model))
    except Exception as error:  # any library may fail in any way on a strange set: it is counted, and said
        if rival.ours:
            raise
        said = f"{type(error).__name__}: {error}"[:200]
        return {**facts, **_measures(task.target[test], base), "seconds": None, "size": None, "failed": said}
    return {**facts, **_measures(task.target[test], probability), "seconds": seconds, "size": size}


def _measures(target: AnyArray, probability: AnyArray) -> dict[str, float]:
    tiny = np.finfo(np.float64).eps
    clipped = np.clip(probability, tiny, 1 - tiny)
    likelihood = np.where(target == 1, clipped, 1 - clipped)
    return {
        "error": float(np.mean((probability >= 0.5) != (target == 1))),
        "log_loss": float(-np.mean(np.log(likelihood))),
        "brier": float(np.mean((probability - target) ** 2)),
    }


def _input(rival: Rival, name: str) -> Any:
    task = binary_task(name)
    if rival.ours and rival.input == "frame":
        return task.frame
    if rival.input == "onehot" or not hasattr(task.frame, "iloc"):
        return one_hot(name)
    renamed = task.frame.copy()
    renamed.columns = [f"x{place}" for place in range(renamed.shape[1])]
    return renamed


def _rows(table: Any, rows: AnyArray) -> Any:
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def chapter(results: Mapping[Unit, Payload], scope: Scope, missing: Mapping[str, str]) -> Chapter:
    """Make the quality tables: full-size rivals, the compact budget, and what exceeds it."""
    datasets = comparison.datasets_of(results)
    count = next(iter(results)).options["folds"]
    done = len({one.fold for one in results})
    early = f" A run that was ended early: {done} of the {count} folds." if done < count else ""
    blocks: list[Prose | Table] = [
        Prose(
            f"{len(datasets)} domains, the first label in sorted order against the rest, stratified {count}-fold, one thread. "
            "err100 is over the sets with at least 100 rows and 10 positive ones. Size counts leaves, rules, terms or curves. "
            "Fit time is the median over sets and folds, in milliseconds of processor time. Stopped: a fifth of the "
            "training part decides the number of rounds. Compact LightGBM has learning rate .5 and 5 rows a leaf."
            + early
        ),
        *comparison.left_out(missing),
    ]
    for group, caption in (
        ("full", "Full size, default settings (EBM with two bags)"),
        ("compact", "Compact: ten rules of at most two literals, or as much"),
        ("over", "Over the compact budget"),
    ):
        methods = [rival.name for rival in RIVALS if rival.group == group and rival.installed]
        blocks += _group(group, caption, results, datasets, methods)
    blocks.append(comparison.sources(results))
    headline = ("quality-full", "quality-compact", "quality-over")
    shown = {"folds": count, "seed": scope.seed}
    return Chapter("peers", "Beside the established libraries", ("peers",), blocks, shown, headline)


def _group(
    group: str, caption: str, results: Mapping[Unit, Payload], datasets: Sequence[str], methods: Sequence[str]
) -> list[Prose | Table]:
    own = {one: payload for one, payload in results.items() if one.method in methods}
    large = {one.dataset for one, payload in own.items() if payload["all_rows"] >= 100 and payload["positives"] >= 10}
    kept = np.array([name in large for name in datasets])
    error = comparison.error_table(own, datasets, methods)
    log_loss = comparison.error_table(own, datasets, methods, "log_loss").mean(axis=0)
    brier = comparison.error_table(own, datasets, methods, "brier").mean(axis=0)
    ranks = paired.average_ranks(error)
    rows: list[list[Cell]] = []
    for i in np.argsort(error[kept].mean(axis=0) if kept.any() else error.mean(axis=0), kind="stable"):
        payloads = [payload for one, payload in own.items() if one.method == methods[i]]
        times = [payload["seconds"] for payload in payloads if payload["seconds"]]
        sizes = [payload["size"] for payload in payloads if payload["size"]]
        rows.append(
            [
                methods[i],
                float(ranks[i]),
                float(error[:, i].mean()),
                float(error[kept, i].mean()) if kept.any() else None,
                float(log_loss[i]),
                float(brier[i]),
                round(float(np.mean(sizes)), 1) if sizes else None,
                1000 * float(np.median(times)) if times else None,
                sum("failed" in payload for payload in payloads),
            ]
        )
    columns = ["method", "rank", "err", "err100", "log-loss", "Brier", "size", "fit, ms", "failed folds"]
    best = comparison.friedman_sentence(methods, error) if len(methods) > 2 else Prose("")
    return [
        Table(f"quality-{group}", caption, columns, rows),
        best,
        comparison.per_dataset(
            f"errors-{group}", f"Error on every domain: {caption.lower()}", datasets, methods, error
        ),
    ]
