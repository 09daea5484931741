"""Cells of text files as values: which are missing, what kind a column of them has, and arrays of that kind.

The kind of a column is inferred from all of its cells: numbers if every one that is not missing reads as a number, truth values
if all say true or false, text otherwise.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from permissible.table.files.errors import FileError
from permissible.types import AnyArray

CellKind: TypeAlias = Literal["empty", "integer", "number", "boolean", "text"]
MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "<null>"})
_TRUTH = {"true": True, "false": False, "True": True, "False": False, "TRUE": True, "FALSE": False}
_JOIN: dict[tuple[CellKind, CellKind], CellKind] = {("integer", "number"): "number", ("number", "integer"): "number"}


def kind_of(cells: Iterable[str], missing: frozenset[str] = MISSING) -> CellKind:
    """The kind of a set of cells.

    Examples
    --------
    >>> kind_of(["1", "?", "2.5"]), kind_of(["true", "false"]), kind_of(["1", "one"]), kind_of(["7", "8"])
    ('number', 'boolean', 'text', 'integer')
    """
    kind: CellKind = "empty"
    for cell in set(cells) - missing:
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


def _kind_of_one(cell: str) -> CellKind:
    if cell in _TRUTH:
        return "boolean"
    try:
        value = float(cell)
    except ValueError:
        return "text"
    if "_" in cell:  # Python reads 1_000 as a number, people who write files do not mean one
        return "text"
    # a code such as 007 is not the number 7, but nobody can tell the two apart from here: it counts as a number
    return "integer" if value.is_integer() and cell.lstrip("+-").isdigit() else "number"


def array_of(
    cells: Sequence[str], kind: CellKind, missing: frozenset[str], where: str = "", first_row: int = 0
) -> AnyArray:
    """The cells as an array: floats with NaN for numbers; objects with None for truth values and text.

    `where` and `first_row` name the column and the row in the sentence that refuses a cell of another kind.
    """
    if kind in ("number", "integer", "empty"):
        return _floats(cells, missing, where, first_row)
    result = np.empty(len(cells), dtype=object)
    if kind == "text":
        result[:] = [None if cell in missing else cell for cell in cells]
        return result
    for row, cell in enumerate(cells):
        if cell in missing:
            continue
        if cell not in _TRUTH and cell not in ("0", "1"):
            raise FileError(f"column {where!r} must hold true and false, got {cell!r} in row {first_row + row + 1}.")
        result[row] = _TRUTH.get(cell, cell == "1")
    return result


def _floats(cells: Sequence[str], missing: frozenset[str], where: str, first_row: int) -> AnyArray:
    try:
        return np.array(cells, dtype=np.float64)  # quick where nothing is missing
    except ValueError:
        pass
    result = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            result[row] = np.nan if cell in missing else float(cell)
        except ValueError:
            raise FileError(f"column {where!r} must hold numbers, got {cell!r} in row {first_row + row + 1}.") from None
    return result
