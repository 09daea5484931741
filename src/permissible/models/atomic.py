"""Writing a file so that a crash, a full disk or Ctrl-C leaves the old file: a temporary neighbour, fsync, rename.

Everything that the library writes goes through here, so nobody ever reads half a model, half a report or half a table.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def replacing(path: str | os.PathLike[str], mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Open a file that takes the place of `path` when the block ends well, and vanishes when it does not.

    Parameters
    ----------
    path : str or path-like
    mode : {"w", "wb"}
        Text is written as UTF-8 with Unix line ends.
    **options
        Handed to `open`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "model.json")) as file:
    ...         _ = file.write("{}")
    ...     print(Path(folder, "model.json").read_text())
    {}
    """
    target = Path(os.path.realpath(path))
    if "b" not in mode:
        options = {"encoding": "utf-8", "newline": "\n", **options}
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
    """Write `content` to `path`, whole or not at all."""
    with replacing(path, "wb") as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


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
