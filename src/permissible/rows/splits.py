"""Hold-out and folds by content: training rows and held-out rows.

Rows are assigned by a hash of their content and the seed. Duplicated rows stay together, the order of rows does not
matter, weight 2 is the row twice, and every worker finds the same rows without communication. Within each class the
rows are put in the order of their hash; a fold is an interval that holds its fraction of the class's weight. Above
`RANGE_ROWS` rows the ends of the intervals follow from the range of the hash alone.

With many duplicated rows a hold-out by content would contain only unseen patterns, while new rows will mostly be known
ones. `has_duplicates` detects such tables, for which the training loss is used instead.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from permissible.bins.hashing import Hashes, Keys
from permissible.rows.keys import keys_of
from permissible.rows.part import Part
from permissible.rows.selection import ALL_ROWS, NO_HASH, Selection, classes_of, hashes_of
from permissible.rows.source import ByPart, Question, Source
from permissible.rows.totals import RowsByClass, TotalsOf
from permissible.types import AnyArray, FloatArray, IntArray

HELD_OUT = 0.2
FOLDS, HELD_ROWS = 5, 10_000
DUPLICATE_RATE = 8.0
"""A table whose rows occur more often than this on average has duplicates."""
PROBED = 4096
RANGE_ROWS = 100_000
LAST_HASH = 2**64 - 1


class Split(NamedTuple):
    """Training rows and held-out rows."""

    training: Selection
    held_out: Selection


def hold_out(
    source: Source,
    label: int | None = None,
    fraction: float = HELD_OUT,
    *,
    keep_rare: bool = False,
    keys: Keys | None = None,
) -> Split | None:
    """Hold out the lowest hashes of each class, or the lowest keys.

    A class that would have no row on one of the two sides stays among the training rows where `keep_rare` is true; else
    there is no hold-out, and the answer is None.
    """
    held_out = Selection(tuple((0, int(end[0])) for end in _ends(source, label, (fraction,), keys)), True, label, keys)
    n_rows, n_held = _class_rows(source, label), _class_rows(source, label, held_out)
    cut = [0 < held < rows for held, rows in zip(n_held, n_rows, strict=True)]
    if not keep_rare and any(rows and not both for rows, both in zip(n_rows, cut, strict=True)):
        return None
    if not any(cut):
        return None
    kept = zip(held_out.intervals, cut, strict=True)
    held_out = replace(held_out, intervals=tuple(held if both else NO_HASH for held, both in kept))
    return Split(held_out.complement(), held_out)


def folds(source: Source, n_folds: int, label: int | None = None, keys: Keys | None = None) -> Iterator[Split]:
    """Divide the hashes of each class into intervals of equal weight; folds with an empty side are dropped."""
    ends = _ends(source, label, tuple((k + 1) / n_folds for k in range(n_folds - 1)), keys)
    for k in range(n_folds):
        held_out = Selection(tuple(_fold(end, k, n_folds) for end in ends), label=label, keys=keys)
        if 0 < source.survey(TotalsOf(held_out)).n_rows < source.n_rows:
            yield Split(held_out.complement(), held_out)


def evaluation_folds(
    source: Source, label: int | None = None, seed: int = 0, asked: int | None = None
) -> tuple[Split, ...]:
    """The folds by which a fit chooses: all of `FOLDS`, or the first ones where these hold `HELD_ROWS` rows already.

    The error of a mean loss falls with the number of held-out rows, so that many rows need few folds. A fold whose
    training rows would lack a class is left out. Where a number of folds is asked for, there are so many.
    """
    n_folds = asked or min(FOLDS, max(1, math.ceil(HELD_ROWS * FOLDS / source.n_rows)))
    splits = folds(source, asked or FOLDS, label, keys_of(source, seed))
    return tuple(islice(with_all_classes(source, splits, label), n_folds))


def with_all_classes(source: Source, splits: Iterator[Split], label: int | None = None) -> Iterator[Split]:
    """The splits whose training rows lack no class."""
    n_rows = _class_rows(source, label)

    def whole(split: Split) -> bool:
        held = _class_rows(source, label, split.held_out)
        return all(all_rows == 0 or held_rows < all_rows for held_rows, all_rows in zip(held, n_rows, strict=True))

    return filter(whole, splits)


def fold_of_rows(hashes: Hashes, target: AnyArray, weight: FloatArray | None, n_folds: int) -> IntArray:
    """The fold of each row, for rows in arrays."""
    fractions = tuple((k + 1) / n_folds for k in range(n_folds - 1))
    found = np.zeros(len(hashes), dtype=np.int64)
    for cls in np.unique(target):
        rows = target == cls
        ends = class_ends(hashes[rows], None if weight is None else weight[rows], fractions, len(hashes))
        found[rows] = np.searchsorted(ends, hashes[rows])
    return found


def class_ends(hashes: Hashes, weight: FloatArray | None, fractions: Sequence[float], n_rows: int) -> Hashes:
    """The hashes up to which the rows of a class have about each fraction of its weight; equal hashes stay together."""
    if n_rows >= RANGE_ROWS or not len(hashes):
        return np.array([int(fraction * 2.0**64) - 1 for fraction in fractions], dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    ranked = hashes[order]
    mass = np.cumsum(np.ones(len(order)) if weight is None else weight[order])
    last = np.append(ranked[1:] != ranked[:-1], True)
    nearest = [int(np.argmin(np.abs(mass[last] - fraction * mass[-1]))) for fraction in fractions]
    return np.asarray(ranked[last][nearest])


def has_duplicates(source: Source) -> bool:
    """Whether rows occur more than `DUPLICATE_RATE` times on average.

    Rows are counted, not weights. Only here weight 2 is not the row twice: weights may be in any unit, and a choice
    that does not depend on the unit cannot count weight 9 as nine rows.
    """
    if source.n_rows >= RANGE_ROWS:
        return few_distinct(len(source.survey(DistinctHashes(probe_bound(source.n_rows)))))
    return source.n_rows > DUPLICATE_RATE * len(source.survey(DistinctHashes(LAST_HASH)))


def probe_bound(n_rows: int) -> int:
    """The hash up to which about `PROBED` of this many rows lie if all are distinct."""
    return int(PROBED / n_rows * 2.0**64)


def few_distinct(n_distinct: int) -> bool:
    """Whether this number of distinct rows up to the probed hash means duplicates."""
    return n_distinct * DUPLICATE_RATE < PROBED


class Contents(NamedTuple):
    """Hash, class and weight of each row."""

    hashes: Hashes
    target: AnyArray
    weight: FloatArray | None


@dataclass(frozen=True, slots=True)
class ContentsOf(ByPart[Part, Contents]):
    """Hashes, classes and weights of all rows by the number of their part: asked only for few rows."""

    keys: Keys | None = None

    def answer(self, rows: Part) -> dict[int, Contents]:
        """The answer of one part."""
        return {rows.number: Contents(hashes_of(rows, self.keys), rows.target(), rows.weight())}


@dataclass(frozen=True, slots=True)
class DistinctHashes(Question[Part, Hashes]):
    """The distinct hashes up to a bound."""

    bound: int

    def answer(self, rows: Part) -> Hashes:
        """The answer of one part."""
        hashes = rows.hashes()
        return np.unique(hashes[hashes <= np.uint64(self.bound)])

    def merge(self, answers: Sequence[Hashes]) -> Hashes:
        """The answers of all parts, merged."""
        return np.unique(np.concatenate(answers))


def _ends(source: Source, label: int | None, fractions: Sequence[float], keys: Keys | None = None) -> list[Hashes]:
    """For each class the hashes at which its rows are divided."""
    n_classes = len(source.classes) if label is None else 2
    if source.n_rows >= RANGE_ROWS:
        return [class_ends(np.zeros(0, dtype=np.uint64), None, fractions, source.n_rows)] * n_classes
    hashes, targets, weights = zip(*source.survey(ContentsOf(keys)).values(), strict=True)
    joined, classes = np.concatenate(hashes), classes_of(np.concatenate(targets), label)
    weight = np.concatenate(weights) if source.weighted else None
    return [
        class_ends(joined[rows], None if weight is None else weight[rows], fractions, source.n_rows)
        for rows in (classes == cls for cls in range(n_classes))
    ]


def _fold(ends: Hashes, k: int, n_folds: int) -> tuple[int, int]:
    """The interval of a fold between the ends of one class."""
    first = int(ends[k - 1]) + 1 if k else 0
    last = int(ends[k]) if k < n_folds - 1 else LAST_HASH
    return (first, last) if first <= last else NO_HASH


def _class_rows(source: Source, label: int | None, selection: Selection = ALL_ROWS) -> list[int]:
    """The number of selected rows of each class; where a label is given, of all other classes and of this label."""
    counts = source.survey(RowsByClass(len(source.classes), selection)).tolist()
    return counts if label is None else [sum(counts) - counts[label], counts[label]]
