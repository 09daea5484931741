"""The rows of a fit as a `Source`: what the user gave in place of X and y."""

from typing import Any, Protocol, runtime_checkable

from permissible.rows.source import Source
from permissible.validation import Words, refusal


@runtime_checkable
class HasSource(Protocol):
    """Data that know their target and weights, on disk or on a cluster: fit(X) takes them in place of X, y and weights."""

    def source(self) -> Source:
        """The rows."""
        ...


def source_of(X: HasSource, y: Any, sample_weight: Any, class_weight: Any = None) -> Source:
    """The rows; target and weights must have come with them."""
    remedy = "name the columns `target` and `weight` when the data set is made"
    for name, value in (("y", y), ("sample_weight", sample_weight), ("class_weight", class_weight)):
        if value is not None:
            expected = "None, since the data set holds its target and weights"
            raise refusal(name, expected, Words("a value beside it"), remedy)
    return X.source()
