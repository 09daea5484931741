"""Columns of text as they come, chunk by chunk: first their kinds, then their values."""

from collections.abc import Sequence

import numpy as np

from permissible.table.observe import Observed, from_factors
from permissible.table.readers.cells import category, distinct, numbers, truths
from permissible.table.readers.source import Cells, Chunk, FileError, FilePath, TextSource
from permissible.table.schema import Category, Column, Kind
from permissible.table.table import MISSING_CATEGORY, UNSEEN_CATEGORY
from permissible.types import AnyArray, FloatArray
from permissible.validation import shown

CHUNK_ROWS = 65_536


def kinds_of(source: TextSource, skip: set[str]) -> list[Kind]:
    """The kind of each column by all its cells: numeric, else boolean, else categorical. One pass, constant memory."""
    found: list[Kind | None] = [*source.kinds]
    for chunk in source.chunks(CHUNK_ROWS):
        for j, cells in enumerate(chunk.columns):
            if source.kinds[j] is None and source.names[j] not in skip and found[j] != "categorical":
                found[j] = _kind(cells, found[j])
    return ["numeric" if kind is None else kind for kind in found]  # a column without a value is numeric


def _kind(cells: Cells, so_far: Kind | None) -> Kind | None:
    """The kind of a column after these cells, given the kind before them (None: nothing but missing values yet)."""
    values = numbers(cells) if so_far != "boolean" else truths(cells)
    kind: Kind = so_far or "numeric"
    if isinstance(values, int) and so_far is None:
        values, kind = truths(cells), "boolean"
    if isinstance(values, int):
        return "categorical"
    return so_far if np.isnan(values).all() else kind


class Growing:
    """A column that grows by chunks; categories are numbered as they appear and put in order at the end."""

    def __init__(self, name: str, kind: Kind, by_number: bool) -> None:
        self.name, self.kind, self.by_number = name, kind, by_number
        self.parts: list[AnyArray] = []
        self.place: dict[Category, int] = {}

    def add(self, path: FilePath, cells: Cells, lines: Sequence[int]) -> None:
        """Take the next cells."""
        if self.kind == "categorical":
            self.parts.append(self._number(cells))
        else:
            self.parts.append(floats(path, Column(self.name, self.kind), cells, lines))

    def _number(self, cells: Cells) -> AnyArray:
        codes, different = distinct(cells)
        new = np.full(len(different), MISSING_CATEGORY, dtype=np.int32)
        for i, cell in enumerate(different):
            value = category(cell, self.by_number)
            if value is not None:
                new[i] = self.place.setdefault(value, len(self.place))
        return np.asarray(new[codes])

    def observed(self) -> Observed:
        """The whole column."""
        empty = np.zeros(0, dtype=np.int32 if self.kind == "categorical" else np.float64)
        values = np.concatenate([empty, *self.parts])
        return from_factors(values, self.place) if self.kind == "categorical" else Observed(self.kind, values)


def floats(path: FilePath, column: Column, cells: Cells, lines: Sequence[int]) -> FloatArray:
    """The cells of a numeric or boolean column; a cell that is neither is refused with its line."""
    found = numbers(cells) if column.kind == "numeric" else truths(cells, also_numbers=True)
    if isinstance(found, int):
        wanted = "a number" if column.kind == "numeric" else "true or false"
        sentence = f"column {column.name!r} must hold {wanted} in every row, got {shown(str(cells[found]))}"
        raise FileError(path, lines[found], sentence)
    return found


class Fixed:
    """A column whose kind and categories are those of fit; what no category matches is noted in `unseen`."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.place: dict[Category, int] = {value: i for i, value in enumerate(column.categories)}
        self.by_number = bool(column.categories) and not any(isinstance(c, str) for c in column.categories)
        self.unseen: dict[Category, None] = {}

    def values(self, path: FilePath, chunk: Chunk, at: int) -> AnyArray:
        """The values of the chunk's column `at`."""
        cells = chunk.columns[at]
        if self.column.kind != "categorical":
            return floats(path, self.column, cells, chunk.lines)
        codes, different = distinct(cells)
        new = np.full(len(different), MISSING_CATEGORY, dtype=np.int32)
        for i, cell in enumerate(different):
            value = category(cell, self.by_number)
            if value is not None:
                new[i] = self.place.get(value, UNSEEN_CATEGORY)
                if new[i] == UNSEEN_CATEGORY:
                    self.unseen[value] = None
        return np.asarray(new[codes])
