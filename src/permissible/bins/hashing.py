"""A hash of a row's content: of every value with the name of its column, and the seed.

Every choice of rows by content (samples, hold-outs, folds, duplicated rows) uses this hash, so equal rows go together
and the order of the rows does not matter. A table, a dense matrix and a sparse one of the same numbers have the same
hashes. A row's hash is a sum over its columns, to which a zero adds nothing; so a sparse row costs its stored entries.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from permissible.bins.binning import BinnedTable
from permissible.kernels._core import binning as kernels
from permissible.kernels._core.boosted import Codes
from permissible.table.schema import Category
from permissible.table.table import Table
from permissible.types import IntArray, Matrix

Hashes = npt.NDArray[np.uint64]
_WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def row_hashes(table: Table, seed: int = 0, n_threads: int = 1) -> Hashes:
    """The hash of each row of a table, by column names in any order; categories hash by value."""
    hashes = [[category_hash(c) for c in column.categories] for column in table.schema.columns]
    offsets: IntArray = np.cumsum([0, *map(len, hashes)]).astype(np.int64)
    flat = np.array([h for column in hashes for h in column], dtype=np.uint64)
    names = _hashes_of([column.name for column in table.schema.columns])
    return kernels.row_hashes([*table.columns], names, flat, offsets, seed & _WORD, table.n_rows, n_threads)


def hash_matrix(X: Matrix, seed: int = 0, names: Sequence[str] | None = None, n_threads: int = 1) -> Hashes:
    """The hash of each row of a matrix, dense or CSR; columns without names are x0, x1, ... as in a table.

    >>> from scipy.sparse import csr_array
    >>> from permissible.table import read
    >>> X = np.array([[1.0, 0.0], [0.0, 2.5], [1.0, -0.0]])
    >>> hashes = hash_matrix(X)
    >>> bool(hashes[0] == hashes[2] != hashes[1]), np.array_equal(hashes, hash_matrix(csr_array(X)))
    (True, True)
    >>> np.array_equal(hashes, row_hashes(read(X)))
    True
    """
    own = _hashes_of([f"x{j}" for j in range(X.shape[1])] if names is None else names)
    if not sparse.issparse(X):
        columns = [np.ascontiguousarray(X[:, j], dtype=np.float64) for j in range(X.shape[1])]
        offsets: IntArray = np.zeros(len(columns) + 1, dtype=np.int64)
        return kernels.row_hashes(columns, own, _hashes_of([]), offsets, seed & _WORD, X.shape[0], n_threads)
    bits = (np.where(np.isnan(X.data), np.nan, X.data).astype(np.float64) + 0.0).view(np.uint64)
    total = np.append(np.uint64(0), np.cumsum(_scrambled(bits, own[X.indices]), dtype=np.uint64))
    salt = finalised(np.array([(seed + GOLDEN) & _WORD], dtype=np.uint64))
    return finalised((total[X.indptr[1:]] - total[X.indptr[:-1]]) ^ salt)


def code_hashes(
    binned: BinnedTable, numbers: Sequence[int] | None = None, n_threads: int = 1
) -> npt.NDArray[np.uint32]:
    """A hash of the codes of each row: rows that no rule or tree can tell apart are equal.

    Columns count by their numbers (rows/keys.py), in any order, and those of number 0 do not; without numbers, by their names.
    """
    names = [column.name for column in binned.binning.schema.columns]
    columns = _hashes_of(names) if numbers is None else np.array(numbers, dtype=np.uint64)
    return Codes(binned.blocks, binned.n_columns, n_threads, False).hashes(columns, n_threads)


def category_hash(category: Category) -> int:
    """64 bits that depend on the category alone (Python's own hash of text differs between processes)."""
    digest = hashlib.blake2b(f"{type(category).__name__}:{category}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _hashes_of(categories: Sequence[Category]) -> Hashes:
    return np.array([category_hash(category) for category in categories], dtype=np.uint64)


def _scrambled(bits: Hashes, own: Hashes) -> Hashes:
    bits = (bits ^ (bits >> np.uint64(32))) * (own | np.uint64(1))
    return np.asarray(bits ^ (bits >> np.uint64(32)))


def finalised(h: Hashes) -> Hashes:
    """The finaliser of splitmix64."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(h ^ (h >> np.uint64(31)))


@dataclass(frozen=True, slots=True)
class Keys:
    """The columns by which folds distinguish rows, each with its number (rows/keys.py chooses them), and the seed."""

    columns: tuple[tuple[int, int], ...]
    seed: int = 0

    def of(self, codes: BinnedTable) -> Hashes:
        """The key of each row."""
        total = np.full(codes.n_rows, (self.seed * GOLDEN) & _WORD, dtype=np.uint64)
        places = np.arange(1, 257, dtype=np.uint64)
        for column, number in self.columns:
            by_code = finalised(places * np.uint64(number | 1) + np.uint64(number))
            total += by_code[codes.column_codes(column)]
        return finalised(total)
