"""Numbers that parts on disk keep between questions outside of memory: slots of one file that has no name.

All parts of a folder share the file. It is opened without a name (or loses it at once), so that the system takes its space back
when the process ends, however it ends: nothing is left behind by a fit that was killed.
"""

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from permissible.types import FloatArray

_open: "weakref.WeakValueDictionary[tuple[int, str], Scratch]" = weakref.WeakValueDictionary()


class Scratch:
    """A nameless file beside the data where one may be made, else in the system's temporary folder, dealt out in slots."""

    def __init__(self, folder: Path) -> None:
        where = folder if os.access(folder, os.W_OK) else None
        self._file: Any = tempfile.TemporaryFile(dir=where, buffering=0)  # noqa: SIM115 (closed by the finalizer below)
        weakref.finalize(self, self._file.close)
        self._end = 0
        self._free: dict[int, list[int]] = {}

    @classmethod
    def of(cls, folder: Path) -> "Scratch":
        """The file of a folder, as long as somebody has a slot in it; a forked process gets one of its own."""
        key = os.getpid(), str(folder)
        found = _open.get(key)
        if found is None:
            found = _open[key] = cls(folder)
        return found

    def slot(self, n_bytes: int) -> int:
        """A place for so many bytes: one that was given back, or a new one."""
        if self._free.get(n_bytes):
            return self._free[n_bytes].pop()
        self._end += n_bytes
        return self._end - n_bytes

    def give_back(self, place: int, n_bytes: int) -> None:
        """A slot that is no longer needed."""
        self._free.setdefault(n_bytes, []).append(place)

    def write(self, place: int, values: FloatArray) -> None:
        """Fill a slot."""
        self._file.seek(place)
        view = np.ascontiguousarray(values).view(np.uint8).ravel()
        while len(view):
            view = view[self._file.write(view.data) :]

    def read(self, place: int, n_bytes: int) -> FloatArray:
        """What a slot holds."""
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
    """One array of numbers in a file; its slot goes back with it."""

    def __init__(self, folder: Path) -> None:
        self._scratch = Scratch.of(folder)
        self._slot: tuple[int, int] | None = None

    def write(self, values: FloatArray) -> None:
        """Replace what is kept."""
        if self._slot is None or self._slot[1] != values.nbytes:
            self._release()
            self._slot = self._scratch.slot(values.nbytes), values.nbytes
        if values.nbytes:
            self._scratch.write(self._slot[0], values)

    def read(self) -> FloatArray:
        """What is kept, flat; nothing before the first `write`."""
        if self._slot is None or not self._slot[1]:
            return np.zeros(0)
        return self._scratch.read(*self._slot)

    def _release(self) -> None:
        if self._slot is not None:
            self._scratch.give_back(*self._slot)
            self._slot = None

    def __del__(self) -> None:
        """The slot may be used again."""
        self._release()
