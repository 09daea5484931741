"""Going on from an earlier fit of columns: its coefficients on the rows at hand, and its rounds as they stand there.

As with rules (uls/start.py), rounds are kept where the rows at hand give the figures with which the earlier fit ended, and are
measured again on other rows.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from permissible.learners.uls.fit import CLOSE
from permissible.learners.uls.trace import Round
from permissible.types import FloatArray

if TYPE_CHECKING:
    from permissible.learners.uls.columns import ColumnFit, ColumnTrace


def begin(fit: "ColumnFit", start: "ColumnTrace") -> None:
    """Set coefficients and scores to those of the earlier fit."""
    fit.joined = list(start.joined)
    fit.theta = thetas(fit, start)[-1]
    fit.score = _score(fit, fit.theta)


def thetas(fit: "ColumnFit", start: "ColumnTrace") -> list[FloatArray]:
    """The coefficients before the first round and after each one, in the units of the fit."""
    parts = [((intercept,) if fit.columns.constant else (), coefficients) for intercept, coefficients in start.path]
    return [np.zeros(fit.columns.n_features)] + [np.concatenate(pair) / fit.scale for pair in parts]


def _score(fit: "ColumnFit", theta: FloatArray) -> FloatArray:
    """Scores added up column by column, the same for any number of threads."""
    score = np.zeros(fit.columns.n_rows)
    for position in np.flatnonzero(theta).tolist():
        rows, values = fit.columns.feature(position)
        score[rows] += theta[position] * values
    return score


def rounds_at_hand(fit: "ColumnFit", start: "ColumnTrace", unit: float) -> tuple[list[Round], list[float]]:
    """The earlier rounds on the rows at hand, and the objective after each; called before the first new round."""
    rounds, path = list(start.trace.rounds), thetas(fit, start)
    if not rounds:
        return [], []
    surrogate, error, _ = _stand(fit, path[-1], unit)
    then = rounds[-1].surrogate, rounds[-1].train_error
    total = float(fit.sample.sum())
    if start.trace.total_weight == total and np.allclose((surrogate, error), then, rtol=CLOSE, atol=1e-12):
        return rounds, list(start.trace.evidence["objective"])
    measured, objective = [], []
    for step, before, after in zip(rounds, path, path[1:], strict=False):
        _, first, second = fit.derivatives(_score(fit, before))
        pull = np.abs(fit.columns.products(first, second)[0] - fit.penalty() * before)
        weight = float(np.abs(first).sum())
        newest = int(np.argmax(np.abs(after - before)))
        surrogate, error, penalised = _stand(fit, after, unit)
        edge = float(pull[newest]) / max(weight, 1e-300)
        measured.append(replace(step, edge=edge, weight=weight, surrogate=surrogate, train_error=error))
        objective.append(penalised)
    return measured, objective


def _stand(fit: "ColumnFit", theta: FloatArray, unit: float) -> tuple[float, float, float]:
    """Mean surrogate, share misclassified and penalised surrogate of coefficients."""
    score = _score(fit, theta)
    value = fit.derivatives(score)[0]
    wrong = (score >= 0) != (fit.sign > 0)
    penalised = value + 0.5 * float(fit.penalty() @ theta**2)
    return value / unit, float(fit.sample @ wrong) / float(fit.sample.sum()), penalised / unit
