"""The result of a boosting round, and the rows and columns it may use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from permissible.bins.hashing import Hashes
from permissible.learners.mcboost.tree_step import TreeRound
from permissible.learners.trees.boosted_options import BoostedOptions
from permissible.types import AnyArray, BoolArray, Codes, FloatArray, IntArray

AffineArrays: TypeAlias = tuple[IntArray, IntArray, FloatArray, FloatArray]
"""Coordinate, attribute (-1: none), slope and level of affine terms."""
Terms: TypeAlias = Mapping[str, AnyArray] | AffineArrays | TreeRound
"""Trees as the arrays of a `Forest`, affine terms, or the trees of a round."""
AUTO_SEARCH = BoostedOptions(search_rows=16384.0, search_fraction=0.1)
"""How many of the rows a search by trees looks at, unless a fraction is given."""


@dataclass(frozen=True, slots=True, eq=False)
class CostRound:
    """One round: its terms, the fraction of the weight it explained, whether a step hit the cap, whether it moved."""

    terms: Terms
    edge: float
    capped: bool
    moved: bool


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """Fractions of the rows and of the columns that a round's search may use; the leverage always sees every row.

    Rows are drawn by a hash of their content (`hashes`), the seed and the round: equal rows are drawn together, so that
    a row of weight 2 stays the row twice. A search by trees draws rows of large gradient more often. A share of 0 is
    automatic: a sample where there are many rows.
    """

    row_share: float = 1.0
    column_share: float = 1.0
    seed: int = 0
    hashes: Hashes | None = None

    @property
    def sees_all(self) -> bool:
        """Whether every round may use every row and column."""
        return not self.draws and self.column_share >= 1.0

    @property
    def draws(self) -> bool:
        """Whether a given fraction of the rows is drawn."""
        return 0 < self.row_share < 1.0

    def wanted(self, total: float) -> float:
        """How many of `total` rows a search by trees draws; 0: all."""
        if self.row_share > 0:
            return self.row_share * total if self.row_share < 1.0 else 0.0
        wanted = AUTO_SEARCH.sample_size(total)
        return wanted if wanted < total else 0.0

    def rows(self, number: int) -> FloatArray | None:
        """1.0 for the rows of this round, 0.0 for the others; None for all."""
        if not self.draws or self.hashes is None:
            return None
        chosen = self.chosen(self.hashes, number)
        return chosen.astype(np.float64) if chosen.any() else None

    def chosen(self, hashes: Hashes, number: int) -> BoolArray:
        """Whether each row is drawn for this round; where no row is, all are."""
        salt = np.random.SeedSequence([self.seed, number]).generate_state(2, np.uint64)
        mixed = (hashes ^ salt[0]) * (salt[1] | np.uint64(1))
        mixed ^= mixed >> np.uint64(32)
        return np.asarray((mixed * np.uint64(0x9E3779B97F4A7C15)).astype(np.float64) < self.row_share * 2.0**64)

    def columns(self, n_columns: int, number: int) -> Codes:
        """1 for the columns of this round, at least one, 0 for the others."""
        allowed = np.ones(n_columns, dtype=np.uint8)
        if self.column_share < 1.0 and n_columns > 1:
            kept = max(1, round(self.column_share * n_columns))
            order = np.random.default_rng([self.seed, number, 1]).permutation(n_columns)
            allowed[order[kept:]] = 0
        return allowed
