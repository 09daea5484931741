"""Some rows of a binned table: codes, classes, weights, content hashes, and optionally the values.

A part is held by one process: all rows of a fit in memory, one block of a data set on disk, or one partition on a
worker. What a fit must keep about the rows of a part between two questions goes into its storage.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakValueDictionary

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.bins.hashing import Hashes, Keys
from permissible.table.table import Table
from permissible.types import AnyArray, BoolArray, Codes, FloatArray
from permissible.validation import Words, refusal


class Storage(Protocol):
    """One array of numbers that is kept between questions."""

    def write(self, values: FloatArray) -> None:
        """Replace the array."""

    def read(self) -> FloatArray:
        """The array, flat; empty before the first `write`."""


class Part(Protocol):
    """Some rows of a binned table; `number` is its position among the parts of the table."""

    @property
    def number(self) -> int:
        """The position of this part among the parts of the table."""

    @property
    def in_memory(self) -> bool:
        """Whether its rows stay in memory. Rows on disk are read for each question and dropped after the answer."""

    def binned(self) -> BinnedTable:
        """The codes."""

    def target(self) -> AnyArray:
        """The class of each row, as a position in the sorted classes."""

    def weight(self) -> FloatArray | None:
        """The weight of each row; None if the table has no weights."""

    def hashes(self) -> Hashes:
        """The content hash of each row."""

    def keys(self, keys: Keys) -> Hashes:
        """The key of each row."""

    def values(self) -> FloatArray:
        """The values, (rows, columns), categories as codes; an error if they were not kept."""

    def storage(self) -> Storage:
        """New storage for an array: memory, or a scratch file on disk."""

    def put_aside(self, values: AnyArray) -> AnyArray:
        """An array that a fit keeps and does not change: itself in memory, or mapped from a scratch file on disk."""

    def take(self, selection: Hashable, chosen: BoolArray) -> Codes:
        """The codes of selected rows, put aside; fits of the same time share them."""

    def keeps(self, row_bytes: int) -> bool:
        """Whether so many bytes for each of its rows may stay in memory between questions."""

    def release(self) -> None:
        """The rows are not needed until the next question: a part on disk may give their memory back."""


class MemoryStorage:
    """An array in memory."""

    def __init__(self) -> None:
        self._values: FloatArray = np.zeros(0)

    def write(self, values: FloatArray) -> None:
        """Replace the array."""
        self._values = values

    def read(self) -> FloatArray:
        """The array; empty before the first `write`."""
        return self._values


class Taken(WeakValueDictionary[object, Codes]):
    """Codes of selected rows by their selection, as long as a fit uses them; a part travels without them."""

    def __reduce__(self) -> tuple[type, tuple[()]]:
        """Empty."""
        return Taken, ()


@dataclass(slots=True, eq=False)
class MemoryPart:
    """Rows in memory. `content` holds their hashes, or computes them when first needed."""

    codes: BinnedTable
    classes: AnyArray
    weights: FloatArray | None = None
    content: Hashes | Callable[[], Hashes] | None = None
    numbers: FloatArray | None = None
    number: int = 0
    in_memory: bool = True
    last_keys: tuple[Keys, Hashes] | None = None
    taken: "Taken" = field(default_factory=lambda: Taken(), repr=False)

    def __sizeof__(self) -> int:
        """Bytes of the arrays: dask moves and spills results by their sizes."""
        arrays = (self.codes.blocks, self.classes, self.weights, self.content, self.numbers)
        return sum(int(getattr(array, "nbytes", 0)) for array in arrays)

    def binned(self) -> BinnedTable:
        """The codes."""
        return self.codes

    def target(self) -> AnyArray:
        """The class of each row."""
        return self.classes

    def weight(self) -> FloatArray | None:
        """The weight of each row."""
        return self.weights

    def hashes(self) -> Hashes:
        """The content hash of each row."""
        if callable(self.content):
            self.content = self.content()
        assert self.content is not None, "this fit does not split its rows"
        return self.content

    def keys(self, keys: Keys) -> Hashes:
        """The key of each row; the last ones are kept, since a fit asks often."""
        if self.last_keys is None or self.last_keys[0] != keys:
            self.last_keys = keys, keys.of(self.codes)
        return self.last_keys[1]

    def values(self) -> FloatArray:
        """The values."""
        return self.numbers if self.numbers is not None else refuse_values()

    def storage(self) -> Storage:
        """Storage in memory."""
        return MemoryStorage()

    def put_aside(self, values: AnyArray) -> AnyArray:
        """The array itself."""
        return values

    def take(self, selection: Hashable, chosen: BoolArray) -> Codes:
        """The codes of selected rows, shared as long as a fit holds them."""
        found = self.taken.get(selection)
        if found is None:
            found = self.taken[selection] = np.ascontiguousarray(self.codes.blocks[:, chosen])
        return found

    def keeps(self, row_bytes: int) -> bool:
        """Rows in memory stay."""
        return True

    def release(self) -> None:
        """Rows in memory stay."""


def refuse_values() -> FloatArray:
    """The error for a part that holds only codes."""
    expected, remedy = "data that hold their values for a linear classifier", "make the data set with keep_values=True"
    raise refusal("X", expected, Words("codes alone"), remedy)


def weights_of(part: Part) -> FloatArray:
    """The weight of each row, 1 if none was given."""
    weight = part.weight()
    return np.ones(len(part.target())) if weight is None else weight


def numbers_of(table: Table) -> FloatArray:
    """The values of a table as one matrix, categories as their codes."""
    columns = [np.asarray(column, dtype=np.float64) for column in table.columns]
    return np.column_stack(columns) if columns else np.zeros((table.n_rows, 0))


def table_of(part: Part, rows: BoolArray | None = None) -> Table:
    """The table of a part that kept its values, or of some of its rows."""
    values, schema = part.values(), part.binned().binning.schema
    values = values if rows is None else values[rows]
    columns = tuple(
        values[:, j].astype(np.int32) if column.kind == "categorical" else values[:, j]
        for j, column in enumerate(schema.columns)
    )
    return Table(schema, columns, len(values))
