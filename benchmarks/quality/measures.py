"""What is measured of probabilities on test rows: error, log-loss, Brier, and the cost of eight decisions.

The cost of a decision is relative to the best constant action: 1 is as good as acting without the model.
"""

from typing import Any

import numpy as np

import permissible as pm
from permissible.types import AnyArray, FloatArray

DECISIONS: dict[str, Any] = {
    **{f"pi {pi}": pm.Weighted(pi) for pi in (0.05, 0.1, 0.2, 0.5)},
    **{f"refer {cost}": pm.Reject(cost) for cost in (0.05, 0.1, 0.2)},
    "groups": pm.Boundaries([0.1, 0.3]),
}
LEAST = 1e-15


def measured(y: AnyArray, proba: FloatArray) -> dict[str, float]:
    """All measures of the probabilities of all test rows of a set; decisions for two classes only."""
    own = np.clip(proba[np.arange(len(y)), y], LEAST, 1.0)
    found = {
        "error": float(np.mean(np.argmax(proba, axis=1) != y)),
        "log-loss": float(-np.mean(np.log(own))),
        "Brier": float(np.mean(np.sum((proba - np.eye(proba.shape[1])[y]) ** 2, axis=1)) / 2),
    }
    if proba.shape[1] > 2:
        return found
    for name, decision in DECISIONS.items():
        constant = min(decision.risk(y, np.tile([1 - p, p], (len(y), 1))) for p in np.linspace(0.005, 0.995, 100))
        found[name] = decision.risk(y, proba) / constant
    return found
