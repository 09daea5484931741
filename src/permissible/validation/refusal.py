"""The form of every error: argument, expected, got, remedy, in one sentence."""


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
