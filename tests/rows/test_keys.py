"""Keys of rows: what says nothing about a row does not change its fold, and equal rows share one."""

import numpy as np
import pytest

import permissible as pm
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.rows.keys import keys_of
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.rows.splits import FOLDS, HELD_ROWS, evaluation_folds
from permissible.table import read


def source_of(columns, y, n_parts=1):
    table = read(columns)
    binning = find_bins(table)
    rows = np.array_split(np.arange(len(y)), n_parts)
    parts = tuple(MemoryPart(encode(binning, table.take(own)), y[own], number=k) for k, own in enumerate(rows))
    return LocalSource(parts, binning, np.unique(y), len(y), False)


def held_rows(columns, y, n_parts=1, seed=0):
    """For each row the fold that holds it out."""
    source = source_of(columns, y, n_parts)
    found = np.full(len(y), -1)
    for k, split in enumerate(evaluation_folds(source, 1, seed)):
        found[np.concatenate([split.held_out.rows(part) for part in source.parts])] = k
    return found


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    columns = {f"x{j}": rng.standard_normal(200).round(1) for j in range(3)}
    columns |= {f"b{j}": rng.integers(0, 2, 200).astype(float) for j in range(4)}
    return columns, rng.integers(0, 2, 200)


def test_each_row_is_held_out_once_and_folds_have_equal_weight(table):
    columns, y = table
    folds = held_rows(columns, y)
    assert sorted(set(folds.tolist())) == list(range(FOLDS))
    assert np.bincount(folds).min() >= 35
    assert np.array_equal(folds, held_rows(columns, y, n_parts=3))
    assert not np.array_equal(folds, held_rows(columns, y, seed=1))


def test_a_constant_a_copied_and_a_permuted_column_change_nothing(table):
    columns, y = table
    before = held_rows(columns, y)
    assert np.array_equal(before, held_rows(columns | {"one": np.ones(200)}, y))
    assert np.array_equal(before, held_rows({"copy": columns["x1"], **columns}, y))
    assert np.array_equal(before, held_rows(columns | {"again": columns["b2"]}, y))
    assert np.array_equal(before, held_rows(dict(reversed(columns.items())), y))
    numbers = {name: values for name, values in columns.items() if name[0] == "x"}
    renamed = dict(zip(("a", "b", "c"), reversed(numbers.values()), strict=True))
    assert np.array_equal(held_rows(numbers, y), held_rows(renamed, y))


def test_columns_of_equal_bins_and_other_values_are_told_apart(table):
    columns, y = table
    questions = {name: values for name, values in columns.items() if name[0] == "b"}
    keys = keys_of(source_of(questions, y))
    assert len(keys.columns) == 4
    part = source_of(questions, y).parts[0]
    rows = np.column_stack(list(questions.values()))
    assert len(np.unique(part.keys(keys))) == len(np.unique(rows, axis=0))


def test_many_rows_need_few_folds():
    rng = np.random.default_rng(0)
    for n_rows, n_folds in ((900, 5), (2 * HELD_ROWS, 3), (5 * HELD_ROWS, 1)):
        source = source_of({"x": rng.standard_normal(n_rows), "z": rng.random(n_rows)}, rng.integers(0, 2, n_rows))
        assert len(evaluation_folds(source, 1)) == n_folds


def test_the_default_model_ignores_columns_without_information():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((300, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(300) > 0).astype(int)
    order = rng.permutation(5)
    expected = pm.ULSClassifier().fit(X, y).predict_proba(X)
    for changed in (np.column_stack([X, np.full(300, 2.0)]), np.column_stack([X, X[:, 3]]), X[:, order]):
        np.testing.assert_array_equal(pm.ULSClassifier().fit(changed, y).predict_proba(changed), expected)
        compact = pm.ULSClassifier.compact().fit(X, y).predict_proba(X)
        np.testing.assert_allclose(
            pm.ULSClassifier.compact().fit(changed, y).predict_proba(changed), compact, atol=1e-9
        )
