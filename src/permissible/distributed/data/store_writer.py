"""Writing a data set: first the blocks, beside those of a previous one, then the description, atomically.

If writing is interrupted, the folder still holds the complete previous data set or the complete new one; other files
are never touched. `dataset.json` names the folder of the blocks, so one rename replaces the data set.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np

from permissible.bins.binning import Binning
from permissible.distributed.data import store
from permissible.distributed.data.store import BLOCKS_NAME, DESCRIPTION, Store, description_of, document_of
from permissible.models.files.atomic import write
from permissible.models.files.strict_json import dump
from permissible.types import AnyArray, Codes, FloatArray
from permissible.validation import Words, refusal

FILES = ("codes.u1", "target.u2", "hash.u8", "weight.f8", "values.f8")


def check_replaceable(folder: Path) -> bool:
    """Whether the folder already holds a data set, which would be replaced; any other content is an error."""
    if folder.exists() and not folder.is_dir():
        raise refusal("directory", "a folder, or the name of a new one", Words(f"{folder}, a file"))
    return description_of(folder) is not None


class StoreWriter:
    """Writes the rows of a store as they come, in chunks of any size; `close` completes the folder.

    As a context manager it removes its files if the block ends before `close`.
    """

    def __init__(
        self, folder: Path, binning: Binning, classes: AnyArray, weighted: bool, seed: int, valued: bool = False
    ) -> None:
        check_replaceable(folder)
        if any(isinstance(label, bytes) for label in classes.tolist()):
            raise refusal("y", "labels of text, integers or truth values", Words("bytes"), "decode them")
        self._made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        files = folder / f"blocks-{secrets.token_hex(8)}"
        files.mkdir()
        self._lock = _Lock(files)
        self._open: dict[str, IO[bytes]] = {}
        self._waiting: list[Codes] = []
        self._n_waiting = 0
        self.n_rows = 0
        self.store = Store(folder, files, binning, classes, 0, weighted, seed, valued)

    def __enter__(self) -> "StoreWriter":
        """The writer."""
        try:
            for name in self.store.sizes:
                self._open[name] = (self.store.files / name).open("wb")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what was written unless `close` has completed it."""
        for file in self._open.values():
            with suppress(OSError):
                file.close()
        self._lock.release()
        if not self.store.n_rows:
            _discard(self.store.files)
            if self._made:
                with suppress(OSError):
                    self.store.folder.rmdir()

    def add(
        self,
        codes: Codes,
        target: AnyArray,
        weight: FloatArray | None,
        hashes: AnyArray,
        values: FloatArray | None = None,
    ) -> None:
        """Append rows: codes of shape (n_column_blocks, rows, 8)."""
        if self.store.valued and values is not None:
            self._open["values.f8"].write(values.astype(np.float64).tobytes())
        self._open["target.u2"].write(target.astype(np.uint16).tobytes())
        self._open["hash.u8"].write(hashes.tobytes())
        if self.store.weighted:
            ones = np.ones(len(target)) if weight is None else weight
            self._open["weight.f8"].write(ones.astype(np.float64).tobytes())
        self._waiting.append(codes)
        self._n_waiting += codes.shape[1]
        self.n_rows += codes.shape[1]
        while self._n_waiting >= store.BLOCK_ROWS:
            self._write_block(store.BLOCK_ROWS)

    def _write_block(self, n_rows: int) -> None:
        joined = np.concatenate(self._waiting, axis=1) if len(self._waiting) > 1 else self._waiting[0]
        self._open["codes.u1"].write(np.ascontiguousarray(joined[:, :n_rows]).tobytes())
        self._waiting = [joined[:, n_rows:]]
        self._n_waiting -= n_rows

    def close(self) -> Store:
        """Write the buffered rows and the description, then remove the previous data set."""
        if self._n_waiting:
            self._write_block(self._n_waiting)
        for file in self._open.values():
            file.flush()
            os.fsync(file.fileno())
            file.close()
        was = self.store
        done = Store(was.folder, was.files, was.binning, was.classes, self.n_rows, was.weighted, was.seed, was.valued)
        previous = description_of(was.folder)
        write(was.folder / DESCRIPTION, dump(document_of(done), indent=1))
        self.store = done
        _discard_others(done.folder, done.files, beside=previous is not None and previous.get("version") == 2)
        return done


def _discard_others(folder: Path, kept: Path, beside: bool) -> None:
    """Remove the blocks of the previous data set and of killed builds, not those of a running build."""
    for path in folder.iterdir():
        if path != kept and BLOCKS_NAME.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            lock = _Lock(path)
            if lock.held:
                _discard(path)
            lock.release()
    if beside:  # version 2 kept its files beside the description
        for name in FILES:
            (folder / name).unlink(missing_ok=True)


def _discard(files: Path) -> None:
    """Remove the known files of a folder of blocks, and the folder if nothing else is in it."""
    for name in FILES:
        with suppress(OSError):
            (files / name).unlink()
    with suppress(OSError):
        files.rmdir()


class _Lock:
    """A lock on a folder, released by the system when the process ends; no lock where the platform has none."""

    def __init__(self, folder: Path) -> None:
        self.held = False
        try:
            import fcntl

            self._handle = os.open(folder, os.O_RDONLY)
        except (ImportError, OSError):
            self._handle = -1
            return
        with suppress(OSError):
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.held = True

    def release(self) -> None:
        """Release the lock."""
        if self._handle >= 0:
            os.close(self._handle)
        self._handle, self.held = -1, False
