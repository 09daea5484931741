"""loss="auto": the loss is chosen by cross-validation over a bag of different shapes of phi, and the evidence is kept.

phi_mu is not in the bag, since alone it is phi_M (E5). Folds are by content of the rows. The judge is the log-loss of the
probabilities that each loss derives from its own scores, so the losses meet on one scale. The first of the bag stays unless
another is better by a paired t-test over the folds: what is not told apart is not changed.

Shapes are compared, not strengths of the penalty. A phi times s is the same shape: F(x / s), coefficients times s. The same l2
would weigh s times as much on it; `equally_penalised` gives each loss an l2 in proportion to its curvature at margin 0, so
that the penalty is as strong beside every loss as the asked one is beside the first of the bag.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from permissible import losses
from permissible.learners.uls.compiled import Examples
from permissible.losses import Loss
from permissible.types import FloatArray

BAG = ("logistic", "matsushita", "squared", "power")
FOLDS = 5
LEVEL = 0.05
Hashes = npt.NDArray[np.uint64]
Scores = Callable[[str, Examples, Hashes, Examples], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class LossEvidence:
    """Log-loss of each loss on each fold, and the paired test of each against the first of the bag.

    `p_values` are two-sided, of the differences to the first loss; NaN for itself.
    """

    names: tuple[str, ...]
    scores: FloatArray
    p_values: FloatArray
    chosen: str

    def table(self) -> dict[str, list[object]]:
        """Columns: loss, mean log-loss, standard error, p value of the difference to the first."""
        errors = self.scores.std(axis=1, ddof=1) / np.sqrt(self.scores.shape[1])
        return {
            "loss": list(self.names), "log_loss": self.scores.mean(axis=1).tolist(), "standard_error": errors.tolist(),
            "p_value": self.p_values.tolist(), "chosen": [name == self.chosen for name in self.names],
        }  # fmt: skip


def equally_penalised(loss: Loss, l2: float) -> float:
    """The l2 that is as strong beside a loss as the given one is beside the first of the bag."""
    at_zero = [float(np.asarray(each.curvature(0.0))) for each in (loss, losses.get(BAG[0]))]
    return l2 * at_zero[0] / at_zero[1]


def choose_loss(examples: Examples, hashes: Hashes, probability: Scores) -> LossEvidence:
    """Cross-validate the bag; `probability(name, kept, hashes, judged)` fits on one part and scores the other."""
    fold = (hashes >> np.uint64(7)) % np.uint64(FOLDS)
    scores = np.full((len(BAG), FOLDS), np.nan)
    for number in range(FOLDS):
        out = fold == number
        kept, judged = examples.take(np.flatnonzero(~out)), examples.take(np.flatnonzero(out))
        if not out.any() or kept.positive.all() or not kept.positive.any():
            continue
        for place, name in enumerate(BAG):
            scores[place, number] = log_loss(probability(name, kept, hashes[~out], judged), judged)
    scores = scores[:, ~np.isnan(scores[0])]
    if scores.shape[1] < 2:
        return LossEvidence(BAG, scores, np.full(len(BAG), np.nan), BAG[0])
    p_values = np.array([np.nan, *(paired(scores[0], other) for other in scores[1:])])
    means = scores.mean(axis=1)
    best = int(np.argmin(means))
    return LossEvidence(BAG, scores, p_values, BAG[best] if best and p_values[best] < LEVEL else BAG[0])


def log_loss(probability: FloatArray, judged: Examples) -> float:
    """Mean log-loss of probabilities of the positive class, kept off 0 and 1 by 1e-12."""
    p = np.clip(np.where(judged.positive, probability, 1 - probability), 1e-12, 1.0)
    return float(np.average(-np.log(p), weights=judged.weight))


def paired(first: FloatArray, second: FloatArray) -> float:
    """Two-sided p value of the paired t-test."""
    difference = first - second
    spread = float(difference.std(ddof=1)) / np.sqrt(len(difference))
    if spread == 0.0:
        return 1.0 if not difference.any() else 0.0
    return float(2 * stdtr(len(difference) - 1, -abs(float(difference.mean())) / spread))
