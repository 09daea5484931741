"""Multiclass boosting: GLL stumps beside LightGBM's multiclass stumps, the rounds alone, on bins that are already there.

A round of ours by coordinates is M-1 stumps with refreshed weights (Algorithm 1); along the gradient it is one stump with a
value for every class, grown on a random projection of the gradient. A round of LightGBM is M stumps on the weights of the
round's start. The training log-loss after the rounds is shown beside the time.
"""

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.data import higgs_like
from benchmarks.row import Row

ROUNDS, CLASSES, RATE = 20, 10, 0.3
TRIALS = 5


def rows(full: bool) -> Iterator[Row]:
    """By coordinates and along the gradient, at the stated size."""
    for descent in ("coordinate", "gradient"):
        yield Row(
            name=f"GLL stumps, 1e5x28, 10 classes, one round ({descent})",
            prepare=lambda descent=descent: contenders(100_000, descent),
            at_least={"LightGBM multiclass stumps": 3.0},
            quality="training log-loss",
            repeats=15,
            note="bins made beforehand on both sides",
        )
    if full:
        yield Row(
            name="GLL with costs, trees, the ten sets of [B]: all fits",
            prepare=cost_fits,
            at_least={"LightGBM and Bayes rule": 1.0},
            quality="mean test cost",
            repeats=1,
            note="one fit for each random cost matrix, LightGBM as often",
        )
        yield Row(
            name="GLL with costs, trees, the ten sets of [B]: sets without a lower test cost",
            prepare=cost_losses,
            at_least={"two": 1.0},
            quality="mean test cost",
            unit="sets",
            repeats=1,
        )


@functools.lru_cache(maxsize=1)
def _trials() -> tuple[Any, ...]:
    """The trials of Table 2: a few matrices and splits of each small set, one of each large one."""
    from papers.guess_averse import PREDEFINED, trial
    from papers.protocols.guess_averse import TABLE_1

    counts = {name: 1 if name in PREDEFINED else TRIALS for name in TABLE_1}
    return tuple(trial(name, number) for name, count in counts.items() for number in range(count))


def _costs_of(fit: Callable[[Any], Any]) -> dict[str, float]:
    """The mean test cost of each set, by least expected cost."""
    found: dict[str, list[float]] = {}
    for one in _trials():
        model = fit(one)
        posterior = np.zeros((len(one.test[1]), len(one.costs)))  # a class without training rows has probability 0
        posterior[:, model.classes_] = model.predict_proba(one.test[0])
        found.setdefault(one.name, []).append(one.risk((posterior @ one.costs).argmin(axis=1)))
    return {name: float(np.mean(costs)) for name, costs in found.items()}


def _gll_trees(one: Any, descent: str = "gradient") -> Any:
    import permissible as pm

    present = np.unique(one.train[1])
    costs = one.costs[np.ix_(present, present)]
    options = {"learner": "tree", "descent": descent, "n_jobs": 1, "random_state": one.number}
    return pm.MCBoostClassifier("gll", cost_matrix=costs, **options).fit(*one.train)


def _lightgbm(one: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=one.number).fit(*one.train)


def _mean_cost(fit: Callable[[Any], Any]) -> float:
    return float(np.mean([*_costs_of(fit).values()]))


def cost_fits() -> Mapping[str, Callable[[], Any]]:
    """All fits and decisions of both."""
    _trials()
    return {
        "permissible": lambda: _mean_cost(_gll_trees),
        "LightGBM and Bayes rule": lambda: _mean_cost(_lightgbm),
        "permissible, by coordinates": lambda: _mean_cost(functools.partial(_gll_trees, descent="coordinate")),
    }


def cost_losses() -> Mapping[str, Callable[[], Any]]:
    """The sets on which our test cost is not below LightGBM's (half a set stands for none)."""

    def ours() -> tuple[float, float]:
        mine, theirs = _costs_of(_gll_trees), _costs_of(_lightgbm)
        return max(sum(mine[name] >= theirs[name] for name in mine), 0.5), float(np.mean([*mine.values()]))

    return {"permissible": ours, "two": lambda: (2.0, 0.0)}


def contenders(n_rows: int, descent: str) -> Mapping[str, Callable[[], Any]]:
    """The same rows, bins, shrinkage and l2."""
    import lightgbm

    from permissible.bins.encoding import encode
    from permissible.bins.find import find_bins
    from permissible.learners.mcboost.fit import Boosting, Settings
    from permissible.learners.mcboost.problem import CostTask
    from permissible.learners.mcboost.trees import Growth
    from permissible.rows.local import LocalSource
    from permissible.rows.part import MemoryPart
    from permissible.rows.selection import ALL_ROWS
    from permissible.table import read

    X, _ = higgs_like(n_rows)
    random = np.random.default_rng(0)
    scores = X @ (0.5 * random.standard_normal((X.shape[1], CLASSES))) + random.gumbel(size=(n_rows, CLASSES))
    y = scores.argmax(axis=1)
    table = read(X)
    binned = encode(find_bins(table), table)
    task, growth = CostTask("gll", 1.0 - np.eye(CLASSES)), Growth(max_leaf_nodes=2, min_leaf_weight=0.0)
    how = {"descent": descent, "n_rounds": ROUNDS, "learning_rate": RATE, "growth": growth, "tol": 0.0}
    data = lightgbm.Dataset(X, y, params={"verbose": -1, "max_bin": 255})
    data.construct()

    def ours() -> tuple[float, float]:
        source = LocalSource((MemoryPart(binned, y),), binned.binning, np.arange(CLASSES), n_rows, False)
        boosting = Boosting(source, task, Settings(learner="tree", **how))
        start = time.process_time()
        run = boosting.run(boosting.view(ALL_ROWS), 0)
        return (time.process_time() - start) / ROUNDS, run.trace.surrogate[-1]

    def peer() -> tuple[float, float]:
        options = {
            "objective": "multiclass",
            "num_class": CLASSES,
            "num_leaves": 2,
            "learning_rate": RATE,
            "lambda_l2": 1.0,
            "num_threads": 1,
            "verbose": -1,
        }
        start = time.process_time()
        model = lightgbm.train(options, data, ROUNDS)
        seconds = (time.process_time() - start) / ROUNDS
        proba = np.clip(model.predict(X), 1e-15, 1)
        return seconds, float(-np.log(proba[np.arange(n_rows), y]).mean())

    return {"permissible": ours, "LightGBM multiclass stumps": peer}
