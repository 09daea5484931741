"""Numbers and dates as people write them: decimal commas, thousands separators, percentages, amounts of money, calendar dates.

The notation is inferred from the whole column, and every cell must agree with it. `1,5` can only be a decimal comma and
`1,234.5` only a separator of thousands; a column in which every comma stands before three digits could be either, and is
refused until the user says which. `12.5%` is the number 12.5 and `$1,200.50` the number 1200.5; a column of two currencies, or
in which only some cells have a sign, stays text. Dates become days since 1970-01-01; in `3/4/2024` the day or the month comes
first only if some row of the column shows which.
"""

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import TypeAlias

import numpy as np

from permissible.types import AnyArray, FloatArray

Notation: TypeAlias = str
"""A notation in words: one of those below, or a sign and the notation of its numbers, as in "$ and decimal point"."""
COMMA, GROUPED, POINT, DATE = "decimal comma", "thousands separator", "decimal point", "date"
DAY_FIRST, MONTH_FIRST = "date with the day first", "date with the month first"
_SIGNS = "%$€£¥₹"
_MARKED = re.compile(rf"([+-]?)([{_SIGNS[1:]}]?)\s?([+-]?)(\d[\d.,]*)\s?([{_SIGNS}]?)")
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?([eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][+-]?\d+)?")
_EITHER = re.compile(r"[+-]?\d{1,3}[.,]\d{3}([eE][+-]?\d+)?")
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?Z?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")


class AmbiguousError(ValueError):
    """A column that two notations explain; its text says how to choose."""


def notation_of(values: Iterable[str], decimal: str | None = None, day_first: bool | None = None) -> Notation | None:
    """The notation that explains all values of a column, none of which reads as a plain number throughout.

    >>> notation_of(["1,5", "2"]), notation_of(["1,234.5", "1,000"]), notation_of(["2024-02-29"]), notation_of(["a", "1,5"])
    ('decimal comma', 'thousands separator', 'date', None)
    >>> notation_of(["$900", "$1,200.50"]), notation_of(["12,5 %", "-3 %"]), notation_of(["$900", "900 €"])
    ('$ and decimal point', '% and decimal comma', None)
    """
    cells = {value.strip() for value in values}
    if not cells:
        return None
    signs, bare = {_unmarked(cell)[0] for cell in cells}, {_unmarked(cell)[1] for cell in cells}
    comma, grouped = (all(pattern.fullmatch(cell) for cell in bare) for pattern in (_COMMA, _GROUPED))
    if len(signs) == 1 and (comma or grouped):
        base, sign = _number_notation(bare, comma, grouped, decimal), signs.pop()
        return base if not (sign and base) else f"{sign} and {COMMA if base == COMMA else POINT}"
    if all(_ISO.fullmatch(cell) or _DOTTED.fullmatch(cell) for cell in cells):
        return DATE if _readable(cells, DATE) else None
    if all(_SLASHED.fullmatch(cell) for cell in cells):
        return _slashed_notation(cells, day_first)
    return None


def _unmarked(cell: str) -> tuple[str, str]:
    """The sign of a percentage or a currency ("" for none), and the number without it."""
    found = _MARKED.fullmatch(cell)
    if found is None:
        return "", cell
    first, before, second, number, after = found.groups()
    if bool(before) == bool(after) or (first and second):
        return "", cell
    return before or after, first + second + number


def _number_notation(cells: set[str], comma: bool, grouped: bool, decimal: str | None) -> Notation | None:
    if decimal is not None:
        if decimal == ",":
            return COMMA if comma else None
        return GROUPED if grouped else None
    either = next((cell for cell in sorted(cells) if _EITHER.fullmatch(cell)), None)
    if comma and grouped and either is not None:
        raise AmbiguousError(
            f"{either} may be a number with three decimals or with a separator of thousands: give --decimal"
        )
    return GROUPED if grouped else COMMA


def _slashed_notation(cells: set[str], day_first: bool | None) -> Notation | None:
    days, months = _readable(cells, DAY_FIRST), _readable(cells, MONTH_FIRST)
    if days and months:
        if day_first is None:
            raise AmbiguousError(
                f"{min(cells)} may have the day or the month first: give --dates day-first or month-first"
            )
        return DAY_FIRST if day_first else MONTH_FIRST
    if days or months:
        return DAY_FIRST if days else MONTH_FIRST
    return None


def _readable(cells: Iterable[str], notation: Notation) -> bool:
    return all(_number(cell, notation) is not None for cell in cells)


def numbers(values: AnyArray, notation: Notation) -> FloatArray | int:
    """Text cells (None is missing) as numbers, or the position of the first that the notation does not explain.

    >>> numbers(np.array(["1.234,5", None, "-2"], dtype=object), "decimal comma")
    array([1234.5,    nan,   -2. ])
    """
    known: dict[str | None, float | None] = {None: np.nan}
    result = np.empty(len(values))
    for row, cell in enumerate(values.tolist()):
        if cell not in known:
            known[cell] = _number(cell.strip(), notation)
        number = known[cell]
        if number is None:
            return row
        result[row] = number
    return result


def _number(cell: str, notation: Notation) -> float | None:
    """The number that a cell means, None where the notation does not explain it."""
    if notation[0] in _SIGNS:
        sign, bare = _unmarked(cell)
        wanted, _, base = notation.partition(" and ")
        return _number(bare, base) if sign == wanted else None
    if notation == COMMA:
        return float(cell.replace(".", "").replace(",", ".")) if _COMMA.fullmatch(cell) else None
    if notation in (GROUPED, POINT):
        return float(cell.replace(",", "")) if _GROUPED.fullmatch(cell) else None
    try:
        if iso := _ISO.fullmatch(cell):
            return _days(datetime.fromisoformat(cell.rstrip("Z"))) if iso else None
        if dotted := _DOTTED.fullmatch(cell):
            day, month, year = map(int, dotted.groups())
            return _days(datetime(year, month, day))
        if slashed := _SLASHED.fullmatch(cell):
            first, second, year = map(int, slashed.groups())
            day, month = (first, second) if notation == DAY_FIRST else (second, first)
            return _days(datetime(year, month, day))
    except ValueError:  # such as the 30th of February
        return None
    return None


def _days(moment: datetime) -> float:
    """Days since 1970-01-01, with the time of day as a fraction."""
    whole = moment.date().toordinal() - date(1970, 1, 1).toordinal()
    return whole + (moment.hour * 3600 + moment.minute * 60 + moment.second) / 86_400
