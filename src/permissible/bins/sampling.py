"""Which rows the bin edges of a large table come from, and what rows weigh.

A row is chosen by the hash of its content and the seed, so equal rows are chosen together and a row of weight 2 is the row
twice. The sample does not depend on the order of the rows or on how they are split into parts: two samples merge by keeping
the smallest hashes of both.
"""

import math

import numpy as np

from permissible.bins.hashing import Hashes
from permissible.kernels._core import binning as kernels
from permissible.types import FloatArray, IntArray

SAMPLE_ROWS = 200_000


def sample_rows(hashes: Hashes, limit: int = SAMPLE_ROWS) -> IntArray:
    """The rows whose hash is among the `limit` smallest different ones, in order."""
    return np.flatnonzero(hashes <= np.uint64(kernels.largest_kept(hashes, limit))).astype(np.int64, copy=False)


def integer_weights(weight: FloatArray, total: float) -> IntArray:
    """Weights on a power-of-two grid that `total` fills to 2^60, at least 1 each: integer sums do not depend on the order."""
    return np.maximum(np.rint(weight * _grid(total)), 1.0).astype(np.int64)


def unit_weight(n_rows: int) -> int:
    """What a row of weight 1 is on the grid of `n_rows` such rows."""
    return max(int(_grid(float(n_rows))), 1)


def _grid(total: float) -> float:
    return math.ldexp(1.0, 60 - math.frexp(total)[1]) if total > 0 else 1.0
