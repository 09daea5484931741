"""Which rows of a table: those whose content hash lies in the interval of their class, or those outside of it.

A selection is a few numbers, so every worker finds its selected rows without communication.
"""

from dataclasses import dataclass, replace

import numpy as np

from permissible.bins.hashing import Hashes, Keys
from permissible.rows.part import Part
from permissible.types import AnyArray, BoolArray, IntArray

NO_HASH = (1, 0)
"""The empty interval."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows by class and hash; without intervals, all rows.

    `intervals` holds the first and the last hash of each class, both inclusive. With a `label` the classes are two: the
    others, and that label. With `keys` the hash of a row is its key, otherwise that of its whole content.
    """

    intervals: tuple[tuple[int, int], ...] = ()
    inside: bool = True
    label: int | None = None
    keys: Keys | None = None

    def complement(self) -> "Selection":
        """The other rows."""
        return replace(self, inside=not self.inside)

    def rows(self, part: Part) -> BoolArray | None:
        """The selected rows of a part; None for all of them."""
        if not self.intervals:
            return None
        return self.mask(hashes_of(part, self.keys), part.target())

    def mask(self, hashes: Hashes, target: AnyArray) -> BoolArray | None:
        """The selected rows; None for all of them."""
        if not self.intervals:
            return None
        ends = np.array(self.intervals, dtype=np.uint64)
        first, last = ends[0] if (ends == ends[0]).all() else ends[classes_of(target, self.label)].T
        inside = (hashes >= first) & (hashes <= last)
        return np.asarray(inside if self.inside else ~inside)


ALL_ROWS = Selection()


def hashes_of(part: Part, keys: Keys | None) -> Hashes:
    """The hashes of the rows of a part: their keys, or those of their whole content."""
    return part.hashes() if keys is None else part.keys(keys)


def classes_of(target: AnyArray, label: int | None) -> IntArray:
    """The class of each row: its position, or 1 for the label and 0 for the others."""
    return np.asarray(target if label is None else target == label).astype(np.int64)
