"""Bins are exact where they can be, and depend neither on the order nor on the repetition nor on the chunking of the rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from permissible.bins import find as finding
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.bins.hashing import row_hashes
from permissible.table import read

VALUES = st.one_of(st.integers(-20, 20).map(float), st.floats(-1e6, 1e6), st.just(float("nan")))
MATRICES = arrays(np.float64, st.tuples(st.integers(1, 40), st.just(2)), elements=VALUES)


def same(a, b):
    assert a.schema == b.schema
    for one, other in zip(a.columns, b.columns, strict=True):
        np.testing.assert_array_equal(one.thresholds, other.thresholds)
        np.testing.assert_array_equal(one.code_of_category, other.code_of_category)
        assert (one.n_bins, one.has_missing) == (other.n_bins, other.has_missing)


@settings(max_examples=100, deadline=None)
@given(MATRICES, st.integers(2, 12))
def test_few_distinct_values_are_told_apart_exactly_and_codes_keep_the_order(X, max_bins):
    table = read(X)
    binning = find_bins(table, max_bins)
    codes = encode(binning, table)
    for j in range(2):
        present = ~np.isnan(X[:, j])
        distinct = np.unique(X[present, j])
        bins = binning.columns[j]
        assert bins.n_bins <= max_bins
        assert bins.has_missing == (not present.all())
        assert np.all(codes.column_codes(j)[~present] == 255)
        by_value = codes.column_codes(j)[present][np.argsort(X[present, j], kind="stable")].astype(int)
        assert np.all(np.diff(by_value) >= 0)
        if len(distinct) <= max_bins:
            assert bins.n_bins == max(len(distinct), 1)
            assert len(np.unique(by_value)) == len(distinct)


@pytest.mark.parametrize("distinct", [253, 254, 255])
def test_up_to_255_distinct_values_each_has_its_bin(distinct):
    X = np.random.default_rng(0).permutation(np.arange(distinct, dtype=float))[:, None]
    table = read(X)
    codes = encode(find_bins(table), table).column_codes(0)
    np.testing.assert_array_equal(codes, X[:, 0])


@pytest.mark.parametrize("distinct", [256, 257, 300, 1000, 10_000])
def test_more_distinct_values_share_bins_of_equal_weight(distinct):
    table = read(np.arange(distinct, dtype=float)[:, None])
    binning = find_bins(table)
    counts = np.bincount(encode(binning, table).column_codes(0))
    assert binning.columns[0].n_bins == 255
    assert counts.max() <= -(-distinct // 255) + 1


@settings(max_examples=100, deadline=None)
@given(MATRICES, st.integers(2, 6), st.data())
def test_weight_two_equals_the_row_twice_and_weight_zero_the_row_left_out(X, max_bins, data):
    weight = data.draw(arrays(np.int64, len(X), elements=st.integers(0, 3)))
    repeated = np.repeat(X, weight, axis=0)
    if len(repeated):
        same(find_bins(read(X), max_bins, sample_weight=weight.astype(float)), find_bins(read(repeated), max_bins))


@settings(max_examples=60, deadline=None)
@given(MATRICES, st.integers(2, 6), st.randoms(use_true_random=False), st.sampled_from([0.1, 1.0, 7.0]))
def test_row_order_and_the_scale_of_the_weights_do_not_matter(X, max_bins, random, scale):
    order = random.sample(range(len(X)), len(X))
    weight = np.array([random.choice([1.0, 2.0, 5.0]) for _ in order])
    expected = find_bins(read(X), max_bins, sample_weight=weight)
    same(find_bins(read(X[order]), max_bins, sample_weight=weight[order]), expected)
    same(find_bins(read(X), max_bins, sample_weight=weight * 2 ** round(scale)), expected)


def test_a_heavy_value_gets_its_own_bin_and_takes_no_more():
    values = np.concatenate([np.zeros(100_000), np.arange(1, 501)])
    table = read(values[:, None])
    binning = find_bins(table)
    counts = np.bincount(encode(binning, table).column_codes(0))
    assert counts[0] == 100_000
    assert binning.columns[0].n_bins > 240
    assert counts[1:].max() <= 4


@pytest.mark.parametrize("column", [[np.nan] * 4, [2.0] * 4, [1e300, -1e300, 1e300, 5e-324], [1.0]])
def test_odd_columns(column):
    table = read(np.array(column)[:, None])
    bins = find_bins(table).columns[0]
    assert bins.n_bins == max(len({v for v in column if v == v}), 1)
    assert encode(find_bins(table), table).n_rows == len(column)


def test_no_rows_and_no_columns():
    assert find_bins(read(np.zeros((0, 2)))).columns[1].n_bins == 1
    assert encode(find_bins(read(np.zeros((3, 0)))), read(np.zeros((3, 0)))).blocks.shape == (0, 3, 8)


def test_large_tables_are_sampled_without_regard_to_order_or_repetition(monkeypatch):
    sample = finding.sample_rows
    monkeypatch.setattr(finding, "SAMPLE_ROWS", 500)
    monkeypatch.setattr(finding, "sample_rows", lambda hashes: sample(hashes, 500))
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=3000), rng.integers(0, 7, 3000), rng.integers(0, 2000, 3000)])
    X[5, 1] = 99.0
    expected = find_bins(read(X), 64, seed=3)
    assert expected.columns[0].n_bins == 64
    assert expected.columns[1].n_bins == 8  # the rare value counts although the sample may not have it
    order = rng.permutation(len(X))
    same(find_bins(read(X[order]), 64, seed=3), expected)
    same(find_bins(read(np.concatenate([X, X[::-1]])), 64, seed=3), expected)
    same(find_bins(read(X), 64, seed=3, sample_weight=np.full(3000, 2.0)), expected)
    other = find_bins(read(X), 64, seed=4)
    assert not np.array_equal(other.columns[0].thresholds, expected.columns[0].thresholds)
    named = dict(zip("abc", X.T, strict=True))
    swapped = find_bins(read({name: named[name] for name in "cba"}), 64, seed=3)
    in_order = find_bins(read(named), 64, seed=3)
    np.testing.assert_array_equal(swapped.columns[2].thresholds, in_order.columns[0].thresholds)


def test_sampled_quantiles_are_close_to_the_quantiles_of_all_rows():
    X = np.random.default_rng(2).normal(size=(400_000, 1))
    table = read(X)
    counts = np.bincount(encode(find_bins(table), table).column_codes(0))
    assert counts.min() > 0.7 * 400_000 / 255
    assert counts.max() < 1.3 * 400_000 / 255


def test_rare_categories_share_a_bin():
    values = [f"c{i:03d}" for i in range(300) for _ in range(1 + (i >= 50))]
    table = read({"c": values})
    bins = find_bins(table).columns[0]
    assert bins.n_bins == 254
    codes = encode(find_bins(table), table).column_codes(0)
    assert np.sum(codes == 254) == 46  # of the 300 categories those with the fewest rows, later names first
    assert np.all(np.diff(codes[codes < 254].astype(int)) >= 0)
    assert find_bins(table, 4).columns[0].n_bins == 3


def test_weights_decide_which_categories_are_rare():
    table = read({"c": ["a", "b", "c", "b"]})
    assert find_bins(table, 2).columns[0].code_of_category.tolist() == [254, 0, 254]
    weight = np.array([1.0, 1.0, 3.0, 1.0])
    assert find_bins(table, 2, sample_weight=weight).columns[0].code_of_category.tolist() == [254, 254, 0]
    assert find_bins(table, sample_weight=np.array([1.0, 0, 1, 0])).columns[0].code_of_category.tolist() == [0, 254, 1]


def test_an_unseen_category_counts_as_other_and_a_missing_one_as_missing():
    table = read({"c": ["a", "b"]})
    binning = find_bins(table)
    with pytest.warns(UserWarning, match="never seen"):
        new = read({"c": ["x", None, "b"]}, table.schema)
    assert encode(binning, new).column_codes(0).tolist() == [254, 255, 1]


def test_max_bins_is_checked():
    with pytest.raises(ValueError, match="`max_bins` must be an integer between 2 and 255, got 256"):
        find_bins(read(np.eye(2)), 256)


def test_codes_do_not_depend_on_threads_or_type_of_storage():
    X = np.random.default_rng(3).normal(size=(70_000, 5)).astype(np.float32)
    wide = read(X.astype(np.float64))
    binning = find_bins(wide)
    expected = encode(binning, wide).blocks
    np.testing.assert_array_equal(encode(binning, read(X), n_threads=3).blocks, expected)
    np.testing.assert_array_equal(encode(binning, read(np.asfortranarray(X))).blocks, expected)
    same(find_bins(read(X), n_threads=2), binning)


def test_rows_that_are_permutations_of_each_other_hash_apart():
    """Folds and hold-outs come from these hashes: boards and other tables of few values must not fall into a few groups."""
    boards = np.array(np.meshgrid(*[[0.0, 1.0, 2.0]] * 5)).reshape(5, -1).T
    for seed in range(3):
        hashes = row_hashes(read(boards), seed)
        assert len(np.unique(hashes)) == len(boards)
        assert np.ptp(np.bincount((hashes % np.uint64(5)).astype(int), minlength=5)) < 40
    named = read({"a": [1.0, 2.0], "b": [2.0, 1.0]})
    swapped = read({"b": [2.0, 1.0], "a": [1.0, 2.0]})
    np.testing.assert_array_equal(row_hashes(named), row_hashes(swapped))
    assert len(np.unique(row_hashes(named))) == 2


def test_more_columns_than_are_encoded_at_once():
    random = np.random.default_rng(0)
    numbers = random.integers(0, 40, (60, 1100)) / 7
    types = [np.float32 if j % 3 == 0 else np.float64 for j in range(1100)]
    table = read({f"x{j}": column.astype(kind) for j, (column, kind) in enumerate(zip(numbers.T, types, strict=True))})
    binning = find_bins(table)
    binned = encode(binning, table)
    for j, bins in enumerate(binning.columns):
        expected = np.searchsorted(bins.thresholds, numbers[:, j].astype(types[j]).astype(np.float64), side="left")
        np.testing.assert_array_equal(binned.column_codes(j), expected)
