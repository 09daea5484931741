"""The curves of the report as plain numbers: reliability, margins, risk against coverage. No plotting here."""

from dataclasses import dataclass

import numpy as np

from permissible.decisions import Hard
from permissible.evaluation.cells import judged
from permissible.evaluation.intervals import Z95, wilson
from permissible.types import ArrayLike, FloatArray, IntArray

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
