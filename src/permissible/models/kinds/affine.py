"""The affine part of an additive model: terms a (x - mean) + b, each on one attribute and one coordinate ([B] section 5).

The sum of affine terms is affine: scoring uses one coefficient per attribute and class, while the terms themselves stay, in
the order in which they were learned, for staged predictions and for reading.
"""

from dataclasses import dataclass

import numpy as np

from permissible.models.kinds.attributes import Attribute, attribute_matrix
from permissible.models.kinds.simplex import scores_of
from permissible.table.table import Table
from permissible.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class AffineTerms:
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

    @property
    def n_rounds(self) -> int:
        """Number of rounds that left terms."""
        return int(self.round_.max()) + 1 if len(self.round_) else 0

    def coefficients(self, n_rounds: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Scores of the first rounds as affine functions: coefficients (M, d), and levels (M,) at the means."""
        kept = slice(None) if n_rounds is None else self.round_ < n_rounds
        slopes = np.zeros((len(self.attributes) + 1, self.n_classes - 1))
        np.add.at(slopes, (self.attribute[kept], self.coordinate[kept]), self.slope[kept])  # -1 is the spare last row
        levels = np.bincount(self.coordinate[kept], weights=self.level[kept], minlength=self.n_classes - 1)
        return scores_of(slopes[:-1]).T, scores_of(np.asarray(levels, dtype=np.float64)[None, :])[0]

    def scores(self, table: Table, n_rounds: int | None = None) -> FloatArray:
        """The (n, M) scores S of a table."""
        coefficients, intercepts = self.coefficients(n_rounds)
        return np.asarray(attribute_matrix(self.attributes, table) @ coefficients.T + intercepts)

    def scaled(self, factor: float) -> "AffineTerms":
        """Every term times a factor: its share in a blend."""
        return AffineTerms(
            self.attributes, self.n_classes, self.round_, self.coordinate, self.attribute,
            self.slope * factor, self.level * factor,
        )  # fmt: skip

    def joined(self, later: "AffineTerms", *, same_rounds: bool = False) -> "AffineTerms":
        """These terms, then the later ones; their rounds count on from here, or run side by side (`same_rounds`)."""
        moved = later.round_ if same_rounds else later.round_ + self.n_rounds
        return AffineTerms(
            self.attributes, self.n_classes,
            np.concatenate([self.round_, moved]),
            np.concatenate([self.coordinate, later.coordinate]),
            np.concatenate([self.attribute, later.attribute]),
            np.concatenate([self.slope, later.slope]),
            np.concatenate([self.level, later.level]),
        )  # fmt: skip
