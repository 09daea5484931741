"""The key of a row, by which folds are made: a hash of its codes in some columns (rows/keys.py chooses them)."""

from dataclasses import dataclass

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.bins.hashing import Hashes, finalised

_ODD, _WORD = 0x9E3779B97F4A7C15, 2**64 - 1


@dataclass(frozen=True, slots=True)
class Keys:
    """The columns that distinguish rows, each with its number, and the seed."""

    columns: tuple[tuple[int, int], ...]
    seed: int = 0

    def of(self, codes: BinnedTable) -> Hashes:
        """The key of each row."""
        total = np.full(codes.n_rows, (self.seed * _ODD) & _WORD, dtype=np.uint64)
        places = np.arange(1, 257, dtype=np.uint64)
        for column, number in self.columns:
            by_code = finalised(places * np.uint64(number | 1) + np.uint64(number))
            total += by_code[codes.column_codes(column)]
        return finalised(total)
