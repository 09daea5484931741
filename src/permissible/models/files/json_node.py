"""A place in a document that is being read: the value, and the path that leads to it, so that an error can name it.

Every reader of a document goes through here; every value is checked, no key is ignored and none is guessed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from permissible.models.files.strict_json import Plain, number_of_word
from permissible.types import FloatArray, IntArray
from permissible.validation import Words, refusal, shown

Choice = TypeVar("Choice", bound=str)


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a document, and its path.

    >>> Node({"name": "age"}, "columns[0]").fields("name")["name"].text()
    'age'
    """

    value: Plain
    path: str

    def fields(self, *required: str, optional: Sequence[str] = ()) -> "dict[str, Node]":
        """The fields of an object, which must have exactly the `required` ones and may have the `optional` ones."""
        if not isinstance(self.value, dict):
            raise self.refused("an object")
        missing = [key for key in required if key not in self.value]
        if missing:
            raise self.refused(
                f"an object with {missing[0]!r}", Words(f"one without it (it has {shown(list(self.value))})")
            )
        unknown = [key for key in self.value if key not in required and key not in optional]
        if unknown:
            raise self.refused("an object that this version knows", Words(f"one with the unknown field {unknown[0]!r}"))
        return {key: Node(value, f"{self.path}.{key}" if self.path else key) for key, value in self.value.items()}

    def items(self, length: int | None = None) -> "list[Node]":
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.refused("a list")
        if length is not None and len(self.value) != length:
            raise self.refused(f"a list of {length} items", Words(f"one of {len(self.value)}"))
        return [Node(value, f"{self.path}[{index}]") for index, value in enumerate(self.value)]

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.refused("a string")
        return self.value

    def one_of(self, choices: Sequence[Choice]) -> Choice:
        """A string among `choices`."""
        for choice in choices:
            if self.value == choice:
                return choice
        raise self.refused("one of " + ", ".join(map(repr, choices)))

    def boolean(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def integer(self, low: int | None = None, high: int | None = None) -> int:
        """An integer from `low` up to, not including, `high`."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refused("an integer")
        if (low is not None and value < low) or (high is not None and value >= high):
            raise self.refused(f"an integer from {low} to {'any' if high is None else high - 1}")
        return value

    def number(self, finite: bool = False) -> float:
        """A number; "inf", "-inf" and "nan" are numbers too unless it must be `finite`."""
        value = self.value
        if isinstance(value, str) and (known := number_of_word(value)) is not None:
            value = known
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused("a number")
        try:
            result = float(value)
        except OverflowError:
            raise self.refused("a number that a double can hold") from None
        if finite and not math.isfinite(result):
            raise self.refused("a finite number")
        return result

    def floats(self, length: int | None = None, finite: bool = False) -> FloatArray:
        """A list of numbers, as an array."""
        return np.array([item.number(finite) for item in self.items(length)], dtype=np.float64)

    def matrix(self, width: int | None = None, finite: bool = False) -> FloatArray:
        """A list of lists of numbers of equal length, as a 2-D array."""
        rows = [item.floats(width, finite) for item in self.items()]
        if len({len(row) for row in rows}) > 1:
            raise self.refused("a list of lists of equal length", Words("lists of several lengths"))
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows[0]) if rows else (width or 0))

    def integers(self, length: int | None = None, low: int | None = None, high: int | None = None) -> IntArray:
        """A list of integers, as an array."""
        try:
            return np.array([item.integer(low, high) for item in self.items(length)], dtype=np.int64)
        except OverflowError:
            raise self.refused("a list of integers of at most 64 bits") from None

    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.value is None

    def refused(self, expected: str, got: object = None) -> ValueError:
        """The error that says what this place should hold."""
        return refusal(self.path or "document", expected, self.value if got is None else got)
