"""Numbers that an affine term can use: a numeric column, or the indicator of one category of a categorical one.

Values are taken from their training mean, which keeps the arithmetic exact for columns far from zero. A missing value
counts as the mean, so that it neither helps nor harms a class beyond the average row; an unseen category has
indicator 0 everywhere.
"""

from dataclasses import dataclass

import numpy as np

from permissible.table.schema import Schema
from permissible.table.table import MISSING_CATEGORY, Table
from permissible.types import FloatArray
from permissible.validation import Words, refusal, squarable

LARGEST_MATRIX = 2**30
"""Cells of the attribute matrix, 8 bytes each: beyond this a table with many categories would not fit in memory."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One number per row: the value of a column, or 1 where the column has the category with code `category`."""

    column: int
    category: int = -1
    mean: float = 0.0

    def text(self, schema: Schema) -> str:
        """How a reader sees it: ``age`` or ``[colour = red]``."""
        column = schema.columns[self.column]
        return column.name if self.category < 0 else f"[{column.name} = {column.categories[self.category]}]"

    def values(self, table: Table) -> FloatArray:
        """The attribute of each row minus its training mean; 0 where the value is missing."""
        column = table.columns[self.column]
        if self.category < 0:
            numbers = np.asarray(column, dtype=np.float64)
            return np.where(np.isnan(numbers), 0.0, numbers - self.mean)
        indicator = (column == self.category).astype(np.float64)
        return np.where(column == MISSING_CATEGORY, 0.0, indicator - self.mean)


def attributes_of(table: Table, weight: FloatArray) -> tuple[Attribute, ...]:
    """Every attribute of a table, with its weighted mean over the present values."""
    found: list[Attribute] = []
    width = sum(max(len(column.categories), 1) for column in table.schema.columns)
    if width * table.n_rows > LARGEST_MATRIX:
        widest = max(table.schema.columns, key=lambda column: len(column.categories))
        raise refusal(
            "X", f"of at most {LARGEST_MATRIX:,} cells, each category a column, for a linear learner",
            Words(f"{width:,} columns by {table.n_rows:,} rows ({len(widest.categories):,} categories in {widest.name!r})"),
            'use learner="tree" or learner="rule", which take categories as they are',
        )  # fmt: skip
    for position, column in enumerate(table.schema.columns):
        values = table.columns[position]
        if column.kind == "categorical":
            present = values != MISSING_CATEGORY
            found.extend(
                Attribute(position, code, _mean((values == code)[present], weight[present]))
                for code in range(len(column.categories))
            )
        else:
            numbers = np.asarray(values, dtype=np.float64)
            squarable("X", numbers, column.name)
            present = ~np.isnan(numbers)
            found.append(Attribute(position, -1, _mean(numbers[present], weight[present])))
    return tuple(found)


def attribute_matrix(attributes: tuple[Attribute, ...], table: Table) -> FloatArray:
    """The attributes of every row from their means, (n, d), row-major."""
    matrix = np.empty((table.n_rows, len(attributes)))
    for position, attribute in enumerate(attributes):
        matrix[:, position] = attribute.values(table)
    return matrix


def _mean(values: FloatArray, weight: FloatArray) -> float:
    total = float(np.sum(weight))
    return float(np.sum(weight * values) / total) if total > 0 else 0.0
