"""Quality on the 52 domains: error, err100, log-loss, Brier and rules of compact() and of the default, one line each.

The protocol: first label in sorted order against the rest, stratified 10-fold, seed 0; err100 is the mean error over the sets
with at least 100 rows and 10 positive ones. Run it with `python -m benchmarks.quality [--folds N] [--only NAME ...]`.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import permissible as pm
from papers.datasets import suite
from papers.scope import binary_task, constant, folds

FITS: dict[str, Callable[[], Any]] = {
    "compact": lambda: pm.ULSClassifier.compact(random_state=0),
    "default": lambda: pm.ULSClassifier(random_state=0),
    "plain": lambda: pm.ULSClassifier.plain("logistic", n_rules=10, max_literals=2, random_state=0),
}


def measure(name: str, make: Callable[[], Any], n_folds: int) -> dict[str, float]:
    """Mean measures of one estimator over the folds of one data set."""
    task = binary_task(name)
    found = []
    possible = min(
        n_folds, int(np.bincount(task.target.astype(int)).max())
    )  # the smallest sets have fewer rows than folds
    for train, test in folds(name, possible, 0):
        truth = np.asarray(task.target[test]).astype(bool)
        if constant(task.target[train]):
            probability, size = np.full(len(test), float(np.mean(task.target[train]))), 0
        else:
            model = make().fit(_rows(task.frame, train), task.target[train])
            probability, size = model.predict_proba(_rows(task.frame, test))[:, 1], len(model.rules_)
        p = np.clip(probability, 1e-15, 1 - 1e-15)
        found.append(
            (
                len(test),
                np.sum((probability >= 0.5) != truth),
                -np.sum(np.log(np.where(truth, p, 1 - p))),
                np.sum((probability - truth) ** 2),
                size * len(test),
            )
        )
    total = np.sum(found, axis=0)
    error, loss, brier, size = (total[1:] / total[0]).tolist()
    return {"error": error, "log_loss": loss, "brier": brier, "rules": size}


def _rows(table: Any, chosen: Any) -> Any:
    return table.iloc[chosen] if hasattr(table, "iloc") else table[chosen]


def main() -> None:
    """Print a line per data set and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--fits", nargs="*", default=["compact", "default"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in suite("uls") if not options.only or name in options.only]
    for fit in options.fits:
        start, rows = time.perf_counter(), []
        for name in names:
            try:
                task = binary_task(name)
            except Exception as problem:
                print(f"{name}: left out ({problem})")
                continue
            large = len(task.target) >= 100 and int(np.sum(task.target)) >= 10
            rows.append((large, measure(name, FITS[fit], options.folds)))
            print(
                f"{fit:8} {name:28} " + "  ".join(f"{key} {value:.4f}" for key, value in rows[-1][1].items()),
                flush=True,
            )
        means = {key: float(np.mean([row[key] for _, row in rows])) for key in rows[0][1]}
        err100 = float(np.mean([row["error"] for large, row in rows if large]))
        told = "  ".join(f"{key} {value:.4f}" for key, value in {"err100": err100, **means}.items())
        print(f"== {fit}: {told}  ({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
