"""Exact sums over the selected rows, asked before a fit: numbers of rows, and their weights.

Sums of weights are exact and rounded once at the end, so they do not depend on how the rows are split into parts.
"""

from dataclasses import dataclass

import numpy as np

from permissible.kernels._core import sums
from permissible.rows.part import Part
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.source import ByPart, Question
from permissible.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """Number of rows, largest weight, exact sum of the weights, and whether all weights are integers."""

    n_rows: int
    largest: float
    limbs: IntArray
    integers: bool

    @property
    def weight(self) -> float:
        """The sum of the weights, rounded once."""
        return float(sums.exact_values(self.limbs)[0])

    @classmethod
    def of(cls, weight: FloatArray | None, n_rows: int) -> "Totals":
        """The totals of one part; without weights each row has weight 1."""
        if weight is None or not len(weight):
            return cls(n_rows, 1.0 if n_rows else 0.0, sums.exact_limbs(np.array([[float(n_rows)]])), True)
        limbs = sums.exact_limbs(np.ascontiguousarray(weight, dtype=np.float64)[None, :])
        return cls(n_rows, float(weight.max()), limbs, bool(np.array_equal(weight, np.rint(weight))))

    def __add__(self, other: "Totals") -> "Totals":
        """Both together."""
        largest, integers = max(self.largest, other.largest), self.integers and other.integers
        return Totals(self.n_rows + other.n_rows, largest, self.limbs + other.limbs, integers)


@dataclass(frozen=True, slots=True)
class TotalsOf(Question[Part, Totals]):
    """The totals of the selected rows."""

    selection: Selection = ALL_ROWS

    def answer(self, rows: Part) -> Totals:
        """The totals of one part."""
        weight, target = rows.weight(), rows.target()
        chosen = self.selection.rows(rows)
        n_rows = len(target) if chosen is None else int(chosen.sum())
        return Totals.of(weight if weight is None or chosen is None else weight[chosen], n_rows)


@dataclass(frozen=True, slots=True)
class RowsByPart(ByPart[Part, int]):
    """The number of selected rows of each part, by the number of the part."""

    selection: Selection = ALL_ROWS

    def answer(self, rows: Part) -> dict[int, int]:
        """The number of one part."""
        target = rows.target()
        chosen = self.selection.rows(rows)
        return {rows.number: len(target) if chosen is None else int(chosen.sum())}


@dataclass(frozen=True, slots=True)
class RowsByClass(Question[Part, IntArray]):
    """The number of selected rows of each class."""

    n_classes: int
    selection: Selection = ALL_ROWS

    def answer(self, rows: Part) -> IntArray:
        """The numbers of one part."""
        target = rows.target()
        chosen = self.selection.rows(rows)
        return np.bincount(target if chosen is None else target[chosen], minlength=self.n_classes)
