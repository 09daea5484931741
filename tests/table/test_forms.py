"""A column is read as what it is, whatever type carries it: equal to the plain float64, bool or text version, or refused.

The referee is the plain version of the same values, written down here beside each form.
"""

import collections
import datetime
import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible.table import names_of, read

NAN = float("nan")
TEXT = np.dtypes.StringDType
WHOLE, GAPS = [3, 1, 2, 3], [3, None, 2, 3]
TRUTHS, SOME_TRUTHS = [True, False, True, True], [True, None, False, True]
NAMES, SOME_NAMES = ["b", "b", "a", "c"], ["b", None, "a", "b"]
DATE = datetime.date(2020, 1, 1)


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def masked(values, dtype=None):
    """The values as a masked array: where one is None, something else stands under the mask."""
    mask = [value is None for value in values]
    filler = next(value for value in values if value is not None)
    return np.ma.masked_array(
        np.array([filler if value is None else value for value in values], dtype=dtype), mask=mask
    )


def extension(values, kind):
    return pd.Series(values, dtype=pd.ArrowDtype(kind))


def dictionary(codes, values):
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(values))


def numeric_forms(values):
    """The same whole numbers (None for missing) in every type that can hold them."""
    gaps = None in values
    floats = [NAN if value is None else float(value) for value in values]
    for kind in ("f2", "f4", "f8", ">f4", ">f8", np.longdouble):
        yield f"numpy {np.dtype(kind)}", np.array(floats, dtype=kind)
    for kind in () if gaps else ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">u8"):
        yield f"numpy {kind}", np.array(values, dtype=kind)
    yield "read-only", _read_only(np.array(floats))
    yield "strided", np.repeat(np.array(floats), 3)[::3]
    yield "backwards", np.array(floats)[::-1].copy()[::-1]
    yield "unaligned", np.array(list(zip([0] * 4, floats, strict=True)), dtype=[("a", "i1"), ("b", "f8")])["b"]
    for kind in ("i4", "f4", "f8", ">i2"):
        yield f"masked {kind}", masked(values, kind)
    yield "objects", objects(*values)
    yield "objects of NumPy", objects(*(None if v is None else np.int16(v) for v in values))
    yield "objects with NaN", objects(*floats)
    yield "objects with NA", objects(*(pd.NA if v is None else v for v in values))
    yield "decimals", objects(*(None if v is None else Decimal(v) for v in values))
    yield "decimals with NaN", objects(*(Decimal("NaN") if v is None else Decimal(v) for v in values))
    yield "decimals with sNaN", objects(*(Decimal("sNaN") if v is None else Decimal(v) for v in values))
    yield "fractions", objects(*(None if v is None else Fraction(v) for v in values))
    yield "list", list(values)
    yield "tuple", tuple(values)
    yield "deque", collections.deque(values)
    for kind in ("Int8", "UInt64", "Float32", "Float64"):
        yield f"pandas {kind}", pd.array(values, dtype=kind)
    yield "pandas sparse", pd.Series(pd.arrays.SparseArray(floats, fill_value=3.0))
    yield "pandas other index", pd.Series(floats, index=[3, 2, 1, 0])
    yield "pandas object", pd.Series(values, dtype=object)
    for kind in (pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(5, 2)):
        array = pa.array(
            [
                None
                if v is None
                else Decimal(v)
                if pa.types.is_decimal(kind)
                else np.float16(v)
                if kind == pa.float16()
                else v
                for v in values
            ],
            kind,
        )
        yield f"arrow {kind}", array
        if kind != pa.float16():
            yield f"pandas arrow {kind}", pd.Series(pd.arrays.ArrowExtensionArray(array))
    yield "arrow decimal256", pa.array([None if v is None else Decimal(v) for v in values], pa.decimal256(60, 2))
    yield "arrow chunks", pa.chunked_array([pa.array(values[:1]), pa.array(values[1:])])
    for kind in (pl.Int8, pl.Int64, pl.Int128, pl.UInt64, pl.UInt128, pl.Float32, pl.Float64, pl.Decimal(9, 2)):
        yield f"polars {kind}", pl.Series(values, dtype=kind)


def _read_only(array):
    array.flags.writeable = False
    return array


def truth_forms(values):
    gaps = None in values
    if not gaps:
        yield "numpy", np.array(values)
        yield "pandas", pd.Series(values)
        yield "pandas sparse", pd.Series(pd.arrays.SparseArray(values))
    yield "masked", masked(values, bool)
    yield "list", values
    yield "objects of NumPy", objects(*(None if v is None else np.bool_(v) for v in values))
    yield "objects with NaN", objects(*(NAN if v is None else v for v in values))
    yield "objects with NA", objects(*(pd.NA if v is None else v for v in values))
    yield "pandas boolean", pd.array(values, dtype="boolean")
    yield "pandas object", pd.Series(values, dtype=object)
    yield "pandas arrow", extension(values, pa.bool_())
    yield "polars", pl.Series(values, dtype=pl.Boolean)
    yield "arrow", pa.array(values)
    yield "arrow chunks", pa.chunked_array([pa.array(values[:1]), pa.array(values[1:])])


def text_forms(values):
    gaps = None in values
    encoded = [None if v is None else v.encode() for v in values]
    used = sorted({v for v in values if v is not None})
    if not gaps:
        yield "numpy U", np.array(values)
        yield "numpy >U", np.array(values).astype(">U3")
        yield "numpy S", np.array(encoded)
        yield "numpy text", np.array(values, dtype=TEXT())
    yield "numpy text with None", np.array(values, dtype=TEXT(na_object=None))
    yield "numpy text with NaN", np.array([NAN if v is None else v for v in values], dtype=TEXT(na_object=NAN))
    yield "masked U", masked(values)
    yield "masked S", masked(encoded)
    yield "masked objects", masked(values, object)
    yield "list", values
    yield "bytes beside text", [encoded[0], *values[1:]]
    yield "text beside bytes", [values[0], *encoded[1:]]
    yield "objects of NumPy", objects(*(None if v is None else np.str_(v) for v in values))
    yield "objects with NaN", objects(*(NAN if v is None else v for v in values))
    yield "objects with NA", objects(*(pd.NA if v is None else v for v in values))
    for kind in ("str", "string", "object", "category"):
        yield f"pandas {kind}", pd.Series(values, dtype=kind)
    yield "pandas unused", pd.Categorical(values, ["z", *used[::-1], "y"])
    yield "pandas ordered", pd.Series(pd.Categorical(values, used[::-1], ordered=True))
    yield "pandas bytes beside text", pd.Categorical([encoded[0], *values[1:]], [encoded[0], *used])
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        yield f"arrow {kind}", pa.array(values, kind)
    yield "pandas arrow", extension(values, pa.string())
    yield "pandas arrow binary", extension(encoded, pa.binary())
    yield "arrow binary", pa.array(encoded)
    yield "arrow dictionary", pa.array(values).dictionary_encode()
    twice = [*used, *used]
    codes = [None if v is None else used.index(v) + len(used) * (i % 2) for i, v in enumerate(values)]
    yield "arrow dictionary, each value twice", dictionary(codes, twice)
    yield "arrow dictionary, unsigned", pa.DictionaryArray.from_arrays(pa.array(codes, pa.uint8()), pa.array(twice))
    yield "arrow dictionary with null", dictionary([len(twice) if c is None else c for c in codes], [*twice, None])
    yield "arrow dictionary of bytes", dictionary(codes, [v.encode() for v in twice])
    yield "pandas arrow dictionary", pd.Series(pd.arrays.ArrowExtensionArray(dictionary(codes, twice)))
    yield "arrow chunks", pa.chunked_array([pa.array(values[:1], pa.string()), pa.array(values[1:], pa.string())])
    yield (
        "arrow chunked dictionary",
        pa.chunked_array([pa.array(part, pa.string()).dictionary_encode() for part in (values[:1], values[1:])]),
    )
    for kind in (pl.String, pl.Categorical, pl.Enum(["z", *used]), pl.Object):
        yield f"polars {kind}", pl.Series(values, dtype=kind)
    yield "polars binary", pl.Series(encoded, dtype=pl.Binary)


def containers(column):
    """The tables that can hold a column, with what the column's own library offers first."""
    yield "mapping", {"c": column}
    if isinstance(column, pl.Series):
        yield "polars", pl.DataFrame({"c": column})
        if column.dtype != pl.Object:
            yield "polars lazy", pl.LazyFrame({"c": column})
    elif isinstance(column, (pa.Array, pa.ChunkedArray)):
        yield "arrow table", pa.table({"c": column})
        if isinstance(column, pa.Array):
            yield "record batch", pa.RecordBatch.from_arrays([column], ["c"])
    elif isinstance(column, np.ndarray):
        yield "matrix", column.reshape(-1, 1)
        if column.dtype.isnative and column.dtype.kind != "T" and not isinstance(column, np.ma.MaskedArray):
            yield "pandas", pd.DataFrame({"c": column})
    elif isinstance(column, (list, tuple)):
        yield "rows", [[value] for value in column]
    elif not isinstance(column, collections.deque):
        yield "pandas", pd.DataFrame({"c": column})


def forms():
    for values, make, kind in (
        (WHOLE, numeric_forms, "numeric"),
        (GAPS, numeric_forms, "numeric"),
        (TRUTHS, truth_forms, "boolean"),
        (SOME_TRUTHS, truth_forms, "boolean"),
        (NAMES, text_forms, "categorical"),
        (SOME_NAMES, text_forms, "categorical"),
    ):
        for name, column in make(values):
            for holder, table in containers(column):
                gaps = " with gaps" if None in values else ""
                yield pytest.param(table, values, kind, id=f"{kind}{gaps}, {name}, {holder}")


@pytest.mark.parametrize(("table", "values", "kind"), [*forms()])
def test_every_form_of_a_column_is_its_plain_version(table, values, kind):
    found = read(table)
    categories = tuple(sorted({v for v in values if v is not None})) if kind == "categorical" else ()
    assert [(c.kind, c.categories) for c in found.schema.columns] == [(kind, categories)]
    plain = [-1 if v is None else categories.index(v) for v in values] if categories else np.array(values, dtype=float)
    np.testing.assert_array_equal(found.columns[0], plain)
    assert names_of(table) in (None, ("c",))
    assert found.schema.named == (names_of(table) is not None)


@pytest.mark.parametrize(
    ("values", "categories", "codes"),
    [
        ([1, "1", 1, "1"], (1, "1"), [0, 1, 0, 1]),
        ([True, 1, "a", False], (0, 1, "a"), [1, 1, 2, 0]),
        ([True, "a", False, None], (False, True, "a"), [1, 2, 0, -1]),
        ([1.0, 1, "a", Decimal("1.0")], (1, "a"), [0, 0, 1, 0]),
        ([b"a", "a", b"b", "b"], ("a", "b"), [0, 0, 1, 1]),
        ([Decimal("NaN"), "a", Decimal("sNaN"), NAN], ("a",), [-1, 0, -1, -1]),
        ([2**53, 2**53 + 1, "a", 2**53 - 1], (2**53 - 1, 2**53, 2**53 + 1, "a"), [1, 2, 3, 0]),
    ],
)
def test_categories_do_not_depend_on_the_order_of_the_rows(values, categories, codes):
    for order in itertools.permutations(range(len(values))):
        table = read({"c": objects(*(values[i] for i in order))})
        found = table.schema.columns[0].categories
        assert [(type(c), c) for c in found] == [(type(c), c) for c in categories]
        assert table.columns[0].tolist() == [codes[i] for i in order]


ANYTHING = [
    *(
        None,
        NAN,
        pd.NA,
        Decimal("NaN"),
        0,
        1,
        2,
        True,
        False,
        -0.0,
        0.5,
        2**53,
        2**53 + 1,
        "a",
        "b",
        "1",
        "True",
        "",
        b"a",
        b"1",
    ),
    *(np.int8(1), np.float32(0.5), np.bool_(True), np.str_("a"), Decimal(1), Decimal("0.5"), Fraction(1, 2)),
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(ANYTHING), min_size=1, max_size=6), st.randoms())
def test_a_column_of_anything_is_the_same_in_any_order_and_known_again(values, random):
    order = random.sample(range(len(values)), len(values))
    table, turned = read({"c": objects(*values)}), read({"c": objects(*(values[i] for i in order))})
    assert repr(turned.schema) == repr(table.schema)  # True and 1 are equal, and yet another category
    np.testing.assert_array_equal(turned.columns[0], table.columns[0][order])
    np.testing.assert_array_equal(read({"c": objects(*values)}, table.schema).columns[0], table.columns[0])


BIG = [2**53 + 1, 2**53, 5, 2**53 + 1, 2**60 + 1]


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("order", [1, -1])
def test_large_integers_are_different_categories_in_every_library(gap, order):
    values = [*BIG, *([None] if gap else [])][::order]
    expected = tuple(sorted(set(BIG)))
    codes = [-1 if v is None else expected.index(v) for v in values]
    sources = [
        pd.array(values, dtype="Int64"),
        pl.Series(values),
        pl.Series(values, dtype=pl.Int128),
        pa.array(values),
        objects(*values),
        pd.Categorical(pd.array(values, dtype="Int64")),
        extension(values, pa.uint64()),
    ]
    for source in sources + ([] if gap else [np.array(values), np.array(values, dtype="u8")]):
        table = read({"c": source}, categorical_features=["c"])
        assert table.schema.columns[0].categories == expected
        assert table.columns[0].tolist() == codes
        for other in sources:
            assert read({"c": other}, table.schema).columns[0].tolist() == codes


def test_floats_that_may_stand_for_several_integers_are_no_categories():
    for column in (np.array([2.0**53, 1.0]), [2.0**60, None], pa.array([2.0**53, 1.0])):
        assert read({"c": column}).schema.columns[0].kind == "numeric"
        with pytest.raises(ValueError, match="give the column as integers or as text"):
            read({"c": column}, categorical_features=["c"])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix),  # its constructor warns
        np.array([[1.0, 2.0], [3.0, 4.0]]).view(type("Own", (np.ndarray,), {})),
        np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]),
        np.arange(1.0, 5.0).reshape(2, 2).T.copy().T,
        np.array([[1, 9, 2], [3, 9, 4]])[:, ::2],
        [(1, 2), (3, 4)],
        [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        [range(1, 3), range(3, 5)],
        pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix([[1, 2], [3, 4]])),
    ],
)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_every_form_of_a_matrix_is_its_plain_version(X):
    found = read(X)
    assert [c.kind for c in found.schema.columns] == ["numeric", "numeric"]
    np.testing.assert_array_equal(np.column_stack(found.columns), [[1, 2], [3, 4]])
