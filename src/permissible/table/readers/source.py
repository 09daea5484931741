"""What a text file is to the rest: named columns of cells, chunk by chunk, each row with its line; and errors that name it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from permissible.table.schema import Kind

FilePath: TypeAlias = str | PathLike[str]
Cells: TypeAlias = Any
"""Cells of one column: a list of text (None where the format itself says missing), or a pyarrow array of strings."""


class FileError(ValueError):
    """A file that cannot be read as a table; the message is one sentence with file and line."""

    def __init__(self, path: FilePath, line: int | None, sentence: str) -> None:
        where = f"{Path(fspath(path)).name}, line {line}" if line is not None else Path(fspath(path)).name
        super().__init__(f"{where}: {sentence}.")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows: for each column its cells, and each row's line in the file."""

    columns: list[Cells]
    lines: Sequence[int]


class TextSource(Protocol):
    """A text file with a header that has been read."""

    path: FilePath
    names: list[str]
    kinds: list[Kind | None]

    def chunks(self, rows: int) -> Iterator[Chunk]:
        """The rows from the start, so many at a time."""
        ...
