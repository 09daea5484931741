"""Table 2 of [B]: ten UCI sets, fifty random symmetric cost matrices, six ways to boost; and today's rivals on the same trials.

A trial is a cost matrix, C_jk = C_kj uniform in [1, 10], and a split: the predefined one where the set has one, else a random
split of the size that Table 1 gives. A trial's result is the mean cost (5) of the test rows. Every algorithm sees the same
trials, and 100 rounds are part of the protocol, since boosting has not converged there. The published splits and matrices are
not known, so means agree within their standard errors, not digit by digit.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers import published
from papers.scope import loaded
from permissible.decisions import CostMatrix
from permissible.estimators.mcboost import MCBoostClassifier
from permissible.types import AnyArray, FloatArray

ALGORITHMS = ("MC", "P-MC", "GEL", "GLL", "Ls", "Lt")
PREDEFINED = ("image-segmentation", "shuttle", "pendigits", "optdigits", "satimage")
TRAINING_ROWS = {"breast-tissue": 81, "ecoli": 258, "libras": 292, "vertebral-3c": 239, "vehicle": 692}
"""Table 1 of [B], for the sets without a predefined split."""
_LOSS = {"GEL": "gel", "GLL": "gll", "Ls": "ls", "Lt": "lt"}


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Training and test rows, and the costs in the order of all classes of the set."""

    name: str
    number: int
    train: tuple[FloatArray, AnyArray]
    test: tuple[FloatArray, AnyArray]
    costs: FloatArray
    seed: int = 0

    @property
    def shared(self) -> bool:
        """Whether all trials of the set have the same rows, so that a cost-blind model is fitted once."""
        return self.name in PREDEFINED

    def risk(self, predicted: AnyArray) -> float:
        """The mean cost (5) of predicted class indices on the test rows."""
        return float(self.costs[self.test[1], predicted].mean())


def trial(name: str, number: int, seed: int = 0) -> Trial:
    """Trial `number` of a data set."""
    X, y, n_train = _rows(name)
    generator = np.random.default_rng([seed, number, 104729])
    order = np.arange(len(y)) if name in PREDEFINED else generator.permutation(len(y))
    matrix = CostMatrix.random_symmetric(int(y.max()) + 1, 1.0, 10.0, seed=seed * 100_003 + number).matrix
    first, rest = order[:n_train], order[n_train:]
    return Trial(name, number, (X[first], y[first]), (X[rest], y[rest]), matrix, seed)


@functools.lru_cache(maxsize=3)
def _rows(name: str) -> tuple[FloatArray, AnyArray, int]:
    data = loaded(name)
    y = np.searchsorted(np.array(data.classes, dtype=object), data.target)
    return data.matrix(impute=True), y, TRAINING_ROWS.get(name) or int(data.train_rows or 0.8 * data.n_rows)


def risks(one: Trial, algorithms: Sequence[str] = ALGORITHMS, n_rounds: int = 100) -> dict[str, float]:
    """The risk of each algorithm in a trial; "AUTO" is learner="auto" with Bayes decisions."""
    found = {}
    for name in algorithms:
        if name in ("MC", "P-MC", "AUTO"):
            scores = _blind(one, name == "AUTO", n_rounds)
            found[name] = one.risk(scores.argmax(axis=1) if name == "MC" else (scores @ one.costs).argmin(axis=1))
        else:
            present = np.unique(one.train[1])
            model = MCBoostClassifier(
                _LOSS[name],
                cost_matrix=one.costs[np.ix_(present, present)],
                n_rounds=n_rounds,
                tol=0.0,
                calibration=None,
                learner="linear",
            ).fit(*one.train)
            found[name] = one.risk(model.predict(one.test[0]))
    return found


def _blind(one: Trial, auto: bool, n_rounds: int) -> FloatArray:
    """The posterior of the test rows by a model that knows no costs, over all classes of the set."""
    key = (one.name, -1 if one.shared else one.number, one.seed, auto, n_rounds)
    if key not in _POSTERIORS:
        _POSTERIORS.clear()  # trials of one set follow each other
        options: dict[str, Any] = (
            {"learner": "auto", "random_state": one.number} if auto else {"learner": "linear", "loss": "mc", "tol": 0.0}
        )
        model = MCBoostClassifier(**options, n_rounds=n_rounds).fit(*one.train)
        full = np.zeros((len(one.test[1]), len(one.costs)))
        full[:, model.classes_] = model.predict_proba(one.test[0])
        _POSTERIORS[key] = full
    return _POSTERIORS[key]


_POSTERIORS: dict[tuple[Any, ...], FloatArray] = {}


def published_means() -> dict[tuple[str, str], tuple[float, float]]:
    """Mean and standard error printed in Table 2, by data set and algorithm."""
    return {
        (row["dataset"], row["algorithm"]): (float(row["mean"]), float(row["standard_error"]))
        for row in published.read("beijbom-table-2")
    }
