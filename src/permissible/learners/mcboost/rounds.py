"""What a base learner is to the boosting loop, what a round leaves behind, and which rows and columns it may use."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.table.table import Table
from permissible.types import Codes, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One round: the learner's own terms, the share of the weight it explained, whether a step hit the cap, whether it moved."""

    terms: Any
    edge: float
    capped: bool
    moved: bool


class Learner(Protocol):
    """A base learner: steps on a compiled state, and turns its rounds into a part of a model."""

    def step(self, state: kernel.State, number: int) -> Round:
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


@dataclass(frozen=True, slots=True)
class Sampling:
    """Shares of the rows and of the columns that a round's search may use; the leverage always sees every row."""

    row_share: float = 1.0
    column_share: float = 1.0
    seed: int = 0

    def rows(self, n_rows: int, number: int) -> FloatArray | None:
        """1.0 for the rows of this round, 0.0 for the others; None for all."""
        if self.row_share >= 1.0:
            return None
        chosen = np.random.default_rng([self.seed, number, 0]).random(n_rows) < self.row_share
        return chosen.astype(np.float64) if chosen.any() else None

    def columns(self, n_columns: int, number: int) -> Codes:
        """1 for the columns of this round, at least one, 0 for the others."""
        allowed = np.ones(n_columns, dtype=np.uint8)
        if self.column_share < 1.0 and n_columns > 1:
            kept = max(1, round(self.column_share * n_columns))
            order = np.random.default_rng([self.seed, number, 1]).permutation(n_columns)
            allowed[order[kept:]] = 0
        return allowed
