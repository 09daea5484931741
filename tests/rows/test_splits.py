"""Splits by content: duplicated rows stay together, order and partition do not matter, weight 2 is the row twice."""

import numpy as np
import pytest

from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.bins.hashing import row_hashes
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.splits import fold_of_rows, folds, has_duplicates, hold_out
from permissible.rows.totals import RowsByClass, RowsByPart, TotalsOf
from permissible.table.reading import read


def source(X, y, weight=None, sizes=None, seed=0):
    table = read(X)
    binned = encode(find_bins(table), table)
    hashes = row_hashes(table, seed)
    ends = np.cumsum([0, *(sizes or [len(y)])])
    parts = []
    for number in range(len(ends) - 1):
        rows = slice(ends[number], ends[number + 1])
        codes = type(binned)(
            binned.binning, np.ascontiguousarray(binned.blocks[:, rows]), ends[number + 1] - ends[number]
        )
        parts.append(MemoryPart(codes, y[rows], None if weight is None else weight[rows], hashes[rows], number=number))
    return LocalSource(tuple(parts), binned.binning, np.unique(y), len(y), weight is not None), hashes


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    X = random.integers(0, 30, size=(600, 2)).astype(float)
    return X, random.integers(0, 3, 600)


def test_a_hold_out_takes_its_fraction_of_each_class_and_the_rest_trains(table):
    X, y = table
    rows, hashes = source(X, y)
    split = hold_out(rows, fraction=0.25)
    held = split.held_out.mask(hashes, y)
    assert np.array_equal(~held, split.training.mask(hashes, y))
    for cls in range(3):
        assert abs(held[y == cls].mean() - 0.25) < 0.02


@pytest.mark.parametrize("label", [None, 1])
def test_the_split_does_not_depend_on_parts_or_order(table, label):
    X, y = table
    order = np.random.default_rng(1).permutation(len(y))
    whole = hold_out(source(X, y)[0], label)
    assert hold_out(source(X, y, sizes=[1, 300, 0, 299])[0], label) == whole
    assert hold_out(source(X[order], y[order])[0], label) == whole


def test_weight_two_is_the_row_twice(table):
    X, y = table
    weight = np.random.default_rng(2).integers(1, 4, len(y)).astype(float)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    assert hold_out(source(X, y, weight)[0]) == hold_out(source(X[twice], y[twice])[0])


def test_every_row_is_held_out_once_and_duplicates_stay_together(table):
    X, y = table
    rows, hashes = source(X, y)
    masks = [split.held_out.mask(hashes, y) for split in folds(rows, 5)]
    assert len(masks) == 5
    assert (np.sum(masks, axis=0) == 1).all()
    fold = np.argmax(masks, axis=0)
    assert np.array_equal(fold, fold_of_rows(hashes, y, None, 5))
    seen = {}
    for key, number in zip(zip(hashes.tolist(), y.tolist(), strict=True), fold.tolist(), strict=True):
        assert seen.setdefault(key, number) == number


def test_a_class_of_one_distinct_row_cannot_be_split():
    X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([0, 0, 0, 1])
    rows, hashes = source(X, y)
    assert hold_out(rows) is None
    split = hold_out(rows, keep_rare=True)  # the rare class stays in training
    assert split.held_out.mask(hashes, y).tolist().count(True) == 1
    assert split.training.mask(hashes, y)[3]
    assert hold_out(source(X[2:], y[2:])[0], keep_rare=True) is None


def test_duplicated_rows_are_told(table):
    X, y = table
    assert not has_duplicates(source(np.random.default_rng(0).normal(size=(600, 2)), y)[0])
    assert has_duplicates(source(X[:, :1] // 3, y)[0])


def test_totals_are_exact_and_by_part(table):
    X, y = table
    weight = np.random.default_rng(3).random(len(y)) * 1e10 ** np.random.default_rng(4).integers(-1, 2, len(y))
    import math

    rows, hashes = source(X, y, weight, sizes=[10, 590])
    assert rows.survey(TotalsOf()).weight == math.fsum(weight)
    half = Selection(((0, 2**63),) * 3)
    chosen = half.mask(hashes, y)
    assert rows.survey(TotalsOf(half)).weight == math.fsum(weight[chosen])
    assert rows.survey(RowsByPart(ALL_ROWS)) == {0: 10, 1: 590}
    assert rows.survey(RowsByPart(half)) == {0: int(chosen[:10].sum()), 1: int(chosen[10:].sum())}
    assert rows.survey(RowsByClass(3)).tolist() == np.bincount(y).tolist()
