"""Checks of numbers given as parameters: of the right kind, finite, within bounds."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from permissible.validation.refusal import refusal, refusal_type


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise refusal_type(name, "True or False", value)
    return bool(value)


def whole_number(name: str, value: Any, low: int, *, high: int | None = None, none: str = "") -> int | None:
    """An integer of at least `low` (and at most `high`); None passes where `none` says what it means ("no limit")."""
    expected = f"an integer of at least {low}" if high is None else f"an integer between {low} and {high}"
    expected += f", or None for {none}" if none else ""
    if value is None and none:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise refusal_type(name, expected, value)
    number = int(value)
    if number < low or (high is not None and number > high):
        raise refusal(name, expected, number)
    return number


def real_number(name: str, value: Any, low: float = 0.0) -> float:
    """A finite number of at least `low`."""
    expected = f"a finite number of at least {low:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise refusal_type(name, expected, value)
    number = float(value)
    if not low <= number < float("inf"):
        raise refusal(name, expected, number)
    return number
