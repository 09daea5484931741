"""Raw text to columns: CSV, ARFF and its KEEL dialect, and blank-separated tables. Kinds are decided by the caller.

Every value stays a string until `numeric` or `categorical` makes an array of it; `?`, the empty string and `<null>` are missing.
"""

import bz2
import csv
import gzip
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from permissible.types import AnyArray

MISSING = frozenset({"?", "", "<null>"})
_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress}
_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|[^\s{\[]+)\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Raw:
    """Names, which of them the file itself declares nominal (None: it does not say), and the rows as strings."""

    names: list[str]
    nominal: list[bool] | None
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        """Give one column's strings."""
        place = self.names.index(name)
        return [row[place] for row in self.rows]


def read_lines(path: Path) -> list[str]:
    """Read a text file, decompressing .gz and .bz2."""
    content = path.read_bytes()
    if path.suffix in _DECOMPRESS:
        content = _DECOMPRESS[path.suffix](content)
    return content.decode("utf-8", errors="replace").splitlines()


def parse_csv(lines: Iterable[str]) -> Raw:
    """Parse comma-separated lines, the first holding the names."""
    rows = [[value.strip() for value in row] for row in csv.reader(lines) if row]
    return Raw(rows[0], None, rows[1:])


def parse_blank(lines: Iterable[str], names: Sequence[str]) -> Raw:
    """Parse blank-separated lines without a header."""
    return Raw(list(names), None, [line.split() for line in lines if line.strip()])


def parse_arff(lines: Iterable[str]) -> Raw:
    """Parse ARFF, or KEEL's .dat, which adds ranges and @inputs/@outputs lines."""
    names: list[str] = []
    nominal: list[bool] = []
    body: list[str] = []
    in_data = False
    for line in (line.strip() for line in lines):
        if not line or line.startswith("%"):
            continue
        if in_data:
            body.append(line)
        elif line.lower().startswith("@data"):
            in_data = True
        elif declared := _ATTRIBUTE.match(line):
            names.append(declared.group(1).strip("'\""))
            nominal.append(declared.group(2).lstrip().startswith("{"))
    reader = csv.reader(body, quotechar="'", escapechar="\\", skipinitialspace=True)
    return Raw(names, nominal, [[value.strip().strip('"') for value in row] for row in reader])


def is_number(value: str) -> bool:
    """Tell whether a string reads as a number."""
    try:
        float(value)
    except ValueError:
        return False
    return True


def numeric(values: Iterable[str]) -> AnyArray:
    """Make floats, NaN where missing."""
    return np.array([np.nan if value in MISSING else float(value) for value in values], dtype=np.float64)


def categorical(values: Iterable[str]) -> AnyArray:
    """Make an object array of strings, None where missing."""
    kept = [None if value in MISSING else value for value in values]
    array = np.empty(len(kept), dtype=object)
    array[:] = kept
    return array
