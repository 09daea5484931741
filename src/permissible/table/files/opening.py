"""Which reader a file needs, by its name; a file that does not exist or cannot be read is refused."""

from pathlib import Path

from permissible.table.files.arff import Arff
from permissible.table.files.arrow import Arrow
from permissible.table.files.cells import MISSING
from permissible.table.files.delimited import Delimited
from permissible.table.files.reader import ROWS, FileReader
from permissible.table.files.text import FileError

ARROW = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
_PACKED = (".gz", ".bz2", ".xz")


def open_table(
    path: Path,
    delimiter: str | None = None,
    header: bool | None = True,
    missing: frozenset[str] = MISSING,
    rows: int = ROWS,
    encoding: str | None = None,
) -> FileReader:
    """Open a CSV, ARFF, Parquet or Arrow file, to be read in chunks of at most so many rows."""
    if not path.exists():
        raise FileError(f"the file {path} does not exist.")
    if path.is_dir():
        raise FileError(f"{path} is a folder; name a file in it.")
    suffix = Path(path.stem).suffix.lower() if path.suffix.lower() in _PACKED else path.suffix.lower()
    try:
        if suffix in ARROW:
            return Arrow(path, rows)
        if suffix == ".arff":
            return Arff(path, rows)
        return Delimited(path, delimiter, header, missing, rows, encoding)
    except PermissionError:
        raise FileError(f"{path} cannot be read: permission denied.") from None
