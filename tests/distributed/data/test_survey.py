"""Pass 1 in parts finds the very bins that `find_bins` finds on the whole table."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissible.bins import find
from permissible.bins.find import find_bins
from permissible.distributed.data import survey as survey_module
from permissible.distributed.data.survey import Survey
from permissible.table import read


def make(n_rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    few = random.integers(0, 5, n_rows).astype(float)
    few[random.random(n_rows) < 0.2] = np.nan
    return {
        "real": random.standard_normal(n_rows),
        "few": few,
        "truth": random.random(n_rows) < 0.3,
        "colour": np.array(["red", "green", "blue", "a'b"])[random.integers(0, 4, n_rows)],
        "empty": np.full(n_rows, np.nan),
    }


def parts_of(columns, cuts):
    edges = [0, *sorted(cuts), len(columns["real"])]
    return [{k: v[a:b] for k, v in columns.items()} for a, b in pairwise(edges)]


def survey_of(parts, max_bins=255, seed=0):
    survey = Survey(max_bins, seed)
    for table, weight in parts:
        survey.add(table, weight)
    return survey


def same(one, other):
    assert one.schema == other.schema
    for a, b in zip(one.columns, other.columns, strict=True):
        assert (a.n_bins, a.has_missing) == (b.n_bins, b.has_missing)
        np.testing.assert_array_equal(a.thresholds, b.thresholds)
        np.testing.assert_array_equal(a.code_of_category, b.code_of_category)


@pytest.fixture
def small_sample(monkeypatch):
    sample_rows = find.sample_rows
    for module in (find, survey_module):
        monkeypatch.setattr(module, "SAMPLE_ROWS", 300)
    monkeypatch.setattr(find, "sample_rows", lambda hashes: sample_rows(hashes, 300))


@given(cuts=st.lists(st.integers(1, 399), max_size=6, unique=True), seed=st.integers(0, 5))
def test_any_cutting_gives_the_bins_of_the_whole(cuts, seed):
    columns = make(400, seed)
    survey = survey_of((read(part), None) for part in parts_of(columns, cuts))
    same(survey.binning(), find_bins(read(columns)))


@pytest.mark.parametrize("n_parts", [1, 3, 7])
def test_a_table_larger_than_the_sample_gives_the_bins_of_the_whole(small_sample, n_parts):
    columns = make(2000)
    cuts = list(np.linspace(0, 2000, n_parts + 1).astype(int)[1:-1])
    survey = survey_of(((read(part), None) for part in parts_of(columns, cuts)), max_bins=50, seed=3)
    same(survey.binning(), find_bins(read(columns), max_bins=50, seed=3))


def test_merged_surveys_equal_one_survey_in_any_order(small_sample):
    columns = make(1500)
    surveys = [survey_of([(read(part), None)], 20) for part in parts_of(columns, [100, 900])]
    merged = Survey(20)
    for part in reversed(surveys):
        merged.merge(part)
    same(merged.binning(), find_bins(read(columns), max_bins=20))


def test_weights_count_as_in_memory(small_sample):
    columns = make(1200)
    weight = np.random.default_rng(1).integers(0, 4, 1200) * 0.37
    survey = Survey(30)
    for a, b in ((0, 500), (500, 1200)):
        survey.add(read({k: v[a:b] for k, v in columns.items()}), weight[a:b])
    table = read(columns)
    same(survey.binning(), find_bins(table.take(weight > 0), 30, 0, weight[weight > 0]))


def test_equal_rows_are_kept_once_however_many_there_are():
    survey = Survey()
    for _ in range(5):
        survey.add(read({"x": np.zeros(1000), "y": np.ones(1000)}))
    survey.sample.settle()
    assert len(survey.sample.hashes) == 1
    assert survey.sample.counts.tolist() == [5000]


def test_an_empty_part_says_nothing_of_a_kind():
    survey = Survey()
    survey.add(read({"c": np.array([np.nan, np.nan])}))
    survey.add(read({"c": np.array(["red", "blue"])}))
    assert survey.schema().columns[0].categories == ("blue", "red")


def test_parts_that_disagree_on_a_kind_are_refused_by_name():
    survey = Survey()
    survey.add(read({"c": np.array([1.0, 2.0])}))
    with pytest.raises(ValueError, match=r"`X\['c'\]` must be of one kind throughout"):
        survey.add(read({"c": np.array(["red"])}))


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_weights_that_differ_are_seen_wherever_the_parts_are_cut(cut):
    """Also where the first part has one weight only and the second that one and others."""
    weights = np.array([1.0, 1.0, 1.0, 2.0, 3.0])
    table, parts = read({"x": np.arange(5.0)}), []
    for first, last in ((0, cut), (cut, 5)):
        parts.append((table.take(np.arange(first, last)), weights[first:last]))
    for ordered in (parts, parts[::-1]):
        assert len(survey_of(ordered).weights) == 2
        merged = Survey()
        for part in ordered:
            merged.merge(survey_of([part]))
        assert len(merged.weights) == 2
