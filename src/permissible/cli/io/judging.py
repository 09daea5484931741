"""Measures that `fit`, `evaluate` and `compare` print beside the losses: AUC, sensitivity, specificity, and a baseline.

The baseline gives every row the base rates as its probabilities, so its decision is the best constant action.
"""

from collections.abc import Sequence

import numpy as np

from permissible.decisions import Decision
from permissible.evaluation.metrics import Metric, metrics
from permissible.types import AnyArray, FloatArray

BASELINE = "without a model: the base rate, the best constant action"


def rates(
    codes: AnyArray, proba: FloatArray, decision: Decision | None = None, weight: FloatArray | None = None
) -> dict[str, float]:
    """AUC, sensitivity and specificity of two classes; of more classes nothing.

    The rates are those of the decision; of one that may refer among the rows it decides; of risk groups at one half.
    """
    from sklearn.metrics import roc_auc_score

    from permissible.decisions import Boundaries, Hard, LogLoss, Soft

    if proba.shape[1] != 2 or len(np.unique(codes)) < 2:
        return {}
    weights = np.ones(len(codes)) if weight is None else weight
    acting = Hard() if decision is None or isinstance(decision, Boundaries | LogLoss | Soft) else decision
    said = np.asarray(acting.decide(proba))
    found = {"AUC": float(roc_auc_score(codes, proba[:, 1], sample_weight=weights))}
    among = " of the rows decided" if (said < 0).any() else ""
    for name, label in (("sensitivity", 1), ("specificity", 0)):
        rows = (codes == label) & (said >= 0)
        if rows.any():
            found[name + among] = float(np.average(said[rows] == label, weights=weights[rows]))
    return found


def baseline(
    codes: AnyArray, n_classes: int, decision: Decision | None = None, weight: FloatArray | None = None
) -> list[Metric]:
    """The figures of giving every row the base rates."""
    weights = np.ones(len(codes)) if weight is None else weight
    share = np.bincount(codes, weights=weights, minlength=n_classes) / weights.sum()
    return metrics(codes, np.tile(share, (len(codes), 1)), decision, weight)


def base_rates(labels: Sequence[object], codes: AnyArray, weight: FloatArray | None = None) -> str:
    """The share of each class in words, the positive one of two last."""
    share = np.bincount(codes, weights=weight, minlength=len(labels))
    parts = [f"{label} {part:.1%}" for label, part in zip(labels, share / share.sum(), strict=True)]
    told = ", ".join(parts[:8]) + (" ..." if len(parts) > 8 else "")
    return f"base rates: {told}" + (f"; the positive class is {labels[-1]}" if len(parts) == 2 else "")
