"""What every file of rows offers: its columns, the kinds found in it, and its rows in chunks."""

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeAlias

import numpy as np

from permissible.table.files.cells import CellKind
from permissible.types import AnyArray

Chunk: TypeAlias = dict[str, AnyArray]
ROWS = 65_536


class FileReader(Protocol):
    """A file of rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in order."""

    def kinds(self) -> Mapping[str, CellKind]:
        """What each column holds, found by reading all rows where the file does not state it."""

    def chunks(self, kinds: Mapping[str, CellKind]) -> Iterator[Chunk]:
        """The rows, a chunk at a time, the columns of `kinds` only and read as these kinds."""


def whole(source: FileReader, kinds: Mapping[str, CellKind]) -> Chunk:
    """All rows at once."""
    parts = list(source.chunks(kinds))
    if not parts:
        return {
            name: np.empty(0, dtype=object if kind in ("text", "boolean") else float) for name, kind in kinds.items()
        }
    return {name: np.concatenate([part[name] for part in parts]) for name in kinds}
