"""Opening text files: decompressed by their ending, UTF-8 with or without a byte-order mark; errors in one sentence."""

import bz2
import csv
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, TextIO


class FileError(ValueError):
    """The file does not exist, is not readable, or is not of the format of its name."""


def wrong(path: str | PathLike[str], line: int | None, sentence: str) -> FileError:
    """The error of a file: its name, the line where there is one, and a sentence without its full stop."""
    return FileError(f"{path}: {sentence}." if line is None else f"{path}, line {line}: {sentence}.")


PACKED: dict[str, Callable[..., object]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MOST_COLUMNS = 100_000


def open_text(path: Path, encoding: str | None = None) -> TextIO:
    """Open a text file for reading, decompressing .gz, .bz2 and .xz; UTF-8 unless another encoding is given."""
    opener = PACKED.get(path.suffix.lower(), open)
    stream: TextIO = opener(path, "rt", encoding=encoding or "utf-8-sig", newline="")
    return stream


@contextmanager
def in_words(path: Path, reader: Any = None) -> Iterator[None]:
    """Turn errors of reading into one sentence; `reader` has the number of the line."""
    try:
        yield
    except csv.Error as error:
        raise wrong(path, getattr(reader, "line_num", None), f"the line could not be read as CSV ({error})") from None
    except UnicodeDecodeError as error:
        line = None if reader is None else reader.line_num + 1
        byte = error.object[error.start : error.start + 1]
        kind = "UTF-8 text" if error.encoding.startswith("utf-8") or error.encoding == "utf8" else error.encoding
        another = "; another one can be given, as --encoding latin-1"
        raise wrong(path, line, f"the file must be {kind}, got the byte {byte!r}{another}") from None
    except UnicodeError as error:
        raise wrong(path, None, f"the file could not be decoded ({error})") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise wrong(path, None, f"the file could not be read ({error})") from None
