"""The figures of the report as plain numbers: reliability, margins, risk against coverage, importance. No plotting here."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from permissible.decisions import Hard
from permissible.evaluation.cells import judged
from permissible.evaluation.intervals import Z95, wilson
from permissible.evaluation.metrics import LOG_LOSS
from permissible.models.card.scorecard import Scorecard, scores
from permissible.table.table import Table
from permissible.types import ArrayLike, FloatArray, IntArray
from permissible.validation.numbers import count

POINTS = 101


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Rows of similar predicted probability: their mean prediction, observed rate and number."""

    predicted: float
    happened: float
    low: float
    high: float
    count: float


def reliability(
    happened: ArrayLike, predicted: ArrayLike, n_bins: int = 10, weight: ArrayLike | None = None, z: float = Z95
) -> list[ReliabilityBin]:
    """Bins of about equal size by predicted probability, with Wilson's intervals; equal predictions share a bin."""
    count("n_bins", n_bins)
    rows = judged(happened, predicted, weight)
    (negative, positive), p = rows.cells.counts[0], rows.cells.probability
    counts = negative + positive
    unit = rows.size / counts.sum()
    place = np.minimum((np.cumsum(counts) - counts) / counts.sum() * n_bins, n_bins - 1).astype(np.int64)
    bins = []
    for part in np.split(np.arange(len(p)), np.flatnonzero(np.diff(place)) + 1):
        size = float(counts[part].sum())
        share = float(positive[part].sum() / size)
        middle = float((counts[part] * p[part]).sum() / size)
        bins.append(ReliabilityBin(middle, share, *wilson(share, unit * size, z), size))
    return bins


def cumulative(values: FloatArray, weight: FloatArray | None = None) -> tuple[list[float], list[float]]:
    """The fraction of values at most theta, for theta over [-1, 1]: the cumulative margin distribution."""
    grid = np.linspace(-1.0, 1.0, POINTS)
    order = np.argsort(values, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(np.ones(len(values)) if weight is None else weight[order])])
    found = total[np.searchsorted(values[order], grid, side="right")]
    return grid.tolist(), (found / max(total[-1], 1e-300)).tolist()


def risk_coverage(
    codes: IntArray, proba: FloatArray, weight: FloatArray | None = None
) -> tuple[list[float], list[float]]:
    """Coverage and risk: the error among the rows with the highest confidence, for each fraction of them.

    Rows of equal confidence are decided together, so that their order does not matter.
    """
    confidence = proba.max(axis=1)
    wrong = (Hard().decide(proba) != codes).astype(np.float64)
    _, place = np.unique(-confidence, return_inverse=True)
    rows = np.ones(len(codes)) if weight is None else weight
    sizes = np.cumsum(np.bincount(place.ravel(), weights=rows))
    errors = np.cumsum(np.bincount(place.ravel(), weights=wrong * rows))
    kept = np.unique(np.linspace(0, len(sizes) - 1, min(POINTS, len(sizes))).round().astype(int))
    kept = kept[sizes[kept] > 0]
    return (sizes[kept] / sizes[-1]).tolist(), (errors[kept] / sizes[kept]).tolist()


MAX_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Importance:
    """How much a column or a term matters."""

    name: str
    value: float


def column_importance(card: Scorecard, table: Table, codes: IntArray) -> tuple[Importance, ...]:
    """Permutation importance: the increase of the log-loss, the largest first; unused columns are left out."""
    generator = np.random.default_rng(0)
    if table.n_rows > MAX_ROWS:
        kept = np.sort(generator.choice(table.n_rows, MAX_ROWS, replace=False))
        table = Table(table.schema, tuple(values[kept] for values in table.columns), MAX_ROWS)
        codes = codes[kept]
    proba = card.link.probabilities(scores(card, table))
    before = LOG_LOSS.risk(codes, proba)
    found = []
    for column in card.used_columns():
        order = generator.permutation(table.n_rows)
        dealt = tuple(values[order] if place == column else values for place, values in enumerate(table.columns))
        shuffled = card.link.probabilities(scores(card, Table(table.schema, dealt, table.n_rows)))
        found.append(Importance(card.schema.columns[column].name, LOG_LOSS.risk(codes, shuffled) - before))
    return tuple(sorted(found, key=lambda item: -item.value))


def term_importance(names: Sequence[str], contributions: Sequence[FloatArray]) -> tuple[Importance, ...]:
    """The standard deviation of what each term adds over the rows, the largest first."""
    found = [
        Importance(name, float(np.nanstd(added, axis=0).max()))
        for name, added in zip(names, contributions, strict=True)
    ]
    return tuple(sorted(found, key=lambda item: -item.value))
