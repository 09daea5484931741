"""ARFF: declared attributes (nominal, numeric, string), quoted names and values, ? for missing, % for comments."""

import re
from collections.abc import Iterator

from permissible.table.readers.delimited import MOST_COLUMNS, _in_words, opened
from permissible.table.readers.source import Chunk, FileError, FilePath
from permissible.table.schema import Kind
from permissible.validation import shown

NUMERIC = {"numeric", "real", "integer"}
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)""", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(.)")
LONGEST_LINE = 1 << 24


class Arff:
    """An ARFF file whose declarations are known."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.names: list[str] = []
        self.kinds: list[Kind | None] = []
        for line, text in self._lines():
            if text[:1] != "@":
                raise FileError(path, line, f"a declaration such as @attribute was expected, got {shown(text)}")
            word = text.split(None, 1)[0].lower()
            if word == "@data":
                break
            if word == "@attribute":
                self._declare(line, text)
        else:
            raise FileError(path, None, "the file has no @data line")
        if not self.names:
            raise FileError(path, None, "the file declares no attributes")

    def _declare(self, line: int, text: str) -> None:
        found = _ATTRIBUTE.fullmatch(text)
        if found is None:
            raise FileError(self.path, line, f"an attribute needs a name and a type, got {shown(text)}")
        name, kind = unquoted(found[1]), found[2].strip()
        if name in self.names:
            raise FileError(self.path, line, f"attribute names must differ, got {shown(name)} twice")
        if len(self.names) >= MOST_COLUMNS:
            raise FileError(self.path, line, f"a table may have at most {MOST_COLUMNS:,} columns")
        self.names.append(name)
        self.kinds.append(self._kind(line, kind))

    def _kind(self, line: int, text: str) -> Kind:
        word = text.split(None, 1)[0].lower() if text else ""
        if text.startswith("{") and text.endswith("}"):
            return "categorical"
        if word in NUMERIC:
            return "numeric"
        if word == "string":
            return "categorical"
        got = f"got {shown(text)}"
        raise FileError(self.path, line, f"an attribute must be numeric, string or a list of values in braces, {got}")

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Number and text of each line that is neither blank nor a comment."""
        with opened(self.path) as file:
            number = 0
            while True:
                with _in_words(self.path):
                    text = file.readline(LONGEST_LINE)
                if not text:
                    return
                number += 1
                if len(text) >= LONGEST_LINE:
                    raise FileError(self.path, number, f"a line may have at most {LONGEST_LINE:,} characters")
                text = text.strip()
                if text and not text.startswith("%"):
                    yield number, text

    def chunks(self, rows: int) -> Iterator[Chunk]:
        """The rows below @data, so many at a time."""
        lines = self._lines()
        for _, text in lines:
            if text.lower().startswith("@data"):
                break
        kept: list[list[str | None]] = []
        numbers: list[int] = []
        for number, text in lines:
            kept.append(self._row(number, text))
            numbers.append(number)
            if len(kept) == rows:
                yield Chunk([list(cells) for cells in zip(*kept, strict=True)], numbers)
                kept, numbers = [], []
        if kept:
            yield Chunk([list(cells) for cells in zip(*kept, strict=True)], numbers)

    def _row(self, line: int, text: str) -> list[str | None]:
        if text.startswith("{"):
            raise FileError(self.path, line, "sparse ARFF rows are not supported; write every value")
        if "'" in text or '"' in text or "\\" in text:
            cells = split_quoted(text)
            if cells is None:
                raise FileError(self.path, line, "a quote is opened and never closed")
        else:
            cells = [None if cell.strip() == "?" else cell.strip() for cell in text.split(",")]
        if len(cells) != len(self.names):
            raise FileError(self.path, line, f"a row must have {len(self.names)} values, got {len(cells)}")
        return cells


def unquoted(text: str) -> str:
    """A name or value without its quotes and escapes."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return _ESCAPE.sub(r"\1", text[1:-1])
    return text


def split_quoted(text: str) -> list[str | None] | None:
    """The cells of a row with quotes: a bare ? is missing, a quoted one is text. None when a quote stays open."""
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
