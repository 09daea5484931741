"""The passes of multiclass boosting, written as in the paper [B]; cpp/mcboost is tested against them."""

import numpy as np

from permissible.types import FloatArray, IntArray


def loss_values(loss: str, scores: FloatArray, target: IntArray, costs: FloatArray) -> FloatArray:
    """The loss of each row: (20) GEL, (21) GLL, (12) L_s, (14) L_t, (22) MC; `costs` is (n, M)."""
    own = scores[np.arange(len(target)), target][:, None]
    match loss:
        case "gel":
            return np.asarray((costs * np.exp(scores - own)).sum(axis=1))
        case "gll":
            return np.asarray(np.log1p((costs * np.exp(scores - own)).sum(axis=1)))
        case "ls":
            return np.asarray((costs * np.exp(scores)).sum(axis=1))
        case "lt":
            return np.asarray((costs * np.exp(scores)).sum(axis=1) * np.exp(-scores).sum(axis=1))
        case _:
            return np.asarray(np.exp(scores - own).sum(axis=1))


def weights(loss: str, scores: FloatArray, target: IntArray, costs: FloatArray, codewords: FloatArray) -> FloatArray:
    """dL/df (n, M-1): equations (29), (34), (35), and (36), (37) corrected; `costs` is (n, M)."""
    own = codewords[target]
    if loss in ("gel", "gll", "mc"):
        cost = np.ones_like(costs) if loss == "mc" else costs
        factor = cost * np.exp(scores - scores[np.arange(len(target)), target][:, None])
        total = np.einsum("ij,ijr->ir", factor, (codewords[None] - own[:, None, :]) / 2)
        return np.asarray(total / (1 + factor.sum(axis=1, keepdims=True)) if loss == "gll" else total)
    raised = costs * np.exp(scores)
    if loss == "ls":
        return np.asarray(raised @ codewords / 2)
    lowered = np.exp(-scores)
    up, down = raised @ codewords / 2, lowered @ codewords / 2
    return np.asarray(up * lowered.sum(axis=1, keepdims=True) - raised.sum(axis=1, keepdims=True) * down)


def best_attribute(values: FloatArray, gradient: FloatArray) -> tuple[int, float, float]:
    """Column, slope and level of min sum |w| (a x + b + sign w)^2 over single columns; column -1 if no slope."""
    mass = np.abs(gradient)
    total = mass.sum()
    mean = mass @ values / total
    centred = values - mean
    spread = mass @ centred**2
    covariance = centred.T @ gradient
    usable = spread > 1e-10 * (mass @ values**2)
    if not usable.any():
        return -1, 0.0, float(-gradient.sum() / total)
    gain = np.where(usable, covariance**2 / np.where(usable, spread, 1.0), -1.0)
    column = int(gain.argmax())
    slope = -covariance[column] / spread[column]
    return column, float(slope), float(-gradient.sum() / total - slope * mean[column])


def line_slope(
    loss: str,
    scores: FloatArray,
    direction: FloatArray,
    target: IntArray,
    costs: FloatArray,
    weight: FloatArray,
    codewords: FloatArray,
    alpha: float,
) -> float:
    """d/d alpha of the weighted surrogate at S + alpha Y g / 2, for a direction g (n, M-1)."""
    moved = scores + alpha * direction @ codewords.T / 2
    return float((weight[:, None] * weights(loss, moved, target, costs, codewords) * direction).sum())
