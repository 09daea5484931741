"""Memory: after the first fits have filled what is filled once, a thousand more grow the process by less than a megabyte."""

import os
import subprocess
import sys

import pytest

from tests.faults.subjects import ESTIMATORS

CODE = """
import gc, sys
from tests.faults.subjects import ESTIMATORS, good

def resident():
    gc.collect()
    with open("/proc/self/smaps_rollup") as file:  # what is this process's own, to the kilobyte
        return sum(int(line.split()[1]) for line in file if line.startswith(("Private_Dirty", "Private_Clean"))) / 1024

kind, count = sys.argv[1], int(sys.argv[2])
X, y = good(60, 3)
maker = ESTIMATORS[kind]

def fit():
    maker().fit(X, y).predict_proba(X)

for _ in range(max(count // 5, 30)):
    fit()
before = resident()
for _ in range(count):
    fit()
print(resident() - before)
"""


def growth(kind: str, count: int) -> float:
    """Megabytes by which a fresh process grows over so many fits, after a warm-up."""
    answer = subprocess.run(
        [sys.executable, "-c", CODE, kind, str(count)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
    )
    return float(answer.stdout)


@pytest.mark.parametrize("kind", ["uls", "udt", "boundary", "mcboost"])
def test_200_fits_grow_by_less_than_a_megabyte(kind):
    assert growth(kind, 200) < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_1000_fits_grow_by_less_than_a_megabyte(kind):
    assert growth(kind, 1000) < 1.0
