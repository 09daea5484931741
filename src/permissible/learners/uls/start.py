"""Going on from an earlier fit of rules: its rounds as they stand on the rows at hand, and both fits as one trace.

A continuation starts from the scores of the earlier model on the rows at hand. Where these rows give the surrogate and the error
with which the earlier fit ended, its rounds are kept as they are. Other rows measure them again, so that every entry of the
history and the certificate is about the rows at hand.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.compiled import Examples
from permissible.learners.uls.leverage import FADED
from permissible.learners.uls.loss_rows import kernel_rule
from permissible.learners.uls.trace import Round, Trace
from permissible.losses import Loss
from permissible.losses.surrogate import natural_value
from permissible.types import BoolArray, FloatArray

CLOSE = 1e-9
"""Figures of the earlier fit that differ by less, relatively, are the same: scores are added up in another order."""
GRADIENT_WORK = 2e7
"""Up to so many rows times rules the gradient over the earlier rules is computed."""


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A fit to go on from: its trace, and the scores of its model on the rows at hand."""

    trace: Trace
    scores: FloatArray


@dataclass(slots=True, eq=False)
class _Rows:
    """The rows at hand: what a loss says of scores, in sums that no order of the rows changes."""

    examples: Examples
    covered: dict[Rule, BoolArray]

    @classmethod
    def of(cls, examples: Examples) -> "_Rows":
        return cls(examples, {})

    @property
    def sign(self) -> FloatArray:
        return np.where(self.examples.positive, 1.0, -1.0)

    def weighted(self, values: FloatArray) -> FloatArray:
        return values if self.examples.weight is None else values * self.examples.weight

    def covers(self, rule: Rule) -> BoolArray:
        """Which rows a rule covers; remembered."""
        if rule not in self.covered:
            binned = self.examples.binned
            self.covered[rule] = kernels.rule_mask(binned.blocks, binned.n_columns, *kernel_rule(rule)).view(np.bool_)
        return self.covered[rule]

    def score(self, intercept: float, terms: dict[Rule, float]) -> FloatArray:
        """The scores of a model of rules."""
        score = np.full(len(self.examples.positive), intercept)
        for rule, coefficient in terms.items():
            score += np.where(self.covers(rule), coefficient, -coefficient)
        return score

    def stand(self, score: FloatArray, loss: Loss) -> tuple[float, float]:
        """Mean loss, 1 at score 0, and the share misclassified; H = 0 predicts +1."""
        unit = float(natural_value(loss, np.zeros(1))[0]) * self.examples.total
        value = math.fsum(self.weighted(natural_value(loss, self.sign * score))) / unit
        wrong = ((score >= 0) != self.examples.positive).astype(np.float64)
        return value, math.fsum(self.weighted(wrong)) / self.examples.total

    def pulls(self, score: FloatArray, loss: Loss) -> tuple[FloatArray, float]:
        """The signed weight y w of each row, and the sum of the sizes of the weights."""
        weight = self.weighted(np.asarray(loss.weight(self.sign * score), dtype=np.float64))
        return self.sign * weight, math.fsum(np.abs(weight))


def at_hand(start: Start, examples: Examples, loss_of: Callable[[str], Loss]) -> Trace:
    """The earlier trace if its figures hold on these rows; otherwise its rounds, measured again on them.

    `loss_of` gives the loss of a round by its name.
    """
    trace, rows = start.trace, _Rows.of(examples)
    if trace.rounds:
        last = trace.rounds[-1]
        now = rows.stand(start.scores, loss_of(last.loss))
        then = last.surrogate, last.train_error
        if trace.total_weight == examples.total and np.allclose(now, then, rtol=CLOSE, atol=1e-12):
            return trace
    return _measured(trace, rows, loss_of)


def _measured(trace: Trace, rows: _Rows, loss_of: Callable[[str], Loss]) -> Trace:
    total, rounds = rows.examples.total, list[Round]()
    positives = math.fsum(rows.weighted(rows.examples.positive.astype(np.float64)))
    order: dict[Rule, float] = {}
    score = np.full(len(rows.examples.positive), trace.constant)
    for step in trace.rounds:
        loss, mask = loss_of(step.loss), rows.covers(step.rule)
        if not rounds:
            start = rows.stand(score, loss)
        pull, weight = rows.pulls(score, loss)
        edge = abs(math.fsum(np.where(mask, pull, -pull))) / weight if weight > 0 else 0.0
        order.setdefault(step.rule, 0.0)
        if step.refit is not None and step.intercept is not None:
            order = dict(zip(order, step.refit, strict=True))
            score = rows.score(step.intercept, order)
        else:
            order[step.rule] += 0.5 * (step.value_in - step.value_out)
            score = score + np.where(mask, step.value_in, step.value_out)
        surrogate, error = rows.stand(score, loss)
        inside = rows.weighted(mask.astype(np.float64))
        covered, hits = math.fsum(inside), math.fsum(inside[rows.examples.positive])
        sides = (covered, hits), (total - covered, positives - hits)
        rounds.append(
            replace(
                step,
                edge=edge,
                weight=weight,
                surrogate=surrogate,
                train_error=error,
                support=covered / total,
                positive=hits / covered if covered else math.nan,
                validation=math.nan,
                endless=step.endless and any(not 0 < positive < side for side, positive in sides),
            )
        )
    if not rounds:
        return trace
    return replace(
        trace,
        rounds=tuple(rounds),
        start_surrogate=start[0],
        start_error=start[1],
        start_validation=math.nan,
        total_weight=total,
    )


def continued(before: Trace, after: Trace, examples: Examples, loss: Loss, refitted: bool) -> Trace:
    """A trace followed by its continuation on the rows at hand; `refitted`: its gradient is over all rules."""
    trace = replace(
        after,
        constant=before.constant,
        rounds=before.rounds + after.rounds,
        evidence={**after.evidence, **_shrunk(before, after), "earlier": len(before.rounds)},
    )
    if before.rounds:
        trace = replace(
            trace,
            start_surrogate=before.start_surrogate,
            start_error=before.start_error,
            start_validation=before.start_validation,
        )
    if refitted:
        return trace
    earlier = {step.rule for step in before.rounds} - {step.rule for step in after.rounds}
    return replace(trace, gradient_norm=_gradient_norm(trace, earlier, examples, loss))


def _shrunk(before: Trace, after: Trace) -> dict[str, Any]:
    if "shrunk" not in after.evidence:
        return {}
    earlier = before.evidence.get("shrunk", [False] * len(before.rounds))
    return {"shrunk": [*earlier, *after.evidence["shrunk"]]}


def _gradient_norm(trace: Trace, earlier: set[Rule], examples: Examples, loss: Loss) -> float:
    """The norm of the gradient over all rules: that of the continuation, and the part of the earlier rules."""
    if math.isnan(trace.gradient_norm) or not earlier:
        return trace.gradient_norm
    intercept, terms = trace.terms()
    if float(len(examples.positive)) * len(terms) > GRADIENT_WORK:
        return math.nan
    rows = _Rows.of(examples)
    pull, weight = rows.pulls(rows.score(intercept, terms), loss)
    if not weight > FADED * abs(float(np.asarray(loss.weight(np.zeros(1)))[0])) * examples.total:
        return 0.0
    sums = (math.fsum(np.where(rows.covers(rule), pull, -pull)) / weight for rule in terms if rule in earlier)
    return math.hypot(trace.gradient_norm, *sums)
