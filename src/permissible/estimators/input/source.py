"""The rows of a fit as a `Source`: what the user gave in place of X and y."""

from typing import Any, Protocol, runtime_checkable

from permissible.bins import BinnedTable, row_hashes
from permissible.estimators.input.training import TrainingRows
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
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


def memory_source(given: TrainingRows, binned: BinnedTable, seed: int = 0, n_threads: int = 1) -> LocalSource:
    """Rows in memory as one part; their content is hashed when a fit splits them."""
    weight = given.weight if given.weighted else None
    part = MemoryPart(binned, given.target, weight, lambda: row_hashes(given.table, seed, n_threads))
    return LocalSource((part,), binned.binning, given.classes, binned.n_rows, given.weighted)
