"""Checks of numbers given as parameters: of the right kind, finite, within bounds."""

from collections.abc import Callable
from numbers import Integral, Real

import numpy as np

from permissible.validation.refusal import refusal, refusal_type


def flag(name: str, value: object) -> bool:
    """A boolean; other values that Python treats as true or false are refused."""
    if not isinstance(value, bool | np.bool_):
        raise refusal_type(name, "True or False", value)
    return bool(value)


def is_auto(name: str, value: object, otherwise: str) -> bool:
    """Whether a parameter is "auto"; any other string is refused, and the error names `otherwise` as what is allowed."""
    if isinstance(value, str) and value != "auto":
        raise refusal(name, f'{otherwise}, or "auto"', value)
    return isinstance(value, str)


def count(name: str, value: object, low: int = 1, high: int | None = None, also: str = "") -> int:
    """An integer of at least `low` (and at most `high`); `also` ends the sentence about what is expected."""
    expected = f"an integer of at least {low}{also}" if high is None else f"an integer between {low} and {high}{also}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise refusal_type(name, expected, value)
    number = int(value)
    if number < low or (high is not None and number > high):
        raise refusal(name, expected, number)
    return number


def whole_number(name: str, value: object, low: int, *, high: int | None = None, none: str = "") -> int | None:
    """The same, where None passes if `none` says what it means ("no limit")."""
    if value is None and none:
        return None
    return count(name, value, low, high, f", or None for {none}" if none else "")


def real_number(name: str, value: object, low: float = 0.0) -> float:
    """A finite number of at least `low`."""
    return _finite(name, value, f"a finite number of at least {low:g}", lambda number: number >= low)


def positive_number(name: str, value: object, remedy: str | None = None) -> float:
    """A finite number above 0."""
    return _finite(name, value, "a positive number", lambda number: number > 0, remedy)


def fraction(name: str, value: object, most: float = 1.0, also: str = "") -> float:
    """A number above 0 and at most `most`; `also` ends the sentence about what is expected."""
    return _finite(name, value, f"a fraction in (0, {most:g}]{also}", lambda number: 0 < number <= most)


def inside(name: str, value: object) -> float:
    """A number above 0 and below 1."""
    return _finite(name, value, "a number in (0, 1)", lambda number: 0 < number < 1)


def _finite(
    name: str, value: object, expected: str, within: Callable[[float], bool], remedy: str | None = None
) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise refusal_type(name, expected, value)
    number = float(value)
    if not (np.isfinite(number) and within(number)):
        raise refusal(name, expected, number, remedy)
    return number
