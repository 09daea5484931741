"""Weighted least squares on all attributes at once: the other reading of "a x + b" in [B], kept as learner="linear-full"."""

from typing import TYPE_CHECKING

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.rounds import Round
from permissible.types import Codes, FloatArray

if TYPE_CHECKING:
    from permissible.learners.mcboost.linear import LinearLearner


def full_round(learner: "LinearLearner", state: kernel.State, allowed: Codes, share: FloatArray | None) -> Round:
    """One round of full-vector steps, along each coordinate in turn or along the gradient."""
    used = np.flatnonzero(allowed)
    values = np.column_stack([learner.values[:, used], np.ones(len(learner.values))])
    outputs = learner.n_classes - 1
    if learner.descent == "gradient":
        gradient = state.derive_all()
        norm = np.sqrt((gradient**2).sum(axis=0))
        fit, edge = _least_squares(values, gradient.T, norm, share)
        leverage, capped, _ = state.take_all(np.ascontiguousarray((values @ fit).T), learner.rate)
        return _round(learner, used, fit * leverage, edge, capped)
    fits = np.zeros((len(used) + 1, outputs))
    edges, any_capped = [], False
    for r in range(outputs):
        gradient, _ = state.derive(r)
        fit, edge = _least_squares(values, gradient[:, None], np.abs(gradient), share)
        leverage, capped, _ = state.take(r, np.ascontiguousarray((values @ fit)[:, 0]), learner.rate)
        fits[:, r] = fit[:, 0] * leverage
        edges.append(edge)
        any_capped |= capped
    state.finish_round()
    return _round(learner, used, fits, max(edges), any_capped)


def _least_squares(
    values: FloatArray, gradient: FloatArray, norm: FloatArray, share: FloatArray | None
) -> tuple[FloatArray, float]:
    """The least-squares fit of -w/|w| with row weights |w|, of least norm where it is not unique, and the share it explains."""
    if share is not None:
        gradient, norm = gradient * share[:, None], norm * share
    total = float(norm.sum())
    if not total > 0:
        return np.zeros((values.shape[1], gradient.shape[1])), 0.0
    root = np.sqrt(norm)
    inverse = np.where(root > 0, 1.0 / np.where(root > 0, root, 1.0), 0.0)
    fit, *_ = np.linalg.lstsq(values * root[:, None], -gradient * inverse[:, None], rcond=1e-6)
    return np.asarray(fit, dtype=np.float64), float(-((values @ fit) * gradient).sum() / total)


def _round(learner: "LinearLearner", used: np.ndarray, fits: FloatArray, edge: float, capped: bool) -> Round:
    """The fits as affine terms: one per attribute and coordinate, and one constant per coordinate."""
    outputs = fits.shape[1]
    lever = learner.rate * fits
    slope = lever[:-1] / learner.space.scale[used][:, None]
    attribute = np.concatenate([np.repeat(used, outputs), np.full(outputs, -1)]).astype(np.int64)
    coordinate = np.tile(np.arange(outputs), len(used) + 1)
    slopes = np.concatenate([slope.ravel(), np.zeros(outputs)])
    levels = np.concatenate([np.zeros(slope.size), lever[-1]])
    return Round((coordinate, attribute, slopes, levels), edge, capped, bool(np.any(lever)))
