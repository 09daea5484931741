"""Cells of text files as values: which are missing, what kind a column of them has, and arrays of that kind.

The kind of a column is inferred from all of its cells: numbers if every one that is not missing reads as a number,
truth values if all are true or false, text otherwise. Cells are a list of text (None where the format marks a missing
value) or a pyarrow array of strings; both mean the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from permissible.table.files.text import wrong
from permissible.types import AnyArray, FloatArray
from permissible.validation import shown

CellKind: TypeAlias = Literal["empty", "integer", "number", "boolean", "text"]
Cells: TypeAlias = Any
MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "<null>"})
_TRUTH = {"true": True, "false": False, "True": True, "False": False, "TRUE": True, "FALSE": False}
_JOIN: dict[tuple[CellKind, CellKind], CellKind] = {("integer", "number"): "number", ("number", "integer"): "number"}
_INTEGER = r"^[+-]?\d{1,15}$"
_NUMBER = r"^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


@dataclass(frozen=True, slots=True)
class RawChunk:
    """Some rows of a text file: the cells of each column, and the line of a row, which only errors ask for."""

    columns: list[Cells]
    line_of: Callable[[int], int]


def kind_of(cells: Cells, missing: frozenset[str] = MISSING) -> CellKind:
    """The kind of a set of cells.

    >>> kind_of(["1", "?", "2.5"]), kind_of(["true", "false"]), kind_of(["1", "one"]), kind_of(["7", "8"])
    ('number', 'boolean', 'text', 'integer')
    """
    if not isinstance(cells, (list, tuple)):
        found = _arrow_kind(cells, missing)
        if found is not None:
            return found
        cells = distinct(cells)[1]
    kind: CellKind = "empty"
    for cell in {_stripped(cell) for cell in set(cells)} - missing - {None}:
        kind = joined(kind, _kind_of_one(cell))
        if kind == "text":
            break
    return kind


def joined(first: CellKind, second: CellKind) -> CellKind:
    """The kind of a column of which one part has the `first` kind and another the `second`."""
    if first == second or second == "empty":
        return first
    if first == "empty":
        return second
    return _JOIN.get((first, second), "text")


def _stripped(cell: str | None) -> Any:
    return None if cell is None else cell.strip()


def _kind_of_one(cell: str) -> CellKind:
    if cell in _TRUTH:
        return "boolean"
    value = as_number(cell)
    if value is None:
        return "text"
    # a code such as 007 cannot be distinguished from the number 7: it counts as a number
    return "integer" if value.is_integer() and cell.lstrip("+-").isdigit() else "number"


def as_number(cell: str) -> float | None:
    """The number in a cell, None when it holds none."""
    if "_" in cell or not cell.isascii():
        return None  # Python also reads 1_000 and non-ASCII digits as numbers; in a file they are text
    try:
        return float(cell)
    except ValueError:
        return None


def array_of(
    cells: Cells,
    kind: CellKind,
    missing: frozenset[str],
    where: str = "",
    path: Path | None = None,
    line_of: Callable[[int], int] | None = None,
) -> AnyArray:
    """The cells as an array: floats with NaN for numbers; objects with None for truth values and text.

    `where`, `path` and `line_of` name the column, the file and the line in the error about a cell of another kind.
    """
    if kind in ("number", "integer", "empty"):
        found = floats(cells, missing)
        if isinstance(found, int):
            raise _refused(path, line_of, found, f"column {where!r} must hold numbers", cells)
        return found
    codes, different = distinct(cells)
    values = np.empty(len(different), dtype=object)
    for i, cell in enumerate(map(_stripped, different)):
        if cell is None or cell in missing:
            continue
        if kind == "boolean" and cell not in _TRUTH and cell not in ("0", "1"):
            row = int(np.argmax(codes == i))
            raise _refused(path, line_of, row, f"column {where!r} must hold true and false", cells)
        values[i] = cell if kind == "text" else _TRUTH.get(cell, cell == "1")
    return np.asarray(values[codes])


def _refused(
    path: Path | None, line_of: Callable[[int], int] | None, row: int, sentence: str, cells: Cells
) -> Exception:
    line = None if line_of is None else line_of(row)
    return wrong(path or "the file", line, f"{sentence}, got {shown(str(cells[row]))}")


def distinct(cells: Cells) -> tuple[AnyArray, list[str | None]]:
    """A code for each cell, and the distinct cells."""
    if not isinstance(cells, (list, tuple)):
        encoded = cells.dictionary_encode()
        return np.asarray(encoded.indices), encoded.dictionary.to_pylist()
    place: dict[str | None, int] = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    return np.array([place[cell] for cell in cells], dtype=np.int64), [*place]


def floats(cells: Cells, missing: frozenset[str] = MISSING) -> FloatArray | int:
    """All cells as numbers, or the position of the first that is not a number."""
    if not isinstance(cells, (list, tuple)):
        found = _arrow_floats(cells, missing)
        if found is not None:
            return found
        cells = cells.to_pylist()
    try:
        quick = [*map(float, cells)]  # None raises TypeError
        text = "".join(cells)
        if text.isascii() and "_" not in text:
            return np.array(quick, dtype=np.float64)
    except (ValueError, TypeError):
        pass
    result = np.full(len(cells), np.nan)
    for row, cell in enumerate(map(_stripped, cells)):
        if cell is None or cell in missing:
            continue
        number = as_number(cell)
        if number is None:
            return row
        result[row] = number
    return result


def _present(cells: object, missing: frozenset[str]) -> Any:
    import pyarrow
    import pyarrow.compute as compute

    text = compute.ascii_trim_whitespace(cells)
    return compute.if_else(compute.is_in(text, pyarrow.array(sorted(missing))), None, text)


def _all_match(text: object, pattern: str) -> bool:
    import pyarrow.compute as compute

    return bool(compute.all(compute.match_substring_regex(text, pattern), min_count=0).as_py())


def _arrow_kind(cells: object, missing: frozenset[str]) -> CellKind | None:
    """The kind without a Python object a cell, None when some cell needs the slow test."""
    text = _present(cells, missing)
    if text.null_count == len(text):
        return "empty"
    if _all_match(text, _INTEGER):
        return "integer"
    return "number" if _all_match(text, _NUMBER) and not _any_integer(text) else None


def _any_integer(text: object) -> bool:
    """Whether some cell is an integer too long for the fast test."""
    import pyarrow.compute as compute

    return bool(compute.any(compute.match_substring_regex(text, r"^[+-]?\d{16,}$"), min_count=0).as_py())


def _arrow_floats(cells: object, missing: frozenset[str]) -> FloatArray | None:
    import pyarrow
    import pyarrow.compute as compute

    text = _present(cells, missing)
    if not _all_match(text, _NUMBER):
        return None
    try:
        return np.asarray(compute.fill_null(compute.cast(text, pyarrow.float64()), float("nan")))
    except pyarrow.ArrowInvalid:
        return None
