"""The rows of a fit as a `Source`: what the user gave in place of X and y."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from permissible.bins.binning import BLOCK_COLUMNS, BinnedTable, Binning
from permissible.bins.sampling import row_hashes
from permissible.estimators.input.training import TrainingRows
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart, numbers_of
from permissible.rows.source import Source
from permissible.table.table import Table
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


def memory_source(rows: TrainingRows, binned: BinnedTable, seed: int, *, values: bool = False) -> LocalSource:
    """Rows in memory; they keep their values where the learner needs them beside or in place of codes."""
    table, weight = rows.table, rows.weight if rows.weighted else None
    numbers = None
    if values:
        numbers = numbers_of(table) if table.matrix is None else table.matrix
    part = MemoryPart(binned, rows.target, weight, lambda: row_hashes(table, seed), numbers)
    return LocalSource((part,), binned.binning, rows.classes, table.n_rows, rows.weighted)


def without_codes(table: Table) -> BinnedTable:
    """The rows of a learner that sees values only."""
    blocks = np.zeros((0, table.n_rows, BLOCK_COLUMNS), dtype=np.uint8)
    return BinnedTable(Binning(table.schema, ()), blocks, table.n_rows)
