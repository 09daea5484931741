"""The sample of a large table that its bin edges come from, and weights as integers.

A row is chosen by the hash of its content and the seed, so equal rows are chosen together and a row of weight 2 is the
row twice. The sample does not depend on the order of the rows or on how they are split into parts: two samples merge by
keeping the smallest hashes of both.
"""

import math

import numpy as np

from permissible.bins.hashing import Hashes
from permissible.kernels._core import binning as kernels
from permissible.types import FloatArray, IntArray

SAMPLE_ROWS = 200_000


def sample_rows(hashes: Hashes, limit: int = SAMPLE_ROWS) -> IntArray:
    """The rows whose hash is among the `limit` smallest distinct ones, in order."""
    return np.flatnonzero(hashes <= np.uint64(kernels.largest_kept(hashes, limit))).astype(np.int64, copy=False)


def integer_weights(weight: FloatArray, total: float) -> IntArray:
    """Weights as integers of at least 1, on a power-of-two grid on which `total` is below 2^60."""
    return np.maximum(np.rint(weight * _grid(total)), 1.0).astype(np.int64)


def unit_weight(n_rows: int) -> int:
    """The integer weight of a row of weight 1 on the grid of `n_rows` such rows."""
    return max(int(_grid(float(n_rows))), 1)


def _grid(total: float) -> float:
    return math.ldexp(1.0, 60 - math.frexp(total)[1]) if total > 0 else 1.0
