"""Folds: every row is tested once, classes are spread, and a set too small for scikit-learn's splitter is dealt out."""

import numpy as np
import pytest

from papers.scope import _dealt, binary_task, folds


@pytest.mark.parametrize("name", ["iris", "balloons-yellow-small+adult-stretch", "parity5"])
def test_every_row_is_tested_once_and_the_seed_decides(name, monkeypatch):
    monkeypatch.delenv("PERMISSIBLE_DATA", raising=False)
    splits = folds(name, 10, 0)
    tested = np.concatenate([test for _, test in splits])
    assert sorted(tested.tolist()) == list(range(binary_task(name).dataset.n_rows))
    assert all(set(train).isdisjoint(test) for train, test in splits)
    assert [test.tolist() for _, test in folds(name, 10, 1)] != [test.tolist() for _, test in splits]


def test_dealt_folds_differ_by_at_most_one_row_of_each_class():
    target = np.array([0] * 7 + [1] * 9)
    counts = np.array([np.bincount(target[test], minlength=2) for _, test in _dealt(target, 10, 0)])
    assert np.ptp(counts, axis=0).tolist() == [1, 1]
