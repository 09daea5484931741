"""The rows of a fit as a `Source`, from X and y or from a data set."""

from typing import Protocol, runtime_checkable

import numpy as np

from permissible.bins.binning import BLOCK_COLUMNS, BinnedTable, Binning
from permissible.bins.hashing import row_hashes
from permissible.estimators.input.training import TrainingRows
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart, numbers_of, refuse_values
from permissible.rows.source import Source
from permissible.table.table import Table
from permissible.validation import Words, refusal


@runtime_checkable
class HasSource(Protocol):
    """Data with their target and weights, on disk or on a cluster: fit(X) accepts them instead of X, y and weights."""

    def source(self) -> Source:
        """The rows."""


def source_of(
    X: HasSource, y: object, sample_weight: object, class_weight: object = None, values: bool = False
) -> Source:
    """The source of a data set, which must hold its target and weights, and its values where these are needed."""
    remedy = "name the columns `target` and `weight` when the data set is made"
    for name, value in (("y", y), ("sample_weight", sample_weight), ("class_weight", class_weight)):
        if value is not None:
            expected = "None, since the data set holds its target and weights"
            raise refusal(name, expected, Words("a value beside it"), remedy)
    if values and not getattr(X, "valued", True):
        refuse_values()
    return X.source()


def memory_source(
    given: TrainingRows, binned: BinnedTable, seed: int = 0, n_threads: int = 1, *, values: bool = False
) -> LocalSource:
    """Rows in memory as one part, hashed only if a fit splits them. With `values` they keep their values."""
    table, weight, numbers = given.table, given.weight if given.weighted else None, None
    if values:
        numbers = numbers_of(table) if table.matrix is None else table.matrix
    part = MemoryPart(binned, given.target, weight, lambda: row_hashes(table, seed, n_threads), numbers)
    return LocalSource((part,), binned.binning, given.classes, binned.n_rows, given.weighted)


def without_codes(table: Table) -> BinnedTable:
    """The source of a learner that uses values only."""
    blocks = np.zeros((0, table.n_rows, BLOCK_COLUMNS), dtype=np.uint8)
    return BinnedTable(Binning(table.schema, ()), blocks, table.n_rows)
