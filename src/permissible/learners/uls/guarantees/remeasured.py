"""A fit as some rows see it: its rounds measured again on other rows, and the average of several fits as one.

Scores of rules add up, so the average of fits is a fit too: its rounds are theirs in turn, each with its share of the
values, and a rule that several of them have found counts once. What a round did to the losses is measured again.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from permissible import losses
from permissible.bins.binning import Binning
from permissible.bins.layout import layout_of
from permissible.learners.uls.boost import GRADIENT_WORK, Fit, LoopTask, left_to_gain
from permissible.learners.uls.guarantees.averages import Shaped
from permissible.learners.uls.loss_rows import Opened
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import Terms
from permissible.learners.uls.step import FitRows, apply
from permissible.learners.uls.trace import Round, Trace
from permissible.losses import Loss

CLOSE = 1e-9
"""Figures of the earlier fit that differ by less, relatively, are the same: scores are added up in another order."""


def continued(before: Trace, after: Trace) -> Trace:
    """A trace followed by its continuation."""
    evidence = {**after.evidence, "earlier": len(before.rounds)}
    if "shrunk" in after.evidence:
        earlier = before.evidence.get("shrunk", [False] * len(before.rounds))
        evidence["shrunk"] = [*earlier, *after.evidence["shrunk"]]
    trace = replace(after, constant=before.constant, rounds=before.rounds + after.rounds, evidence=evidence)
    if not before.rounds:
        return trace
    start = before.start_surrogate, before.start_error, before.start_validation
    return replace(trace, start_surrogate=start[0], start_error=start[1], start_validation=start[2])


class Measured:
    """The rows of a fit, under the loss of each round of a trace."""

    def __init__(self, opened: Callable[[Loss], Opened], binning: Binning, loss: Loss | str) -> None:
        self._open, self._binning, self._loss = opened, binning, loss
        self._opened: dict[str, tuple[LoopTask, FitRows]] = {}

    def of(self, loss: Loss | str) -> tuple[LoopTask, FitRows]:
        """The rows under a loss, or under that of a round by its name."""
        name = loss if isinstance(loss, str) else loss.name
        if name not in self._opened:
            own = isinstance(self._loss, Loss) and self._loss.name == name
            made = self._loss if own and isinstance(self._loss, Loss) else losses.get(loss)
            task = LoopTask.of(made, self._binning)
            self._opened[name] = task, FitRows.start(self._open(made), task.surrogate, Terms())
        return self._opened[name]

    def trace(self, before: Trace) -> Trace:
        """The earlier trace if its figures hold on these rows; otherwise its rounds, measured again on them."""
        if not before.rounds:
            return before
        last = before.rounds[-1]
        task, rows = self.of(last.loss)
        rows.reset(Terms.of(*before.terms(), task.scale))
        total = rows.sizes.total_weight
        same = np.allclose(_means(task, rows), (last.surrogate, last.train_error), rtol=CLOSE, atol=1e-12)
        if before.total_weight == total and same:
            return before
        rounds, stage = list[Round](), dict[str, int]()
        for number, step in enumerate(before.rounds):
            task, rows = self.of(step.loss)
            if stage.get(step.loss) != number:
                rows.reset(Terms.of(*before.terms(number), task.scale))
            if not rounds:
                start = _means(task, rows)
            rounds.append(_again(step, task, rows, Terms.of(*before.terms(number + 1), task.scale)))
            stage[step.loss] = number + 1
        trace = replace(before, rounds=tuple(rounds), total_weight=total, start_validation=math.nan)
        return replace(trace, start_surrogate=start[0], start_error=start[1])

    def gradient_norm(self, trace: Trace, earlier: Trace, after: Trace, loss: Loss) -> float:
        """The norm of the gradient over all rules: that of the continuation, and the part of the earlier rules."""
        only_earlier = {step.rule for step in earlier.rounds} - {step.rule for step in after.rounds}
        rules = [rule for rule in trace.terms()[1] if rule in only_earlier]
        if math.isnan(trace.gradient_norm) or not rules:
            return trace.gradient_norm
        task, rows = self.of(loss)
        if float(rows.sizes.n_rows) * len(trace.terms()[1]) > GRADIENT_WORK:
            return math.nan
        rows.reset(Terms.of(*trace.terms(), task.scale))
        return (
            0.0 if rows.faded else math.hypot(trace.gradient_norm, *(s / rows.state.weight for s in rows.slopes(rules)))
        )

    def average(self, members: Sequence[Trace], loss: Loss, options: ULSOptions, shaped: Shaped) -> Trace:
        """The trace of the average of several fits of one loss: a round of each in turn, with its share of the values.

        `shaped` may change it before it is measured (guarantees/averages.py).
        """
        share = 1.0 / len(members)
        rounds = [
            replace(step, value_in=share * step.value_in, value_out=share * step.value_out)
            for turn in itertools.zip_longest(*(member.rounds for member in members))
            for step in turn
            if step is not None
        ]
        cut = next((member.stop for member in members if member.stop in ("time", "callback")), members[0].stop)
        constant, evidence = share * math.fsum(member.constant for member in members), {"averaged": len(members)}
        trace = replace(members[0], constant=constant, rounds=tuple(rounds), stop=cut, evidence=evidence)
        task, rows = self.of(loss)
        trace = self.trace(shaped(trace, task, rows))
        rows.reset(Terms.of(*trace.terms(), task.scale))
        layout = layout_of(task.binning).by_column
        fit = Fit(rows, None, task, options, layout, rounds=list(trace.rounds))
        largest_edge, gradient_norm = left_to_gain(fit) if options.edges else (math.nan, math.nan)
        return replace(trace, largest_edge=largest_edge, gradient_norm=gradient_norm)

    def close(self) -> None:
        """Let the rows go."""
        for _, rows in self._opened.values():
            rows.rows.close()


def _means(task: LoopTask, rows: FitRows) -> tuple[float, float]:
    """The mean surrogate, 1 at score 0, and the fraction misclassified."""
    total = rows.sizes.total_weight
    return rows.state.surrogate / (task.unit * total), rows.state.error / total


def _again(step: Round, task: LoopTask, rows: FitRows, after: Terms) -> Round:
    """A round as other rows see it; they have the margins before it, and get those after it."""
    weight, slope = rows.state.weight, rows.slopes([step.rule])[0]
    if step.refit is None:
        apply([rows], step.rule, step.value_in / task.scale, step.value_out / task.scale)
    else:
        rows.reset(after)
        apply([rows], step.rule, 0.0, 0.0)
    surrogate, error = _means(task, rows)
    covered, positive = rows.state.covered, rows.state.covered_positive
    return replace(
        step,
        edge=abs(slope) / weight if weight > 0 else 0.0,
        weight=weight,
        surrogate=surrogate,
        train_error=error,
        support=covered / rows.sizes.total_weight,
        positive=positive / covered if covered else math.nan,
        validation=math.nan,
        endless=step.endless and rows.pure_sides > 0,
    )
