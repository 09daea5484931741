"""Checks of numbers given as parameters: of the right kind, finite, within bounds."""

from numbers import Integral, Real
from typing import Any

from permissible.validation.refusal import refusal, refusal_type


def whole_number(name: str, value: Any, low: int, *, none: str = "") -> int | None:
    """An integer of at least `low`; None passes where `none` says what it means ("no limit")."""
    expected = f"an integer of at least {low}" + (f", or None for {none}" if none else "")
    if value is None and none:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise refusal_type(name, expected, value)
    if value < low:
        raise refusal(name, expected, int(value))
    return int(value)


def real_number(name: str, value: Any, low: float = 0.0) -> float:
    """A finite number of at least `low`."""
    expected = f"a finite number of at least {low:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise refusal_type(name, expected, value)
    number = float(value)
    if not low <= number < float("inf"):
        raise refusal(name, expected, number)
    return number
