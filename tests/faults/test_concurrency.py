"""Concurrency: fits and predictions in threads give what one thread gives, bit for bit, and nothing waits for ever."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

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


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_gives_the_same_model(kind, n_jobs):
    X, y = good(2000, 5)
    one = ESTIMATORS[kind](n_jobs=1).fit(X, y).decision_function(X)
    many = ESTIMATORS[kind](n_jobs=n_jobs).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(many, one)
