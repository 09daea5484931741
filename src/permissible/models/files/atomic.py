"""Writing a file atomically: a temporary file in the same folder, fsync, rename.

Everything that the library writes goes through here, so nobody reads an incomplete model, report or table. Only regular
files are replaced. A device, a pipe or an open descriptor (/dev/null, /dev/stdout, a FIFO) is written to directly.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from permissible.validation import Words, refusal

_REFUSED = ((stat.S_ISDIR, "a directory"), (stat.S_ISSOCK, "a socket"), (stat.S_ISBLK, "a disk (a block device)"))
_MOST_LINKS = 40


@contextmanager
def replacing(path: str | os.PathLike[str], mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Open a file that replaces `path` when the block succeeds, and is deleted when it fails.

    A symbolic link is followed. An error in the block cannot undo what was written to a device or pipe. Text is written as UTF-8
    with Unix line ends; `options` are those of `open`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "model.json")) as file:
    ...         _ = file.write("{}")
    ...     print(Path(folder, "model.json").read_text())
    {}
    """
    if "b" not in mode:
        options = {"encoding": "utf-8", "newline": "\n", **options}
    opened = _to_write_through(path)
    if opened is not None:
        with os.fdopen(opened, mode, **options) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode_of(target))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def write(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write `content` to `path` atomically."""
    with replacing(path, "wb") as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def _to_write_through(path: str | os.PathLike[str]) -> int | None:
    """A descriptor for what must not be replaced: a device, a pipe, an open descriptor; None for a file."""
    number = _open_descriptor(path)
    if number is not None:
        try:
            return os.dup(number)
        except OSError:
            raise refusal("path", "an open descriptor", Words(f"{os.fspath(path)}, which is closed")) from None
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:  # a new file, or a link to one
        return None
    for is_kind, words in _REFUSED:
        if is_kind(mode):
            raise refusal("path", "a file, a pipe or a device that takes text", Words(f"{words}, {os.fspath(path)}"))
    return None if stat.S_ISREG(mode) else os.open(path, os.O_WRONLY)


def _open_descriptor(path: str | os.PathLike[str]) -> int | None:
    """The descriptor of /dev/stdout, /dev/fd/3 or a link to them, None for every other path.

    Such a path may lead to a regular file that another program has open: replacing it would disconnect the two.
    """
    here, descriptors = os.fspath(path), os.path.realpath("/dev/fd")
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(here)
        folder = os.path.realpath(folder or ".")
        if folder == descriptors and name.isdecimal():
            return int(name)
        if not os.path.islink(here):
            return None
        here = os.path.join(folder, os.readlink(here))
    return None


def _mode_of(target: Path) -> int:
    """The permissions that the new file gets: those of the old one, or what the process would give a new file."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system lets one open a folder."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
