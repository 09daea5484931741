"""Rows on disk against memory: processor time of fits by default settings, and peak memory against 12 bytes a row + a constant.

The binned data set is made on the fly in chunks and never as a whole; each fit runs in a process of its own. Its peak is the
kernel's high-water mark of that process (VmHWM): `ru_maxrss` would begin with the peak of the process that started it, which is
the benchmark with everything that earlier rows have loaded.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache

from benchmarks.row import Row

COLUMNS, ROUNDS, CONSTANT_MIB = 28, 20, 330
LEARNERS = {
    f"{ROUNDS} rounds": ("ULSClassifier", {"n_rounds": ROUNDS, "max_literals": 2, "early_stopping": False}),
    "a tree of 31 leaves": ("UDTClassifier", {"max_leaf_nodes": 31}),
    "MCBoost, 3 rounds of trees": ("MCBoostClassifier", {"learner": "tree", "max_leaf_nodes": 8, "n_rounds": 3}),
}
DEFAULTS = {
    "rules": ("ULSClassifier", {}, 0.7),
    "compact rules": ("ULSClassifier.compact", {}, 0.7),
    "a tree": ("UDTClassifier", {}, 0.7),
    "boosted trees": ("ULSClassifier.trees", {}, 0.7),
    "MCBoost by trees": ("MCBoostClassifier", {"learner": "tree"}, 0.7),
    "a boundary": ("BoundaryClassifier", {}, 0.3),
    "soft boundaries": ("BoundaryClassifier", {"boundaries": "soft"}, 0.3),
}
"""Default settings, and the stated fraction of the speed of memory; `learner="auto"` of MCBoost is refused in parts."""
_MAKE = """
import sys, numpy as np
from permissible.distributed.data.dataset import BinnedDataset
n_rows, columns, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def batches():
    for start in range(0, n_rows, 65536):
        random = np.random.default_rng(start)
        X = random.standard_normal((min(65536, n_rows - start), columns), dtype=np.float32)
        part = {f"x{j}": X[:, j] for j in range(columns)}
        part["y"] = (X[:, 0] + X[:, 1] * X[:, 2] + random.standard_normal(len(X)) > 0).astype(np.int64)
        yield part
BinnedDataset.from_batches(batches, target="y", directory=folder, keep_values=len(sys.argv) > 4)
"""
_FIT = """
import json, pathlib, sys, time, numpy as np
from operator import attrgetter
from permissible.distributed.data.dataset import BinnedDataset
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.bins.binning import BinnedTable
import permissible as pm
folder, estimator, settings, in_memory = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4] == "memory"
dataset = BinnedDataset.open(folder)
given = (dataset,)
store = dataset.store
if in_memory and estimator == "BoundaryClassifier":
    given = np.concatenate([store.values(block) for block in range(store.n_blocks)]), store.classes[store.target()]
elif in_memory:
    codes = np.concatenate([store.codes(block) for block in range(store.n_blocks)], axis=1)
    part = MemoryPart(BinnedTable(store.binning, codes, codes.shape[1]), store.target(), None, store.hashes())
    class InMemory:
        def source(self):
            return LocalSource((part,), store.binning, store.classes, store.n_rows, store.weighted)
    given = (InMemory(),)
model, seconds = attrgetter(estimator)(pm)(random_state=0, **settings), []
while not seconds or (len(seconds) < 2 and seconds[0] < 5):  # what is imported at the first fit does not count
    start = time.process_time()
    model.fit(*given)
    seconds.append(time.process_time() - start)
status = pathlib.Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024
reached = model.objective_ if hasattr(model, "objective_") else model.history_["surrogate"][-1]
print(json.dumps([min(seconds), peak, float(reached)]))
"""


def _run(script: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return done.stdout


@cache
def _folder(n_rows: int, valued: bool = False) -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="permissible-")
    _run(_MAKE, n_rows, COLUMNS, folder.name, *(["values"] if valued else []))
    return folder


def _peak(n_rows: int, learner: str) -> tuple[float, float]:
    estimator, settings = LEARNERS[learner]
    _, peak, quality = json.loads(_run(_FIT, _folder(n_rows).name, estimator, json.dumps(settings), "disk"))
    return peak, quality


def _seconds(n_rows: int, learner: str, where: str) -> tuple[float, float]:
    estimator, settings, _ = DEFAULTS[learner]
    folder = _folder(n_rows, estimator == "BoundaryClassifier").name
    seconds, _, quality = json.loads(_run(_FIT, folder, estimator, json.dumps(settings), where))
    return seconds, quality


def _memory(n_rows: int, learner: str, repeats: int) -> Row:
    limit = 12 * n_rows / 2**20 + CONSTANT_MIB
    return Row(
        name=f"out of core, peak memory, {n_rows:.0e} x {COLUMNS}, {learner}",
        prepare=lambda: {
            "permissible": lambda: _peak(n_rows, learner),
            f"12 bytes a row + {CONSTANT_MIB} MiB": lambda: (limit, 0.0),
            "codes in memory": lambda: (n_rows * 32 / 2**20, 0.0),
        },
        at_least={f"12 bytes a row + {CONSTANT_MIB} MiB": 1.0},
        quality="mean loss",
        repeats=repeats,
        unit="MiB",
    )


def rows(full: bool) -> Iterator[Row]:
    """Memory at 2e7 rows when full (the stated 600 MB), speed at a twentieth of it."""
    n_rows = 20_000_000 if full else 1_000_000
    for learner in LEARNERS:
        yield _memory(n_rows, learner, 1)
    timed = n_rows // 20 if full else n_rows // 4
    for learner, (_, _, fraction) in DEFAULTS.items():
        yield _speed(timed, learner, fraction)


def _speed(n_rows: int, learner: str, fraction: float) -> Row:
    return Row(
        name=f"out of core against memory, {n_rows:.0e} x {COLUMNS}, {learner}, default settings",
        prepare=lambda: {
            "permissible": lambda: _seconds(n_rows, learner, "disk"),
            "the same rows in memory": lambda: _seconds(n_rows, learner, "memory"),
        },
        at_least={"the same rows in memory": fraction},
        quality="mean loss",
        repeats=2,
        unit="CPU s",
    )
