"""The attributes of affine terms, each centred at its weighted mean and scaled to unit mean square.

Means and scales are exact sums over rows, rounded once. Two questions give them: the sums of the values, then the
squares around the means with the least and largest values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.models.kinds.affine import Attribute, attribute_matrix
from permissible.rows.part import Part, table_of, weights_of
from permissible.rows.selection import Selection
from permissible.rows.source import Question, Source
from permissible.table.schema import Schema
from permissible.table.table import MISSING_CATEGORY, Table
from permissible.types import FloatArray, IntArray
from permissible.validation import Words, refusal, squarable

LARGEST_MATRIX = 2**30
"""Largest number of cells of the attribute matrix, 8 bytes each, so that many categories do not fill the memory."""


class Spread(NamedTuple):
    """Spread around the means: exact sums of squares (attributes, limbs) and of weights, and the ranges."""

    squares: IntArray
    weight: IntArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Standardised:
    """Attributes with their scales, and the least and largest scaled value of each."""

    attributes: tuple[Attribute, ...]
    scale: FloatArray
    low: FloatArray
    high: FloatArray

    def values(self, table: Table) -> FloatArray:
        """The scaled attributes of every row, (n, d)."""
        return np.ascontiguousarray(attribute_matrix(self.attributes, table) / self.scale)

    def record(self, values: FloatArray | None = None) -> kernel.Attributes:
        """The attributes of some rows for the compiled core; of no rows, for choices from sums."""
        values = np.zeros((0, len(self.low))) if values is None else values
        return kernel.Attributes(values, self.low, self.high)

    @classmethod
    def around(cls, attributes: tuple[Attribute, ...], spread: Spread) -> "Standardised":
        """The attributes of rows with this spread."""
        (total,) = sums.exact_values(np.ascontiguousarray(spread.weight))
        squares = np.array(sums.exact_values(np.ascontiguousarray(spread.squares)))
        scale = np.sqrt(squares / total) if total > 0 else np.ones(len(attributes))
        scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
        low, high = (np.where(np.isfinite(bound), bound, 0.0) / scale for bound in (spread.low, spread.high))
        return cls(attributes, scale, low, high)


@dataclass(frozen=True, slots=True)
class MeanSums(Question[Part, IntArray]):
    """For each attribute the exact sums of weight times value and of weight, over rows with a value: (2 d, limbs)."""

    selection: Selection

    def answer(self, rows: Part) -> IntArray:
        """The answer of one part."""
        return mean_sums(*_table(rows, self.selection))


@dataclass(frozen=True, slots=True)
class SpreadOf(Question[Part, Spread]):
    """The spread of rows around the means of attributes."""

    attributes: tuple[Attribute, ...]
    selection: Selection

    def answer(self, rows: Part) -> Spread:
        """The answer of one part."""
        return spread_of(self.attributes, *_table(rows, self.selection))

    def merge(self, answers: Sequence[Spread]) -> Spread:
        """Sums add; the ranges are joined."""
        squares = np.sum([answer.squares for answer in answers], axis=0)
        weight = np.sum([answer.weight for answer in answers], axis=0)
        low, high = np.min([of.low for of in answers], axis=0), np.max([of.high for of in answers], axis=0)
        return Spread(squares, weight, low, high)


def standardise(source: Source, selection: Selection, attributes: tuple[Attribute, ...] | None = None) -> Standardised:
    """The attributes of the selected rows; around their means, or around those of the attributes given."""
    if attributes is None:
        attributes = attributes_from(source.binning.schema, source.survey(MeanSums(selection)))
    return Standardised.around(attributes, source.survey(SpreadOf(attributes, selection)))


def _table(part: Part, selection: Selection) -> tuple[Table, FloatArray]:
    """The selected rows of a part, and their weights."""
    rows = selection.rows(part)
    weight = weights_of(part)
    return table_of(part, rows), weight if rows is None else weight[rows]


def mean_sums(table: Table, weight: FloatArray) -> IntArray:
    """The answer to `MeanSums` of some rows."""
    refuse_too_wide(table)
    found: list[IntArray] = []
    for position, column in enumerate(table.schema.columns):
        values = table.columns[position]
        if column.kind == "categorical":
            present = weight * (values != MISSING_CATEGORY)
            found.extend(_limbs(weight * (values == code), present) for code in range(len(column.categories)))
        else:
            numbers = np.asarray(values, dtype=np.float64)
            squarable(numbers, column.name)
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
    """The spread of rows around the means."""
    (total,) = sums.exact_limbs(np.ascontiguousarray(weight, dtype=np.float64)[None, :])
    squares = np.zeros((len(attributes), len(total)), dtype=np.int64)
    low, high = np.full(len(attributes), np.inf), np.full(len(attributes), -np.inf)
    for place, attribute in enumerate(attributes):
        values = attribute.values(table)
        squares[place] = sums.exact_limbs(np.ascontiguousarray(weight * values**2)[None, :])[0]
        low[place], high[place] = values.min(initial=np.inf), values.max(initial=-np.inf)
    return Spread(squares, total[None, :], low, high)


def refuse_too_wide(table: Table) -> None:
    """An error if the attributes would fill the memory."""
    width = sum(max(len(column.categories), 1) for column in table.schema.columns)
    if width * table.n_rows > LARGEST_MATRIX:
        widest = max(table.schema.columns, key=lambda column: len(column.categories))
        expected = f"of at most {LARGEST_MATRIX:,} cells, each category a column, for a linear learner"
        most = f"{len(widest.categories):,} categories in {widest.name!r}"
        came = Words(f"{width:,} columns by {table.n_rows:,} rows ({most})")
        raise refusal("X", expected, came, 'use learner="tree" or learner="rule", which take categories as they are')


def _limbs(*rows: FloatArray) -> IntArray:
    return sums.exact_limbs(np.ascontiguousarray(np.stack(rows), dtype=np.float64))
