"""The engine: killed and started again, it loses at most the units under way and gives the same results."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "slow_work.py"


def start(folder: Path, jobs: int) -> subprocess.Popen:
    command = [sys.executable, str(SCRIPT), str(folder), str(jobs)]
    checkout = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=checkout)


def marks(folder: Path) -> list[str]:
    path = folder / "marks.txt"
    return path.read_text().split() if path.exists() else []


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_run_resumes_loses_at_most_a_unit_a_process_and_gives_the_same(tmp_path, jobs):
    whole = tmp_path / "whole"
    killed = tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    expected, _ = start(whole, 1).communicate(timeout=300)

    process = start(killed, jobs)
    deadline = time.monotonic() + 300
    while len(marks(killed)) < 10 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    time.sleep(0.3)  # a worker may be inside its unit when its parent dies; it follows
    before = Counter(marks(killed))
    assert 10 <= sum(before.values()) < 40

    again, _ = start(killed, jobs).communicate(timeout=300)
    after = Counter(marks(killed))
    assert again == expected
    assert len(after) == 40
    # Work done twice: per process the unit under way, and the one finished but not yet handed over.
    assert sum(after.values()) - 40 <= 2 * jobs


def test_failed_unit_says_so_and_keeps_the_others(tmp_path):
    from papers.engine import execute
    from papers.store import Store, unit

    units = [unit("p", "d", "m", fold, {}) for fold in range(3)]

    def work(one):
        if one.fold == 2:
            raise ArithmeticError("fold 2 cannot be")
        return {"fold": one.fold}

    with Store(tmp_path / "r.sqlite") as store:
        with pytest.raises(ArithmeticError, match="fold 2 cannot be"):
            execute(units, work, store)
        assert [payload["fold"] for payload in store.get(units).values()] == [0, 1]
