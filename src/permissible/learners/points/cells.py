"""The training rows as the rules of a card see them: cells.

Rows that the same rules cover have the same total, so they are added up once. There are at most 2^k cells of k rules, and
at most k M + 1 totals of k rules with points up to M. Everything after the choice of the rules works on cells and on totals,
whatever the number of rows. Weights are integers on a grid, so the sums are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from permissible.learners.uls.rows import Patterns
from permissible.types import AnyArray, Codes, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RuleCells:
    """The combinations of rules that occur, and the weight of negatives and positives in each, in units of 1 / `grid`."""

    bits: Codes
    weight: IntArray
    grid: float

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum()) / self.grid

    @property
    def patterns(self) -> Patterns:
        """The cells as the refit of rules reads them."""
        return Patterns(np.ascontiguousarray(self.bits), self.weight)

    def of(self, columns: Sequence[int]) -> "RuleCells":
        """The cells of some of the rules."""
        chosen = self.bits[:, list(columns)]
        merged = Patterns.merged([Patterns(np.ascontiguousarray(chosen), self.weight)])
        return RuleCells(merged.bits, merged.weight, self.grid)

    def flipped(self, negative: AnyArray) -> "RuleCells":
        """The cells where the marked rules are replaced by their negations."""
        return RuleCells(self.bits ^ np.asarray(negative, dtype=np.uint8), self.weight, self.grid)

    def totals(self, points: IntArray, most: int) -> FloatArray:
        """The weight of each class at each total 0..most, shape (n_vectors, most + 1, 2), for vectors of points (a row each)."""
        n_vectors = len(points)
        place = np.asarray(self.bits.astype(np.int64) @ points.T)  # integers: exact
        place += np.arange(n_vectors) * (most + 1)
        found = np.empty((n_vectors, most + 1, 2))
        for label in (0, 1):
            spread = np.broadcast_to(self.weight[:, label, None].astype(np.float64), place.shape)
            sums = np.bincount(place.ravel(), spread.ravel(), minlength=n_vectors * (most + 1))
            found[:, :, label] = sums.reshape(n_vectors, most + 1)
        return found / self.grid
