"""The space of affine terms: the attributes of a table, each centred at its weighted mean and scaled to unit mean square.

Means and scales are exact sums over rows, rounded once, taken with questions that parts of the rows can answer: first the sums of
the values, then the squares around the means with the least and largest value.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from permissible.kernels._core import sums
from permissible.models.kinds.attributes import Attribute, attribute_matrix
from permissible.table.schema import Schema
from permissible.table.table import MISSING_CATEGORY, Table
from permissible.types import FloatArray, IntArray
from permissible.validation import Words, refusal, squarable

LARGEST_MATRIX = 2**30
"""Cells of the attribute matrix, 8 bytes each: beyond this a table with many categories would not fit in memory."""


class Spread(NamedTuple):
    """Rows around the means: exact sums of squares (attributes, limbs) and of weights, and the range of each attribute."""

    squares: IntArray
    weight: IntArray
    low: FloatArray
    high: FloatArray

    @staticmethod
    def merged(parts: "list[Spread]") -> "Spread":
        """That of all parts together."""
        squares, weight = parts[0].squares, parts[0].weight
        for part in parts[1:]:
            squares, weight = squares + part.squares, weight + part.weight
        low, high = np.min([part.low for part in parts], axis=0), np.max([part.high for part in parts], axis=0)
        return Spread(squares, weight, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Attributes with their scales, and the least and largest scaled value of each."""

    attributes: tuple[Attribute, ...]
    scale: FloatArray
    low: FloatArray
    high: FloatArray

    def values(self, table: Table) -> FloatArray:
        """The scaled attributes of every row, (n, d)."""
        return np.ascontiguousarray(attribute_matrix(self.attributes, table) / self.scale)

    @classmethod
    def of(cls, table: Table, weight: FloatArray, attributes: tuple[Attribute, ...] | None = None) -> "Space":
        """The space of a table; with `attributes`, around their means."""
        if attributes is None:
            attributes = attributes_from(table.schema, mean_sums(table, weight))
        return cls.around(attributes, spread_of(attributes, table, weight))

    @classmethod
    def around(cls, attributes: tuple[Attribute, ...], spread: Spread) -> "Space":
        """The space of rows with this spread."""
        (total,) = sums.exact_values(np.ascontiguousarray(spread.weight))
        squares = np.array(sums.exact_values(np.ascontiguousarray(spread.squares)))
        scale = np.sqrt(squares / total) if total > 0 else np.ones(len(attributes))
        scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
        low, high = (np.where(np.isfinite(bound), bound, 0.0) / scale for bound in (spread.low, spread.high))
        return cls(attributes, scale, low, high)


def mean_sums(table: Table, weight: FloatArray) -> IntArray:
    """For each attribute the exact sums of weight times value and of the weight, over the rows that have one: (2 d, limbs)."""
    refuse_too_wide(table)
    found: list[IntArray] = []
    for position, column in enumerate(table.schema.columns):
        values = table.columns[position]
        if column.kind == "categorical":
            present = weight * (values != MISSING_CATEGORY)
            found.extend(_limbs(weight * (values == code), present) for code in range(len(column.categories)))
        else:
            numbers = np.asarray(values, dtype=np.float64)
            squarable("X", numbers, column.name)
            missing = np.isnan(numbers)
            found.append(_limbs(np.where(missing, 0.0, weight * numbers), np.where(missing, 0.0, weight)))
    return np.concatenate(found) if found else _limbs(np.zeros(0), np.zeros(0))[:0]


def attributes_from(schema: Schema, sums_of_all: IntArray) -> tuple[Attribute, ...]:
    """The attributes of a table, with their means."""
    totals = np.array(sums.exact_values(np.ascontiguousarray(sums_of_all))).reshape(-1, 2)
    means = [float(value / weight) if weight > 0 else 0.0 for value, weight in totals]
    named = [
        (position, code)
        for position, column in enumerate(schema.columns)
        for code in (range(len(column.categories)) if column.kind == "categorical" else (-1,))
    ]
    return tuple(Attribute(*name, mean) for name, mean in zip(named, means, strict=True))


def spread_of(attributes: tuple[Attribute, ...], table: Table, weight: FloatArray) -> Spread:
    """How rows lie around the means."""
    (total,) = sums.exact_limbs(np.ascontiguousarray(weight, dtype=np.float64)[None, :])
    squares = np.zeros((len(attributes), len(total)), dtype=np.int64)
    low, high = np.full(len(attributes), np.inf), np.full(len(attributes), -np.inf)
    for place, attribute in enumerate(attributes):
        values = attribute.values(table)
        squares[place] = sums.exact_limbs(np.ascontiguousarray(weight * values**2)[None, :])[0]
        low[place], high[place] = values.min(initial=np.inf), values.max(initial=-np.inf)
    return Spread(squares, total[None, :], low, high)


def refuse_too_wide(table: Table) -> None:
    """A table whose attributes would fill the memory is refused."""
    width = sum(max(len(column.categories), 1) for column in table.schema.columns)
    if width * table.n_rows > LARGEST_MATRIX:
        widest = max(table.schema.columns, key=lambda column: len(column.categories))
        raise refusal(
            "X", f"of at most {LARGEST_MATRIX:,} cells, each category a column, for a linear learner",
            Words(f"{width:,} columns by {table.n_rows:,} rows ({len(widest.categories):,} categories in {widest.name!r})"),
            'use learner="tree" or learner="rule", which take categories as they are',
        )  # fmt: skip


def _limbs(*rows: FloatArray) -> IntArray:
    return sums.exact_limbs(np.ascontiguousarray(np.stack(rows), dtype=np.float64))
