"""The rows of a fit of boosted trees, in memory or in parts, behind one protocol."""

import math
from typing import Protocol, TypeGuard

from permissible.learners.trees.boosted import BoostedRows, BoostedTrace, BoostedTrees, Callback, boost_trees
from permissible.learners.trees.boosted_options import BoostedOptions
from permissible.learners.trees.boosted_parts import OpenBoosted, RowsInParts
from permissible.learners.trees.boosted_weights import WeightUnit, unit_of
from permissible.losses import Loss
from permissible.losses.entropy import Functor
from permissible.rows.few import few_rows
from permissible.rows.keys import column_numbers
from permissible.rows.local import LocalSource
from permissible.rows.selection import ALL_ROWS
from permissible.rows.source import Source
from permissible.rows.splits import Split


class RowSet(Protocol):
    """Training rows, and held-out rows where there are some, with the sums of their weights."""

    n_classes: int
    has_held_out: bool
    total: float
    held_total: float

    def boost(
        self, loss: Functor, options: BoostedOptions, n_threads: int, callback: Callback | None
    ) -> tuple[BoostedTrees, BoostedTrace]:
        """Boost trees from start to end."""


class _RowsInMemory:
    def __init__(self, rows: BoostedRows, held_out: BoostedRows | None) -> None:
        self._rows, self._held_out = rows, held_out
        self.n_classes, self.has_held_out = rows.n_classes, held_out is not None
        self.total = _weight_of(rows)
        self.held_total = 0.0 if held_out is None else _weight_of(held_out)

    def boost(
        self, loss: Functor, options: BoostedOptions, n_threads: int, callback: Callback | None
    ) -> tuple[BoostedTrees, BoostedTrace]:
        return boost_trees(self._rows, loss, options, held_out=self._held_out, n_threads=n_threads, callback=callback)


class BoostedSource:
    """The rows of one fit, wherever they lie."""

    def __init__(self, source: Source, loss: Loss, validation: LocalSource | None, n_threads: int) -> None:
        self.source, self.loss, self.unit = source, loss, unit_of(source)
        self.n_threads, self._validation = n_threads, validation
        self._numbers = column_numbers(source)
        self.memory = source if _is_in_memory(source) else None

    def rows(self, split: Split | None = None) -> RowSet:
        """All rows, with the validation rows as held-out ones, or the two sides of a split."""
        if self.memory is not None:
            if split is not None:
                return _RowsInMemory(*(self._in_memory(self.memory.selected(side)) for side in split))
            given = (
                None if self._validation is None else _rows_of(self._validation, WeightUnit(whole=False), self._numbers)
            )
            return _RowsInMemory(self._in_memory(self.memory), given)
        training, held_out = split if split is not None else (ALL_ROWS, None)
        opening = OpenBoosted(
            self.loss,
            len(self.source.classes),
            self.unit,
            training,
            held_out,
            n_threads=self.n_threads,
            numbers=self._numbers,
        )
        return RowsInParts(self.source, opening)

    def few(self, limit: float) -> BoostedRows | None:
        """All rows in this process if there are at most this many."""
        if self.memory is not None:
            return self._in_memory(self.memory) if self.source.n_rows <= limit else None
        binned, target, weight = few_rows(self.source, int(limit))
        if binned is None:
            return None
        return BoostedRows(binned, target, len(self.source.classes), self.unit.of(weight))

    def _in_memory(self, source: LocalSource) -> BoostedRows:
        return _rows_of(source, self.unit, self._numbers)


def _is_in_memory(source: Source) -> TypeGuard[LocalSource]:
    return isinstance(source, LocalSource) and len(source.parts) == 1 and source.parts[0].in_memory


def _weight_of(rows: BoostedRows) -> float:
    return float(rows.binned.n_rows) if rows.weight is None else math.fsum(rows.weight)


def _rows_of(source: LocalSource, unit: WeightUnit, numbers: tuple[int, ...]) -> BoostedRows:
    part = source.parts[0]
    return BoostedRows(part.binned(), part.target(), len(source.classes), unit.of(part.weight()), numbers)
