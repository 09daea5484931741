"""A part on disk: one block of a data set."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.bins.hashing import Hashes, Keys
from permissible.distributed.data import mapped
from permissible.distributed.data.mapped import Pages
from permissible.distributed.data.scratch import Scratch, Spill
from permissible.distributed.data.store import Store, open_store
from permissible.rows.part import refuse_values
from permissible.types import AnyArray, BoolArray, Codes, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class BlockPart:
    """A block of a store; its codes are memory-mapped, so they take no memory until used."""

    store: Store
    block: int
    in_memory: bool = False
    aside: list[Pages] = field(default_factory=list, repr=False)
    last_keys: list[tuple[Keys, Hashes]] = field(default_factory=list, repr=False)

    @property
    def number(self) -> int:
        """The number of the block."""
        return self.block

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

    def hashes(self) -> Hashes:
        """The content hash of each row."""
        return self.store.hashes(self.block)

    def keys(self, keys: Keys) -> Hashes:
        """The key of each row; the last ones are put aside, since a fit asks often."""
        if not self.last_keys or self.last_keys[0][0] != keys:
            self.last_keys[:] = [(keys, self.put_aside(keys.of(self.binned())))]
        return self.last_keys[0][1]

    def values(self) -> FloatArray:
        """The values, read from disk."""
        return self.store.values(self.block) if self.store.valued else refuse_values()

    def storage(self) -> Spill:
        """A slot in the scratch file of the data set."""
        return Spill(self.store.folder)

    def put_aside(self, values: AnyArray) -> AnyArray:
        """The array, mapped from the scratch file of the data set."""
        if not values.nbytes:
            return values
        found, pages = Scratch.of(self.store.folder).put(values)
        self.aside[:] = [*(known for known in self.aside if known.map() is not None), pages]
        return found

    def take(self, selection: Hashable, chosen: BoolArray) -> Codes:
        """The codes of selected rows, mapped from the scratch file."""
        return self.put_aside(np.ascontiguousarray(self.binned().blocks[:, chosen]))

    def keeps(self, row_bytes: int) -> bool:
        """The first blocks may, within the budget of mapped files."""
        return self.store.span(self.block)[1] * row_bytes <= mapped.BUDGET

    def release(self) -> None:
        """Give back the memory of the codes beyond a budget."""
        self.store.release(self.block)
        for pages in self.aside:
            pages.release()

    def __reduce__(self) -> tuple[object, tuple[Path, int]]:
        """A block is pickled as the name of its folder."""
        return _reopened, (self.store.folder, self.block)


def _reopened(folder: Path, block: int) -> BlockPart:
    return BlockPart(open_store(folder), block)
