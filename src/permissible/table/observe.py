"""What one column holds: numbers, truth values or categories. No schema is applied here.

Missing is None, NaN and NA, in every kind. Integers become float64: beyond 2^53 they are rounded to the nearest
float64, at fit and at predict alike, so two integers that differ only there count as one value. As categories they
are names, not sizes, and are compared exactly.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from permissible.table.schema import Category, Kind
from permissible.types import AnyArray
from permissible.validation import Words, refusal, refusal_type


@dataclass(frozen=True, slots=True)
class Observed:
    """A column's kind and values: floats with NaN, or int32 codes (-1 missing) into sorted `categories`.

    `exact` holds the values that are not missing, where they are integers that float64 would round.
    """

    kind: Kind
    values: AnyArray
    categories: tuple[Category, ...] = ()
    exact: AnyArray | None = None


_NUMBERS = (int, float, np.integer, np.floating, np.bool_, Decimal, Fraction)
_LARGEST_EXACT = 2.0**53


def observe(name: str, values: AnyArray) -> Observed:
    """Return what a 1-D NumPy array holds."""
    match values.dtype.kind:
        case "f":
            return Observed("numeric", native_floats(values))
        case "b":
            return Observed("boolean", values.astype(np.float64))
        case "i" | "u":
            return from_integers(values.astype(np.float64), values)
        case "U" | "S":
            categories, codes = np.unique(values, return_inverse=True)
            return from_factors(codes, categories.tolist())
        case "O" | "T":  # a missing value in NumPy's own text type is any object
            return _from_objects(name, values.astype(object, copy=False))
        case "c":
            raise refusal("X", "made of real numbers", Words("complex ones: Complex data not supported"))
        case _:
            remedy = "turn it into a number first, for instance days since a date"
            came = Words(f"{values.dtype} in column {name!r}")
            raise refusal_type("X", "numbers, truth values or categories", came, remedy)


def native_floats(values: AnyArray) -> AnyArray:
    """float32 and float64 in this machine's byte order as they are, every other float as float64."""
    if values.dtype in (np.float64, np.float32) and values.dtype.isnative and _whole_strides(values):
        return values
    with np.errstate(over="ignore"):  # a longer float beyond float64 becomes infinite, and is refused as that
        return values.astype(np.float32 if values.dtype.itemsize == 4 else np.float64)


def _whole_strides(values: AnyArray) -> bool:
    return bool(values.flags.aligned) and all(stride % values.dtype.itemsize == 0 for stride in values.strides)


def from_integers(floats: AnyArray, present: AnyArray) -> Observed:
    """A column of integers: all of them as floats (NaN for missing), and those present as they are."""
    if present.dtype.kind in "iu" and present.dtype.itemsize < 8:
        return Observed("numeric", floats)
    known = floats if len(floats) == len(present) else present
    rounded = known.size > 0 and (known.max() >= _LARGEST_EXACT or known.min() <= -_LARGEST_EXACT)
    return Observed("numeric", floats, exact=present if rounded else None)


def from_factors(codes: AnyArray, categories: Iterable[object]) -> Observed:
    """Sort the categories, join equal ones, drop those that no row has, and renumber the codes; -1 stays missing."""
    listed = [as_category(category) for category in categories]
    codes = np.asarray(codes, dtype=np.int64)
    used = np.zeros(len(listed) + 1, dtype=bool)
    used[codes] = True
    kept = {i: category for i in np.flatnonzero(used[:-1]).tolist() if (category := listed[i]) is not None}
    if any(isinstance(category, (int, float)) and not isinstance(category, bool) for category in kept.values()):
        # A truth value beside numbers is 1 or 0, as in a column without text, in any order of the rows.
        kept = {i: int(category) if isinstance(category, bool) else category for i, category in kept.items()}
    ordered = _sorted_categories(set(kept.values()))
    place = {category: code for code, category in enumerate(ordered)}
    new = np.full(len(listed) + 1, -1, dtype=np.int32)
    new[[*kept]] = [place[category] for category in kept.values()]
    return Observed("categorical", new[codes], tuple(ordered))


def _sorted_categories(categories: set[Category]) -> list[Category]:
    texts = [category for category in categories if isinstance(category, str)]  # without a key, since there may be many
    numbers = sorted((category for category in categories if not isinstance(category, str)), key=category_order)
    return [*numbers, *sorted(texts)]


def as_category(value: object) -> Category | None:
    """A category as plain Python data: text, truth value, integer, or float; None when missing."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if value is None or is_na(value):
        return None
    if not is_number(type(value)):  # a date or an interval among the categories of pandas
        return str(value.item() if isinstance(value, np.generic) else value)
    number = as_float(value)
    if number != number:
        return None
    if isinstance(value, (int, np.integer)):
        return int(value)  # not the float, which would round
    return int(number) if number.is_integer() else number


def is_number(kind: type) -> bool:
    """Whether values of this type are real numbers or truth values; timedelta64, an integer type of NumPy, is neither."""
    return issubclass(kind, _NUMBERS) and not issubclass(kind, np.timedelta64)


def as_float(value: Any) -> float:
    """A number of any type as a float; one that is too large for it is refused."""
    if value is None or is_na(value) or (isinstance(value, Decimal) and value.is_nan()):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        came = Words("an integer beyond it" if isinstance(value, (int, np.integer)) else "a number beyond it")
        remedy = "scale that column, or turn it into text where its values are names"
        raise refusal("X", "made of numbers that float64 can represent, up to 1.8e308", came, remedy) from None


def category_order(value: Category) -> tuple[int, float, str]:
    """Numbers and truth values by size, then text by code point: an order that no row order can change."""
    return (1, 0.0, value) if isinstance(value, str) else (0, value, "")  # not float(value), which would round


def is_na(value: object) -> bool:
    """Whether it is NA or NaT of pandas, recognised by the name of its type since pandas is optional."""
    return type(value).__name__ in ("NAType", "NaTType")


def refuse_rounded(name: str, observed: Observed) -> None:
    """Refuse floats as categories where two integers may have become one of them."""
    if observed.kind == "numeric" and observed.exact is None:
        large = np.abs(observed.values) >= _LARGEST_EXACT
        if large.any():
            came = Words(f"{observed.values[large][0]:.17g} in column {name!r} as a float")
            remedy = "give the column as integers or as text"
            expected = "columns of numbers below 2^53, which float64 represents exactly"
            raise refusal("categorical_features", expected, came, remedy)


def categorise(observed: Observed) -> Observed:
    """The same column as categories: each distinct number is one."""
    if observed.kind == "categorical":
        return observed
    present = observed.values == observed.values
    given = observed.values[present] if observed.exact is None else observed.exact
    distinct, codes = np.unique(given, return_inverse=True)
    all_codes = np.full(len(observed.values), -1, dtype=np.int64)
    all_codes[present] = codes
    names: list[object] = [bool(v) for v in distinct] if observed.kind == "boolean" else distinct.tolist()
    return from_factors(all_codes, names)


def _from_objects(name: str, values: AnyArray) -> Observed:
    kinds = set(map(type, values))
    present = {kind for kind in kinds if kind is not type(None) and kind.__name__ not in ("NAType", "NaTType")}
    for kind in present:
        if not (issubclass(kind, (str, bytes)) or is_number(kind)):
            came = Words(f"{kind.__name__} in column {name!r} (an argument must be a string or a number)")
            raise refusal_type("X", "numbers, truth values or categories", came)
    truths = {kind for kind in present if issubclass(kind, (bool, np.bool_))}
    if not any(issubclass(kind, (str, bytes)) for kind in present):
        floats = _object_floats(values)
        if truths and present - truths <= {float, np.float64, np.float32} and _only_truth_or_nan(values):
            return Observed("boolean", floats)
        if any(issubclass(kind, (float, np.floating, Decimal, Fraction)) for kind in present):
            return Observed("numeric", floats)
        return from_integers(floats, values[floats == floats])
    if present - {str, float}:  # True equals 1 and b"a" is "a": named here, so that no row order chooses between them
        numbers = any(is_number(kind) for kind in present - truths)
        names = (as_category(value) for value in values)
        values = np.array([int(v) if numbers and isinstance(v, bool) else v for v in names], dtype=object)
    place = {value: i for i, value in enumerate(dict.fromkeys(value for value in values if not is_na(value)))}
    codes = np.fromiter((place.get(value, -1) for value in values), dtype=np.int64, count=len(values))
    return from_factors(codes, place)


def _object_floats(values: AnyArray) -> AnyArray:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):  # NA, a signalling NaN, an integer that float64 cannot hold
        return np.array([as_float(value) for value in values])


def _only_truth_or_nan(values: AnyArray) -> bool:
    return all(isinstance(v, (bool, np.bool_)) or v is None or is_na(v) or v != v for v in values)
