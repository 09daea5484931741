"""The curves of the report as plain numbers: reliability, margins, risk against coverage. No plotting here."""

from dataclasses import dataclass

import numpy as np

from permissible.decisions import Hard
from permissible.evaluation.metrics import wilson
from permissible.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Rows of similar predicted probability: what was predicted, what happened, how many."""

    predicted: float
    happened: float
    low: float
    high: float
    count: float


def reliability(happened: IntArray, predicted: FloatArray, n_bins: int = 10) -> list[ReliabilityBin]:
    """Bins of equal size by predicted probability; equal predictions share a bin."""
    order = np.argsort(predicted, kind="stable")
    ranked = predicted[order]
    cuts = np.linspace(0, len(order), n_bins + 1).round().astype(int)[1:-1]
    starts = np.unique([0, *(int(np.searchsorted(ranked, ranked[cut])) for cut in cuts if cut < len(order))])
    bins = []
    for part in np.split(order, starts[1:]):
        share = float(happened[part].mean())
        low, high = wilson(share, len(part))
        bins.append(ReliabilityBin(float(predicted[part].mean()), share, low, high, float(len(part))))
    return bins


def probability_margins(codes: IntArray, proba: FloatArray) -> FloatArray:
    """Probability of the true class minus the largest other one, in [-1, 1]: (27) of [T] for two classes."""
    rows = np.arange(len(codes))
    rivals = proba.copy()
    rivals[rows, codes] = -np.inf
    return np.asarray(proba[rows, codes] - rivals.max(axis=1))


def cumulative(values: FloatArray, n_points: int = 101) -> tuple[list[float], list[float]]:
    """The fraction of values at most theta, for theta over [-1, 1]: the cumulative margin distribution."""
    grid = np.linspace(-1.0, 1.0, n_points)
    ranked = np.sort(values)
    return grid.tolist(), (np.searchsorted(ranked, grid, side="right") / max(len(values), 1)).tolist()


def risk_coverage(codes: IntArray, proba: FloatArray, n_points: int = 101) -> tuple[list[float], list[float]]:
    """Coverage and risk: the error among the rows with the highest confidence, for each fraction of them.

    Rows of equal confidence are decided together, so that their order does not matter.
    """
    confidence = proba.max(axis=1)
    wrong = (Hard().decide(proba) != codes).astype(np.float64)
    _, place = np.unique(-confidence, return_inverse=True)
    sizes = np.cumsum(np.bincount(place.ravel()))
    errors = np.cumsum(np.bincount(place.ravel(), weights=wrong))
    kept = np.unique(np.linspace(0, len(sizes) - 1, min(n_points, len(sizes))).round().astype(int))
    return (sizes[kept] / len(codes)).tolist(), (errors[kept] / sizes[kept]).tolist()
