"""Files of a data set and of its scratch space as memory maps that take bounded memory.

Mapped pages count as memory of the process once they were read. The first `BUDGET` bytes of a file stay mapped; a block
beyond them gives its pages back after each question, and the next question reads it again from the system's cache. This
is the best fixed choice for rows that are always visited in the same order.
"""

import mmap
import weakref
from contextlib import suppress
from typing import IO

import numpy as np

from permissible.types import Codes

BUDGET = 64 * 2**20


class Pages:
    """Some bytes of an open file, mapped once; `start` is a multiple of the size of a page.

    The map lives as long as an array over it, also when this object is gone.
    """

    def __init__(self, file: IO[bytes], start: int, n_bytes: int) -> None:
        found = mmap.mmap(file.fileno(), n_bytes, access=mmap.ACCESS_READ, offset=start)
        self._start, self._n_bytes, self.map = start, n_bytes, weakref.ref(found)
        self._whole = found

    def bytes(self) -> Codes:
        """The bytes."""
        return np.frombuffer(self._whole, dtype=np.uint8)

    def only_by_arrays(self) -> "Pages":
        """The same map, which then lives only as long as an array over it."""
        del self._whole
        return self

    def release(self, first: int = 0, last: int | None = None) -> None:
        """Give back the pages that lie wholly between two bytes, if they are beyond the budget."""
        if self._start + self._n_bytes <= BUDGET:
            return
        found, page = self.map(), mmap.PAGESIZE
        end = self._n_bytes if last is None else last
        first, end = -(-max(first, BUDGET - self._start) // page) * page, end // page * page
        if found is not None and first < end:
            with suppress(OSError, AttributeError):  # a system without madvise keeps them
                found.madvise(mmap.MADV_DONTNEED, first, end - first)
