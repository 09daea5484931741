"""Values to codes: the only place where a table becomes uint8."""

from collections.abc import Sequence

import numpy as np

from permissible.bins.binning import BLOCK_COLUMNS, BinnedTable, Binning
from permissible.kernels._core import binning as kernels
from permissible.table.table import Table
from permissible.types import AnyArray, Codes, IntArray


def encode(binning: Binning, table: Table, n_threads: int = 1, out: Codes | None = None) -> BinnedTable:
    """Encode a table, read with the binning's schema, into blocks of 8 columns.

    The codes do not depend on the number of threads. `out`, (n_blocks, n_rows, 8), is where to write, for instance a memory map.

    >>> from permissible.bins.find import find_bins
    >>> from permissible.table import read
    >>> table = read({"age": [41, 42, 30, 30, None]})
    >>> encode(find_bins(table), table).column_codes(0)
    array([  1,   2,   0,   0, 255], dtype=uint8)
    """
    columns = binning.columns
    thresholds = [column.thresholds for column in columns]
    codes = [column.code_of_category for column in columns]
    n_blocks = -(-len(columns) // BLOCK_COLUMNS)
    blocks = np.empty((n_blocks, table.n_rows, BLOCK_COLUMNS), dtype=np.uint8) if out is None else out
    if columns:
        kernels.encode([*table.columns], *_joined(thresholds), *_joined(codes), blocks, n_threads)
    return BinnedTable(binning, blocks, table.n_rows)


def _joined(arrays: Sequence[AnyArray]) -> tuple[AnyArray, IntArray]:
    """The arrays one after the other, and where each begins."""
    return np.concatenate(arrays), np.cumsum([0, *map(len, arrays)], dtype=np.int64)
