"""CSV and similar formats: the delimiter is found from the first lines, the kinds from all cells, rows stream in chunks.

Blank lines are skipped. Where `header` is None, a header is assumed unless a cell of the first line is a number.
"""

import csv
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from permissible.table.files.cells import MISSING, CellKind, RawChunk, array_of, as_number, joined, kind_of
from permissible.table.files.fast_csv import fast_chunks
from permissible.table.files.reader import ROWS, Chunk
from permissible.table.files.text import MOST_COLUMNS, in_words, open_text, wrong
from permissible.validation import shown

DELIMITERS = ",;\t|"
SNIFFED_CHARACTERS = 1 << 17


class Delimited:
    """A text file with one row per line and, most often, a header."""

    def __init__(
        self,
        path: Path,
        delimiter: str | None = None,
        header: bool | None = True,
        missing: frozenset[str] = MISSING,
        rows: int = ROWS,
        encoding: str | None = None,
    ) -> None:
        self.path, self.missing, self.rows, self.encoding = path, missing, rows, encoding
        with in_words(path), open_text(path, encoding) as file:
            start = file.read(SNIFFED_CHARACTERS)
        if "\0" in start:
            raise wrong(path, None, "the file is binary, not text")
        lines = start.splitlines(keepends=True)
        complete = lines if len(start) < SNIFFED_CHARACTERS else lines[:-1]
        self.delimiter = delimiter or sniffed(complete[:50])
        first = next((row for _, row in self._rows()), None)
        if first is None:
            raise wrong(path, None, "the file is empty: a CSV file needs a first line that names its columns")
        if len(first) > MOST_COLUMNS:
            raise wrong(path, 1, f"a table may have at most {MOST_COLUMNS:,} columns, got {len(first):,}")
        numbers = [cell for cell in first if cell.strip() not in missing and as_number(cell.strip()) is not None]
        self.has_header = not numbers if header is None else header
        self.names = tuple(self._named(first, numbers) if self.has_header else [f"x{j}" for j in range(len(first))])

    def kinds(self) -> Mapping[str, CellKind]:
        """What each column holds, from all of its cells."""
        found: list[CellKind] = ["empty"] * len(self.names)
        for chunk in self.raw():
            for place, cells in enumerate(chunk.columns):
                if found[place] != "text":
                    found[place] = joined(found[place], kind_of(cells, self.missing))
        return dict(zip(self.names, found, strict=True))

    def chunks(self, kinds: Mapping[str, CellKind]) -> Iterator[Chunk]:
        """The rows, as columns of the given kinds."""
        places = [(name, self.names.index(name), kind) for name, kind in kinds.items()]
        for raw in self.raw():
            yield {
                name: array_of(raw.columns[place], kind, self.missing, name, self.path, raw.line_of)
                for name, place, kind in places
            }

    def raw(self) -> Iterator[RawChunk]:
        """The cells; split by pyarrow where it splits as the csv module does."""
        done = 0 if self.encoding else (yield from fast_chunks(self, self.rows))
        if done is not None:
            yield from self._plain(done)

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """Line and cells of each row below the header."""
        return islice(self._rows(), int(self.has_header), None)

    def _plain(self, skip: int) -> Iterator[RawChunk]:
        width = len(self.names)
        source = islice(self.lines(), skip, None)
        while batch := list(islice(source, self.rows)):
            for line, row in batch:
                if len(row) != width:
                    sentence = f"a row must have {width} values as the first line has, got {len(row)}"
                    another = f"(delimiter {self.delimiter!r}; another one can be given with --delimiter)"
                    raise wrong(self.path, line, f"{sentence} {another}")
            columns = [list(cells) for cells in zip(*(row for _, row in batch), strict=True)]
            yield RawChunk(columns, [line for line, _ in batch].__getitem__)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        with open_text(self.path, self.encoding) as file:
            reader = csv.reader(file, delimiter=self.delimiter)
            while True:
                with in_words(self.path, reader):
                    row = next(reader, None)
                if row is None:
                    return
                if row:
                    yield reader.line_num, row

    def _named(self, first: list[str], numbers: list[str]) -> list[str]:
        if len(numbers) == len(first):
            got = f"got {numbers[0].strip()!r}; pass --no-header if it does not"
            raise wrong(self.path, 1, f"the first line must name the columns, {got}")
        names = [cell.strip() or f"x{j}" for j, cell in enumerate(first)]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise wrong(self.path, 1, f"each column must be named once, got {shown(twice)} twice")
        return names


def sniffed(lines: list[str]) -> str:
    """The delimiter that splits most of the first lines into the same number of cells, the most cells on ties.

    >>> sniffed(["a;b;c", "1,5;2;3", "2,5;1;1"])
    ';'
    """
    best, best_score = ",", (0.0, 1)
    for delimiter in DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        if widths and widths[0] > 1:
            score = sum(width == widths[0] for width in widths) / len(widths), widths[0]
            best, best_score = (delimiter, score) if score > best_score else (best, best_score)
    return best
