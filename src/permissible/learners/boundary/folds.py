"""Folds by content: a row's fold depends on its values and the seed alone.

So the order of the rows does not matter, and weight 2 is the row twice. The distinct rows of each class are put in the order
of their hash and dealt out to the folds in turn; equal rows go together.
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from permissible.types import BoolArray, IntArray, Matrix

_ODD = np.uint64(0x9E3779B97F4A7C15)


def content_folds(X: Matrix, positive: BoolArray, n_folds: int, seed: int = 0) -> IntArray:
    """Return the fold 0 .. n_folds - 1 of each row; dense and sparse rows of equal values agree.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [1.0], [3.0]])
    >>> folds = content_folds(X, np.array([True, True, True, True]), 3)
    >>> bool(folds[0] == folds[2]), sorted(set(folds.tolist()))
    (True, [0, 1, 2])
    """
    hashes = row_hashes(X, seed)
    folds = np.zeros(X.shape[0], dtype=np.int64)
    contents = {side: np.unique(hashes[positive == side]) for side in (False, True)}
    # The classes begin at different folds, in an order of their contents: which one is called positive does not matter.
    for first, side in enumerate(sorted(contents, key=lambda side: contents[side].tobytes())):
        rows = positive == side
        folds[rows] = (np.searchsorted(contents[side], hashes[rows]) + first) % n_folds
    return folds


def row_hashes(X: Matrix, seed: int = 0) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row's non-zero values and their columns, summed so that order does not matter."""
    salt = _mix(np.arange(1, X.shape[1] + 1, dtype=np.uint64) * _ODD + np.uint64(seed))
    if sparse.issparse(X):
        terms = np.where(X.data != 0, _mix(_bits(X.data) ^ salt[X.indices]), np.uint64(0))
        total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return np.asarray(total[X.indptr[1:]] - total[X.indptr[:-1]])
    hashes = np.zeros(X.shape[0], dtype=np.uint64)
    for begin in range(0, X.shape[0], 4096):  # in parts, to keep the memory small
        part = X[begin : begin + 4096]
        terms = np.where(part != 0, _mix(_bits(part) ^ salt), np.uint64(0))
        hashes[begin : begin + 4096] = terms.sum(axis=1, dtype=np.uint64)
    return hashes


def _bits(values: Matrix) -> npt.NDArray[np.uint64]:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finisher of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
