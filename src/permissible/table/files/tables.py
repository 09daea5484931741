"""Files in the terms of the library: a whole file as a `Table`, a file in chunks after a schema, the schema of any file."""

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from permissible.table.files.cells import CellKind, as_number, distinct
from permissible.table.files.errors import wrong
from permissible.table.files.opening import open_table
from permissible.table.files.source import ROWS, Chunk, Source, whole
from permissible.table.match import told_once
from permissible.table.observe import category_order
from permissible.table.reading import read
from permissible.table.schema import Category, Column, Kind, Schema
from permissible.table.table import Table
from permissible.types import AnyArray
from permissible.validation import shown

_CELLS: dict[Kind, CellKind] = {"numeric": "number", "boolean": "boolean", "categorical": "text"}
_KIND: dict[CellKind, Kind] = {"boolean": "boolean", "text": "categorical"}


def read_file(
    path: str | PathLike[str],
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
        Parquet (.parquet, .pq), Arrow (.arrow, .feather, .ipc), ARFF (.arff) or, with any other ending, CSV; text files
        may be packed (.gz, .bz2, .xz).
    categorical : names
        Columns of numbers to be taken as categories.
    drop : names
        Columns to leave out.
    delimiter, header : optional
        Of a CSV file; found out when not given.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from permissible.table.files import read_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "people.csv")
    ...     _ = file.write_text("age;colour\n41;red\n?;blue\n")
    ...     table = read_file(file)
    >>> [(column.name, column.kind) for column in table.schema.columns], table.n_rows
    ([('age', 'numeric'), ('colour', 'categorical')], 2)
    """
    source = open_table(Path(path), delimiter, header)
    kinds = _wanted(path, source, categorical, drop)
    return _read(path, whole(source, kinds), categorical=[*categorical] or None)


def infer_schema(
    path: str | PathLike[str],
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    *,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Schema:
    """The schema that `read_file` would find, in memory that grows with the categories only."""
    source = open_table(Path(path), delimiter, header)
    kinds = _wanted(path, source, categorical, drop)
    grouped = {name: kind for name, kind in kinds.items() if kind == "text" or name in categorical}
    found: dict[str, dict[Category, None]] = {name: {} for name in grouped}
    for chunk in source.chunks(grouped) if grouped else ():
        for column in _read(path, chunk, categorical=[*grouped]).schema.columns:
            found[column.name].update(dict.fromkeys(column.categories))
    return Schema(
        tuple(
            Column(name, "categorical", tuple(sorted(found[name], key=category_order)))
            if name in grouped
            else Column(name, _KIND.get(kind, "numeric"))
            for name, kind in kinds.items()
        )
    )


def iterate_file(
    path: str | PathLike[str],
    schema: Schema,
    chunk_rows: int = ROWS,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Iterator[Table]:
    """The file in tables of at most `chunk_rows` rows, in the terms of `schema`; columns it does not name are passed over.

    Memory does not grow with the file. Of categories that the schema does not know, one warning tells for each column.
    """
    source = open_table(Path(path), delimiter, header, rows=chunk_rows)
    missing = [name for name in schema.names if name not in source.names]
    if missing:
        listed = ", ".join(map(repr, missing[:5])) + (" ..." if len(missing) > 5 else "")
        raise wrong(path, None, f"the columns of fit must all be there, missing: {listed}")
    kinds = {column.name: _CELLS[column.kind] for column in schema.columns}
    by_number = [column.name for column in schema.columns if _numbers(column)]
    told: set[str] = set()
    for chunk in source.chunks(kinds):
        values: Chunk = {**chunk, **{name: _numbered(chunk[name]) for name in by_number}}
        with told_once(told):
            table = _read(path, values, schema=schema)
        yield table


def _numbers(column: Column) -> bool:
    """Whether the categories are numbers, so that cells of text must be compared as numbers."""
    return bool(column.categories) and not any(isinstance(value, str) for value in column.categories)


def _numbered(values: AnyArray) -> AnyArray:
    if values.dtype != object:
        return values
    codes, different = distinct([*values])
    numbers: list[Any] = [value if not isinstance(value, str) else as_number(value) for value in different]
    kept = np.empty(len(different), dtype=object)
    kept[:] = [text if number is None else number for text, number in zip(different, numbers, strict=True)]
    return np.asarray(kept[codes])


def _read(
    path: str | PathLike[str], chunk: Chunk, schema: Schema | None = None, categorical: list[str] | None = None
) -> Table:
    try:
        return read(chunk, schema, categorical)
    except ValueError as error:
        raise wrong(path, None, str(error).rstrip(".")) from None


def _wanted(
    path: str | PathLike[str], source: Source, categorical: Sequence[str], drop: Sequence[str]
) -> dict[str, CellKind]:
    for name in (*drop, *categorical):
        if name not in source.names:
            raise wrong(path, None, f"there is no column {name!r}, the columns are {shown([*source.names], 200)}")
    return {name: kind for name, kind in source.kinds().items() if name not in drop}
