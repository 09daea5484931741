"""ARFF: the header declares the columns; quoted names and values, ? for missing, % for comments."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from permissible.table.files.cells import CellKind, array_of
from permissible.table.files.reader import ROWS, Chunk
from permissible.table.files.text import MOST_COLUMNS, in_words, open_text, wrong
from permissible.validation import shown

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.IGNORECASE)
_NUMBERS = ("numeric", "real", "integer")
_ESCAPE = re.compile(r"\\(.)")
LONGEST_LINE = 1 << 24


class Arff:
    """A file in Weka's attribute-relation format."""

    def __init__(self, path: Path, rows: int = ROWS) -> None:
        self.path, self.rows = path, rows
        self._kinds: dict[str, CellKind] = {}
        for line, text in self._lines():
            word = text.split(None, 1)[0].lower()
            if word == "@data":
                break
            if word == "@attribute":
                self._declare(line, text)
            elif not word.startswith("@"):
                raise wrong(path, line, f"a declaration such as @attribute was expected, got {shown(text)}")
        else:
            raise wrong(path, None, "there must be a line @data, as every ARFF file has")
        if not self._kinds:
            raise wrong(path, None, "the file declares no attributes")
        self.names = tuple(self._kinds)

    def kinds(self) -> Mapping[str, CellKind]:
        """What the header declares."""
        return dict(self._kinds)

    def chunks(self, kinds: Mapping[str, CellKind]) -> Iterator[Chunk]:
        """The rows, as columns of the given kinds."""
        places = [(name, self.names.index(name), kind) for name, kind in kinds.items()]
        lines = self._lines()
        for _, text in lines:
            if text.lower().startswith("@data"):
                break
        rows = ((line, self._row(line, text)) for line, text in lines)
        while batch := list(islice(rows, self.rows)):
            columns = [list(cells) for cells in zip(*(row for _, row in batch), strict=True)]
            line_of = [line for line, _ in batch].__getitem__
            yield {
                name: array_of(columns[place], kind, frozenset(), name, self.path, line_of)
                for name, place, kind in places
            }

    def _declare(self, line: int, text: str) -> None:
        found = _ATTRIBUTE.fullmatch(text)
        if found is None:
            raise wrong(self.path, line, f"an attribute needs a name and a type, got {shown(text)}")
        name, kind = unquoted(found[1]), found[2].strip()
        if name in self._kinds:
            raise wrong(self.path, line, f"each column must be declared once, got {shown(name)} twice")
        if len(self._kinds) >= MOST_COLUMNS:
            raise wrong(self.path, line, f"a table may have at most {MOST_COLUMNS:,} columns")
        if kind.startswith("{") or kind.lower().startswith("string"):
            self._kinds[name] = "text"
        elif kind.lower().startswith(_NUMBERS):
            self._kinds[name] = "number"
        else:
            wanted = "an attribute must be numeric, string or a list of values in braces"
            raise wrong(self.path, line, f"{wanted}, got {shown(kind)} for {name!r}")

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Number and text of each line that is neither blank nor a comment."""
        with in_words(self.path), open_text(self.path) as file:
            for number in range(1, 1 << 62):
                text = file.readline(LONGEST_LINE)
                if not text:
                    return
                if len(text) >= LONGEST_LINE:
                    raise wrong(self.path, number, f"a line may have at most {LONGEST_LINE:,} characters")
                text = text.strip()
                if text and not text.startswith("%"):
                    yield number, text

    def _row(self, line: int, text: str) -> list[str | None]:
        if text.startswith("{"):
            raise wrong(self.path, line, "sparse ARFF rows are not supported; write every value")
        if "'" in text or '"' in text or "\\" in text:
            cells = split_quoted(text)
            if cells is None:
                raise wrong(self.path, line, "a quote is opened and never closed")
        else:
            cells = [None if cell.strip() == "?" else cell.strip() for cell in text.split(",")]
        if len(cells) != len(self.names):
            raise wrong(self.path, line, f"a row must have {len(self.names)} values, got {len(cells)}")
        return cells


def unquoted(text: str) -> str:
    """A name or value without its quotes and escapes."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return _ESCAPE.sub(r"\1", text[1:-1])
    return text


def split_quoted(text: str) -> list[str | None] | None:
    r"""The cells of a row with quotes: a bare ? is missing, a quoted one is text. None when a quote stays open.

    >>> split_quoted("1, 'it\\'s, well', ?, '?'")
    ['1', "it's, well", None, '?']
    """
    cells: list[str | None] = []
    at, end = 0, len(text)
    while True:
        while at < end and text[at] in " \t":
            at += 1
        if at < end and text[at] in "'\"":
            close = at + 1
            while close < end and text[close] != text[at]:
                close += 2 if text[close] == "\\" else 1
            if close >= end:
                return None
            cells.append(unquoted(text[at : close + 1]))
            at = text.find(",", close)
        else:
            comma = text.find(",", at)
            cell = text[at : comma if comma >= 0 else end].strip()
            cells.append(None if cell == "?" else _ESCAPE.sub(r"\1", cell))
            at = comma
        if at < 0:
            return cells
        at += 1
