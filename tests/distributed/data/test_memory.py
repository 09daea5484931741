"""Fits of data on disk keep their promise of memory, 12 bytes per row beside a constant, and leave nothing behind when killed."""

import json
import mmap
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import permissible as pm
from permissible.distributed.data.scratch import Scratch, Spill

PEAK = Path(__file__).with_name("peak_of_a_fit.py")
FEW, MANY = 2 * 65_536, 10 * 65_536
NOISE = 2 << 20  # what the allocator may keep more or less of
pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs the memory accounts of Linux")


def batches(n_rows):
    for start in range(0, n_rows, 65_536):
        random = np.random.default_rng(start)
        X = random.integers(0, 200, (min(65_536, n_rows - start), 3)).astype(np.float32)
        score = X[:, 0] + X[:, 1] * X[:, 2] / 100 + 30 * random.standard_normal(len(X))
        yield {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": np.digitize(score, [120, 200])}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The same kind of rows, few and many of them."""
    made = []
    for n_rows in (FEW, MANY):
        made.append(str(tmp_path_factory.mktemp(f"rows{n_rows}")))
        pm.BinnedDataset.from_batches(
            lambda n_rows=n_rows: batches(n_rows), target="y", directory=made[-1], keep_values=True
        )
    return made


@pytest.mark.parametrize(
    ("estimator", "settings"),
    [
        pytest.param("MCBoostClassifier", {"learner": "linear", "n_rounds": 1}, marks=pytest.mark.slow),
        ("ULSClassifier", {"n_rounds": 2, "max_literals": 2, "early_stopping": False}),
        ("ULSClassifier", {"n_rounds": 2, "max_literals": 2}),  # the keys of the folds are put aside
        ("UDTClassifier", {"max_leaf_nodes": 100}),
        ("UDTClassifier", {"max_leaf_nodes": 4, "pruning": "auto", "pruning_folds": 2}),
        (
            "MCBoostClassifier",
            {"learner": "tree", "n_rounds": 1, "max_leaf_nodes": 2, "loss": "ls"},
        ),  # temperature included
    ],
)
def test_a_fit_takes_at_most_twelve_bytes_for_each_further_row(folders, estimator, settings):
    few, many = folders
    ballast = np.ones(40_000_000)  # a large parent must not show in the figures of its child
    done = subprocess.run(
        [sys.executable, str(PEAK), estimator, json.dumps(settings), few, few, many],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    of_few, of_many = json.loads(done.stdout)
    assert ballast[0] == 1.0
    assert of_many - of_few <= 12 * (MANY - FEW) + NOISE
    assert of_many <= 12 * MANY + (64 << 20)


KILLED = """
import os, signal, sys
import permissible as pm
from permissible.rows.local import LocalRows
ask, taken = LocalRows.ask, []
def counted(self, question):
    taken.append(type(question).__name__)
    if taken.count("TakeTree") == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return ask(self, question)
LocalRows.ask = counted
pm.MCBoostClassifier(learner="tree", n_rounds=5, max_leaf_nodes=3).fit(pm.BinnedDataset.open(sys.argv[1]))
"""


def test_a_killed_fit_leaves_no_file_behind(folders, tmp_path):
    before = sorted(os.listdir(folders[0]))
    done = subprocess.run(
        [sys.executable, "-c", KILLED, folders[0]], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert sorted(os.listdir(folders[0])) == before
    assert not os.listdir(tmp_path)


def test_slots_are_kept_apart_and_used_again(tmp_path):
    one, other = Spill(tmp_path), Spill(tmp_path)
    assert one.read().size == 0
    one.write(np.arange(6.0))
    other.write(np.ones((2, 3)))
    one.write(np.arange(6.0) + 1)
    np.testing.assert_array_equal(one.read(), np.arange(6.0) + 1)
    np.testing.assert_array_equal(other.read(), np.ones(6))
    other.write(np.zeros(0))
    assert other.read().size == 0
    del one
    third = Spill(tmp_path)
    third.write(np.full(6, 3.0))
    np.testing.assert_array_equal(third.read(), np.full(6, 3.0))
    assert Scratch.of(tmp_path)._end == 2 * mmap.PAGESIZE  # nothing but the two slots that were ever needed
    assert not os.listdir(tmp_path)


def test_an_array_that_is_put_aside_stays_until_no_view_of_it_is_left(tmp_path):
    scratch = Scratch.of(tmp_path)
    found, pages = scratch.put(np.arange(12, dtype=np.uint16).reshape(3, 4))
    view = found[1:]
    del found
    other, _ = scratch.put(np.zeros((3, 4), dtype=np.uint16))  # must not take the slot that `view` is in
    pages.release()
    np.testing.assert_array_equal(view, np.arange(4, 12).reshape(2, 4))
    assert not other.any()
    del view
    assert pages.map() is None
    third, _ = scratch.put(np.ones((3, 4), dtype=np.uint16))
    assert scratch._end == 2 * mmap.PAGESIZE
    assert third.all()


def test_pages_beyond_the_budget_are_given_back(folders, monkeypatch):
    store = pm.BinnedDataset.open(folders[1]).store

    def resident():
        lines = Path("/proc/self/smaps").read_text().splitlines()
        place = next(number for number, line in enumerate(lines) if line.endswith("codes.u1"))
        return next(int(line.split()[1]) for line in lines[place:] if line.startswith("Rss:"))

    def visit():
        for block in range(store.n_blocks):
            store.mapped(block).sum()
            store.release(block)
        return resident() * 1024

    size = store.n_rows * store.row_bytes
    assert visit() == size
    monkeypatch.setattr("permissible.distributed.data.mapped.BUDGET", size // 2)
    assert size // 2 <= visit() <= size // 2 + (1 << 20)
