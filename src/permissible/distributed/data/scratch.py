"""Scratch space for parts on disk: arrays kept between questions in slots of one unnamed file.

An array that changes is written and read (`Spill`); one that does not is mapped (`Scratch.put`).

All parts of a folder share the file. It is opened unnamed (or unlinked at once), so the system frees its space when the
process ends, even if it is killed.
"""

import mmap
import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from permissible.distributed.data.mapped import Pages
from permissible.types import AnyArray, FloatArray

_open: "weakref.WeakValueDictionary[tuple[int, str], Scratch]" = weakref.WeakValueDictionary()


class Scratch:
    """An unnamed file, divided into slots: in the data folder if writable, else in the temporary folder."""

    def __init__(self, folder: Path) -> None:
        where = folder if os.access(folder, os.W_OK) else None
        self._file: Any = tempfile.TemporaryFile(dir=where, buffering=0)  # noqa: SIM115 (closed by the finalizer below)
        weakref.finalize(self, self._file.close)
        self._end = 0
        self._free: dict[int, list[int]] = {}

    @classmethod
    def of(cls, folder: Path) -> "Scratch":
        """The file of a folder, shared while a slot of it is in use; a forked process opens its own."""
        key = os.getpid(), str(folder)
        found = _open.get(key)
        if found is None:
            found = _open[key] = cls(folder)
        return found

    def slot(self, n_bytes: int) -> int:
        """A slot of this many bytes, on whole pages: a released one, or a new one."""
        if self._free.get(n_bytes):
            return self._free[n_bytes].pop()
        place = self._end
        self._end += -(-n_bytes // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        return place

    def put(self, values: AnyArray) -> tuple[AnyArray, Pages]:
        """An array that does not change, mapped; its slot is released when no array over it is left."""
        place = self.slot(values.nbytes)
        self.write(place, values)
        pages = Pages(self._file, place, values.nbytes)
        weakref.finalize(pages.map(), self.give_back, place, values.nbytes)
        found = pages.bytes().view(values.dtype).reshape(values.shape)
        return found, pages.only_by_arrays()

    def give_back(self, place: int, n_bytes: int) -> None:
        """Release a slot."""
        self._free.setdefault(n_bytes, []).append(place)

    def write(self, place: int, values: AnyArray) -> None:
        """Write a slot."""
        self._file.seek(place)
        view = np.ascontiguousarray(values).view(np.uint8).ravel()
        while len(view):
            view = view[self._file.write(view.data) :]

    def read(self, place: int, n_bytes: int) -> FloatArray:
        """Read a slot."""
        self._file.seek(place)
        values = np.empty(n_bytes // 8)
        view, done = values.view(np.uint8), 0
        while done < n_bytes:
            got = self._file.readinto(view[done:].data)
            if not got:
                raise OSError("the scratch file of a fit has lost rows")
            done += got
        return values


class Spill:
    """One array in the file; its slot is released with it."""

    def __init__(self, folder: Path) -> None:
        self._scratch = Scratch.of(folder)
        self._slot: tuple[int, int] | None = None

    def write(self, values: FloatArray) -> None:
        """Replace the array."""
        if self._slot is None or self._slot[1] != values.nbytes:
            self._release()
            self._slot = self._scratch.slot(values.nbytes), values.nbytes
        if values.nbytes:
            self._scratch.write(self._slot[0], values)

    def read(self) -> FloatArray:
        """The array, flat; empty before the first `write`."""
        if self._slot is None or not self._slot[1]:
            return np.zeros(0)
        return self._scratch.read(*self._slot)

    def _release(self) -> None:
        if self._slot is not None:
            self._scratch.give_back(*self._slot)
            self._slot = None

    def __del__(self) -> None:
        """Release the slot."""
        self._release()
