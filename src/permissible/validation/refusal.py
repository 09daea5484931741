"""The form of every error: argument, expected, got, remedy, in one sentence."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, TypeVar


def shown(value: object, limit: int = 60) -> str:
    """Show a value in an error message: its repr on one line, shortened in the middle when long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else f"{text[: limit - 15]} ... {text[-10:]}"


def _sentence(argument: str, expected: str, got: str, remedy: str | None) -> str:
    sentence = f"`{argument}` must be {expected}, got {got}"
    return f"{sentence}; {remedy}." if remedy else f"{sentence}."


def refusal(argument: str, expected: str, got: object, remedy: str | None = None) -> ValueError:
    """Build the ValueError for a bad value: raise refusal("alpha", "a positive number", -1).

    `got` is shown by its repr, unless it is already a sentence part wrapped in `Words`.
    """
    return ValueError(_sentence(argument, expected, got if isinstance(got, Words) else shown(got), remedy))


def refusal_type(argument: str, expected: str, got: object, remedy: str | None = None) -> TypeError:
    """Build the TypeError for a value of the wrong kind; it names the type that was given."""
    came = got if isinstance(got, Words) else f"{type(got).__name__} {shown(got)}"
    return TypeError(_sentence(argument, expected, came, remedy))


class Words(str):
    """The given value, in words rather than by its repr: refusal("X", "2-D", Words("a 1-D array of 10 values"))."""

    __slots__ = ()


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
