"""What a base learner is to the boosting loop, what a round leaves behind, and which rows and columns it may use."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from permissible.bins import row_hashes
from permissible.bins.hashing import Hashes
from permissible.table.table import Table
from permissible.types import BoolArray, Codes, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One round: the learner's own terms, the share of the weight it explained, whether a step hit the cap, whether it moved."""

    terms: Any
    edge: float
    capped: bool
    moved: bool


class Rows(Protocol):
    """The training rows between rounds, wherever they are."""

    def begin_round(self) -> tuple[float, float, float]:
        """Sums of the surrogate, the cost and the errors of all rows."""
        ...


class Learner(Protocol):
    """A base learner: steps on a compiled state (or on rows elsewhere), and turns its rounds into a part of a model."""

    def step(self, state: Any, number: int) -> Round:
        """Make one round on the state, after `begin_round`."""
        ...

    def part(self, rounds: list[Round]) -> Any:
        """The rounds as one part of an AdditiveModel."""
        ...

    def watch(self, table: Table) -> Any:
        """What `scores` needs of other rows."""
        ...

    def scores(self, made: Round, watched: Any) -> FloatArray:
        """What a round adds to the scores of the watched rows, (n, M)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """Shares of the rows and of the columns that a round's search may use; the leverage always sees every row.

    Rows are drawn by a hash of their content (`hashes`), the seed and the round: equal rows are drawn together, so that a row of
    weight 2 stays the row twice.
    """

    row_share: float = 1.0
    column_share: float = 1.0
    seed: int = 0
    hashes: Hashes | None = None

    @classmethod
    def of(cls, table: Table, row_share: float, column_share: float, seed: int) -> "Sampling":
        """The sampling of a training table."""
        return cls(row_share, column_share, seed, row_hashes(table, seed) if row_share < 1.0 else None)

    def rows(self, number: int) -> FloatArray | None:
        """1.0 for the rows of this round, 0.0 for the others; None for all."""
        if self.row_share >= 1.0 or self.hashes is None:
            return None
        chosen = self.chosen(self.hashes, number)
        return chosen.astype(np.float64) if chosen.any() else None

    def chosen(self, hashes: Hashes, number: int) -> BoolArray:
        """Whether each row is in the share of this round; where no row is, all are."""
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
