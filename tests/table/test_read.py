"""One table, whatever library it came from; kinds, categories and missing values told apart; bad input refused in words."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible.table import UnseenCategoryWarning, names_of, read

RAW = {
    "age": [41, None, 30, 41],
    "height": [1.8, 1.6, None, 1.7],
    "smoker": [True, None, False, True],
    "colour": ["red", "blue", None, "red"],
}


def pandas_nullable():
    return pd.DataFrame(RAW).convert_dtypes()


def pandas_category():
    return pd.DataFrame(RAW).astype({"colour": pd.CategoricalDtype(["red", "never", "blue"])})


def polars_category():
    return pl.DataFrame(RAW).with_columns(pl.col("colour").cast(pl.Categorical))


def polars_enum():
    return pl.DataFrame(RAW).with_columns(pl.col("colour").cast(pl.Enum(["red", "never", "blue"])))


def arrow_dictionary():
    table = pa.table(RAW)
    return table.set_column(3, "colour", table["colour"].dictionary_encode())


def arrow_in_chunks():
    table = pa.table(RAW)
    return (
        pa.concat_tables([arrow_dictionary().slice(2), arrow_dictionary().slice(0, 2)])
        .take([2, 3, 0, 1])
        .select(table.column_names)
    )


SOURCES = [
    lambda: RAW,
    lambda: pd.DataFrame(RAW),
    lambda: pd.DataFrame(RAW, dtype=object),
    pandas_nullable,
    pandas_category,
    lambda: pl.DataFrame(RAW),
    lambda: pl.DataFrame(RAW).lazy(),
    polars_category,
    polars_enum,
    lambda: pa.table(RAW),
    arrow_dictionary,
    arrow_in_chunks,
    lambda: pd.DataFrame(pa.table(RAW).to_pandas(types_mapper=pd.ArrowDtype)),
]


@pytest.mark.parametrize("source", SOURCES)
def test_every_library_gives_the_same_table(source):
    table = read(source())
    assert [(c.name, c.kind, c.categories) for c in table.schema.columns] == [
        ("age", "numeric", ()),
        ("height", "numeric", ()),
        ("smoker", "boolean", ()),
        ("colour", "categorical", ("blue", "red")),
    ]
    assert table.schema.named
    np.testing.assert_array_equal(table.columns[0], [41, np.nan, 30, 41])
    np.testing.assert_array_equal(table.columns[1], [1.8, 1.6, np.nan, 1.7])
    np.testing.assert_array_equal(table.columns[2], [1, np.nan, 0, 1])
    np.testing.assert_array_equal(table.columns[3], [1, 0, -1, 1])
    assert table.columns[3].dtype == np.int32
    assert table.has_missing.tolist() == [True] * 4
    assert names_of(source()) == ("age", "height", "smoker", "colour")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_float_matrix_is_not_copied(dtype, order):
    X = np.asarray(np.random.default_rng(0).normal(size=(5, 3)), dtype=dtype, order=order)
    table = read(X)
    assert table.matrix is X
    assert all(np.shares_memory(column, X) for column in table.columns)
    assert table.schema.names == ("x0", "x1", "x2")
    assert not table.schema.named
    assert read(pd.DataFrame(X)).schema.names == ("x0", "x1", "x2")


@pytest.mark.parametrize(
    ("X", "kind", "values"),
    [
        (np.array([[1], [2]]), "numeric", [1, 2]),
        (np.array([[2**60 + 1], [2]]), "numeric", [2.0**60, 2]),
        (np.array([[True], [False]]), "boolean", [1, 0]),
        (np.array([["b"], ["a"]]), "categorical", [1, 0]),
        (np.array([[b"b"], [b"a"]]), "categorical", [1, 0]),
        (np.array([["b"], [None]], dtype=object), "categorical", [0, -1]),
        (np.array([[1.5], [None]], dtype=object), "numeric", [1.5, np.nan]),
        (np.array([[1], [pd.NA]], dtype=object), "numeric", [1, np.nan]),
        (np.array([[True], [np.nan]], dtype=object), "boolean", [1, np.nan]),
        (np.array([[True], [0.5]], dtype=object), "numeric", [1, 0.5]),
        (np.array([["b"], [3]], dtype=object), "categorical", [1, 0]),
        ([["b"], ["a"]], "categorical", [1, 0]),
        ([[1], [2.5]], "numeric", [1, 2.5]),
        (np.array([[1.5], [2.5]], dtype=">f8"), "numeric", [1.5, 2.5]),
        (np.array([[1.5], [2.5]], dtype=np.float16), "numeric", [1.5, 2.5]),
        (np.ma.masked_array([[1.0], [2.0]], mask=[[False], [True]]), "numeric", [1, np.nan]),
    ],
)
def test_kinds_of_arrays(X, kind, values):
    table = read(X)
    assert table.schema.columns[0].kind == kind
    np.testing.assert_array_equal(table.columns[0], values)


def test_unaligned_and_strided_matrices_are_read():
    packed = np.zeros(4, dtype=[("a", "i1"), ("b", "f8", 2)])
    packed["b"] = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(read(packed["b"]).columns[1], [1, 3, 5, 7])
    X = np.arange(24.0).reshape(6, 4)
    np.testing.assert_array_equal(read(X[::-2, ::-1]).columns[0], [23, 15, 7])


def test_numbers_are_categories_where_asked():
    X = np.array([[3.0, 1.0], [1.0, 2.0], [np.nan, 3.0]])
    for which in ([0], [True, False], np.array([0]), ["a"]):
        frame = pd.DataFrame(X, columns=["a", "b"])
        table = read(frame, categorical_features=which)
        assert table.schema.columns[0].categories == (1, 3)
        assert table.columns[0].tolist() == [1, 0, -1]
        assert table.schema.columns[1].kind == "numeric"
    assert read(X, categorical_features=[-1]).schema.columns[1].categories == (1, 2, 3)
    with pytest.raises(ValueError, match="got 'c'"):
        read(frame, categorical_features=["c"])
    with pytest.raises(ValueError, match="mask of 2"):
        read(frame, categorical_features=[True])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=3), st.integers(-5, 5)), min_size=1, max_size=12), st.randoms())
def test_row_order_does_not_change_the_categories(values, random):
    shuffled = random.sample(values, len(values))
    assert read({"c": [*values, "z"]}).schema == read({"c": ["z", *shuffled]}).schema


def test_the_columns_of_fit_are_found_by_name():
    schema = read(pd.DataFrame(RAW)).schema
    frame = pl.DataFrame(RAW).select("colour", "smoker", "age", "height").with_columns(pl.lit(1).alias("extra"))
    table = read(frame, schema)
    assert table.schema is schema
    np.testing.assert_array_equal(table.columns[0], [41, np.nan, 30, 41])
    with pytest.raises(ValueError, match="'height' among them"):
        read(frame.drop("height"), schema)
    with pytest.raises(ValueError, match="a table of 4 columns, got 1 columns"):
        read(np.zeros((1, 1)), schema)


def test_a_category_never_seen_gets_one_warning_and_equals_none_of_the_known():
    schema = read({"c": ["a", "b"], "d": ["u", "v"]}).schema
    with pytest.warns(UnseenCategoryWarning) as caught:
        table = read({"c": ["b", "x", None], "d": ["y", "u", "z"]}, schema)
    assert len(caught) == 1
    assert "'x' in column 'c'" in str(caught[0].message)
    assert "'y', 'z' in column 'd'" in str(caught[0].message)
    assert table.columns[0].tolist() == [1, -2, -1]
    assert table.columns[1].tolist() == [-2, 0, -2]


def test_kinds_that_do_not_match_those_of_fit():
    schema = read({"n": [1.0, 2.0], "c": ["a", "b"], "b": [True, False]}).schema
    with pytest.raises(ValueError, match="`X\\['n'\\]` must be numeric as in fit, got the text 'old'"):
        read({"n": ["old"], "c": ["a"], "b": [True]}, schema)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read({"n": [None], "c": [None], "b": [None]}, schema)
    assert np.isnan(table.columns[0][0])
    assert table.columns[1].tolist() == [-1]
    np.testing.assert_array_equal(read({"n": [True], "c": ["b"], "b": [1]}, schema).columns[0], [1.0])
    numbers = read(np.array([[1.0], [2.0]]), categorical_features=[0]).schema
    assert read(np.array([[2.0], [np.nan]]), numbers).columns[0].tolist() == [1, -1]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ({"a": [1.0, np.inf]}, "inf in column 'a', row 1"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "columns of equal length"),
        (np.zeros(3), "Reshape your data"),
        (np.zeros((2, 2, 2)), "3-D array"),
        (np.array([[{}]], dtype=object), "argument must be a string or a number"),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), "in column 't'"),
        (pl.DataFrame({"t": [[1, 2]]}), "in column 't'"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), "names of several types"),
        (pa.table([[1], [2]], names=["a", "a"]), "'a' twice"),
        ([[1, 2], [3]], "rows have equal length"),
        (np.zeros(2, dtype=[("a", "f8")]).reshape(1, 2), "structured array"),
        (3.0, "a single value"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(X, words):
    with pytest.raises((ValueError, TypeError)) as caught:
        read(X)
    assert words in str(caught.value)


def test_rows_can_be_taken_and_categories_without_rows_go():
    table = read({"c": ["a", "b", None, "c"], "n": [1, 2, 3, 4]}).take(np.array([True, False, True, True]))
    assert table.n_rows == 3
    assert table.schema.columns[0].categories == ("a", "c")
    assert table.columns[0].tolist() == [0, -1, 1]
    np.testing.assert_array_equal(read(np.eye(3)).take(np.array([2])).columns[2], [1])


def test_the_float_matrix_of_a_table():
    np.testing.assert_array_equal(read({"a": [1, None], "b": [True, False]}).floats(), [[1, 1], [np.nan, 0]])
    with pytest.raises(ValueError, match="categorical column 'c'"):
        read({"c": ["a"]}).floats()


def test_empty_tables_have_their_columns():
    assert read(np.zeros((0, 3))).n_rows == 0
    assert read(pd.DataFrame({"a": [], "c": pd.Series([], dtype="str")})).n_rows == 0
    assert read(pa.table({"c": pa.array([], pa.string())})).n_rows == 0
