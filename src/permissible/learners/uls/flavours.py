"""Choosing the surrogate: the papers' adaptive flavours ([N], [I]; mathematics.md section 5), and loss="auto".

F1 and F2 pick in every round the phi of a bag whose step leaves the least training 0/1 risk, E1 and E2 the one whose
rule has the largest edge on its own weights; ties go to the order of the bag. H is shared, so only here phi_mu differs
from phi_M. When phi_B is picked the coefficients are renormalised: divided by the sum of their absolute values if that
exceeds 1 (mathematics.md 4.2 iii). The probability of a score is that of the phi of the last round. F* fits each of
five phi separately and keeps the one of least training risk.

loss="auto" cross-validates a bag of phi of different shapes and keeps the results. phi_mu is not in the bag, since alone it is
phi_M (E5). Folds are by content of the rows. The losses are compared by the log-loss of the probabilities that each derives from
its own scores. The first of the bag is kept unless another is better by a paired t-test over the folds. Shapes are compared, not
strengths of the penalty: s times phi has the same shape, F(x / s), with coefficients times s, but the same l2 would penalise it
s times as much. `equally_penalised` gives each loss an l2 in proportion to its curvature at margin 0.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from permissible import losses
from permissible.bins.hashing import code_hashes
from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.boost import LoopTask, OnRound, Start
from permissible.learners.uls.compiled import loop_options, round_of
from permissible.learners.uls.criteria.search import CriterionSearch
from permissible.learners.uls.loss_rows import ExamplesOpening, kernel_rows
from permissible.learners.uls.options import STOPS, Stop, ULSOptions
from permissible.learners.uls.rows import Examples
from permissible.learners.uls.trace import Round, Trace
from permissible.losses import BAGS, Loss, PermissibleLoss
from permissible.losses.surrogate import compiled, natural_value
from permissible.rows.keys import keys_of
from permissible.rows.local import LocalSource
from permissible.rows.splits import folds
from permissible.types import AnyArray, FloatArray

FLAVOURS = tuple(BAGS)
BAG = ("logistic", "matsushita", "squared", "power")
FOLDS = 5
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one phi of the bag would do in this round; `risk` is the weight misclassified afterwards."""

    loss: Loss
    step: Round
    risk: float
    separable: bool


def boost_adaptive(
    flavour: str,
    examples: Examples,
    options: ULSOptions,
    held_out: Examples | None = None,
    *,
    start: Start | None = None,
    layout: AnyArray | None = None,
    n_threads: int = 1,
    callback: OnRound | None = None,
) -> Trace:
    """Run F1, F2, E1 or E2, from H = 0 or from an earlier fit; the trace has the rounds of this run."""
    bag = [_Candidate(losses.get(name), examples, options, layout, n_threads) for name in BAGS[flavour]]
    parts = [_Margins(part) for part in (examples, held_out) if part is not None]
    intercept, known = (0.0, dict[Rule, float]()) if start is None else start.trace.terms()
    rules, theta = list(known), np.array([intercept, *known.values()])
    if start is not None:
        parts[0].score = start.scores.copy()
    first = 0 if start is None else len(start.trace.rounds)
    rounds, shrunk = list[Round](), list[bool]()
    stop: Stop = "rounds"
    before, begun = parts[0].means(bag[0].loss), time.monotonic()
    for number in range(options.n_rounds):
        if callback is not None and not callback(number):
            stop = "callback"
            break
        if options.max_seconds and time.monotonic() - begun > options.max_seconds:
            stop = "time"
            break
        answers = [candidate.propose(parts[0].score, first + number) for candidate in bag]
        proposals = [answer for answer in answers if isinstance(answer, Proposal)]
        if not proposals:
            stop = "separable" if "separable" in answers else "no edge"
            break
        # max and min keep the first of ties: the order of the bag
        by_edge = flavour.startswith("E")
        best = max(proposals, key=lambda p: p.step.edge) if by_edge else min(proposals, key=lambda p: p.risk)
        step = best.step
        if step.rule not in rules:
            rules.append(step.rule)
            theta = np.append(theta, 0.0)
        theta[1 + rules.index(step.rule)] += 0.5 * (step.value_in - step.value_out)
        theta[0] += 0.5 * (step.value_in + step.value_out)
        renormalised = isinstance(best.loss, PermissibleLoss) and best.loss.entropy.renormalised
        shrink = max(1.0, float(np.abs(theta).sum())) if renormalised else 1.0
        theta = theta / shrink
        for part in parts:
            part.move(step, shrink)
        rounds.append(_round(best, theta, parts))
        shrunk.append(shrink > 1.0)  # such a round may raise its surrogate
        if best.separable:
            stop = "separable"
            break
    return Trace(0.0, tuple(rounds), stop, *before, total_weight=examples.total, evidence={"shrunk": shrunk})


class _Candidate:
    """One phi of the bag: from the shared scores, one round of the compiled loop."""

    def __init__(
        self, loss: Loss, examples: Examples, options: ULSOptions, layout: AnyArray | None, n_threads: int
    ) -> None:
        kernel = compiled(loss)
        assert kernel is not None  # the bags hold built-in losses
        self.loss, self.options, self.total = loss, replace(options, n_rounds=1, max_seconds=0.0), examples.total
        self.task = LoopTask.of(loss, examples.binned.binning, layout)
        if options.search_fraction < 1.0:
            examples = replace(examples, hashes=code_hashes(examples.binned, n_threads=n_threads))
        self.rows = kernel_rows(examples, kernel, options.fit_intercept, n_threads)
        own = options.criterion != "newton"
        self.search = CriterionSearch(examples, loss, options) if own else None

    def propose(self, score: FloatArray, number: int) -> "Proposal | Stop":
        """The rule and its values, or why there is none."""
        if self.search is not None:
            self.search.score = score
            return self._searched(self.search)
        options = loop_options(self.options, self.task, number, start_constant=False)
        found = kernels.boost(self.rows, None, self.task.layout, options, score / self.task.scale)
        if not found.rounds:
            return STOPS[found.stop]
        step = found.rounds[0]
        separable = STOPS[found.stop] == "separable"
        return Proposal(self.loss, round_of(step, self.task, self.total), step.error, separable)

    def _searched(self, search: CriterionSearch) -> "Proposal | Stop":
        """The rule of a criterion of its own, and its exact step."""
        grown = search.best()
        if grown is None or not grown.decrease > self.options.tolerance * search.trivial:
            return "no edge"
        examples, total, mask = search.examples, float(search.weight.sum()), search.examples.covers(grown.rule)
        step = float(search.line(mask[None], np.zeros(1))[0][0])
        after = search.score + np.where(mask, step, -step)
        wrong = np.where(after == 0, ~examples.positive, (after > 0) != examples.positive)  # H = 0 predicts +1
        edge = abs(2.0 * grown.weight_in - grown.weight_all) / total
        risk = math.fsum(search.sample[wrong])
        covered = math.fsum(search.sample[mask])
        share = covered / self.total, math.fsum(search.sample[mask & examples.positive]) / max(covered, 1e-300)
        found = Round(grown.rule, step, -step, edge, total, math.nan, risk / self.total, self.loss.name)
        found = replace(found, support=share[0], positive=share[1])
        return Proposal(self.loss, found, risk, abs(step) >= search.cap)


class _Margins:
    """The shared scores of some rows, and their means under a loss."""

    def __init__(self, examples: Examples) -> None:
        self.examples = examples
        self.score: FloatArray = np.zeros(len(examples.positive))
        self._sign = np.where(examples.positive, 1.0, -1.0)
        self._sample = np.ones(len(self.score)) if examples.weight is None else examples.weight

    def move(self, step: Round, shrink: float) -> None:
        """Take a step, then divide all scores."""
        mask = self.examples.covers(step.rule)
        self.score = (self.score + np.where(mask, step.value_in, step.value_out)) / shrink

    def means(self, loss: Loss) -> tuple[float, float]:
        """The mean loss, 1 at score 0, and the fraction misclassified; sums that do not depend on row order."""
        margin, total = self._sign * self.score, self.examples.total
        wrong = (margin < 0) | ((margin == 0) & ~self.examples.positive)  # H = 0 predicts +1
        unit = float(natural_value(loss, np.zeros(1))[0]) * total
        return math.fsum(self._sample * natural_value(loss, margin)) / unit, math.fsum(self._sample[wrong]) / total


def _round(best: Proposal, theta: FloatArray, parts: list[_Margins]) -> Round:
    surrogate, error = parts[0].means(best.loss)
    return replace(
        best.step,
        value_in=0.0,
        value_out=0.0,
        surrogate=surrogate,
        train_error=error,
        validation=parts[1].means(best.loss)[0] if len(parts) > 1 else math.nan,
        refit=tuple(theta[1:].tolist()),
        intercept=float(theta[0]),
    )


def boost_best(run: Callable[[Loss], Trace]) -> tuple[Loss, Trace]:
    """F*: fit each phi of the bag of five separately, keep the first of least training risk."""
    bag = [losses.get(name) for name in BAGS["F*"]]
    traces = [run(loss) for loss in bag]
    errors = [trace.rounds[-1].train_error if trace.rounds else trace.start_error for trace in traces]
    best = int(np.argmin(errors))
    return bag[best], traces[best]


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
            "loss": list(self.names),
            "log_loss": self.scores.mean(axis=1).tolist(),
            "standard_error": errors.tolist(),
            "p_value": self.p_values.tolist(),
            "chosen": [name == self.chosen for name in self.names],
        }


def equally_penalised(loss: Loss, l2: float) -> float:
    """The l2 that is as strong for a loss as the given one is for the first of the bag."""
    at_zero = [float(np.asarray(each.curvature(0.0))) for each in (loss, losses.get(BAG[0]))]
    return l2 * at_zero[0] / at_zero[1]


def choose_loss(
    source: LocalSource, label: int, fit: Callable[[LocalSource, str], tuple[Loss, Trace]], seed: int = 0
) -> LossEvidence:
    """Cross-validate the bag; `fit` learns from the training rows of a fold with a loss of the bag."""
    scores = []
    for split in folds(source, FOLDS, label, keys_of(source, seed)):
        training, held_out = source.selected(split.training), source.open(ExamplesOpening(label, split.held_out)).only
        positive = np.concatenate([part.target() == label for part in training.parts])
        if held_out is not None and positive.any() and not positive.all():
            scores.append([_log_loss(*fit(training, name), held_out) for name in BAG])
    if len(scores) < 2:
        return LossEvidence(BAG, np.array(scores).reshape(-1, len(BAG)).T, np.full(len(BAG), np.nan), BAG[0])
    table = np.array(scores).T
    p_values = np.array([np.nan, *(_paired(table[0], other) for other in table[1:])])
    best = int(np.argmin(table.mean(axis=1)))
    return LossEvidence(BAG, table, p_values, BAG[best] if best and p_values[best] < LEVEL else BAG[0])


def _log_loss(loss: Loss, trace: Trace, held_out: Examples) -> float:
    """Mean log-loss of the probabilities on held-out rows, clipped to [1e-12, 1 - 1e-12]."""
    probability = np.asarray(loss.probability(held_out.score(*trace.terms())))
    p = np.clip(np.where(held_out.positive, probability, 1 - probability), 1e-12, 1.0)
    return float(np.average(-np.log(p), weights=held_out.weight))


def _paired(first: FloatArray, second: FloatArray) -> float:
    """Two-sided p value of the paired t-test, to 12 digits: the last ones depend on the machine's mathematical library."""
    difference = first - second
    spread = float(difference.std(ddof=1)) / np.sqrt(len(difference))
    if spread == 0.0:
        return 1.0 if not difference.any() else 0.0
    return float(f"{2 * stdtr(len(difference) - 1, -abs(float(difference.mean())) / spread):.12g}")
