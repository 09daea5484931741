"""Pass 1 over a table in parts: what `find_bins` needs to know of the whole table, in bounded memory.

Surveys of parts merge in any order to the same result, and `binning` gives exactly the bins that `find_bins` finds on
the whole table. A survey keeps, per column, its kind, categories, missing flag and up to 256 distinct values. It also
keeps a sample: the rows with the smallest content hashes (bins/hashing.py), each distinct row once with its count.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from permissible.bins.binning import Binning, ColumnBins
from permissible.bins.find import NO_CODES, SAMPLE_ROWS, bins_of_masses, integer_weights, unit_weight
from permissible.bins.hashing import Hashes, row_hashes
from permissible.kernels._core import binning as kernels
from permissible.table.observe import category_order
from permissible.table.schema import Category, Column, Kind, Schema
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray, IntArray
from permissible.validation import Words, refusal

Rows: TypeAlias = tuple[Hashes, FloatArray, IntArray, list[AnyArray]]
"""Rows of a sample: their hashes, weights, counts, and the values of each column."""
LEAST_SUM, GREATEST_SUM = 1e-6, 1e18


@dataclass(slots=True)
class ColumnSurvey:
    """What is known about one column so far."""

    name: str
    kind: Kind
    has_missing: bool = False
    counts: Counter[Category] = field(default_factory=Counter)
    distinct: FloatArray = field(default_factory=lambda: np.zeros(0))
    complete: bool = True

    def add(self, column: Column, values: AnyArray, max_bins: int, has_missing: bool | None = None) -> None:
        """Add the values of one part; `has_missing` says whether one is missing, where that is known."""
        if column.kind == "categorical":
            self.has_missing |= bool((values == -1).any())
            counts = np.bincount(values[values >= 0], minlength=len(column.categories))
            self.merge_kind(column.kind, bool(counts.any()))
            self.counts.update({c: int(n) for c, n in zip(column.categories, counts, strict=True) if n})
            return
        self.has_missing |= bool(np.isnan(values).any() if has_missing is None else has_missing)
        ((found, complete),) = kernels.distinct_values([values], None, max_bins)
        self.merge_kind(column.kind, len(found) > 0)
        self.merge_distinct(found, complete, max_bins)

    def merge_kind(self, kind: Kind, holds_values: bool) -> None:
        """Parts must agree on the kind of a column; a part where it is empty does not count."""
        if kind == self.kind or not holds_values:
            return
        if not (self.counts or len(self.distinct)):
            self.kind = kind
        elif "categorical" in (kind, self.kind):
            raise refusal(
                f"X[{self.name!r}]",
                "of one kind throughout",
                Words(f"{self.kind} in one part and {kind} in another"),
                "convert the column to one type",
            )
        else:
            self.kind = "numeric"

    def merge_distinct(self, values: FloatArray, complete: bool, max_bins: int) -> None:
        """Keep distinct values, up to one more than the largest number of bins."""
        merged = np.union1d(self.distinct, values)
        self.complete = self.complete and complete and len(merged) <= max_bins
        self.distinct = merged[: max_bins + 1]


@dataclass(slots=True)
class Sample:
    """The rows with the smallest content hashes: distinct (hash, weight) pairs, their counts and values.

    Rows are buffered in `pending` until a merge is worthwhile.
    """

    hashes: Hashes = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))
    counts: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    columns: list[AnyArray] = field(default_factory=list)
    bound: int = 2**64 - 1
    pending: list[Rows] = field(default_factory=list)

    def add(self, rows: Rows) -> None:
        """Add rows; those above the bound can no longer enter the sample."""
        if len(rows[0]) and rows[0].min() <= self.bound:
            self.pending.append(_up_to(rows, self.bound))
        if sum(len(waiting[0]) for waiting in self.pending) >= SAMPLE_ROWS:
            self.settle()

    def settle(self) -> None:
        """Merge the buffered rows, combine equal ones, and keep those of the SAMPLE_ROWS smallest distinct hashes."""
        if not self.pending:
            return
        parts = [*self.pending]
        if len(self.hashes):
            parts.insert(0, (self.hashes, self.weights, self.counts, self.columns))
        self.pending = []
        if len(parts) == 1 and len(parts[0][0]) <= SAMPLE_ROWS and np.all(parts[0][0][1:] > parts[0][0][:-1]):
            self.hashes, self.weights, self.counts, self.columns = parts[
                0
            ]  # sorted and distinct, as `draw` leaves them
            if len(self.hashes) == SAMPLE_ROWS:
                self.bound = int(self.hashes[-1])
            return
        hashes, weights, counts = (np.concatenate([part[i] for part in parts]) for i in (0, 1, 2))
        order = np.lexsort((weights, hashes))
        hashes, weights, counts = hashes[order], weights[order], counts[order]
        new = np.append(True, hashes[1:] != hashes[:-1])
        last = _last_kept(hashes[new])
        starts = np.flatnonzero(new | np.append(False, weights[1:] != weights[:-1]))
        keep = hashes[starts] <= last
        self.hashes, self.weights = hashes[starts][keep], weights[starts][keep]
        self.counts = np.add.reduceat(counts, starts)[keep]
        first = order[starts[keep]]
        together = zip(*(part[3] for part in parts), strict=True)
        self.columns = [(one[0] if len(one) == 1 else np.concatenate(one))[first] for one in together]
        if int(new.sum()) >= SAMPLE_ROWS:
            self.bound = int(last)

    def below(self, bound: int) -> Rows:
        """The rows up to a hash."""
        self.settle()
        return _up_to((self.hashes, self.weights, self.counts, self.columns), bound)


def _up_to(rows: Rows, bound: int) -> Rows:
    """The rows up to a hash."""
    hashes, weights, counts, columns = rows
    inside = hashes <= np.uint64(bound)
    if inside.all():
        return rows
    return hashes[inside], weights[inside], counts[inside], [c[inside] for c in columns]


def _last_kept(distinct: Hashes) -> np.uint64:
    """The largest of the `SAMPLE_ROWS` smallest hashes, which are distinct and sorted."""
    return np.uint64(distinct[min(len(distinct), SAMPLE_ROWS) - 1])


def smallest_hashes(found: Sequence[Hashes]) -> Hashes:
    """The `SAMPLE_ROWS` smallest distinct hashes of several arrays, sorted."""
    kept = [one for one in found if len(one)] or [np.zeros(0, dtype=np.uint64)]
    joined = kept[0] if len(kept) == 1 else np.concatenate(kept)
    joined = np.sort(joined[joined <= np.uint64(kernels.largest_kept(joined, SAMPLE_ROWS))])
    return joined[np.append(True, joined[1:] != joined[:-1])] if len(joined) else joined


def bound_of(smallest: Hashes) -> int:
    """The hash up to which rows belong to the sample, from its smallest hashes."""
    return int(smallest[-1]) if len(smallest) == SAMPLE_ROWS else 2**64 - 1


class Survey:
    """Survey of a table: `add` parts, `merge` other surveys, then ask for the `schema` and the `binning`."""

    def __init__(self, max_bins: int = 255, seed: int = 0) -> None:
        self.max_bins = max_bins
        self.seed = seed
        self.n_rows = 0
        self.columns: list[ColumnSurvey] = []
        self.sample = Sample()
        self.total_weight = 0.0
        self.weights: set[float] = set()  # up to two distinct ones, to know whether the rows are weighted

    def add(self, table: Table, weight: FloatArray | None = None, sampled: bool = True) -> Hashes:
        """Add the rows of positive weight of one part, and return their content hashes.

        Where `sampled` is false the sample is drawn later, from rows that are kept.
        """
        if not self.columns:
            self.columns = [ColumnSurvey(column.name, column.kind) for column in table.schema.columns]
        self._check_names(table.schema.names)
        if weight is not None and not weight.all():
            table, weight = table.take(weight > 0), weight[weight > 0]
        if table.n_rows == 0:
            return np.zeros(0, dtype=np.uint64)
        missing = [None] * len(self.columns) if table.has_missing is None else table.has_missing.tolist()
        for known, column, values, lacks in zip(
            self.columns, table.schema.columns, table.columns, missing, strict=True
        ):
            known.add(column, values, self.max_bins, lacks)
        self.n_rows += table.n_rows
        self.total_weight += float(table.n_rows if weight is None else weight.sum())
        self._meet_weights([1.0] if weight is None else np.unique(weight)[:2].tolist())
        hashes = row_hashes(table, self.seed)
        if sampled:
            self.draw(table, weight, hashes, min(self.sample.bound, kernels.largest_kept(hashes, SAMPLE_ROWS)))
        return hashes

    def draw(self, table: Table, weight: FloatArray | None, hashes: Hashes, bound: int) -> None:
        """Add the rows up to a hash to the sample, sorted by their hashes."""
        inside = np.flatnonzero(hashes <= np.uint64(bound))
        inside = inside[np.argsort(hashes[inside], kind="stable")]
        weights = np.ones(len(inside)) if weight is None else weight[inside]
        columns = [_as_values(values[inside]) for values in table.columns]
        self.sample.add((hashes[inside], weights, np.ones(len(inside), dtype=np.int64), columns))

    def without_sample(self) -> "Survey":
        """The same survey with an empty sample."""
        found = copy(self)
        found.sample = Sample()
        return found

    def merge(self, other: "Survey") -> None:
        """Merge another survey."""
        if not other.columns:
            return
        if not self.columns:
            self.columns = [ColumnSurvey(column.name, column.kind) for column in other.columns]
        self._check_names(tuple(column.name for column in other.columns))
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            mine.merge_kind(theirs.kind, bool(theirs.counts or len(theirs.distinct)))
            mine.has_missing |= theirs.has_missing
            mine.counts.update(theirs.counts)
            mine.merge_distinct(theirs.distinct, theirs.complete, self.max_bins)
        self.n_rows += other.n_rows
        self.total_weight += other.total_weight
        self._meet_weights(other.weights)
        other.sample.settle()
        if len(other.sample.hashes):
            drawn = other.sample
            self.sample.add((drawn.hashes, drawn.weights, drawn.counts, drawn.columns))

    def _meet_weights(self, weights: Iterable[float]) -> None:
        self.weights = set(sorted({*self.weights, *weights})[:2])

    def schema(self, named: bool = True) -> Schema:
        """The columns of the whole table."""
        return Schema(
            tuple(Column(c.name, c.kind, tuple(sorted(c.counts, key=category_order))) for c in self.columns), named
        )

    def binning(self, named: bool = True) -> Binning:
        """The bins of the whole table, as `find_bins` finds them."""
        schema = self.schema(named)
        self._check_weights()
        self.sample.settle()
        numeric = [j for j, column in enumerate(schema.columns) if column.kind != "categorical"]
        weights = self._integer_weights()
        edges = (
            kernels.find_edges(
                [np.ascontiguousarray(self.sample.columns[j], dtype=np.float64) for j in numeric],
                None,
                weights,
                1,
                self.max_bins,
                1,
            )
            if numeric
            else []
        )
        found: dict[int, ColumnBins] = {}
        for j, (thresholds, _, exact) in zip(numeric, edges, strict=True):
            known = self.columns[j]
            if exact and known.complete:
                thresholds = kernels.separators(known.distinct)
            found[j] = ColumnBins(len(thresholds) + 1, known.has_missing, thresholds, NO_CODES)
        return Binning(
            schema, tuple(found.get(j) or self._category_bins(j, column) for j, column in enumerate(schema.columns))
        )

    def _category_bins(self, j: int, column: Column) -> ColumnBins:
        counts = self.columns[j].counts
        mass = np.array([counts[category] for category in column.categories], dtype=np.int64)
        if len(self.weights) > 1 and len(mass) >= self.max_bins:
            raise refusal(
                "weight",
                f"equal for all rows when a column has more than {self.max_bins - 1} categories",
                Words(f"weights that differ, and {len(mass)} categories in column {column.name!r}"),
                "merge rare categories or leave the column out",
            )
        return bins_of_masses(mass, self.columns[j].has_missing, self.max_bins)

    def _integer_weights(self) -> IntArray:
        """The weight of each sampled row, on the grid that `find_bins` would use on the whole table."""
        if len(self.weights) <= 1:
            return self.sample.counts * unit_weight(self.n_rows)
        return self.sample.counts * integer_weights(self.sample.weights, self.total_weight)

    def _check_weights(self) -> None:
        """Extreme weights are rescaled in memory; in parts they are an error."""
        if self.n_rows and not LEAST_SUM <= self.total_weight <= GREATEST_SUM:
            expected = f"of a sum between {LEAST_SUM:g} and {GREATEST_SUM:g} for data in parts"
            raise refusal("weight", expected, Words(f"a sum of {self.total_weight:g}"), "scale them all by one factor")

    def _check_names(self, names: tuple[str, ...]) -> None:
        known = tuple(column.name for column in self.columns)
        if names != known:
            raise refusal("batches", f"of the same columns throughout, {known[:5]}", names[:5])


def _as_values(values: AnyArray) -> AnyArray:
    """Numbers in their own precision. Categorical columns have no bin edges: zeros take the place of their values."""
    if values.dtype == np.int32:
        return np.zeros(len(values), dtype=np.float32)
    return values if values.dtype == np.float32 else values.astype(np.float64, copy=False)
