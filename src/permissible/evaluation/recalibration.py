"""How probabilities would have to change to be calibrated: logistic recalibration, and isotonic regression (CORP).

Logistic recalibration fits logit P(y = 1) = a + b logit(p) by maximum likelihood. The slope b is 1 for probabilities
that are neither too extreme (b < 1) nor too moderate (b > 1); the intercept is a with b held at 1 (calibration in the
large), 0 where the mean is correct (Cox 1958; Van Calster et al. 2019). Isotonic regression of y on p gives the
best probabilities of the same order; the Brier score then falls into miscalibration, discrimination and
uncertainty, Brier = MCB - DSC + UNC (Dimitriadis, Gneiting and Jordan 2021).
"""

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit

from permissible.evaluation.cells import Cells
from permissible.types import BoolArray, FloatArray

EDGE = 1e-10
"""The logit of 0 and 1 is infinite: probabilities closer to 0 or 1 than this are replaced by it."""

MAX_STEPS = 100
RESAMPLE_STEPS = 4
"""Newton steps from the estimate of all rows that a resample needs: each about doubles the digits."""


def intercepts(cells: Cells, start: float | None = None) -> FloatArray:
    """Return a with b held at 1 for each sample; infinite where only one class occurs."""
    offset = logit(np.clip(cells.probability, EDGE, 1 - EDGE))
    rows, positives = cells.counts.sum(axis=1), cells.by_class[:, 1]
    single = (positives == 0) | (positives == cells.total)
    a = np.zeros(len(rows)) if start is None else np.full(len(rows), start)
    for _ in range(MAX_STEPS if start is None else RESAMPLE_STEPS):
        q = expit(a[:, None] + offset)
        gradient = positives - (rows * q).sum(axis=1)
        curvature = (rows * q * (1 - q)).sum(axis=1)
        step = np.clip(gradient / np.maximum(curvature, 1e-300), -2.0, 2.0)  # a longer step may leave the basin
        a = a + np.where(single, 0.0, step)
        if not (np.abs(step) > 1e-13 * (1 + np.abs(a)))[~single].any():
            break
    return np.where(single, np.where(positives == 0, -np.inf, np.inf), a)


def slopes(cells: Cells, start: FloatArray | None = None) -> FloatArray:
    """Return (a, b) of the recalibration for each sample, shape (B, 2).

    Not defined (NaN) where all probabilities are equal or only one class occurs; b is infinite where a threshold
    separates the classes.
    """
    x = logit(np.clip(cells.probability, EDGE, 1 - EDGE))
    rows, positive = cells.counts.sum(axis=1), cells.counts[:, 1]
    undefined, ordered, reversed_ = _degenerate(cells)
    settled = undefined | ordered | reversed_
    beta = np.zeros((len(rows), 2)) if start is None else np.tile(start, (len(rows), 1))
    for _ in range(MAX_STEPS if start is None else RESAMPLE_STEPS):
        step = _newton_step(beta, x, rows, positive)
        beta = beta + np.where(settled[:, None], 0.0, step)
        if not (np.abs(step) > 1e-13 * (1 + np.abs(beta)))[~settled].any():
            break
    beta[undefined] = np.nan
    beta[ordered], beta[reversed_] = [np.nan, np.inf], [np.nan, -np.inf]
    return beta


def _newton_step(beta: FloatArray, x: FloatArray, rows: FloatArray, positive: FloatArray) -> FloatArray:
    """The Newton step of each sample, halved until the likelihood does not fall."""
    eta = beta[:, :1] + beta[:, 1:] * x
    q = expit(eta)
    residual, weight = positive - rows * q, rows * q * (1 - q)
    g0, g1 = residual.sum(axis=1), residual @ x
    h00, h01, h11 = weight.sum(axis=1), weight @ x, weight @ (x * x)
    determinant = np.maximum(h00 * h11 - h01**2, 1e-300)
    step = np.stack([(h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant], axis=1)
    for _ in range(30):
        moved = eta + step[:, :1] + step[:, 1:] * x
        gain = (positive * (moved - eta) - rows * (np.logaddexp(0, moved) - np.logaddexp(0, eta))).sum(axis=1)
        worse = ~(gain >= -1e-9 * rows.sum(axis=1))
        if not worse.any():
            break
        step = np.where(worse[:, None], step / 2, step)
    return np.asarray(step)


def _degenerate(cells: Cells) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Samples without a slope; those whose positives all lie above the negatives; and below them."""
    present = cells.counts > 0
    place = np.arange(len(cells.probability))
    first = np.where(present, place, len(place)).min(axis=2)
    last = np.where(present, place, -1).max(axis=2)
    undefined = (last < 0).any(axis=1) | (first.min(axis=1) == last.max(axis=1))
    ordered = ~undefined & (first[:, 1] >= last[:, 0])
    return undefined, ordered, ~undefined & ~ordered & (last[:, 1] <= first[:, 0])


def isotonic(cells: Cells) -> FloatArray:
    """Return the recalibrated probability of each cell of each sample, shape (B, G); NaN where a sample has no row."""
    rows, positive = cells.counts.sum(axis=1), cells.counts[:, 1]
    fitted = np.full(rows.shape, np.nan)
    for sample, (count, events) in enumerate(zip(rows, positive, strict=True)):
        kept = count > 0
        fitted[sample, kept] = isotonic_regression(events[kept] / count[kept], weights=count[kept]).x
    return fitted


def brier_parts(cells: Cells) -> FloatArray:
    """Return miscalibration, discrimination and uncertainty of each sample, shape (B, 3): Brier = MCB - DSC + UNC."""
    rate = (cells.by_class[:, 1] / cells.total)[:, None]
    brier, after, uncertainty = (briers(cells, each) for each in (cells.probability, isotonic(cells), rate))
    return np.stack([brier - after, uncertainty - after, uncertainty], axis=1)


def briers(cells: Cells, probability: FloatArray) -> FloatArray:
    """Return the mean squared distance of probabilities, that broadcast to shape (B, G), to what happened."""
    squares = cells.counts[:, 0] * probability**2 + cells.counts[:, 1] * (1 - probability) ** 2
    return np.asarray(np.nansum(squares, axis=1) / cells.total)
