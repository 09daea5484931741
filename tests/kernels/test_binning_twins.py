"""The compiled binning kernels give what their readable twins give, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from permissible.kernels._core import binning as kernels
from permissible.kernels.reference import binning as reference

FINITE = st.floats(allow_nan=False, allow_infinity=False)
EXTREMES = [0.0, -0.0, 1e300, -1e300, 1e-300, 5e-324, -5e-324, 1.7976931348623157e308, 0.1, 1 / 3, 41.0, 42.0, 2.0**53]
COLUMNS = arrays(np.float64, st.integers(0, 60), elements=st.one_of(st.sampled_from([*EXTREMES, np.nan]), FINITE))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(EXTREMES), FINITE), min_size=2, max_size=8))
def test_separators_lie_between_their_neighbours_and_equal_the_twin(values):
    distinct = np.unique(np.array(values) + 0.0)
    found = kernels.separators(distinct)
    assert np.all(distinct[:-1] <= found)
    assert np.all(found < distinct[1:])
    expected = [reference.separate(a, b) for a, b in zip(distinct[:-1].tolist(), distinct[1:].tolist(), strict=True)]
    np.testing.assert_array_equal(found, np.array(expected))


@pytest.mark.parametrize(
    ("lower", "upper", "threshold"),
    [
        (41, 42, 41.5),
        (30, 41, 40),
        (0.123456, 0.125, 0.124),
        (0, 1, 0.5),
        (-1, 1, 0),
        (1, 300, 200),
        (0.9999, 1.0001, 1),
        (1e300, 2e300, 1.5e300),
        (1.0, np.nextafter(1.0, 2), 1.0),
        (-3.14159, -2.71828, -3),
        (1999, 2000, 1999.5),
    ],
)
def test_thresholds_are_decimals_people_recognise(lower, upper, threshold):
    assert kernels.separators(np.array([lower, upper], dtype=float))[0] == threshold


@settings(max_examples=200, deadline=None)
@given(COLUMNS, st.integers(2, 20), st.data(), st.booleans())
def test_edges_equal_the_twin(column, max_bins, data, weighted):
    weights = data.draw(arrays(np.int64, len(column), elements=st.integers(1, 2**40))) if weighted else None
    rows = data.draw(st.none() | arrays(np.int64, len(column), elements=st.integers(0, max(len(column) - 1, 0))))
    for values in (column, np.stack([column, column], axis=1)[:, 1]):
        found = kernels.find_edges([values], rows, weights, 3, max_bins, 1)[0]
        expected = reference.find_edges(values, rows, weights, 3, max_bins)
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1:] == expected[1:]
        assert len(found[0]) < max_bins


@pytest.mark.parametrize("distinct", [1, 2, 253, 254, 255, 256, 257, 1000, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_and_codes_equal_the_twin_around_the_limit_of_bins(distinct, dtype):
    rng = np.random.default_rng(distinct)
    column = rng.permutation(np.concatenate([np.arange(distinct), rng.zipf(1.3, 6000) % distinct])).astype(dtype) / 7
    column[::17] = np.nan
    thresholds, missing, exact = kernels.find_edges([column], None, None, 1, 255, 1)[0]
    expected = reference.find_edges(column, None, None, 1, 255)
    np.testing.assert_array_equal(thresholds, expected[0])
    assert (missing, exact) == expected[1:]
    np.testing.assert_array_equal(
        encoded([column], [thresholds])[0, :, 0], reference.encode_column(column, thresholds, NONE)
    )


NONE = np.zeros(0, dtype=np.uint8)


def encoded(columns, thresholds, codes=None, n_threads=1):
    codes = codes or [NONE] * len(columns)
    blocks = np.full((-(-len(columns) // 8), len(columns[0]), 8), 77, dtype=np.uint8)
    ends = [np.cumsum([0, *map(len, parts)], dtype=np.int64) for parts in (thresholds, codes)]
    kernels.encode(columns, np.concatenate(thresholds), ends[0], np.concatenate(codes), ends[1], blocks, n_threads)
    return blocks


@settings(max_examples=100, deadline=None)
@given(COLUMNS, st.data(), st.sampled_from([np.float32, np.float64]), st.sampled_from("CF"))
def test_codes_equal_the_twin_in_every_layout(column, data, dtype, order):
    with np.errstate(over="ignore", under="ignore"):
        column = np.nan_to_num(column.astype(dtype), nan=np.nan, posinf=3e38, neginf=-3e38)
    finite = FINITE if dtype == np.float64 else st.floats(width=32, allow_nan=False, allow_infinity=False)
    near = st.sampled_from([*column[~np.isnan(column)].astype(float).tolist(), 0.5])
    thresholds = np.unique(data.draw(st.lists(st.one_of(finite, near), max_size=254, unique=True)) or np.zeros(0))
    matrix = np.asarray(np.stack([column] * 11, axis=1), order=order)
    blocks = encoded([*matrix.T], [np.array(thresholds, dtype=float)] * 11)
    expected = reference.encode_column(column, np.array(thresholds, dtype=float), NONE)
    for j in range(11):
        np.testing.assert_array_equal(blocks[j // 8, :, j % 8], expected)
    assert not blocks[1, :, 3:].any()


def test_float32_values_meet_float64_thresholds_exactly():
    values = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    around = np.concatenate([[np.nextafter(float(v), -1), float(v), np.nextafter(float(v), 1)] for v in values])
    np.testing.assert_array_equal(encoded([values], [around])[0, :, 0], np.searchsorted(around, values.astype(float)))


def test_categories_get_their_codes_and_the_unseen_count_as_other():
    column = np.array([0, 1, 2, -1, -2, 5], dtype=np.int32)
    table = np.array([1, 254, 0], dtype=np.uint8)
    found = encoded([column], [np.zeros(0)], [table])[0, :, 0]
    np.testing.assert_array_equal(found, reference.encode_column(column, np.zeros(0), table))
    assert found.tolist() == [1, 254, 0, 255, 254, 254]


@settings(max_examples=60, deadline=None)
@given(COLUMNS, st.integers(0, 2**64 - 1))
def test_row_hashes_equal_the_twin(column, seed):
    codes = (np.arange(len(column)) % 4 - 1).astype(np.int32)
    known = [[], [11, 2**63 + 5, 7]]
    flat, offsets = np.array(known[1], dtype=np.uint64), np.array([0, 0, 3], dtype=np.int64)
    own = [2**64 - 3, 12345]
    found = kernels.row_hashes([column, codes], np.array(own, dtype=np.uint64), flat, offsets, seed, len(column), 1)
    np.testing.assert_array_equal(found, reference.row_hashes([column, codes], own, known, seed, len(column)))


@settings(max_examples=60, deadline=None)
@given(arrays(np.uint64, st.integers(0, 50)), st.integers(1, 60))
def test_the_largest_hash_kept_equals_the_twin(hashes, limit):
    repeated = np.concatenate([hashes, hashes[::2]])
    assert kernels.largest_kept(repeated, limit) == reference.largest_kept(repeated, limit)


def test_samples_too_crowded_for_a_quick_sort_are_sorted_all_the_same():
    rng = np.random.default_rng(5)
    column = 1 + 1e-13 * rng.integers(0, 1000, 20_000)
    weights = rng.integers(1, 9, 20_000)
    for given_weights in (None, weights):
        found = kernels.find_edges([column], None, given_weights, 1, 100, 1)[0]
        np.testing.assert_array_equal(found[0], reference.find_edges(column, None, given_weights, 1, 100)[0])


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, st.integers(1, 40), elements=st.floats()))
def test_survey_equals_the_twin(column):
    with np.errstate(over="ignore", under="ignore"):
        narrow = column.astype(np.float32)
    columns = [column, narrow, np.arange(len(column), dtype=np.int32) - 1]
    for found, expected in zip(kernels.survey(columns, 1), reference.survey(columns), strict=True):
        np.testing.assert_array_equal(found, expected)


@settings(max_examples=60, deadline=None)
@given(COLUMNS, st.integers(1, 60), st.data())
def test_distinct_values_equal_the_twin_up_to_the_limit(column, limit, data):
    rows = data.draw(st.none() | arrays(np.int64, len(column), elements=st.integers(0, max(len(column) - 1, 0))))
    with np.errstate(over="ignore", under="ignore"):
        narrow = np.nan_to_num(column.astype(np.float32), nan=np.nan)
    for one, (values, complete) in zip(
        (column, narrow), kernels.distinct_values([column, narrow], rows, limit), strict=True
    ):
        expected, fits = reference.distinct_values(one, rows, limit)
        assert complete == fits
        if fits:
            np.testing.assert_array_equal(values, expected)


def test_distinct_values_of_a_whole_table_of_255():
    column = np.random.default_rng(0).permutation(np.tile(np.arange(255) * 2.0**40, 9))
    assert kernels.distinct_values([column], None, 255)[0][1]
    assert not kernels.distinct_values([column], None, 254)[0][1]


def test_distinct_values_counted_by_threads_are_those_of_one():
    random = np.random.default_rng(0)
    columns = [
        np.sort(random.integers(0, most, 300_000)).astype(float) for most in (200, 255, 256)
    ]  # each thread sees a part
    whole, shared = (kernels.distinct_values(columns, None, 255, threads) for threads in (1, 2))
    assert [complete for _, complete in shared] == [complete for _, complete in whole] == [True, True, False]
    for k in (0, 1):
        np.testing.assert_array_equal(shared[k][0], whole[k][0])


def test_the_number_of_threads_changes_nothing():
    X = np.random.default_rng(0).normal(size=(30_000, 9))
    one, two = (kernels.find_edges([*X.T], None, None, 1, 255, n) for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a[0], b[0])
    edges = [thresholds for thresholds, _, _ in one]
    np.testing.assert_array_equal(encoded([*X.T], edges), encoded([*X.T], edges, n_threads=2))


def test_kernels_refuse_what_they_cannot_read():
    column = np.zeros(3)
    with pytest.raises((TypeError, ValueError)):
        kernels.survey([column.astype(np.int64)], 1)
    with pytest.raises(ValueError, match="equal lengths"):
        kernels.survey([column, np.zeros(2)], 1)
    with pytest.raises(ValueError, match="outside the table"):
        kernels.find_edges([column], np.array([3]), None, 1, 255, 1)
    with pytest.raises(ValueError, match="max_bins must lie in"):
        kernels.find_edges([column], None, None, 1, 256, 1)
