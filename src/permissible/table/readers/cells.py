"""Cells of text to values: what is missing, what is a number, what is a truth value. One meaning for every text format."""

from typing import Any

import numpy as np

from permissible.table.observe import as_category
from permissible.table.readers.source import Cells
from permissible.table.schema import Category
from permissible.types import AnyArray, FloatArray

MISSING_CELLS = frozenset({"", "na", "nan", "?", "null"})
"""Cells that mean a missing value, in lower case and without spaces around."""
_PLAIN_NUMBER = r"^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
TRUTH = {"true": 1.0, "false": 0.0}


def is_missing(cell: str | None) -> bool:
    """Whether the cell stands for a missing value."""
    return cell is None or cell.strip().lower() in MISSING_CELLS


def as_number(cell: str | None) -> float | None:
    """The number of a cell, NaN when missing, None when it is neither."""
    if cell is None:
        return float("nan")
    text = cell.strip()
    if text.lower() in MISSING_CELLS:
        return float("nan")
    if "_" in text or not text.isascii():
        return None  # Python reads 1_000 and other digits than ours as numbers; data files mean text by them
    try:
        return float(text)
    except ValueError:
        return None


def as_truth(cell: str | None) -> float | None:
    """1 for true, 0 for false (any case), NaN when missing, None when it is none of them."""
    if is_missing(cell) or cell is None:
        return float("nan")
    return TRUTH.get(cell.strip().lower())


def numbers(cells: Cells) -> FloatArray | int:
    """All cells as numbers, or the position of the first that is none."""
    if not isinstance(cells, list):
        found = arrow_numbers(cells)
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
    return _all_or_first_bad([as_number(cell) for cell in cells])


def arrow_numbers(cells: Any) -> FloatArray | None:
    """The same for a pyarrow array of strings without a Python object a cell; None when some cell needs a closer look."""
    import pyarrow
    import pyarrow.compute as compute

    text = compute.ascii_trim_whitespace(cells)
    missing = compute.is_in(compute.ascii_lower(text), pyarrow.array(sorted(MISSING_CELLS)))
    text = compute.if_else(missing, None, text)
    if not compute.all(compute.match_substring_regex(text, _PLAIN_NUMBER), min_count=0).as_py():
        return None
    return np.asarray(compute.fill_null(compute.cast(text, pyarrow.float64()), float("nan")))


def distinct(cells: Cells) -> tuple[AnyArray, list[str | None]]:
    """A code for each cell and the different cells that the codes stand for."""
    if not isinstance(cells, list):
        encoded = cells.dictionary_encode()
        return np.asarray(encoded.indices), encoded.dictionary.to_pylist()
    place: dict[str | None, int] = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    return np.array([place[cell] for cell in cells], dtype=np.int64), [*place]


def truths(cells: Cells, also_numbers: bool = False) -> FloatArray | int:
    """All cells as truth values, or the position of the first that is none."""
    codes, different = distinct(cells)
    values = [as_truth(cell) for cell in different]
    if also_numbers:
        values = [as_number(cell) if value is None else value for cell, value in zip(different, values, strict=True)]
    if None in values:
        bad = [i for i, value in enumerate(values) if value is None]
        return int(np.argmax(np.isin(codes, bad)))
    return np.asarray(np.array(values, dtype=np.float64)[codes])


def category(cell: str | None, numeric: bool) -> Category | None:
    """The category of a cell, None when missing; by its number where the column's categories are numbers."""
    if cell is None or is_missing(cell):
        return None
    if numeric:
        number = as_number(cell)
        if number is not None:
            return as_category(number)
    return cell.strip()


def _all_or_first_bad(values: list[float | None]) -> FloatArray | int:
    if None in values:
        return values.index(None)
    return np.array(values, dtype=np.float64)
