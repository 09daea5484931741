"""Two more properties of a multiclass loss that can be checked, each with a counterexample ([B] section 2 and appendix B).

**Classification calibration**: minimising the conditional risk sum_z eta_z L(C, z, S) gives scores whose largest is a
Bayes decision, argmin_k sum_j eta_j C_jk, for every eta and C. For each class k the least risk of scores that decide for
k is found over the cone S_k >= S_j; the loss is calibrated at (eta, C) when that of a Bayes decision is the least alone.

**c-calibration**: every right answer costs less than every wrong one, L(C, z, S) < L(C, z, S') for S deciding for z and
S' not. It implies guess-aversion (appendix B, Lemma 3); the converse fails, already for GLL (Lemma 4).

Both are searched over costs and scores as guess-aversion is: finding no counterexample is evidence, finding one is proof.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog, minimize

from permissible.losses.multiclass.guess_aversion import Verdict, right_answers, trial_costs
from permissible.losses.multiclass.losses import MulticlassLoss, StructuredHinge, get_multiclass
from permissible.types import FloatArray
from permissible.validation.numbers import whole_number

FAR = 60.0
"""Differences of scores beyond this change no risk that a double can hold."""
CLEAR = 1e-3
"""A decision is counted as wrong when it costs this much more than the Bayes one, relatively."""


@dataclass(frozen=True, eq=False)
class WrongDecision:
    """Scores that decide against Bayes at a surrogate risk that no scores deciding for Bayes go below.

    >>> from permissible import losses
    >>> found = losses.is_classification_calibrated("gll", 3, n_trials=1).counterexample
    >>> found.risk <= found.bayes_risk and found.decided != found.bayes
    True
    """

    cost: FloatArray
    eta: FloatArray
    scores: FloatArray
    decided: int
    bayes: int
    risk: float
    bayes_risk: float

    def __str__(self) -> str:
        eta = np.array2string(self.eta, precision=3)
        return (
            f"at probabilities {eta} the least surrogate risk {self.risk:.6g} decides for class {self.decided}; "
            f"scores that decide for the cheapest class {self.bayes} have {self.bayes_risk:.6g} or more"
        )


@dataclass(frozen=True, eq=False)
class CheapMistake:
    """A wrong answer that costs no more than a right one.

    >>> from permissible import losses
    >>> found = losses.is_c_calibrated("gll", 3).counterexample
    >>> found.wrong_value <= found.right_value
    True
    """

    cost: FloatArray
    label: int
    right: FloatArray
    wrong: FloatArray
    right_value: float
    wrong_value: float

    def __str__(self) -> str:
        right, wrong = (np.array2string(scores, precision=3) for scores in (self.right, self.wrong))
        return (
            f"true class {self.label}: scores {right} decide rightly at loss {self.right_value:.4g}, {wrong} wrongly "
            f"at {self.wrong_value:.4g}"
        )


class Calibration(Verdict[WrongDecision | CheapMistake]):
    """The verdict; true when no counterexample was found.

    Examples
    --------
    >>> from permissible import losses
    >>> bool(losses.is_classification_calibrated("gll", 3, n_trials=1))
    False
    """


def is_classification_calibrated(
    loss: str | MulticlassLoss, n_classes: int, n_trials: int = 3, seed: int = 0
) -> Calibration:
    """Search for probabilities and costs at which the least surrogate risk decides against Bayes.

    Parameters
    ----------
    loss : multiclass loss or its name
        Convex in the scores, with ``value`` and ``gradient``.
    n_trials : int
        Vectors of probabilities tried for each cost matrix.
    n_classes, seed : int
        As in `is_guess_averse`.

    Examples
    --------
    >>> from permissible import losses
    >>> bool(losses.is_classification_calibrated("lt", 3, n_trials=1))
    True
    >>> bool(losses.is_classification_calibrated("structured_hinge", 3))
    False
    """
    whole_number("n_classes", n_classes, 2)
    made, rng = get_multiclass(loss), np.random.default_rng(seed)
    tried, worst, widest = 0, None, -np.inf
    for cost in trial_costs(n_classes, rng):
        for eta in rng.dirichlet(np.full(n_classes, 2.0), n_trials):
            tried += 1
            expected = eta @ cost
            bayes = int(expected.argmin())
            wrong = np.flatnonzero(expected > expected[bayes] * (1 + CLEAR) + 1e-12)
            right = np.setdiff1d(np.arange(n_classes), wrong)
            best = min((_least(made, cost, eta, int(k)) for k in right), key=lambda found: found[0])
            other, k = min(((_least(made, cost, eta, int(k)), int(k)) for k in wrong), key=lambda found: found[0][0])
            gap = (best[0] - other[0]) / max(abs(best[0]), 1e-12)
            if gap >= -1e-9 and gap > widest:
                widest = gap
                worst = WrongDecision(cost, eta, other[1], k, bayes, other[0], max(best[0], other[0]))
        if widest > CLEAR:
            break
    return Calibration(worst is None, tried, worst)


def is_c_calibrated(loss: str | MulticlassLoss, n_classes: int, n_trials: int = 2000, seed: int = 0) -> Calibration:
    """Search for a wrong answer that costs no more than a right one.

    Parameters
    ----------
    n_trials : int
        Right and wrong score vectors tried for each cost matrix and class.
    loss, n_classes, seed
        As in `is_guess_averse`.

    Examples
    --------
    >>> from permissible import losses
    >>> bool(losses.is_c_calibrated("gll", 2)), bool(losses.is_c_calibrated("gll", 3))
    (True, False)
    """
    whole_number("n_classes", n_classes, 2)
    made, rng = get_multiclass(loss), np.random.default_rng(seed)
    tried, worst = 0, None
    for cost in trial_costs(n_classes, rng):
        for label in range(n_classes):
            right = right_answers(n_classes, label, n_trials, rng)
            others = rng.permutation(np.delete(np.arange(n_classes), label))
            wrong = np.concatenate([right_answers(n_classes, int(k), n_trials // len(others) + 1, rng) for k in others])
            high, low = (np.asarray(made.value(s, np.full(len(s), label), cost)) for s in (right, wrong))
            tried += len(right) + len(wrong)
            first, second = int(high.argmax()), int(low.argmin())
            gap = high[first] - low[second] * (1 + 1e-12)
            if gap >= 0 and (worst is None or gap > worst.right_value - worst.wrong_value):
                worst = CheapMistake(cost, label, right[first], wrong[second], float(high[first]), float(low[second]))
    return Calibration(worst is None, tried, worst)


def _least(loss: MulticlassLoss, cost: FloatArray, eta: FloatArray, decided: int) -> tuple[float, FloatArray]:
    """The least conditional risk of scores whose largest is `decided`, and such scores (that sum to 0)."""
    m = len(eta)
    if isinstance(loss, StructuredHinge):
        return _least_hinge(cost, eta, decided)
    labels, others = np.arange(m), np.delete(np.arange(m), decided)

    def scores_of(below: FloatArray) -> FloatArray:
        scores = np.zeros(m)
        scores[others] = -below
        return np.asarray(scores - scores.mean())

    def risk(below: FloatArray) -> tuple[float, FloatArray]:
        scores = np.tile(scores_of(below), (m, 1))
        value = float(eta @ np.asarray(loss.value(scores, labels, cost)))
        slope = eta @ np.asarray(loss.gradient(scores, labels, cost))
        return value, -(slope - slope.mean())[others]

    bounds, options = [(0.0, FAR)] * (m - 1), {"ftol": 1e-15, "gtol": 1e-11, "maxiter": 2000}
    found = minimize(risk, np.ones(m - 1), jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    return float(found.fun), scores_of(found.x)


def _least_hinge(cost: FloatArray, eta: FloatArray, decided: int) -> tuple[float, FloatArray]:
    """The same for the structured hinge, a linear program in the scores and the losses t_z >= C_zk + S_k - S_z."""
    m = len(eta)
    rows, bounds = [], []
    for z in range(m):
        for k in range(m):
            row = np.zeros(2 * m)
            row[k] += 1.0
            row[z] -= 1.0
            row[m + z] = -1.0
            rows.append(row)
            bounds.append(-cost[z, k])
    for other in np.delete(np.arange(m), decided):
        row = np.zeros(2 * m)
        row[other], row[decided] = 1.0, -1.0
        rows.append(row)
        bounds.append(0.0)
    goal = np.concatenate([np.zeros(m), eta])
    limits = [(-FAR, FAR)] * m + [(0.0, None)] * m
    found = linprog(goal, A_ub=np.array(rows), b_ub=np.array(bounds), bounds=limits, method="highs")
    scores = found.x[:m]
    return float(found.fun), scores - scores.mean()
