"""Text of a document <-> plain data, strictly. Reading executes nothing, and the same data is always the same text.

Numbers are written by `repr`, which is exact for a double; infinite and undefined ones, for which JSON has no form, as
the strings "inf", "-inf" and "nan". A text that is too large, too deep, that repeats a key or has NaN outside a string
is refused.
"""

import json
import math
from collections.abc import Iterable
from typing import TypeAlias

from permissible.validation import shown

Plain: TypeAlias = "dict[str, Plain] | list[Plain] | str | int | float | bool | None"

MAX_BYTES = 1 << 30
MAX_DEPTH = 64
WIDTH = 110
_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def number(value: float) -> float | int | str:
    """The JSON form of a number: itself, or the word for an infinite or undefined one."""
    value = float(value)
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


def numbers(values: Iterable[float]) -> list[Plain]:
    """The JSON form of a sequence of numbers."""
    return [number(value) for value in values]


def number_of_word(word: str) -> float | None:
    """The number of a word such as "inf", None for other words."""
    return _WORDS.get(word)


def dump(data: Plain, indent: int = 0) -> str:
    """Write plain data as text: small objects and lists of plain values on one line, the rest one entry per line.

    >>> print(dump({"name": "age", "cuts": [1.0, 2.5]}))
    {
      "name": "age",
      "cuts": [1.0, 2.5]
    }
    """
    inner, outer = "  " * (indent + 1), "  " * indent
    if isinstance(data, dict):
        if not data:
            return "{}"
        if indent and not any(isinstance(item, dict | list) and item for item in data.values()):
            line = "{" + ", ".join(f"{_text(key)}: {dump(value)}" for key, value in data.items()) + "}"
            if len(line) <= WIDTH:
                return line
        entries = (f"{inner}{_text(key)}: {dump(value, indent + 1)}" for key, value in data.items())
        return "{\n" + ",\n".join(entries) + f"\n{outer}}}"
    if isinstance(data, list):
        if not any(isinstance(item, dict | list) for item in data):
            return "[" + ", ".join(_scalar(item) for item in data) + "]"
        return "[\n" + ",\n".join(inner + dump(item, indent + 1) for item in data) + f"\n{outer}]"
    return _scalar(data)


def parse(text: str | bytes) -> Plain:
    """Read text as plain data, or raise ValueError with one sentence that says what is wrong and where."""
    if len(text) > MAX_BYTES:
        raise ValueError(f"it is {len(text)} bytes long, and a model file may have at most {MAX_BYTES}")
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        data: Plain = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text (byte {error.start})") from None
    except json.JSONDecodeError as error:
        end = " (it ends too early: it may have been cut off)" if error.pos >= len(text.rstrip()) else ""
        raise ValueError(f"it is not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}{end}") from None
    except RecursionError:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep") from None
    _check_depth(data)
    return data


def _scalar(value: Plain) -> str:
    return _text(value) if isinstance(value, str) else json.dumps(value, allow_nan=False)


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8 form, only an escape
        return json.dumps(value)
    return json.dumps(value, ensure_ascii=False)


def _object(pairs: list[tuple[str, Plain]]) -> dict[str, Plain]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"it says {shown(key)} twice in one object")
            seen.add(key)
    return data


def _no_constant(word: str) -> Plain:
    raise ValueError(f"it says {word}, which is not JSON")


def _check_depth(data: Plain) -> None:
    level: list[Plain] = [data]
    for _ in range(MAX_DEPTH):
        level = [child for item in level if isinstance(item, dict | list) for child in _children(item)]
        if not level:
            return
    raise ValueError(f"it is nested more than {MAX_DEPTH} deep")


def _children(item: "dict[str, Plain] | list[Plain]") -> list[Plain]:
    if isinstance(item, dict):
        return list(item.values())
    return item if any(isinstance(child, dict | list) for child in item) else []
