"""Literals read as people would say them, and the literals of a column are those its bins allow."""

from types import SimpleNamespace

import numpy as np
import pytest

from permissible.bins.describe import literal_words, rule_words
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.bins.literal import Literal, category_literal, threshold_literal
from permissible.table import Column, Schema, read

SCHEMA = Schema(
    (Column("age"), Column("colour", "categorical", ("blue", "green", "red", 7, "")), Column("smoker", "boolean"))
)


def about(schema=SCHEMA, codes=None, seen_missing=None):
    """What a model tells of its columns."""
    return SimpleNamespace(schema=schema, code_of_category=codes or {}, seen_missing=seen_missing)


@pytest.mark.parametrize(
    ("literal", "words"),
    [
        (Literal(0, "<=", 41.5, (3,)), "age <= 41.5"),
        (Literal(0, ">", 40.0, (3,)), "age > 40"),
        (Literal(0, ">", 41.5, (3,), missing=True), "age > 41.5 or missing"),
        (Literal(0, "<=", 1e-300, (3,)), "age <= 1e-300"),
        (Literal(0, "missing", missing=True), "age is missing"),
        (Literal(0, "present"), "age is not missing"),
        (Literal(1, "in", codes=(2,)), "colour = red"),
        (Literal(1, "in", codes=(0, 2)), "colour in {blue, red}"),
        (Literal(1, "in", codes=(3, 4)), "colour in {7, ''}"),
        (Literal(1, "not in", codes=(2,), missing=True), "colour != red or missing"),
        (Literal(1, "not in", codes=(0, 2)), "colour not in {blue, red}"),
        (Literal(2, ">", 0.5, (0,)), "smoker = true"),
        (Literal(2, "<=", 0.5, (0,)), "smoker = false"),
    ],
)
def test_a_literal_reads_as_people_would_say_it(literal, words):
    assert literal_words(literal, about()) == words


def test_what_becomes_of_missing_values_may_be_left_unsaid():
    assert literal_words(Literal(0, ">", 40.0, (3,), missing=True), about(seen_missing=(1,))) == "age > 40"


def test_rules_are_joined_by_and():
    assert (
        rule_words((Literal(0, "<=", 3.0, (0,)), Literal(2, ">", 0.5, (0,))), about()) == "age <= 3 and smoker = true"
    )
    assert rule_words((), about()) == "always"
    assert rule_words((Literal(0, ">", 40.0, (3,)), Literal(0, "<=", 60.0, (7,))), about()) == "40 < age <= 60"


def test_categories_that_share_a_bin_are_not_named():
    codes = np.array([1, 254, 0, 254, 254], dtype=np.uint8)
    assert literal_words(Literal(1, "in", codes=(0,)), about(codes={1: codes})) == "colour = red"


def literals_of(binning, column):
    bins = binning.columns[column]
    if binning.schema.columns[column].kind == "categorical":
        found = [category_literal(column, code) for code in range(bins.n_bins)]
    else:
        fates = (False, True) if bins.has_missing else (False,)
        codes = range(len(bins.thresholds))
        found = [threshold_literal(binning, column, code, missing=fate) for code in codes for fate in fates]
    return [*found, Literal(column, "missing", missing=True)] if bins.has_missing else found


def test_the_literals_of_a_column_cover_what_their_words_say():
    table = read({"n": [1.0, 2.0, 3.0, None], "c": ["u", "v", None, "u"], "b": [True, False, True, True]})
    binning = find_bins(table)
    binned = encode(binning, table)
    covered = {
        literal_words(literal, about(binning.schema)): literal.covers(binned.column_codes(j)).tolist()
        for j in range(3)
        for literal in literals_of(binning, j)
    }
    assert covered == {
        "n <= 1.5": [True, False, False, False],
        "n <= 1.5 or missing": [True, False, False, True],
        "n <= 2.5": [True, True, False, False],
        "n <= 2.5 or missing": [True, True, False, True],
        "n is missing": [False, False, False, True],
        "c = u": [True, False, False, True],
        "c = v": [False, True, False, False],
        "c is missing": [False, False, True, False],
        "b = false": [False, True, False, False],
    }


def test_a_literal_and_its_negation_cover_every_row_once():
    table = read({"n": [1.0, 2.0, None], "c": ["u", None, "v"]})
    binning = find_bins(table)
    binned = encode(binning, table)
    for j in range(2):
        for literal in literals_of(binning, j):
            codes = binned.column_codes(j)
            assert np.all(literal.covers(codes) ^ literal.negated().covers(codes))
