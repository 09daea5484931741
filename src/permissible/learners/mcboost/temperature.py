"""The exponent that turns scores into probabilities: given by theory where the loss has one, else found on held-out rows.

MC, and GEL with symmetric costs, have S* = ln(eta)/2 + const: exponent 2 ((33) of [B]). GLL without costs has S* =
ln(eta) + const: exponent 1. The others estimate something else (L_s and L_t the expected costs; GLL with costs a
posterior shifted by them), so one number, the temperature, is fitted to held-out rows by maximum likelihood. It makes
their confidence honest on average; it cannot undo a shift between classes, so decide by argmax there, or train with
"mc" or cost-free "gll" when Bayes decisions for many cost matrices are wanted.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.learners.mcboost.problem import Problem
from permissible.losses import get_multiclass
from permissible.types import FloatArray, IntArray


def exponent_of(problem: Problem) -> float | None:
    """The exponent that theory gives for the loss and costs of a problem; None when there is none."""
    loss = get_multiclass(problem.loss)
    return loss.exponent if loss.estimates_posterior(None if problem.by_row else problem.costs) else None


def misfits(exponent: float, scores: FloatArray, target: IntArray, weight: FloatArray) -> FloatArray:
    """The weighted log-loss of each row at an exponent; a row's own arithmetic, wherever it stands among others."""
    raised = exponent * scores
    top = raised.max(axis=1)
    total = np.zeros(len(raised))
    for j in range(raised.shape[1]):
        total += kernel.exponential(np.ascontiguousarray(raised[:, j] - top))
    own = raised[np.arange(len(target)), target]
    return np.asarray(weight * (np.log(total) + (top - own)))


def misfit_limbs(exponent: float, scores: FloatArray, target: IntArray, weight: FloatArray) -> IntArray:
    """The exact sum of the misfits of some rows, as numbers that add."""
    return sums.exact_limbs(np.ascontiguousarray(misfits(exponent, scores, target, weight)[None, :]))


def fitted_exponent(loss: str, misfit_at: Callable[[float], IntArray], unit: float = 1.0) -> float:
    """The exponent of least log-loss on held-out rows, held towards the loss's own one by a prior worth about one row.

    Without the prior a few held-out rows that are all classified right would ask for certainty. `misfit_at` gives the exact
    sum of the rows' log-losses at an exponent (`misfit_limbs`), wherever the rows are; `unit` is what a row of weight 1 weighs.
    """
    usual = np.log(get_multiclass(loss).exponent)

    def log_loss(log_exponent: float) -> float:
        (misfit,) = sums.exact_values(np.ascontiguousarray(misfit_at(float(np.exp(log_exponent)))))
        return float(misfit + 0.5 * unit * (log_exponent - usual) ** 2)

    found = minimize_scalar(log_loss, bounds=(np.log(0.01), np.log(100.0)), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))
