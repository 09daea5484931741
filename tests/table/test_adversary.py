"""What is no column, or not the column of fit, is refused in one sentence or said in a warning; never read as something else."""

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from permissible.table import UnseenCategoryWarning, names_of, read

DATE = datetime.date(2020, 1, 1)


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


REFUSED = {
    "timedelta": np.array([1, 2], "m8[D]"),
    "datetime": np.array(["2020", "NaT"], "M8[D]"),
    "objects of timedelta": objects(np.timedelta64(3, "D"), 1),
    "objects of datetime": objects(np.datetime64("2020"), None),
    "complex": np.array([1j, 2]),
    "objects of complex": objects(1j, 2),
    "objects of NumPy complex": objects(np.complex128(1j), 2.0),
    "void": np.zeros(2, "V4"),
    "dates": [DATE, None],
    "lists": objects([1], [2]),
    "huge integer": [10**400, 1],
    "huge negative integer": objects(-(10**400), 1),
    "huge integer beside text": objects(10**400, "a"),
    "huge fraction": objects(Fraction(10**400), 1),
    "infinite decimal": objects(Decimal("Infinity"), 1),
    "long double beyond float64": np.array(["1e400", "1"], dtype=np.longdouble),
    "pandas datetime": pd.Series(pd.to_datetime(["2020", None])),
    "pandas timedelta": pd.Series(pd.to_timedelta([1, 2], unit="D")),
    "pandas period": pd.Series(pd.period_range("2020", periods=2, freq="M")),
    "pandas interval": pd.Series(pd.interval_range(0, 2)),
    "pandas complex": pd.Series([1j, 2]),
    "pandas timestamps": pd.Series([pd.Timestamp("2020"), pd.NaT], dtype=object),
    "polars date": pl.Series([DATE, None]),
    "polars duration": pl.Series([datetime.timedelta(1)]),
    "polars time": pl.Series([datetime.time(1)]),
    "polars list": pl.Series([[1], [2]]),
    "polars array": pl.Series([[1], [2]], dtype=pl.Array(pl.Int64, 1)),
    "polars struct": pl.Series([{"a": 1}]),
    "arrow date": pa.array([DATE]),
    "arrow timestamp": pa.array([datetime.datetime(2020, 1, 1)]),
    "arrow list": pa.array([[1], [2]]),
    "arrow map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "a number": 1,
    "a text": "ab",
    "nothing": None,
    "a generator": (i for i in range(2)),
    "a set": {1, 2},
    "a mapping": {0: 1, 1: 2},
    "two columns": np.eye(2),
    "a column of one": np.ones((2, 1)),
    "ragged": [[1], [2, 3]],
    "sparse": scipy.sparse.csr_matrix([[1.0], [2.0]]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_column_is_refused_in_one_sentence(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, TypeError)) as caught:
            read({"c": REFUSED[name]})
    message = str(caught.value)
    assert message.startswith(("`X` must be ", "`X['c']` must be "))
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize(
    "X",
    [
        np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]),
        np.rec.array([(1.0, 2)], dtype=[("a", "f8"), ("b", "i4")]),
    ],
)
def test_a_structured_array_is_named_as_such(X):
    with pytest.raises(TypeError, match="structured array"):
        read(X)


@pytest.mark.parametrize(
    "X",
    [
        {1: [1, 2], "1": [3, 4]},
        {1: [1], 1.5: [2], "1.5": [3]},
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=[0, 0]),
        pa.table([[1], [2]], names=["a", "a"]),
        pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]),
    ],
)
def test_two_columns_of_one_name_are_refused(X):
    for ask in (read, names_of):
        with pytest.raises(ValueError, match="names differ"):
            ask(X)


@pytest.mark.parametrize(
    "make",
    [
        lambda columns: columns,
        pd.DataFrame,
        pl.DataFrame,
        pl.LazyFrame,
        pa.table,
        pa.RecordBatch.from_pydict,
    ],
)
def test_columns_are_found_by_name_in_every_library(make):
    schema = read({"a": [1.0, 2.0], "b": ["x", "y"]}).schema
    table = read(make({"b": ["y", "x"], "more": [0, 0], "a": [7, 8]}), schema)
    np.testing.assert_array_equal(table.columns[0], [7, 8])
    assert table.columns[1].tolist() == [1, 0]


@pytest.mark.parametrize(
    "categorical", [["z"], [2], [-3], [0.0], ["a", True], [None], [b"a"], [True], [[0]], True, 0, slice(0, 1)], ids=repr
)
def test_what_names_no_column_is_refused_as_categorical(categorical):
    with pytest.raises((ValueError, TypeError), match=r"^`categorical_features` must be "):
        read({"a": [1, 2], "b": [3, 4]}, categorical_features=categorical)


def test_names_that_are_no_text_are_no_names():
    for columns in ([0, 1], pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])):
        frame = pd.DataFrame([[1, 2], [3, 4]], columns=columns)
        assert names_of(frame) is None
        np.testing.assert_array_equal(read(frame).columns[1], [2, 4])


# -- another type at predict than at fit --------------------------------------------------------------------------------

CODES = np.array([0, 1, 1, 0, 1])
FITTED = {
    "numbers": CODES,
    "truth": CODES > 0,
    "text": np.array(["no", "yes"])[CODES],
    "digits": CODES.astype(str),
    "categories of numbers": pd.Categorical(CODES),
    "categories of truth": pd.Categorical(CODES > 0),
}
SAME = {
    "numbers": ["numbers", "truth", "halves"],
    "truth": ["numbers", "truth"],
    "text": ["text"],
    "digits": ["digits"],
    "categories of numbers": ["numbers", "truth", "categories of numbers", "categories of truth"],
    "categories of truth": ["numbers", "truth", "categories of numbers", "categories of truth"],
}


@pytest.mark.parametrize("given", [*FITTED, "halves", "missing"])
@pytest.mark.parametrize("fitted", FITTED)
def test_another_type_at_predict_is_the_same_values_or_said(fitted, given):
    schema = read({"c": FITTED[fitted]}).schema
    column = {**FITTED, "halves": CODES / 2, "missing": np.full(5, np.nan)}[given]
    categorical = schema.columns[0].kind == "categorical"
    if given == "missing":
        missing = read({"c": column}, schema).columns[0]
        assert (missing == -1).all() if categorical else np.isnan(missing).all()
    elif given in SAME[fitted]:
        found = read({"c": column}, schema).columns[0]
        np.testing.assert_array_equal(found, CODES / 2 if given == "halves" else CODES)
    elif categorical:  # compared by value, so that nothing is known; codes are never compared
        with pytest.warns(UnseenCategoryWarning) as caught:
            found = read({"c": column}, schema).columns[0]
        assert set(found) <= {-2, 0}
        assert -2 in found
        known, came = (isinstance(values[0], str) for values in (schema.columns[0].categories, column))
        hint = {(True, False): "(numbers, where fit had text)", (False, True): "(text, where fit had numbers)"}
        assert hint.get((known, came), "in column 'c';") in str(caught[0].message)
    else:
        with pytest.raises(ValueError, match=r"`X\['c'\]` must be (numeric|boolean) as in fit"):
            read({"c": column}, schema)


def test_a_float_matrix_is_held_against_columns_of_truth_values_too():
    schema = read(np.array([[True, False], [False, True]])).schema
    np.testing.assert_array_equal(read(np.array([[1.0, np.nan]]), schema).columns[1], [np.nan])
    with pytest.raises(ValueError, match=r"`X\['x1'\]` must be boolean as in fit"):
        read(np.array([[1.0, 2.0]]), schema)
