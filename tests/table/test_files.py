"""Files of every format give the same table, whole or in chunks; what is wrong with a file is told with its line."""

import bz2
import contextlib
import gzip
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from permissible.table import read
from permissible.table.files import FileError, open_table, whole

RAW = {
    "age": [41.0, None, 30.0, 41.0],
    "smoker": [True, None, False, True],
    "colour name": ["red", "blue, dark", None, "it's"],
}
CSV = 'age,smoker,colour name\n41,true,red\n?,NA,"blue, dark"\n30.0,FALSE,\n 4.1e1 ,True,it\'s\n'
ARFF = """% a comment
@RELATION people
@attribute age REAL
@attribute smoker {true,false}
@attribute 'colour name' {red,'blue, dark','it\\'s'}

@DATA
41,true,red
?,?,'blue, dark'
30.0,false,?
% another
41,true,"it's"
"""


def write(folder, name, content):
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(content.encode()))
    elif name.endswith(".bz2"):
        path.write_bytes(bz2.compress(content.encode()))
    else:
        path.write_bytes(content.encode())
    return path


def files(folder):
    table = pa.table(RAW)
    pyarrow.parquet.write_table(table, folder / "people.parquet", row_group_size=2)
    pyarrow.feather.write_feather(table, folder / "people.feather")
    with pa.OSFile(str(folder / "people.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return [
        write(folder, "people.csv", CSV),
        write(folder, "people.txt", CSV.replace(",", ";").replace("blue; dark", "blue, dark")),
        write(folder, "people.csv.gz", "\ufeff" + CSV.replace("\n", "\r\n")),
        write(folder, "people.tsv.bz2", CSV.replace(",", "\t").replace("blue\t dark", "blue, dark")),
        *(folder / f"people.{kind}" for kind in ("parquet", "feather", "arrow")),
    ]


def read_file(path, categorical=(), drop=(), delimiter=None, header=None):
    source = open_table(path, delimiter, header)
    kinds = {name: kind for name, kind in source.kinds().items() if name not in drop}
    return read(whole(source, kinds), categorical_features=[*categorical] or None)


def chunks_of(path, kinds=None, rows=1000):
    source = open_table(path, rows=rows)
    return source.chunks(source.kinds() if kinds is None else kinds)


def assert_same(found, expected):
    assert found.schema == expected.schema
    assert found.n_rows == expected.n_rows
    for one, other in zip(found.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_format_gives_the_same_table_whole_and_in_chunks(tmp_path):
    expected = read(RAW)
    for path in files(tmp_path):
        assert_same(read_file(path), expected)
        chunks = [read(chunk, expected.schema) for chunk in chunks_of(path, rows=3)]
        assert [chunk.n_rows for chunk in chunks] in ([3, 1], [2, 2])
        for j, column in enumerate(expected.columns):
            np.testing.assert_array_equal(np.concatenate([chunk.columns[j] for chunk in chunks]), column)


def test_arff_declarations_say_the_kinds(tmp_path):
    table = read_file(write(tmp_path, "people.arff", ARFF))
    assert [(c.name, c.kind) for c in table.schema.columns] == [
        ("age", "numeric"),
        ("smoker", "categorical"),
        ("colour name", "categorical"),
    ]
    assert table.schema.columns[2].categories == ("blue, dark", "it's", "red")
    np.testing.assert_array_equal(table.columns[0], [41, np.nan, 30, 41])
    assert table.columns[1].tolist() == [1, -1, 0, 1]
    assert table.columns[2].tolist() == [2, 0, -1, 1]


def test_columns_may_be_dropped_and_numbers_taken_as_categories(tmp_path):
    for path in files(tmp_path):
        table = read_file(path, categorical=["age"], drop=["smoker"])
        assert table.schema.names == ("age", "colour name")
        assert table.schema.columns[0].categories == (30, 41)
        assert table.columns[0].tolist() == [1, -1, 0, 1]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "a.csv",
            "a,b\n1,2\n3\n",
            "a.csv, line 3: a row must have 2 values as the first line has, got 1 (delimiter ','",
        ),
        ("a.csv", "", "a.csv: the file is empty"),
        ("a.csv", "a,a\n1,2\n", "a.csv, line 1: each column must be named once, got 'a' twice."),
        ("a.csv", "a,b\n\0,2\n", "the file is binary"),
        ("a.csv", f'a,b\n1,"{"x" * 200_000}"\n', "field larger than field limit"),
        ("a.arff", "@relation r\n@attribute a numeric\n1\n", "line 3: a declaration such as @attribute was expected"),
        ("a.arff", "@relation r\n@attribute a numeric\n", "there must be a line @data"),
        ("a.arff", "@relation r\n@data\n1\n", "declares no attributes"),
        ("a.arff", "@attribute a date\n@data\n1\n", "line 1: an attribute must be numeric, string or a list"),
        (
            "a.arff",
            "@attribute a numeric\n@attribute a real\n@data\n1,2\n",
            "line 2: each column must be declared once",
        ),
        ("a.arff", "@attribute\n@data\n1\n", "line 1: an attribute needs a name and a type"),
        ("a.arff", "@attribute a numeric\n@data\n{0 1}\n", "line 3: sparse ARFF rows are not supported"),
        ("a.arff", "@attribute a numeric\n@data\n1\nold\n", "line 4: column 'a' must hold numbers, got 'old'."),
        ("a.arff", "@attribute a string\n@data\n'open\n", "line 3: a quote is opened and never closed"),
        ("a.arff", "@attribute a numeric\n@data\n1,2\n", "line 3: a row must have 1 values, got 2"),
        ("a.parquet", "nonsense", "a.parquet could not be read"),
        ("a.feather", "nonsense", "a.feather could not be read"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence_with_its_line(tmp_path, name, content, sentence):
    with pytest.raises(FileError) as caught:
        read_file(write(tmp_path, name, content))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_and_broken_archives_are_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,\xff\n")
    with pytest.raises(FileError, match="must be UTF-8 text"):
        read_file(tmp_path / "a.csv")
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)
    (tmp_path / "a.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FileError, match="could not be read"):
        read_file(tmp_path / "a.csv.gz")
    (tmp_path / "b.csv.gz").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(FileError, match="could not be read"):
        read_file(tmp_path / "b.csv.gz")
    for name in ("nowhere.csv", "nowhere.parquet"):
        with pytest.raises(FileError, match="does not exist"):
            read_file(tmp_path / name)


def test_integers_that_float64_joins_are_refused_where_they_are_names(tmp_path):
    path = write(tmp_path, "a.csv", "id,n\n9007199254740993,1\n9007199254740992,0\n5,1\n")
    assert read_file(path).schema.columns[0].kind == "numeric"
    with pytest.raises(ValueError, match="as integers or as text"):
        read_file(path, categorical=["id"])
    pyarrow.parquet.write_table(pa.table({"id": [2**53 + 1, 2**53]}), tmp_path / "a.parquet")
    with pytest.raises(FileError, match=r"column 'id' of .* must hold integers up to 2\^53"):
        read_file(tmp_path / "a.parquet")


def test_a_dictionary_of_dates_is_refused_as_dates_are(tmp_path):
    dates = pa.array([0, 86_400_000], pa.date64())
    for number, column in enumerate((dates, dates.dictionary_encode())):
        path = tmp_path / f"{number}.arrow"
        pyarrow.feather.write_feather(pa.table({"t": column}), path, compression="uncompressed")
        with pytest.raises(FileError, match=r"column 't' of .* must hold numbers, truth values or text, got date64"):
            read_file(path)


def test_a_first_line_of_numbers_is_no_header_when_one_is_asked_for(tmp_path):
    with pytest.raises(FileError, match="line 1: the first line must name the columns, got '1990'"):
        read_file(write(tmp_path, "years.csv", "1990,1991\n1,2\n"), header=True)
    with pytest.raises(FileError, match="is a folder"):
        read_file(tmp_path)


def test_a_file_without_a_header_gets_names(tmp_path):
    path = write(tmp_path, "iris.data", "5.1,3.5,setosa\n\n4.9,3.0,virginica\n")
    table = read_file(path)
    assert table.schema.names == ("x0", "x1", "x2")
    assert table.n_rows == 2
    named = read_file(write(tmp_path, "years.csv", "year,1991\n1,2\n"), header=True)
    assert named.schema.names == ("year", "1991")


def test_a_column_is_text_as_soon_as_one_cell_is(tmp_path):
    rows = "".join(f"{i},{i}\n" for i in range(70_000))
    table = read_file(write(tmp_path, "late.csv", f"a,b\n{rows}01,x\n1_0,y\n"))
    assert [c.kind for c in table.schema.columns] == ["categorical", "categorical"]
    assert "01" in table.schema.columns[0].categories
    assert "1_0" in table.schema.columns[0].categories


CELLS = st.one_of(
    st.text(st.characters(blacklist_categories=("Cs", "Cc"))), st.sampled_from(["1", "-2.5e3", "", "NA", "?", '"', ","])
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8), st.sampled_from(",;\t|"))
def test_what_the_csv_module_writes_is_read_back(tmp_path, rows, delimiter):
    import csv

    path = tmp_path / "round.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerows([("left", "right"), *rows])
    table = read_file(path, delimiter=delimiter)
    missing = {"", "na", "nan", "?", "null"}
    for j in range(2):
        cells = [row[j].strip() for row in rows]
        column = table.schema.columns[j]
        for cell, value in zip(cells, table.columns[j], strict=True):
            if column.kind == "categorical":
                assert value == -1 if cell.lower() in missing else column.categories[value] == cell
            elif column.kind == "numeric":
                assert np.isnan(value) if cell.lower() in missing else value == float(cell)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from(["a.csv", "a.arff", "a.csv.gz", "a.parquet", "a.arrow"]))
def test_hostile_bytes_are_read_or_refused_never_a_crash(tmp_path, content, name):
    path = tmp_path / name
    path.write_bytes(content)
    with contextlib.suppress(FileError):
        read_file(path)


def test_iterating_takes_constant_memory(tmp_path):
    def peak(rows):
        path = write(tmp_path, "long.csv", '"a",b\n' + "1.5,red\n" * rows)
        tracemalloc.start()
        for chunk in chunks_of(path, rows=1000):
            assert len(chunk["a"]) <= 1000
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(1000)
    assert peak(80_000) < 1.1 * peak(40_000)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(["1", " -2.5e3", "", "NA", "+7", ".5", "1.", "nan"]), CELLS, CELLS),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_pyarrow_reads_what_the_csv_module_reads(tmp_path, rows, newline):
    from permissible.table.files import delimited
    from permissible.table.files import fast_csv as quick

    clean = [
        [cell.replace('"', "").replace(",", "").replace("\r", "").replace("\n", "") for cell in row] for row in rows
    ]
    path = tmp_path / "both.csv"
    path.write_text(
        newline.join(",".join(row) for row in [("a", "b", "c"), *clean]) + newline, encoding="utf-8", newline=""
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quick, "SMALL", 0)
        fast = read_file(path)
        patch.setattr(quick, "_is_plain", lambda path: False)
        plain = read_file(path)
        assert_same(fast, plain)
    assert delimited.fast_chunks is quick.fast_chunks


def test_errors_in_large_files_have_their_line_too(tmp_path):
    rows = ["1.5,red"] * 30_000
    kinds = {"a": "number", "b": "text"}
    wrong = write(tmp_path, "wrong.csv", "\n".join(["a,b", *rows[:20_000], "", "old,red", *rows]) + "\n")
    with pytest.raises(FileError, match=r"line 20003: column 'a' must hold numbers, got 'old'"):
        [*chunks_of(wrong, kinds, 7000)]
    short = write(tmp_path, "short.csv", "\n".join(["a,b", *rows[:20_000], "1", *rows]) + "\n")
    with pytest.raises(FileError, match=r"line 20002: a row must have 2 values"):
        [*chunks_of(short, kinds, 7000)]
    right = write(tmp_path, "r.csv", "\n".join(["a,b", *rows]))
    assert sum(len(chunk["a"]) for chunk in chunks_of(right, kinds, 7000)) == 30_000
