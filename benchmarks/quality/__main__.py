"""Quality beside the peers: `python -m benchmarks.quality [--only NAME ...] [--peers NAME ...] [--repeats N] [--page FILE]`.

Stratified folds of every set (sets.py) and every peer (peers.py). Results are kept in a file, one line for a set, a peer
and a seed of the folds, so that a run can be interrupted and continued in slices; times are processor seconds of one
thread. The last tables have the sets that were never used to choose a setting; `--page` writes them all to a page.
`--domains` runs the papers' 52 domains alone, as before.
"""

import argparse
import importlib.metadata
import itertools
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality import sets
from benchmarks.quality.measures import measured
from benchmarks.quality.peers import PEERS, rules
from benchmarks.quality.report import MEASURED, SEEDS, tables

RESULTS = Path("results/quality.jsonl")
PACKAGES = ("scikit-learn", "lightgbm", "xgboost", "catboost", "interpret-core", "imodels")


def evaluate(data: sets.DataSet, peer: str, n_folds: int, seed: int) -> dict[str, float]:
    """The measures of one peer on one set, over the folds of one seed."""
    if peer == SEEDS:
        return {"flipped": flipped(data)}
    seconds, sizes = [], []
    proba = np.zeros((len(data.target), int(data.target.max()) + 1))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(data.target, data.target):
        start = time.process_time()
        fitted = PEERS[peer](data.frame.iloc[train], data.target[train])
        seconds.append(time.process_time() - start)
        sizes.append(fitted.size)
        proba[test] = fitted.probabilities(data.frame.iloc[test])
    own = {"seconds": float(np.median(seconds)), "size": float(np.mean(sizes)), "rows": len(data.target)}
    return {**measured(data.target, proba), **own}


def flipped(data: sets.DataSet, n_seeds: int = 5) -> float:
    """The fraction of the labels that another seed of the default changes, on average over pairs of seeds."""
    labels = [
        np.argmax(rules(seed=seed)(data.frame, data.target).probabilities(data.frame), 1) for seed in range(n_seeds)
    ]
    return float(np.mean([np.mean(a != b) for a, b in itertools.combinations(labels, 2)]))


def main() -> None:
    """Measure what is missing, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--peers", nargs="*", default=[*(name for name in PEERS if name != "EBM"), SEEDS])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--max-rows", type=int, default=10_000, help="of a larger set so many rows are drawn")
    parser.add_argument("--budget", type=float, default=600.0, help="seconds after which no further set is begun")
    parser.add_argument(
        "--held-back", action=argparse.BooleanOptionalAction, help="only the sets that no setting was chosen on"
    )
    parser.add_argument("--multiclass", action="store_true")
    parser.add_argument("--results", type=Path, nargs="+", default=[RESULTS], help="read all, write to the first")
    parser.add_argument("--page", type=Path, help="write the tables to a page of the documentation")
    parser.add_argument("--domains", action="store_true")
    options, rest = parser.parse_known_args()
    if options.domains:
        from benchmarks.quality.domains import main as domains

        sys.argv = [sys.argv[0], *rest]
        domains()
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    known, start = _known(options.results), time.monotonic()
    for seed, name in itertools.product(range(options.repeats), sets.names(options.multiclass)):
        if (options.only and name not in options.only) or (
            options.held_back is not None and sets.held_back(name) != options.held_back
        ):
            continue
        asked = [(name, peer, options.folds, options.max_rows, seed) for peer in options.peers]
        if all(key in known for key in asked) or time.monotonic() - start > options.budget:
            continue
        data = sets.load(name, options.max_rows)
        if not sets.large_enough(data):
            continue
        for key in asked:
            if key not in known:
                known[key] = evaluate(data, key[1], options.folds, seed)
                _keep(options.results[0], key, known[key])
        print(f"{name}, seed {seed}: {len(data.target)} rows", file=sys.stderr, flush=True)
    told = tables(_means(known, options), options.peers)
    print(told)
    if options.page is not None:
        options.page.write_text(page(told, options))


def page(told: str, options: argparse.Namespace) -> str:
    """A page of the documentation, with the command that made it."""
    kind = "more than two classes" if options.multiclass else "two classes"
    asked = " --multiclass" if options.multiclass else ""
    missing = ", ".join(peer for peer in PEERS if f"| {peer} |" not in told) or "none"
    listed = sets.names(options.multiclass)
    back = sum(map(sets.held_back, listed))
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    return f"""# Quality beside the peers, {kind}

`python -m benchmarks.quality{asked} --folds {options.folds} --repeats {options.repeats} --max-rows {options.max_rows}`
with the data folder (`PERMISSIBLE_DATA`) and the packages of the extra `bench` ({versions}). Stratified folds, one thread;
of sets with more than {options.max_rows:,} rows so many are drawn. Seconds are processor seconds of one fit; size counts
rules, leaves, terms or curves. Every classifier has its defaults but for what its name says. The sets held back, a third by a
hash of the name, were not used to choose anything. A classifier is in a table if it was measured on at least
{MEASURED:.0%} of the sets, and the table has the sets that all its classifiers were measured on: {len(listed) - back} sets
and {back} held back are listed, some of which have too few rows. Not measured here: {missing}.

{told}
"""


Key = tuple[str, str, int, int, int]
"""A set, a peer, folds, the most rows, and the seed of the folds."""
FIELDS = ("set", "peer", "folds", "max_rows", "seed")


def _known(paths: list[Path]) -> dict[Key, dict[str, float]]:
    lines = [json.loads(line) for path in paths if path.exists() for line in path.read_text().splitlines()]
    return {tuple(one[field] for field in FIELDS): one["found"] for one in lines}


def _keep(path: Path, key: Key, found: dict[str, float]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps({**dict(zip(FIELDS, key, strict=True)), "found": found}) + "\n")


def _means(known: dict[Key, dict[str, float]], options: argparse.Namespace) -> dict[tuple[str, str], dict[str, float]]:
    """The mean over the seeds of each set and peer that was measured with all of them."""
    allowed, grouped = set(sets.names(options.multiclass)), dict[tuple[str, str], list[dict[str, float]]]()
    for (name, peer, folds, rows, seed), found in known.items():
        if name in allowed and (folds, rows) == (options.folds, options.max_rows) and seed < options.repeats:
            grouped.setdefault((name, peer), []).append(found)
    return {
        key: {measure: float(np.mean([one[measure] for one in found])) for measure in found[0]}
        for key, found in grouped.items()
        if len(found) == options.repeats
    }


if __name__ == "__main__":
    main()
