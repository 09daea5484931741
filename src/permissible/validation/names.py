"""Names chosen from a list: an unknown one is refused, and the nearest known one suggested."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, TypeVar

from permissible.validation.refusal import refusal, refusal_type

Name = TypeVar("Name", str, str | None)


def one_of(argument: str, value: Any, names: Iterable[Name]) -> Name:
    """Check that `value` is one of the names, None among them where it is allowed.

    >>> one_of("solver", "psgd", ["auto", "dual", "psgd"])
    'psgd'
    >>> one_of("solver", "psdg", ["auto", "dual", "psgd"])
    Traceback (most recent call last):
    ...
    ValueError: `solver` must be one of 'auto', 'dual', 'psgd', got 'psdg'; did you mean 'psgd'.
    """
    known = [*names]
    expected = f"one of {', '.join(map(repr, known))}"
    for name in known:
        if value is name or (isinstance(value, str) and value == name):
            return name
    if not isinstance(value, str):
        raise refusal_type(argument, expected, value)
    raise refusal(argument, expected, value, did_you_mean(value, [name for name in known if isinstance(name, str)]))


def did_you_mean(value: str, names: Iterable[str]) -> str | None:
    """The remedy "did you mean ..." when a name is near, else None."""
    near = get_close_matches(value, [*names], n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}" if near else None
