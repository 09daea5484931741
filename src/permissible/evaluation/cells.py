"""Rows of two classes as counts: the weight of each class at each distinct probability, and resamples of those counts.

Every performance measure of two classes can be computed from these counts, so a bootstrap resample of the rows is one multinomial
draw of the cells. A row of weight 2 counts as two rows, also in the intervals: integer weights are numbers of rows, and a
resample has as many rows as they sum to. Other weights are taken as survey weights; a resample then has their effective
number of rows, (sum w)^2 / sum w^2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from permissible.decisions.proba import by_class, positive
from permissible.evaluation.labels import truth_of
from permissible.types import ArrayLike, FloatArray, IntArray
from permissible.validation import Words, refusal, weights

MAX_CELLS = 1024
"""Resamples are drawn from at most this many cells; beyond that, neighbouring probabilities share a cell."""

CHUNK = 2_000_000
"""Counts that are drawn at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Distinct probabilities in increasing order and, for B samples, the counts of both classes there.

    `counts` has shape (B, 2, G): one sample for what was observed, many for resamples.
    """

    probability: FloatArray
    counts: FloatArray

    @property
    def total(self) -> FloatArray:
        """Rows of each sample, shape (B,)."""
        return np.asarray(self.counts.sum(axis=(1, 2)))

    @property
    def by_class(self) -> FloatArray:
        """Rows of each class, shape (B, 2)."""
        return np.asarray(self.counts.sum(axis=2))


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Outcomes and predictions as cells, with the number of rows that the weights stand for."""

    cells: Cells
    size: float

    def between(self, thresholds: FloatArray) -> "Judged":
        """Return the same rows in the cells between thresholds: resamples of these are exact for any number of rows."""
        ordered = np.unique(thresholds)
        place = np.searchsorted(ordered, self.cells.probability, side="left")  # a row at a threshold is not above it
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        merged = np.add.reduceat(self.cells.counts, starts, axis=2)
        return Judged(Cells(self.cells.probability[starts], merged), self.size)

    def grouped(self) -> Cells:
        """Return at most MAX_CELLS cells, of about equally many rows, each at the mean probability of its rows."""
        cells = self.cells
        if len(cells.probability) <= MAX_CELLS:
            return cells
        rows = cells.counts[0].sum(axis=0)
        group = np.minimum((np.cumsum(rows) - rows) / rows.sum() * MAX_CELLS, MAX_CELLS - 1).astype(np.int64)
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        merged = np.add.reduceat(cells.counts, starts, axis=2)
        middle = np.add.reduceat(cells.probability * rows, starts) / merged[0].sum(axis=0)
        return Cells(np.minimum(np.maximum(middle, cells.probability[0]), cells.probability[-1]), merged)

    def resamples(self, n_samples: int, seed: int) -> Iterator[Cells]:
        """Yield bootstrap resamples, some at a time."""
        grouped = self.grouped()
        for drawn in draws(grouped.counts[0], self.size, n_samples, seed):
            yield Cells(grouped.probability, drawn)


def judged(y: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None = None) -> Judged:
    """Return the cells of labels and P(positive).

    >>> found = judged([0, 1, 1, 0], [0.2, 0.8, 0.2, 0.2], [1, 1, 2, 1])
    >>> found.cells.probability.tolist(), found.cells.counts[0].tolist(), found.size
    ([0.2, 0.8], [[2.0, 0.0], [2.0, 1.0]], 5.0)
    """
    p = positive(proba)
    truth, weight = truth_of(y, len(p), 2), weights_of(sample_weight, len(p))
    kept = weight > 0
    values, place = np.unique(p[kept], return_inverse=True)
    counts = np.zeros((2, len(values)))
    np.add.at(counts, (truth[kept], place.ravel()), weight[kept])
    return Judged(Cells(values, counts[None]), row_count(weight))


def rows_of(
    y: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None, classes: Sequence[object] | None = None
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return codes, probabilities by class and weights of rows of any number of classes."""
    table = by_class(proba)
    return truth_of(y, len(table), table.shape[1], classes), table, weights_of(sample_weight, len(table))


def weights_of(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """Return the weights, 1 for each row where none are given; no rows are refused."""
    if n_rows == 0:
        raise refusal("y", "at least one row", Words("none"))
    return np.ones(n_rows) if sample_weight is None else weights("sample_weight", sample_weight, length=n_rows)


def row_count(weight: FloatArray) -> float:
    """Return the number of rows that weights stand for: their sum where they are whole, else their effective number."""
    if (weight == np.floor(weight)).all():
        return float(weight.sum())
    return float(weight.sum() ** 2 / (weight**2).sum())


def draws(counts: FloatArray, size: float, n_samples: int, seed: int) -> Iterator[FloatArray]:
    """Yield multinomial resamples of counts of any shape, some at a time."""
    generator = np.random.default_rng(seed)
    shares = counts.ravel() / counts.sum()
    rows, step = max(1, round(size)), max(1, CHUNK // counts.size)
    for start in range(0, n_samples, step):
        drawn = generator.multinomial(rows, shares, size=min(step, n_samples - start))
        yield drawn.reshape(-1, *counts.shape).astype(np.float64)
