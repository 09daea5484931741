"""Which reader a file needs, by its name; a file that is not there or cannot be read is told of in one sentence."""

from pathlib import Path

from permissible.table.files.arff import Arff
from permissible.table.files.arrow import Arrow
from permissible.table.files.cells import MISSING
from permissible.table.files.delimited import Delimited
from permissible.table.files.errors import FileError
from permissible.table.files.source import Source

_ARROW = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
_PACKED = (".gz", ".bz2", ".xz")


def open_table(
    path: Path, delimiter: str | None = None, header: bool = True, missing: frozenset[str] = MISSING
) -> Source:
    """Open a CSV, ARFF, Parquet or Arrow file."""
    if not path.exists():
        raise FileError(f"the file {path} does not exist.")
    if path.is_dir():
        raise FileError(f"{path} is a folder; name a file in it.")
    suffix = Path(path.stem).suffix.lower() if path.suffix.lower() in _PACKED else path.suffix.lower()
    try:
        if suffix in _ARROW:
            return Arrow(path)
        if suffix == ".arff":
            return Arff(path)
        return Delimited(path, delimiter, header, missing)
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path} must be UTF-8 text, got another encoding or a binary file (byte {error.start})."
        ) from None
    except PermissionError:
        raise FileError(f"{path} may not be read by this user.") from None
