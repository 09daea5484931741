"""The exponent that turns scores into probabilities: given by theory if the loss has one, else fitted to held-out rows.

MC, and GEL with symmetric costs, have S* = ln(eta)/2 + const: exponent 2 ((33) of [B]). GLL without costs has S* =
ln(eta) + const: exponent 1. The others estimate something else (L_s and L_t the expected costs; GLL with costs a
posterior shifted by them), so one number, the temperature, is fitted to held-out rows by maximum likelihood. It
calibrates the confidence on average but cannot undo a shift between classes. So decide by argmax there, or train with
"mc" or cost-free "gll" if Bayes decisions for many cost matrices are wanted.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.learners.mcboost.problem import CostTask
from permissible.types import FloatArray, IntArray


def exponent_of(task: CostTask) -> float | None:
    """The theoretical exponent of a loss with its costs; None if there is none."""
    loss = task.made
    return loss.exponent if loss.estimates_posterior(None if task.by_row else task.costs) else None


def log_losses(exponent: float, scores: FloatArray, target: IntArray, weight: FloatArray) -> FloatArray:
    """The weighted log-loss of each row at an exponent; each row is computed independently."""
    raised = exponent * scores
    top = raised.max(axis=1)
    total = np.zeros(len(raised))
    for j in range(raised.shape[1]):
        total += kernel.exponential(np.ascontiguousarray(raised[:, j] - top))
    own = raised[np.arange(len(target)), target]
    return np.asarray(weight * (np.log(total) + (top - own)))


def log_loss_limbs(exponent: float, scores: FloatArray, target: IntArray, weight: FloatArray) -> IntArray:
    """The exact sum of the log-losses of some rows, as numbers that add."""
    return sums.exact_limbs(np.ascontiguousarray(log_losses(exponent, scores, target, weight)[None, :]))


def fitted_exponent(default: float, log_loss_at: Callable[[float], IntArray], unit: float = 1.0) -> float:
    """The exponent of least log-loss on held-out rows, with a prior at the default exponent of the loss worth about one row.

    Without the prior, a few held-out rows that are all classified correctly would give an infinite exponent.
    `log_loss_at` gives the exact sum of the rows' log-losses at an exponent (`log_loss_limbs`), `unit` is the weight of
    a row of weight 1.
    """
    usual = np.log(default)

    def penalised(log_exponent: float) -> float:
        (log_loss,) = sums.exact_values(np.ascontiguousarray(log_loss_at(float(np.exp(log_exponent)))))
        return float(log_loss + 0.5 * unit * (log_exponent - usual) ** 2)

    found = minimize_scalar(penalised, bounds=(np.log(0.01), np.log(100.0)), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))
