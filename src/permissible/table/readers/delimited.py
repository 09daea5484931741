"""CSV and its kin: delimiter, quotes and header are found out; rows come in chunks, whatever the size of the file.

A header is taken to be there unless a cell of the first line is a number. Blank lines are skipped.
"""

import bz2
import csv
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from os import fspath
from typing import IO, cast

from permissible.table.readers.cells import as_number
from permissible.table.readers.quick import quick_chunks
from permissible.table.readers.source import Chunk, FileError, FilePath
from permissible.table.schema import Kind
from permissible.validation import shown

DELIMITERS = ",;\t|"
MOST_COLUMNS = 100_000
SNIFFED_CHARACTERS = 1 << 18


class Delimited:
    """A CSV file whose delimiter and header are known."""

    def __init__(self, path: FilePath, delimiter: str | None = None, header: bool | None = None) -> None:
        self.path = path
        with opened(path) as file, _in_words(path):
            start = file.read(SNIFFED_CHARACTERS)
        if "\0" in start:
            raise FileError(path, None, "the file is binary, not CSV text")
        self.delimiter = delimiter or sniff_delimiter(start)
        first = self._first_row()
        self.has_header = not any(_is_number(cell) for cell in first) if header is None else header
        self.names = _names(path, first) if self.has_header else [f"x{j}" for j in range(len(first))]
        self.kinds: list[Kind | None] = [None] * len(self.names)

    def _first_row(self) -> list[str]:
        for _, row in self._rows():
            if len(row) > MOST_COLUMNS:
                raise FileError(self.path, 1, f"a table may have at most {MOST_COLUMNS:,} columns, got {len(row):,}")
            return row
        raise FileError(self.path, None, "the file has no rows")

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of each row that is not blank."""
        with opened(self.path) as file:
            reader = csv.reader(file, delimiter=self.delimiter, strict=False)
            while True:
                with _in_words(self.path, reader):
                    row = next(reader, None)
                if row is None:
                    return
                if row:
                    yield reader.line_num, row

    def chunks(self, rows: int) -> Iterator[Chunk]:
        """The rows below the header, so many at a time; by pyarrow where it is sure to read the same."""
        done = yield from quick_chunks(self, rows)
        if done is not None:
            yield from self.plain_chunks(rows, skip=done)

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """Line and cells of each row below the header."""
        source = self._rows()
        if self.has_header:
            next(source, None)
        return source

    def plain_chunks(self, rows: int, skip: int = 0) -> Iterator[Chunk]:
        """The same by the csv module, after the first `skip` rows."""
        width = len(self.names)
        kept: list[list[str]] = []
        lines: list[int] = []
        for line, row in islice(self.lines(), skip, None):
            if len(row) != width:
                sentence = f"a row must have {width} cells as the first line has, got {len(row)}"
                raise FileError(self.path, line, f"{sentence} (delimiter {self.delimiter!r})")
            kept.append(row)
            lines.append(line)
            if len(kept) == rows:
                yield _chunk(kept, lines)
                kept, lines = [], []
        if kept:
            yield _chunk(kept, lines)


def _chunk(rows: list[list[str]], lines: list[int]) -> Chunk:
    return Chunk([list(cells) for cells in zip(*rows, strict=True)], lines)


def opened(path: FilePath) -> IO[str]:
    """The file as text, unpacked when its name ends in .gz or .bz2. UTF-8, with or without a byte order mark."""
    name = fspath(path).lower()
    opener = gzip.open if name.endswith(".gz") else bz2.open if name.endswith(".bz2") else open
    try:
        binary = cast(IO[bytes], opener(fspath(path), "rb"))
    except OSError as error:
        raise FileError(path, None, f"the file cannot be opened ({error.strerror or error})") from None
    return io.TextIOWrapper(cast(io.BufferedReader, binary), encoding="utf-8-sig", newline="")


@contextmanager
def _in_words(path: FilePath, reader: object = None) -> Iterator[None]:
    line = getattr(reader, "line_num", None)
    try:
        yield
    except csv.Error as error:
        raise FileError(path, getattr(reader, "line_num", None), f"the line cannot be read as CSV ({error})") from None
    except UnicodeDecodeError as error:
        at = None if line is None else line + 1
        byte = error.object[error.start : error.start + 1]
        raise FileError(path, at, f"the file must be UTF-8 text, got the byte {byte!r}") from None
    except (OSError, EOFError) as error:
        raise FileError(path, line, f"the file cannot be unpacked ({error})") from None


def sniff_delimiter(start: str) -> str:
    """The delimiter that cuts the first lines into the most cells of equal number; a comma when none does."""
    best, best_score = ",", (0.0, 0)
    complete = start.splitlines(keepends=True)[: 50 if len(start) < SNIFFED_CHARACTERS else -1]
    for delimiter in DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(complete[:50], delimiter=delimiter) if row]
        except csv.Error:
            continue
        if not widths or widths[0] < 2:
            continue
        agreeing = sum(width == widths[0] for width in widths) / len(widths)
        if (agreeing, widths[0]) > best_score:
            best, best_score = delimiter, (agreeing, widths[0])
    return best


def _is_number(cell: str) -> bool:
    number = as_number(cell)
    return number is not None and number == number


def _names(path: FilePath, header: list[str]) -> list[str]:
    names = [cell.strip() or f"x{j}" for j, cell in enumerate(header)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileError(path, 1, f"column names must differ, got {shown(twice)} twice")
    return names
