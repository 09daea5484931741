"""The doors: a whole file as a `Table`, a file in chunks in the terms of a schema, and the schema of a file of any size."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import Any

from permissible.table.match import warn_of_unseen
from permissible.table.observe import Observed, category_order
from permissible.table.readers.arff import Arff
from permissible.table.readers.arrow import ARROW, PARQUET, arrow_chunks
from permissible.table.readers.columns import CHUNK_ROWS, Fixed, Growing, kinds_of
from permissible.table.readers.delimited import Delimited
from permissible.table.readers.source import FileError, FilePath, TextSource
from permissible.table.reading import checked, read
from permissible.table.schema import Category, Column, Schema
from permissible.table.table import Table
from permissible.validation import shown

TEXT = (".csv", ".tsv", ".txt", ".data")


def read_file(
    path: FilePath,
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    *,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Table:
    r"""Read a whole file.

    Parameters
    ----------
    path : str or path
        CSV (.csv, .tsv, .txt, .data, each also with .gz or .bz2), ARFF (.arff), Parquet (.parquet, .pq) or Arrow
        (.arrow, .feather, .ipc).
    categorical : names
        Columns of numbers to be taken as categories.
    drop : names
        Columns to leave out.
    delimiter, header : optional
        Of a CSV file; found out when not given.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from permissible.table.readers import read_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "people.csv")
    ...     _ = file.write_text("age;colour\n41;red\n?;blue\n")
    ...     table = read_file(file)
    >>> [(column.name, column.kind) for column in table.schema.columns], table.n_rows
    ([('age', 'numeric'), ('colour', 'categorical')], 2)
    """
    if _is_arrow(path):
        return _read_arrow(path, categorical, drop)
    source = _text_source(path, delimiter, header)
    wanted = _wanted(path, source.names, drop)
    kinds = kinds_of(source, set(drop))
    listed = _listed(path, source.names, categorical)
    growing = {
        j: Growing(source.names[j], "categorical" if j in listed else kinds[j], by_number=kinds[j] != "categorical")
        for j in wanted
    }
    n_rows = 0
    for chunk in source.chunks(CHUNK_ROWS):
        n_rows += len(chunk.lines)
        for j, column in growing.items():
            column.add(path, chunk.columns[j], chunk.lines)
    observed = {column.name: column.observed() for column in growing.values()}
    return _table(path, observed, n_rows)


def _table(path: FilePath, observed: dict[str, Observed], n_rows: int) -> Table:
    columns = tuple(Column(name, o.kind, o.categories) for name, o in observed.items())
    table = Table(Schema(columns), tuple(o.values for o in observed.values()), n_rows)
    return _checked(path, table)


def _checked(path: FilePath, table: Table) -> Table:
    try:
        return checked(table)
    except ValueError as error:
        raise FileError(path, None, str(error).rstrip(".")) from None


def infer_schema(
    path: FilePath,
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    *,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Schema:
    """The schema that `read_file` would find, in constant memory (but for the categories)."""
    if _is_arrow(path):
        tables = (_arrow_table(path, native, categorical, drop) for native in arrow_chunks(path, CHUNK_ROWS))
        return merged([table.schema for table in tables])
    source = _text_source(path, delimiter, header)
    wanted = _wanted(path, source.names, drop)
    kinds = kinds_of(source, set(drop))
    listed = _listed(path, source.names, categorical)
    growing = {
        j: Growing(source.names[j], "categorical", by_number=kinds[j] != "categorical")
        for j in wanted
        if j in listed or kinds[j] == "categorical"
    }
    for chunk in source.chunks(CHUNK_ROWS) if growing else ():
        for j, column in growing.items():
            column.add(path, chunk.columns[j], chunk.lines)
            column.parts.clear()
    return Schema(
        tuple(
            Column(source.names[j], "categorical", tuple(sorted(growing[j].place, key=category_order)))
            if j in growing
            else Column(source.names[j], kinds[j])
            for j in wanted
        )
    )


def iterate_file(
    path: FilePath,
    schema: Schema,
    chunk_rows: int = CHUNK_ROWS,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Iterator[Table]:
    """The file in tables of at most `chunk_rows` rows, in the terms of `schema`; columns it does not name are passed over.

    Memory does not grow with the file. Of categories that the schema does not know, one warning tells for each column.
    """
    if _is_arrow(path):
        for native in arrow_chunks(path, chunk_rows):
            yield read(native, schema)
        return
    source = _text_source(path, delimiter, header)
    places = _places(path, source.names, schema)
    columns = [Fixed(column) for column in schema.columns]
    told: set[str] = set()
    for chunk in source.chunks(chunk_rows):
        values = tuple(column.values(path, chunk, at) for column, at in zip(columns, places, strict=True))
        fresh = {c.column.name: [*c.unseen] for c in columns if c.unseen and c.column.name not in told}
        told.update(fresh)
        warn_of_unseen(fresh)
        yield _checked(path, Table(schema, values, len(chunk.lines)))


def merged(schemas: Sequence[Schema]) -> Schema:
    """One schema for the parts of one table: a column is what most of it needs, with the categories of all parts."""
    first = schemas[0]
    columns = []
    for j, column in enumerate(first.columns):
        parts = [schema.columns[j] for schema in schemas]
        kinds = {part.kind for part in parts}
        kind = "categorical" if "categorical" in kinds else "numeric" if "numeric" in kinds else column.kind
        values: dict[Category, None] = dict.fromkeys(value for part in parts for value in part.categories)
        columns.append(Column(column.name, kind, tuple(sorted(values, key=category_order))))
    return replace(first, columns=tuple(columns))


def _is_arrow(path: FilePath) -> bool:
    return fspath(path).lower().endswith((*PARQUET, *ARROW))


def _text_source(path: FilePath, delimiter: str | None, header: bool | None) -> TextSource:
    if not Path(path).is_file():
        raise FileError(path, None, "there is no such file")
    name = fspath(path).lower().removesuffix(".gz").removesuffix(".bz2")
    if name.endswith(".arff"):
        return Arff(path)
    if name.endswith(TEXT):
        return Delimited(path, "\t" if delimiter is None and name.endswith(".tsv") else delimiter, header)
    known = ", ".join((*TEXT, ".arff", *PARQUET, *ARROW))
    raise FileError(
        path, None, f"the kind of file is told by its ending, one of {known}, also with .gz or .bz2 for text"
    )


def _listed(path: FilePath, names: Sequence[str], asked: Sequence[str]) -> set[int]:
    asked = [asked] if isinstance(asked, str) else asked
    for name in asked:
        if name not in names:
            raise FileError(path, None, f"there is no column {name!r}, the columns are {shown(list(names), 200)}")
    return {names.index(name) for name in asked}


def _wanted(path: FilePath, names: Sequence[str], drop: Sequence[str]) -> list[int]:
    dropped = _listed(path, names, drop)
    return [j for j in range(len(names)) if j not in dropped]


def _places(path: FilePath, names: Sequence[str], schema: Schema) -> list[int]:
    missing = [name for name in schema.names if name not in names]
    if missing and schema.named:
        listed = ", ".join(map(repr, missing[:5])) + (" ..." if len(missing) > 5 else "")
        raise FileError(path, None, f"the columns of fit must all be there, missing: {listed}")
    if missing and len(names) != len(schema.columns):
        raise FileError(path, None, f"{len(schema.columns)} columns are needed, got {len(names)}")
    return list(range(len(names))) if missing else [names.index(name) for name in schema.names]


def _arrow_table(path: FilePath, native: Any, categorical: Sequence[str], drop: Sequence[str]) -> Table:
    _listed(path, native.column_names, drop)
    kept = native.drop_columns([drop] if isinstance(drop, str) else [*drop])
    _listed(path, kept.column_names, categorical)
    return read(kept, categorical=categorical or None, finite=False)


def _read_arrow(path: FilePath, categorical: Sequence[str], drop: Sequence[str]) -> Table:
    import pyarrow

    if not Path(path).is_file():
        raise FileError(path, None, "there is no such file")
    whole = pyarrow.concat_tables([*arrow_chunks(path, 1 << 20)])
    return _checked(path, _arrow_table(path, whole, categorical, drop))
