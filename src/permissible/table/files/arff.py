"""ARFF: the header declares the columns, and the rows stream as in a CSV file with single quotes."""

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from permissible.table.files.cells import CellKind, array_of
from permissible.table.files.delimited import open_text
from permissible.table.files.errors import FileError
from permissible.table.files.source import ROWS, Chunk

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{]+)\s*(.*)", re.IGNORECASE)
_NUMBERS = ("numeric", "real", "integer")
_MISSING = frozenset({"?", ""})


class Arff:
    """A file in Weka's attribute-relation format."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kinds: dict[str, CellKind] = {}
        with open_text(path) as file:
            for line in file:
                text = line.strip()
                if text.lower().startswith("@data"):
                    break
                declared = _ATTRIBUTE.match(text)
                if declared:
                    self._declare(_unquoted(declared.group(1)), declared.group(2).strip())
            else:
                raise FileError(f"{path} must have a line @data, as every ARFF file has.")
        self.names = tuple(self._kinds)

    def kinds(self) -> Mapping[str, CellKind]:
        """What the header declares."""
        return dict(self._kinds)

    def chunks(self, kinds: Mapping[str, CellKind]) -> Iterator[Chunk]:
        """The rows, as columns of the given kinds."""
        places = [(name, self.names.index(name), kind) for name, kind in kinds.items()]
        start = 0
        with open_text(self.path) as file:
            for line in file:
                if line.strip().lower().startswith("@data"):
                    break
            lines = (line for line in file if (text := line.strip()) and not text.startswith("%"))
            reader = csv.reader(lines, quotechar="'", escapechar="\\", skipinitialspace=True)
            while batch := list(islice(reader, ROWS)):
                self._check(batch, start)
                columns = [[cell.strip().strip('"') for cell in column] for column in zip(*batch, strict=True)]
                yield {name: array_of(columns[place], kind, _MISSING, name, start) for name, place, kind in places}
                start += len(batch)

    def _declare(self, name: str, kind: str) -> None:
        if name in self._kinds:
            raise FileError(f"{self.path} must declare each column once, got {name!r} twice.")
        if kind.startswith("{") or kind.lower().startswith("string"):
            self._kinds[name] = "text"
        elif kind.lower().startswith(_NUMBERS):
            self._kinds[name] = "number"
        else:
            raise FileError(f"{self.path} must declare numeric, nominal or string columns, got {kind!r} for {name!r}.")

    def _check(self, batch: list[list[str]], start: int) -> None:
        for row, cells in enumerate(batch):
            if cells and cells[0].lstrip().startswith("{"):
                raise FileError(f"{self.path} must have dense rows, got a sparse one in row {start + row + 1}.")
            if len(cells) != len(self.names):
                raise FileError(
                    f"{self.path} must have {len(self.names)} values in each row, got {len(cells)} in row {start + row + 1}."
                )


def _unquoted(name: str) -> str:
    return name[1:-1].replace("\\", "") if name[:1] in "'\"" and len(name) > 1 else name
