"""A part of a table, wherever it lies: its codes, classes, weights and content hashes. In memory, or a block on disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from permissible.bins.binning import BinnedTable
from permissible.distributed.store import Store, open_store
from permissible.types import AnyArray, FloatArray


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
