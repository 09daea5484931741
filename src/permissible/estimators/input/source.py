"""The rows of a fit as a `Source`: what the user gave in place of X and y."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from permissible.bins.binning import BinnedTable
from permissible.bins.hashing import Hashes
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.rows.source import Source
from permissible.types import AnyArray, FloatArray
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


def memory_source(
    binned: BinnedTable,
    target: AnyArray,
    classes: AnyArray,
    weight: FloatArray | None = None,
    hashes: Callable[[], Hashes] | None = None,
) -> LocalSource:
    """Rows in memory; `hashes` computes those of their content when a fit splits them."""
    part = MemoryPart(binned, target, weight, hashes)
    return LocalSource((part,), binned.binning, classes, binned.n_rows, weight is not None)
