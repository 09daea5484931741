"""Writing rows: CSV, tab-separated, Parquet or Arrow by the file name, or CSV to the terminal; what an output needs."""

import csv
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, TypeAlias

from permissible.cli.errors import CommandError
from permissible.models.files.atomic import replacing
from permissible.table.files.cells import as_number
from permissible.table.files.opening import ARROW
from permissible.types import AnyArray

Write: TypeAlias = Callable[[Mapping[str, AnyArray]], None]


@contextmanager
def open_output(path: Path | None, as_json: bool = False) -> Iterator[Write]:
    """Return a function that writes chunks; the file gets its name only on success."""
    if path is None and as_json:
        with _json_writer(sys.stdout) as write:
            yield write
    elif path is None:
        yield _text_writer(sys.stdout, ",")
    elif path.suffix.lower() in ARROW:
        with _arrow_writer(path) as write:
            yield write
    else:
        with replacing(path) as file:
            yield _text_writer(file, "\t" if path.suffix.lower() in (".tsv", ".tab") else ",")


def is_standard_output(path: Path) -> bool:
    """Whether a path is the standard output, as /dev/stdout is: messages would then mix with the rows."""
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


@contextmanager
def _json_writer(file: IO[str]) -> Iterator[Write]:
    """One JSON list of rows, written as they come."""
    begun = False

    def write(chunk: Mapping[str, AnyArray]) -> None:
        nonlocal begun
        columns = [["" if v is None else v for v in column.tolist()] for column in chunk.values()]
        for row in zip(*columns, strict=True):
            cells = {name: None if cell == "" or cell != cell else cell for name, cell in zip(chunk, row, strict=True)}
            file.write((",\n" if begun else "[\n") + json.dumps(cells, ensure_ascii=False))
            begun = True

    yield write
    file.write("\n]\n" if begun else "[]\n")


def _text_writer(file: IO[str], delimiter: str) -> Write:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    begun = False

    def write(chunk: Mapping[str, AnyArray]) -> None:
        nonlocal begun
        if not begun:
            writer.writerow(chunk)
            begun = True
        writer.writerows(zip(*(_cells(column) for column in chunk.values()), strict=True))

    return write


def _cells(column: AnyArray) -> Sequence[object]:
    """Plain values: `csv` writes a float by its repr, so numbers are exact, and None or NaN as nothing."""
    values = ["" if value is None or value != value else value for value in column.tolist()]
    return values if column.dtype.kind in "fiub" else [_harmless(value) for value in values]


def _harmless(value: object) -> object:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") and as_number(value) is None:
        return f"'{value}"
    return value


@contextmanager
def _arrow_writer(path: Path) -> Iterator[Write]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    open_writer = pq.ParquetWriter if path.suffix.lower() in (".parquet", ".pq") else pa.ipc.new_file
    with replacing(path, "wb") as file:
        writer: Any = None

        def write(chunk: Mapping[str, AnyArray]) -> None:
            nonlocal writer
            table = pa.table({name: pa.array(column, from_pandas=True) for name, column in chunk.items()})
            if writer is None:
                writer = open_writer(file, table.schema)
            writer.write_table(table.cast(writer.schema) if hasattr(writer, "schema") else table)

        yield write
        if writer is not None:
            writer.close()


# -- what may not be installed, checked before anything is fitted ------------------------------------------------------------
def needs(what: str, extra: str, modules: Sequence[str]) -> None:
    """Refuse where a module is missing, with the line that installs it."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise CommandError(f"{what} needs {' and '.join(missing)}: pip install 'permissible[{extra}]'.")


def needs_report(path: Path | None) -> None:
    """Refuse a page that could not be drawn."""
    if path is not None:
        needs("a report", "report", ("jinja2",))


def needs_table(path: Path | None) -> None:
    """Refuse a file of rows that could not be written."""
    if path is not None and path.suffix.lower() in ARROW:
        needs(f"writing {path.name}", "arrow", ("pyarrow",))
