"""Bins of each column, found on the training rows.

A column of at most `max_bins` distinct values is not approximated: a threshold lies between every two neighbours.
Others get bins of equal weight from a sample of the rows; a value of more weight than a bin gets its own. A threshold
is the shortest decimal near the midpoint that separates its neighbours, so that it is easy to read.

A row is in the sample by the hash of its content and the seed, so equal rows go together and a row of weight 2 is the row
twice. The sample depends neither on the order of the rows nor on how they are split into parts: two samples merge by
keeping the smallest hashes of both.
"""

import math

import numpy as np

from permissible.bins.binning import Binning, ColumnBins
from permissible.bins.hashing import Hashes, row_hashes
from permissible.bins.literal import OTHER
from permissible.kernels._core import binning as kernels
from permissible.table.schema import Column
from permissible.table.table import MISSING_CATEGORY, Table
from permissible.types import AnyArray, Codes, FloatArray, IntArray
from permissible.validation.numbers import whole_number

SAMPLE_ROWS = 200_000
NO_THRESHOLDS: FloatArray = np.zeros(0)
NO_CODES: Codes = np.zeros(0, dtype=np.uint8)


def find_bins(
    table: Table, max_bins: int = 255, seed: int = 0, sample_weight: FloatArray | None = None, n_threads: int = 1
) -> Binning:
    """Find the bins of every column.

    A column has between 2 and 255 bins (a categorical one uses one of them for its rare categories). `seed` chooses the sample of
    200,000 rows that a larger table's quantiles come from. Weight 2 is the row twice, weight 0 the row left out.

    >>> from permissible.table import read
    >>> find_bins(read({"age": [41, 42, 30, 30, None]})).columns[0].thresholds
    array([40. , 41.5])
    """
    whole_number("max_bins", max_bins, 2, high=255)
    rows, weight = _counted(sample_weight)
    numeric = [j for j, column in enumerate(table.schema.columns) if column.kind != "categorical"]
    found = dict(zip(numeric, _numeric_bins(table, numeric, rows, weight, max_bins, seed, n_threads), strict=True))
    columns = tuple(
        found[j] if j in found else category_bins(column, table.columns[j], rows, weight, max_bins)
        for j, column in enumerate(table.schema.columns)
    )
    return Binning(table.schema, columns)


def _counted(sample_weight: FloatArray | None) -> tuple[IntArray | None, IntArray | None]:
    """The rows that count (None: all) and their integer weights (None: equal)."""
    if sample_weight is None:
        return None, None
    rows = None if np.all(sample_weight > 0) else np.flatnonzero(sample_weight > 0).astype(np.int64)
    weight = sample_weight if rows is None else sample_weight[rows]
    if len(weight) and np.all(weight == weight[0]):
        return rows, None
    return rows, integer_weights(weight, float(np.sum(weight)))


def _numeric_bins(
    table: Table,
    numeric: list[int],
    rows: IntArray | None,
    weight: IntArray | None,
    max_bins: int,
    seed: int,
    n_threads: int,
) -> list[ColumnBins]:
    columns = [table.columns[j] for j in numeric]
    n_rows = table.n_rows if rows is None else len(rows)
    unit = unit_weight(n_rows)
    if not columns:
        return []
    if n_rows <= SAMPLE_ROWS:
        edges = kernels.find_edges(columns, rows, weight, unit, max_bins, n_threads)
        return [_numeric_column(thresholds, missing) for thresholds, missing, _ in edges]
    hashes = row_hashes(table, seed, n_threads)
    inside = sample_rows(hashes if rows is None else hashes[rows])
    sampled = inside if rows is None else rows[inside]
    weight = None if weight is None else weight[inside]
    edges = kernels.find_edges(columns, sampled, weight, unit, max_bins, n_threads)
    few = [k for k, (_, _, exact) in enumerate(edges) if exact]
    # Where the sample shows few distinct values, those of all rows count, so that rare values are not lost.
    counted = kernels.distinct_values([columns[k] for k in few], rows, max_bins, n_threads)
    complete = dict(zip(few, counted, strict=True))
    found = []
    for k, (thresholds, _, _) in enumerate(edges):
        values, fits = complete.get(k, (NO_THRESHOLDS, False))
        missing = _any_missing(table, numeric[k], rows)
        found.append(_numeric_column(kernels.separators(values) if fits else thresholds, missing))
    return found


def _numeric_column(thresholds: FloatArray, has_missing: bool) -> ColumnBins:
    return ColumnBins(len(thresholds) + 1, has_missing, thresholds, NO_CODES)


def _any_missing(table: Table, column: int, rows: IntArray | None) -> bool:
    if rows is None and table.has_missing is not None:
        return bool(table.has_missing[column])
    values = table.columns[column] if rows is None else table.columns[column][rows]
    return bool(np.isnan(values).any())


def category_bins(
    column: Column, codes: AnyArray, rows: IntArray | None, weight: IntArray | None, max_bins: int
) -> ColumnBins:
    """The categories of largest weight get a bin each, in the order of the categories; the others share OTHER."""
    codes = codes if rows is None else codes[rows]
    mass = category_masses(codes, weight, len(column.categories))
    return bins_of_masses(mass, bool(np.any(codes == MISSING_CATEGORY)), max_bins)


def category_masses(codes: AnyArray, weight: IntArray | None, n_categories: int) -> IntArray:
    """The integer weight of each category."""
    mass = np.zeros(n_categories, dtype=np.int64)
    known = codes >= 0
    np.add.at(mass, codes[known], 1 if weight is None else weight[known])
    return mass


def bins_of_masses(mass: IntArray, has_missing: bool, max_bins: int = 255) -> ColumnBins:
    """Bins from the weight of each category; the weights of parts of a table can be added."""
    heaviest = np.argsort(-mass, kind="stable")[: max_bins - 1]
    own = np.sort(heaviest[mass[heaviest] > 0])
    code_of_category = np.full(len(mass), OTHER, dtype=np.uint8)
    code_of_category[own] = np.arange(len(own), dtype=np.uint8)
    return ColumnBins(len(own), has_missing, NO_THRESHOLDS, code_of_category)


def sample_rows(hashes: Hashes, limit: int = SAMPLE_ROWS) -> IntArray:
    """The rows whose hash is among the `limit` smallest distinct ones, in order."""
    return np.flatnonzero(hashes <= np.uint64(kernels.largest_kept(hashes, limit))).astype(np.int64, copy=False)


def integer_weights(weight: FloatArray, total: float) -> IntArray:
    """Weights as integers of at least 1, on a power-of-two grid on which `total` is below 2^60."""
    return np.maximum(np.rint(weight * _grid(total)), 1.0).astype(np.int64)


def unit_weight(n_rows: int) -> int:
    """The integer weight of a row of weight 1 on the grid of `n_rows` such rows."""
    return max(int(_grid(float(n_rows))), 1)


def _grid(total: float) -> float:
    return math.ldexp(1.0, 60 - math.frexp(total)[1]) if total > 0 else 1.0
