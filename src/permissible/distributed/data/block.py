"""A part on disk: one block of a data set."""

from dataclasses import dataclass
from pathlib import Path

from permissible.bins.binning import BinnedTable
from permissible.bins.hashing import Hashes
from permissible.distributed.data.scratch import Spill
from permissible.distributed.data.store import Store, open_store
from permissible.rows.part import refuse_values
from permissible.types import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class BlockPart:
    """A block of a store; its codes are memory-mapped, so they take no memory until used."""

    store: Store
    block: int
    in_memory: bool = False

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

    def values(self) -> FloatArray:
        """The values, read from disk."""
        return self.store.values(self.block) if self.store.valued else refuse_values()

    def storage(self) -> Spill:
        """A slot in the scratch file of the data set."""
        return Spill(self.store.folder)

    def __reduce__(self) -> tuple[object, tuple[Path, int]]:
        """A block is pickled as the name of its folder."""
        return _reopened, (self.store.folder, self.block)


def _reopened(folder: Path, block: int) -> BlockPart:
    return BlockPart(open_store(folder), block)
