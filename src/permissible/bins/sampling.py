"""Which rows the bin edges of a large table come from, and what rows weigh: no chunking, order or repetition changes it.

A row is chosen by a hash of its content and the seed, so equal rows are chosen together: a row of weight 2 is the row
twice here too, every worker agrees without talking, and two samples merge by keeping the smallest hashes of both.
"""

import hashlib
import math

import numpy as np
import numpy.typing as npt

from permissible.kernels._core import binning as kernels
from permissible.table.schema import Category
from permissible.table.table import Table
from permissible.types import FloatArray, IntArray

SAMPLE_ROWS = 200_000
Hashes = npt.NDArray[np.uint64]


def row_hashes(table: Table, seed: int = 0, n_threads: int = 1) -> Hashes:
    """A hash of the content of each row and the seed: of every value with the name of its column.

    The order of rows does not matter, nor that of columns as long as they keep their names; categories hash by value.
    """
    tables = [[category_hash(c) for c in column.categories] for column in table.schema.columns]
    offsets = np.cumsum([0, *map(len, tables)]).astype(np.int64)
    flat = np.array([h for hashes in tables for h in hashes], dtype=np.uint64)
    names = np.array([category_hash(column.name) for column in table.schema.columns], dtype=np.uint64)
    return kernels.row_hashes([*table.columns], names, flat, offsets, seed & (2**64 - 1), table.n_rows, n_threads)


def category_hash(category: Category) -> int:
    """64 bits that depend on the category alone (Python's own hash of text differs between processes)."""
    digest = hashlib.blake2b(f"{type(category).__name__}:{category}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def sample_rows(hashes: Hashes, limit: int = SAMPLE_ROWS) -> IntArray:
    """The rows whose hash is among the `limit` smallest different ones, in order."""
    return np.flatnonzero(hashes <= np.uint64(kernels.largest_kept(hashes, limit))).astype(np.int64, copy=False)


def integer_weights(weight: FloatArray, total: float) -> IntArray:
    """Weights on a power-of-two grid that `total` fills to 2^60, at least 1 each: integer sums know no order."""
    return np.maximum(np.rint(weight * _grid(total)), 1.0).astype(np.int64)


def unit_weight(n_rows: int) -> int:
    """What a row of weight 1 is on the grid of `n_rows` such rows."""
    return max(int(_grid(float(n_rows))), 1)


def _grid(total: float) -> float:
    return math.ldexp(1.0, 60 - math.frexp(total)[1]) if total > 0 else 1.0
