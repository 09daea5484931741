"""Error, log-loss, Brier score and cost of a classifier on given rows, each with a 95 % interval.

The interval of the error is Wilson's; the others are the mean plus or minus 1.96 standard errors. Weighted rows count
by their weights, a row of weight 2 as two rows; where weights are not integers, the intervals use the effective number of
rows, (sum w)^2 / sum w^2.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from permissible.decisions import Decision, Hard, LogLoss, Soft
from permissible.evaluation.cells import row_count
from permissible.evaluation.intervals import Z95, wilson
from permissible.types import FloatArray, IntArray

LOG_LOSS = LogLoss(1e-15)
"""The log-loss; a probability below 1e-15 of what happened counts as 1e-15."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its interval, and what it means in words."""

    key: str
    name: str
    value: float
    low: float
    high: float
    meaning: str


def measures(decision: Decision | None) -> list[tuple[str, str, Decision, str]]:
    """Key, name, the decision whose mean loss it is, and meaning of each figure."""
    listed: list[tuple[str, str, Decision, str]] = [
        ("error", "error", Hard(), "share of rows whose most probable class is not the true one"),
        ("log_loss", "log-loss", LOG_LOSS, "minus the mean log-probability of what happened; 0 is perfect"),
        ("brier", "Brier score", Soft(), "mean squared distance of the probabilities to what happened; 0 is perfect"),
    ]
    if decision is not None:
        listed.append(("cost", "cost", decision, f"mean cost of deciding by {decision!r}"))
    return listed


def metrics(
    codes: IntArray, proba: FloatArray, decision: Decision | None = None, weight: FloatArray | None = None
) -> list[Metric]:
    """The metrics of probabilities on rows whose classes are known by their positions; with a decision also its mean cost.

    >>> found = metrics(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]))
    >>> [(metric.name, round(metric.value, 3)) for metric in found]
    [('error', 0.333), ('log-loss', 0.415), ('Brier score', 0.137)]
    """
    weight = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=np.float64)
    size = row_count(weight)
    found = []
    for key, name, judge, meaning in measures(decision):
        values = judge.loss(codes, proba)
        mean = float(np.average(values, weights=weight))
        low, high = wilson(mean, size) if key == "error" else around(values, weight, mean, size)
        found.append(Metric(key, name, mean, low, high, meaning))
    return found


def around(values: FloatArray, weight: FloatArray, mean: float, size: float) -> tuple[float, float]:
    """The mean plus or minus 1.96 standard errors."""
    variance = float(np.average((values - mean) ** 2, weights=weight))
    half = Z95 * sqrt(variance / max(size - 1, 1))
    return max(0.0, mean - half), mean + half


def confusion(codes: IntArray, actions: IntArray, n_actions: int, n_classes: int) -> FloatArray:
    """Rows by true class, columns by action; a rejection (-1) counts in the last column."""
    table = np.zeros((n_classes, n_actions))
    np.add.at(table, (codes, np.where(actions < 0, n_actions - 1, actions)), 1.0)
    return table
