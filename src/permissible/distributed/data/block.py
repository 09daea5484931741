"""A part of a table, wherever it lies: its codes, classes, weights and content hashes. In memory, or a block on disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from permissible.bins.binning import BinnedTable
from permissible.distributed.data.store import Store, open_store
from permissible.table.table import Table
from permissible.types import AnyArray, BoolArray, FloatArray
from permissible.validation import Words, refusal


class Part(Protocol):
    """Some rows of a binned table. `weight` is None when the rows of the whole table weigh the same."""

    def binned(self) -> BinnedTable:
        """The codes."""
        ...

    def target(self) -> AnyArray:
        """The class of each row, as a position in the sorted classes."""
        ...

    def weight(self) -> FloatArray | None:
        """The weight of each row."""
        ...

    def hashes(self) -> npt.NDArray[np.uint64]:
        """The content hash of each row."""
        ...

    def values(self) -> FloatArray | None:
        """The values themselves, (rows, columns), where they were kept."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MemoryPart:
    """Rows in memory."""

    codes: BinnedTable
    classes: AnyArray
    weights: FloatArray | None
    content: npt.NDArray[np.uint64]
    numbers: FloatArray | None = None

    def binned(self) -> BinnedTable:
        """The codes."""
        return self.codes

    def target(self) -> AnyArray:
        """The class of each row."""
        return self.classes

    def weight(self) -> FloatArray | None:
        """The weight of each row."""
        return self.weights

    def hashes(self) -> npt.NDArray[np.uint64]:
        """The content hash of each row."""
        return self.content

    def values(self) -> FloatArray | None:
        """The values themselves."""
        return self.numbers


@dataclass(frozen=True, slots=True, eq=False)
class BlockPart:
    """A block of a store; its codes are mapped, not read, so that they take no memory until they are looked at."""

    store: Store
    block: int

    def binned(self) -> BinnedTable:
        """The codes, as a memory map."""
        codes = self.store.mapped(self.block)
        return BinnedTable(self.store.binning, codes, codes.shape[1])

    def target(self) -> AnyArray:
        """The class of each row."""
        return self.store.target(self.block)

    def weight(self) -> FloatArray | None:
        """The weight of each row."""
        return self.store.weight(self.block) if self.store.weighted else None

    def hashes(self) -> npt.NDArray[np.uint64]:
        """The content hash of each row."""
        return self.store.hashes(self.block)

    def values(self) -> FloatArray | None:
        """The values themselves, read now."""
        return self.store.values(self.block) if self.store.valued else None

    def __reduce__(self) -> tuple[object, tuple[Path, int]]:
        """A block travels as the name of its folder."""
        return _reopened, (self.store.folder, self.block)


def _reopened(folder: Path, block: int) -> BlockPart:
    return BlockPart(open_store(folder), block)


def values_of(part: Part) -> FloatArray:
    """The values of a part, which must have been kept."""
    values = part.values()
    if values is None:
        raise refusal(
            "X", "data in parts that hold their values for a linear classifier", Words("codes alone"),
            "make the data set with keep_values=True",
        )  # fmt: skip
    return np.ascontiguousarray(values)


def numbers_of(table: Table) -> FloatArray:
    """The values of a table as one matrix, categories as their codes: what a part keeps."""
    columns = [np.asarray(column, dtype=np.float64) for column in table.columns]
    return np.column_stack(columns) if columns else np.zeros((table.n_rows, 0))


def table_of(part: Part, rows: BoolArray | None = None) -> Table:
    """The table of a part that kept its values, or of some of its rows."""
    values, schema = values_of(part), part.binned().binning.schema
    values = values if rows is None else values[rows]
    columns = tuple(
        values[:, j].astype(np.int32) if column.kind == "categorical" else values[:, j]
        for j, column in enumerate(schema.columns)
    )
    return Table(schema, columns, len(values))
