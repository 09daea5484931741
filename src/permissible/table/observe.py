"""One column as it came, told apart: numbers, truth values or categories. No schema is applied here.

Missing is None, NaN and NA, in every kind. Integers become float64: beyond 2^53 they are rounded to the nearest
float64, at fit and at predict alike, so two integers that differ only there count as one value.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np

from permissible.table.schema import Category, Kind
from permissible.types import AnyArray
from permissible.validation import Words, refusal, refusal_type


@dataclass(frozen=True, slots=True)
class Observed:
    """A column's kind and values: floats with NaN, or int32 codes (-1 missing) into sorted `categories`."""

    kind: Kind
    values: AnyArray
    categories: tuple[Category, ...] = ()


def observe(name: str, values: AnyArray) -> Observed:
    """Tell what a 1-D NumPy array holds."""
    match values.dtype.kind:
        case "f":
            return Observed("numeric", native_floats(values))
        case "b":
            return Observed("boolean", values.astype(np.float64))
        case "i" | "u":
            return Observed("numeric", values.astype(np.float64))
        case "U" | "S" | "T":
            return _from_strings(values)
        case "O":
            return _from_objects(name, values)
        case "c":
            raise refusal("X", "made of real numbers", Words("complex ones: Complex data not supported"))
        case _:
            remedy = "turn it into a number first, for instance days since a date"
            raise refusal_type(
                "X", "numbers, truth values or categories", Words(f"{values.dtype} in column {name!r}"), remedy
            )


def native_floats(values: AnyArray) -> AnyArray:
    """float32 and float64 in this machine's byte order as they are, every other float as float64."""
    if values.dtype in (np.float64, np.float32) and values.dtype.isnative and _whole_strides(values):
        return values
    return values.astype(np.float32 if values.dtype.itemsize == 4 else np.float64)


def _whole_strides(values: AnyArray) -> bool:
    return bool(values.flags.aligned) and all(stride % values.dtype.itemsize == 0 for stride in values.strides)


def from_factors(codes: AnyArray, categories: Iterable[Any]) -> Observed:
    """Sort the categories, drop those that no row has, and renumber the codes; -1 stays missing."""
    listed = [as_category(category) for category in categories]
    codes = np.asarray(codes, dtype=np.int64)
    used = np.zeros(len(listed) + 1, dtype=bool)
    used[codes] = True
    missing = np.array([category is None for category in listed] + [True])
    order = sorted(np.flatnonzero(used & ~missing), key=lambda i: category_order(cast(Category, listed[i])))
    new = np.full(len(listed) + 1, -1, dtype=np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    return Observed("categorical", new[codes], tuple(cast(Category, listed[i]) for i in order))


def as_category(value: Any) -> Category | None:
    """A category as plain Python data: text, truth value, integer, or float; None when missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float):
        if value != value:
            return None
        return int(value) if value.is_integer() else value
    if value is None or is_na(value):
        return None
    if isinstance(value, (str, bool, int)):
        return value
    return str(value)


def category_order(value: Category) -> tuple[int, float, str]:
    """Numbers and truth values by size, then text by code point: an order that no row order can change."""
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")


def is_na(value: Any) -> bool:
    """Whether it is the NA of pandas (or NaT), told by its type's name so that pandas need not be there."""
    return type(value).__name__ in ("NAType", "NaTType")


def categorise(observed: Observed) -> Observed:
    """The same column as categories: each distinct number is one."""
    if observed.kind == "categorical":
        return observed
    present = observed.values == observed.values
    distinct, codes = np.unique(observed.values[present], return_inverse=True)
    all_codes = np.full(len(observed.values), -1, dtype=np.int64)
    all_codes[present] = codes
    names: list[Any] = [bool(v) for v in distinct] if observed.kind == "boolean" else distinct.tolist()
    return from_factors(all_codes, names)


def _from_strings(values: AnyArray) -> Observed:
    categories, codes = np.unique(values, return_inverse=True)
    return from_factors(codes, categories.tolist())


def _from_objects(name: str, values: AnyArray) -> Observed:
    numbers = (int, float, np.number, np.bool_, Decimal, Fraction)
    kinds = set(map(type, values))
    missing = {kind for kind in kinds if kind is type(None) or kind.__name__ in ("NAType", "NaTType")}
    present = kinds - missing
    if all(issubclass(kind, numbers) for kind in present):
        if any(kind.__name__ in ("NAType", "NaTType") for kind in missing):
            values = np.array([None if is_na(value) else value for value in values], dtype=object)
        floats = values.astype(np.float64)
        truths = present - {float, np.float64, np.float32}
        if truths and all(issubclass(kind, (bool, np.bool_)) for kind in truths) and _only_truth_or_nan(values):
            return Observed("boolean", floats)
        return Observed("numeric", floats)
    for kind in present:
        if not issubclass(kind, (str, bytes, *numbers)):
            came = Words(f"{kind.__name__} in column {name!r} (an argument must be a string or a number)")
            raise refusal_type("X", "numbers, truth values or categories", came)
    seen = {value: None for value in values if not is_na(value)}
    place = {value: i for i, value in enumerate(seen)}
    codes = np.fromiter((place.get(value, -1) for value in values), dtype=np.int64, count=len(values))
    return from_factors(codes, place)


def _only_truth_or_nan(values: AnyArray) -> bool:
    return all(isinstance(v, (bool, np.bool_)) or v is None or v != v for v in values)
