"""Concurrency: fits and predictions in threads and processes give what one thread gives, and nothing waits for ever."""

import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed, parallel_config
from sklearn.model_selection import cross_val_score

from permissible.estimators.input.training import threads
from tests.faults.subjects import ESTIMATORS, good

KINDS = tuple(ESTIMATORS)
PATIENCE = 240
"""Seconds after which a run counts as a deadlock, on a machine that others use too."""


def fitted_scores(kind: str, seed: int = 0) -> np.ndarray:
    """Fit on the rows of a seed and score them: the same numbers wherever it runs."""
    X, y = good(200, 4, seed)
    return np.asarray(ESTIMATORS[kind]().fit(X, y).decision_function(X))


@pytest.mark.parametrize("kind", KINDS)
def test_fits_in_threads_are_the_fits_of_one_thread(kind):
    alone = [fitted_scores(kind, seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: fitted_scores(kind, seed % 4), range(12), timeout=PATIENCE))
    for number, scores in enumerate(together):
        np.testing.assert_array_equal(scores, alone[number % 4])


@pytest.mark.parametrize("kind", KINDS)
def test_one_model_predicts_from_many_threads(kind):
    X, y = good(300, 4)
    model = ESTIMATORS[kind]().fit(X, y)
    expected = model.predict_proba(X)
    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(lambda _: model.predict_proba(X), range(32), timeout=PATIENCE):
            np.testing.assert_array_equal(answer, expected)


PROCESSES = """
import multiprocessing, sys, warnings
from concurrent.futures import ProcessPoolExecutor
import numpy as np
from tests.faults.subjects import ESTIMATORS
from tests.faults.test_concurrency import KINDS, fitted_scores, many_rows, scores_of_threads
warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
if __name__ == "__main__":
    alone = {kind: (fitted_scores(kind), scores_of_threads(kind)) for kind in KINDS}  # this process has used its threads now
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(sys.argv[1])) as pool:
        for place, work in enumerate((fitted_scores, scores_of_threads)):
            for kind, scores in zip(KINDS, pool.map(work, KINDS)):
                np.testing.assert_array_equal(scores, alone[kind][place])
    print("the same")
"""


def many_rows():
    """So many cells that the core opens regions of several threads."""
    return good(30_000, 8)


def scores_of_threads(kind: str) -> np.ndarray:
    """A fit that asks for two threads, and gets them where a process has its own."""
    X, y = many_rows()
    X, y = (X[:400], y[:400]) if kind == "boundary-kernel" else (X, y)
    return np.asarray(ESTIMATORS[kind](n_jobs=2).fit(X, y).decision_function(X))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_fits_in_processes_are_the_fits_of_this_one(method):
    """Also of threads in a process that was forked from one with threads, which a fork does not bring along."""
    answer = subprocess.run(
        [sys.executable, "-c", PROCESSES, method], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert answer.stdout == "the same\n", answer.stderr


def test_fits_under_joblib_are_the_fits_of_this_process():
    alone = [fitted_scores(kind) for kind in KINDS]
    for backend in ("loky", "threading"):
        together = Parallel(n_jobs=2, backend=backend, timeout=PATIENCE)(delayed(fitted_scores)(kind) for kind in KINDS)
        for expected, scores in zip(alone, together, strict=True):
            np.testing.assert_array_equal(scores, expected)


def threads_inside(n_jobs):
    return int(threads(n_jobs))  # a plain number: `Cores` would be counted again by the process that asks


def test_nested_parallelism_does_not_ask_for_more_threads_than_there_are_cores():
    with parallel_config(backend="loky", n_jobs=2):
        inner = Parallel(timeout=PATIENCE)(delayed(threads_inside)(None) for _ in range(4))
    assert inner == [1] * 4
    asked = Parallel(n_jobs=2, backend="loky", timeout=PATIENCE)(delayed(threads_inside)(-1) for _ in range(4))
    assert all(count <= max(1, cpu_count() // 2) for count in asked)


@pytest.mark.parametrize("kind", ["uls", "udt", "boundary", "mcboost-tree"])
def test_cross_validation_in_parallel_of_parallel_fits_ends(kind):
    X, y = good(400, 4)
    plain = cross_val_score(ESTIMATORS[kind](), X, y, cv=3)
    nested = cross_val_score(ESTIMATORS[kind](n_jobs=2), X, y, cv=3, n_jobs=2)
    np.testing.assert_array_equal(nested, plain)


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_gives_the_same_model(kind, n_jobs):
    X, y = good(2000, 5)
    one = ESTIMATORS[kind](n_jobs=1).fit(X, y).decision_function(X)
    many = ESTIMATORS[kind](n_jobs=n_jobs).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(many, one)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_hundreds_of_fits_in_threads_of_threads_are_one_fit(kind):
    alone = fitted_scores(kind)
    with ThreadPoolExecutor(16) as pool:
        for scores in pool.map(lambda _: fitted_scores(kind), range(300), timeout=10 * PATIENCE):
            np.testing.assert_array_equal(scores, alone)


@pytest.mark.slow
def test_processes_of_threads_of_fits_end():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        for kind, scores in zip(KINDS * 4, pool.map(fitted_scores, KINDS * 4, timeout=10 * PATIENCE), strict=True):
            np.testing.assert_array_equal(scores, fitted_scores(kind))
