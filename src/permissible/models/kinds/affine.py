"""The affine part of an additive model: terms a (x - mean) + b on one attribute and one coordinate ([B] section 5).

The sum of affine terms is affine: scoring uses one coefficient per attribute and class, while the terms themselves
stay, in the order in which they were learned, for staged predictions and for reading.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from permissible.models.kinds.simplex import scores_of
from permissible.models.model import Frozen, counted
from permissible.table.table import MISSING_CATEGORY, Table
from permissible.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Attribute:
    """One number per row: the value of a column, or 1 where the column has the category with code `category`."""

    column: int
    category: int = -1
    mean: float = 0.0

    def values(self, table: Table) -> FloatArray:
        """The attribute of each row minus its training mean; 0 where the value is missing."""
        column = table.columns[self.column]
        if self.category < 0:
            numbers = np.asarray(column, dtype=np.float64)
            return np.where(np.isnan(numbers), 0.0, numbers - self.mean)
        indicator = (column == self.category).astype(np.float64)
        return np.where(column == MISSING_CATEGORY, 0.0, indicator - self.mean)


def attribute_matrix(attributes: tuple[Attribute, ...], table: Table) -> FloatArray:
    """The attributes of every row minus their means, (n, d), row-major."""
    matrix = np.empty((table.n_rows, len(attributes)))
    for position, attribute in enumerate(attributes):
        matrix[:, position] = attribute.values(table)
    return matrix


_TERMS = ("round_", "coordinate", "attribute", "slope", "level")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AffineTerms(Frozen):
    """Terms slope * (x - mean) + level, each added to one coordinate of f in one round; attribute -1 is a constant.

    The leverage and the shrinkage of each step are already inside slope and level.
    """

    attributes: tuple[Attribute, ...]
    n_classes: int
    round_: IntArray
    coordinate: IntArray
    attribute: IntArray
    slope: FloatArray
    level: FloatArray

    def _size(self) -> str:
        return f"{counted(len(self.slope), 'term')} on {counted(len(self.attributes), 'attribute')}"

    @property
    def n_rounds(self) -> int:
        """Number of rounds that left terms."""
        return int(self.round_.max()) + 1 if len(self.round_) else 0

    def coefficients(self) -> tuple[FloatArray, FloatArray]:
        """The scores as affine functions: coefficients (M, d), and levels (M,) at the means."""
        slopes = np.zeros((len(self.attributes) + 1, self.n_classes - 1))
        np.add.at(slopes, (self.attribute, self.coordinate), self.slope)  # -1 is the extra last row
        levels = np.bincount(self.coordinate, weights=self.level, minlength=self.n_classes - 1)
        return scores_of(slopes[:-1]).T, scores_of(np.asarray(levels, dtype=np.float64)[None, :])[0]

    def scores(self, table: Table) -> FloatArray:
        """The (n, M) scores S of a table."""
        coefficients, intercepts = self.coefficients()
        return np.asarray(attribute_matrix(self.attributes, table) @ coefficients.T + intercepts)

    def first(self, n_rounds: int) -> "AffineTerms":
        """The terms of the first rounds."""
        kept = self.round_ < n_rounds
        return replace(self, **{name: getattr(self, name)[kept] for name in _TERMS})

    def scaled(self, factor: float) -> "AffineTerms":
        """Every term times a factor: its fraction of a blend."""
        return replace(self, slope=self.slope * factor, level=self.level * factor)

    def joined(self, later: "AffineTerms", *, same_rounds: bool = False) -> "AffineTerms":
        """These terms, then the later ones; their rounds follow, or are the same rounds (`same_rounds`)."""
        moved = later if same_rounds else replace(later, round_=later.round_ + self.n_rounds)
        both: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in (self, moved)]) for name in _TERMS
        }
        return replace(self, **both)
