"""The papers' adaptive flavours: the surrogate itself is chosen on the way ([N], [I]; mathematics.md section 5).

F1 and F2 pick in every round the phi of a bag whose step leaves the least training 0/1 risk, E1 and E2 the one whose rule has
the largest edge on its own weights; ties go to the order of the bag. H is shared, so this is the one place where phi_mu differs
from phi_M. When phi_B is picked the coefficients are renormalised: divided by the sum of their sizes where that exceeds 1
(mathematics.md 4.2 iii). F* runs each of five phi entirely and keeps the one of least training risk.
"""

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible import losses
from permissible.bins.layout import layout_of
from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.compiled import Examples, Watch, kernel_rows
from permissible.learners.uls.loss_rows import kernel_rule
from permissible.learners.uls.options import Stop, ULSOptions
from permissible.learners.uls.start import Start
from permissible.learners.uls.trace import Round, Trace, literal_of, stop_of
from permissible.losses import BAGS, Loss, PermissibleLoss
from permissible.losses.surrogate import compiled, natural_value
from permissible.types import AnyArray, BoolArray, FloatArray

FLAVOURS = tuple(BAGS)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one phi of the bag would do in this round; `risk` is the weight misclassified afterwards."""

    loss: Loss
    rule: Rule
    value_in: float
    value_out: float
    capped: bool
    edge: float
    weight: float
    risk: float
    passes: int
    covered: tuple[float, float]
    endless: bool


def boost_adaptive(
    flavour: str,
    examples: Examples,
    options: ULSOptions,
    held: Examples | None = None,
    *,
    before: Start | None = None,
    n_threads: int = 1,
    watch: Watch | None = None,
) -> Trace:
    """Run F1, F2, E1 or E2, from H = 0 or from an earlier fit; the trace has the rounds of this run."""
    layout = layout_of(examples.binned.binning).by_column
    bag = [_Candidate(losses.get(name), examples, layout, options, n_threads) for name in BAGS[flavour]]
    parts = [_Margins(part) for part in (examples, held) if part is not None]
    rules: list[Rule] = []
    theta = np.zeros(1)
    if before is not None:
        intercept, terms = before.trace.terms()
        rules, theta = list(terms), np.array([intercept, *terms.values()])
        parts[0].score = before.scores.copy()
    first = 0 if before is None else len(before.trace.rounds)
    rounds: list[Round] = []
    shrunk: list[bool] = []
    stop: Stop = "rounds"
    start, begun = parts[0].state(bag[0].loss), time.monotonic()
    for number in range(options.n_rules):
        if watch is not None and not watch(number):
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
        # max and min keep the first of equals: the order of the bag
        by_edge = flavour.startswith("E")
        best = max(proposals, key=lambda p: p.edge) if by_edge else min(proposals, key=lambda p: p.risk)
        if best.rule not in rules:
            rules.append(best.rule)
            theta = np.append(theta, 0.0)
        theta[1 + rules.index(best.rule)] += 0.5 * (best.value_in - best.value_out)
        theta[0] += 0.5 * (best.value_in + best.value_out)
        renormalised = isinstance(best.loss, PermissibleLoss) and best.loss.entropy.renormalised
        shrink = max(1.0, float(np.abs(theta).sum())) if renormalised else 1.0
        theta = theta / shrink
        for part in parts:
            part.step(best, shrink)
        rounds.append(_round(best, theta, parts))
        shrunk.append(shrink > 1.0)  # such a round may raise its surrogate
        if best.capped:
            stop = "separable"
            break
    return Trace(0.0, tuple(rounds), stop, *start, total_weight=examples.total, evidence={"shrunk": shrunk})


class _Candidate:
    """One phi of the bag: from the shared scores, one round of the compiled loop."""

    def __init__(
        self, loss: Loss, examples: Examples, layout: AnyArray, options: ULSOptions, n_threads: int = 1
    ) -> None:
        kernel = compiled(loss)
        assert kernel is not None  # the bags hold built-in losses
        self.loss, self.kernel, self.examples, self.layout, self.options = loss, kernel, examples, layout, options
        self.rows = kernel_rows(examples, kernel, options.fit_intercept, n_threads)

    def propose(self, score: FloatArray, number: int) -> "Proposal | Stop":
        """The rule and its values; or why there is none."""
        options, kernel = self.options, self.kernel
        found = kernels.boost(
            self.rows, None, self.layout, n_rounds=1, max_literals=options.max_literals, beam=options.beam,
            fit_constant=options.fit_intercept, l2=options.l2 * kernel.scale, learning_rate=options.learning_rate,
            share=options.search_fraction, tolerance=options.tolerance, seed=options.seed, first_round=number,
            start_constant=False, start_scores=score / kernel.scale,
        )  # fmt: skip
        if not found["rounds"]:
            return stop_of(found["stop"])
        literals, value_in, value_out, _, edge, weight, _, error, _, _, passes, covered, hits, endless = found[
            "rounds"
        ][0]
        binning, total = self.examples.binned.binning, self.examples.total
        return Proposal(
            self.loss, tuple(literal_of(literal, binning) for literal in literals), kernel.scale * value_in,
            kernel.scale * value_out, stop_of(found["stop"]) == "separable", edge, weight, error, passes,
            (covered / total, hits / covered if covered else math.nan), endless,
        )  # fmt: skip


class _Margins:
    """The shared scores of some rows, and what a loss says of them."""

    def __init__(self, examples: Examples) -> None:
        self.examples = examples
        self.score: FloatArray = np.zeros(len(examples.positive))
        self._sign = np.where(examples.positive, 1.0, -1.0)
        self._sample = np.ones(len(self.score)) if examples.weight is None else examples.weight

    def step(self, taken: Proposal, shrink: float) -> None:
        binned = self.examples.binned
        mask: BoolArray = kernels.rule_mask(binned.blocks, binned.n_columns, *kernel_rule(taken.rule)).view(np.bool_)
        self.score = (self.score + np.where(mask, taken.value_in, taken.value_out)) / shrink

    def state(self, loss: Loss) -> tuple[float, float]:
        """The mean loss, 1 at score 0, and the share misclassified; sums that no order of the rows changes."""
        margin = self._sign * self.score
        wrong = (margin < 0) | ((margin == 0) & ~self.examples.positive)  # H = 0 predicts +1
        unit = float(natural_value(loss, np.zeros(1))[0])
        total = self.examples.total
        return math.fsum(self._sample * natural_value(loss, margin)) / (unit * total), math.fsum(
            self._sample[wrong]
        ) / total


def _round(best: Proposal, theta: FloatArray, parts: list[_Margins]) -> Round:
    surrogate, error = parts[0].state(best.loss)
    validation = parts[1].state(best.loss)[0] if len(parts) > 1 else math.nan
    return Round(
        best.rule, 0.0, 0.0, best.edge, best.weight, surrogate, error, best.loss.name, validation, best.passes,
        *best.covered, tuple(theta[1:].tolist()), float(theta[0]), best.endless,
    )  # fmt: skip


def boost_best(examples: Examples, run: Any) -> tuple[Loss, Trace]:
    """F*: run each phi of the bag of five entirely, keep the first of least training risk. `run(loss)` fits one."""
    bag = [losses.get(name) for name in BAGS["F*"]]
    traces = [run(loss) for loss in bag]
    errors = [trace.rounds[-1].train_error if trace.rounds else trace.start_error for trace in traces]
    best = int(np.argmin(errors))
    return bag[best], traces[best]
