"""CSV and its relatives: the delimiter is found from the first lines, the kinds from all cells, rows stream in chunks."""

import bz2
import csv
import gzip
import lzma
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from permissible.table.files.cells import MISSING, CellKind, array_of, joined, kind_of
from permissible.table.files.errors import FileError
from permissible.table.files.source import ROWS, Chunk

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
DELIMITERS = ",;\t|"


def open_text(path: Path) -> TextIO:
    """Open a text file for reading, decompressing .gz, .bz2 and .xz; UTF-8 with or without a byte-order mark."""
    opener = _OPENERS.get(path.suffix.lower(), open)
    stream: TextIO = opener(path, "rt", encoding="utf-8-sig", newline="")
    return stream


class Delimited:
    """A text file with one row a line and a header."""

    def __init__(
        self, path: Path, delimiter: str | None = None, header: bool = True, missing: frozenset[str] = MISSING
    ) -> None:
        self.path, self.missing, self.header = path, missing, header
        with open_text(path) as file:
            lines = list(islice(file, 50))
        if not any(line.strip() for line in lines):
            raise FileError(f"{path} is empty: a CSV file needs a first line that names its columns.")
        self.delimiter = delimiter or sniffed(lines)
        first = [cell.strip() for cell in next(csv.reader(lines, delimiter=self.delimiter))]
        self.names = tuple(first) if header else tuple(f"x{j}" for j in range(len(first)))
        self._check_header(first)

    def kinds(self) -> Mapping[str, CellKind]:
        """What each column holds, from all of its cells."""
        found: list[CellKind] = ["empty"] * len(self.names)
        for _, rows in self._batches():
            for place, cells in enumerate(zip(*rows, strict=True)):
                if found[place] != "text":
                    found[place] = joined(found[place], kind_of(cells, self.missing))
        return dict(zip(self.names, found, strict=True))

    def chunks(self, kinds: Mapping[str, CellKind]) -> Iterator[Chunk]:
        """The rows, as columns of the given kinds."""
        places = [(name, self.names.index(name), kind) for name, kind in kinds.items()]
        for start, rows in self._batches():
            columns = list(zip(*rows, strict=True))
            yield {name: array_of(columns[place], kind, self.missing, name, start) for name, place, kind in places}

    def _batches(self) -> Iterator[tuple[int, list[list[str]]]]:
        width, start = len(self.names), 0
        with open_text(self.path) as file:
            reader = csv.reader(file, delimiter=self.delimiter, strict=True)
            try:
                rows = ([cell.strip() for cell in row] for row in reader if row)
                if self.header:
                    next(rows, None)
                while batch := list(islice(rows, ROWS)):
                    for row, cells in enumerate(batch):
                        if len(cells) != width:
                            raise FileError(
                                f"{self.path} must have {width} values in each row, got {len(cells)} in row {start + row + 1} "
                                f"(delimiter {self.delimiter!r}; another one can be given with --delimiter)."
                            )
                    yield start, batch
                    start += len(batch)
            except csv.Error as error:
                raise FileError(f"{self.path} could not be read as CSV: {error} (line {reader.line_num}).") from None

    def _check_header(self, first: list[str]) -> None:
        if self.header and kind_of(first) in ("integer", "number"):
            raise FileError(
                f"{self.path} must name its columns in the first line, got {first[0]!r}; pass --no-header if it does not."
            )
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise FileError(f"{self.path} must name each column once, got {twice[0]!r} twice.")


def sniffed(lines: list[str]) -> str:
    """The delimiter that cuts the first lines into the same number of cells, the largest number if several do.

    Examples
    --------
    >>> sniffed(["a;b;c", "1,5;2;3", "2,5;1;1"])
    ';'
    """
    best, most = ",", 1
    for delimiter in DELIMITERS:
        widths = {len(row) for row in csv.reader(lines, delimiter=delimiter) if row}
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = delimiter, width
    return best
