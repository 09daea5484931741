"""Quality beside the peers: `python -m benchmarks.quality [--only NAME ...] [--peers NAME ...] [--repeats N] [--held-back]`.

Stratified folds of every set (sets.py) and every peer (peers.py). Results are kept in a file, one line for a set and a
peer, so that a run can be interrupted and continued in slices; times are processor seconds of one thread. The last table
has the sets that were never used to choose a setting. `--domains` runs the papers' 52 domains alone, as before.
"""

import argparse
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
from benchmarks.quality.peers import PEERS
from benchmarks.quality.report import tables

RESULTS = Path("results/quality.jsonl")


def evaluate(data: sets.DataSet, peer: str, n_folds: int, repeats: int) -> dict[str, float]:
    """The measures of one peer on one set."""
    seconds, sizes, found = [], [], []
    for seed in range(repeats):
        proba = np.zeros((len(data.target), int(data.target.max()) + 1))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        for train, test in splitter.split(data.target, data.target):
            start = time.process_time()
            fitted = PEERS[peer](data.frame.iloc[train], data.target[train])
            seconds.append(time.process_time() - start)
            sizes.append(fitted.size)
            proba[test] = fitted.probabilities(data.frame.iloc[test])
        found.append(measured(data.target, proba))
    means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    return {**means, "seconds": float(np.median(seconds)), "size": float(np.mean(sizes)), "rows": len(data.target)}


def main() -> None:
    """Measure what is missing, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--peers", nargs="*", default=[name for name in PEERS if name != "EBM"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--max-rows", type=int, default=20_000)
    parser.add_argument("--budget", type=float, default=600.0, help="seconds after which no further set is begun")
    parser.add_argument("--held-back", action="store_true", help="only the sets that no setting was chosen on")
    parser.add_argument("--multiclass", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS)
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
    for name in sets.names(options.multiclass):
        if (options.only and name not in options.only) or (options.held_back and not sets.held_back(name)):
            continue
        asked = [(name, peer, options.folds, options.repeats) for peer in options.peers]
        if all(key in known for key in asked) or time.monotonic() - start > options.budget:
            continue
        data = sets.load(name)
        if not sets.large_enough(data) or len(data.target) > options.max_rows:
            continue
        for key in asked:
            if key not in known:
                known[key] = evaluate(data, *key[1:])
                _keep(options.results, key, known[key])
        print(f"{name}: {len(data.target)} rows", file=sys.stderr, flush=True)
    chosen = {key[:2]: found for key, found in known.items() if key[1] in options.peers and key[2] == options.folds}
    print(tables(chosen, options.peers))


def _known(path: Path) -> dict[tuple[str, str, int, int], dict[str, float]]:
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {(one["set"], one["peer"], one["folds"], one["repeats"]): one["found"] for one in lines}


def _keep(path: Path, key: tuple[str, str, int, int], found: dict[str, float]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    line = dict(zip(("set", "peer", "folds", "repeats"), key, strict=True))
    with path.open("a") as file:
        file.write(json.dumps({**line, "found": found}) + "\n")


if __name__ == "__main__":
    main()
