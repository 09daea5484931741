"""Numbers that an affine term can use: a numeric column, or the indicator of one category of a categorical one.

Values are centred at their training mean, which keeps the arithmetic exact for columns far from zero. A missing value
counts as the mean; an unseen category has indicator 0.
"""

from dataclasses import dataclass

import numpy as np

from permissible.table.table import MISSING_CATEGORY, Table
from permissible.types import FloatArray


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
