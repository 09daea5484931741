"""A fit of boosted rules over a `Source`, in memory, on disk or on workers: choose by cross-validation, then fit on all rows.

The folds (rows/splits.py) choose the number of rounds and one of the candidates (learners/choose.py). A run on a fold ends
when its held-out loss has had no new minimum for `PATIENCE` rounds.

The classic scheme of a compiled loss runs compiled where its rows lie in memory; everything else runs the readable loop.
The adaptive flavours have a loop of their own.

A continuation starts from the scores of the earlier model on the rows that it is given. Where these rows give the surrogate and
the error with which the earlier fit ended, its rounds are kept as they are. Other rows measure them again, so that every entry
of the history and the certificate is about the rows of the last fit.
"""

import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from permissible import losses
from permissible.learners.choose import Choice, Fold, Runs, race
from permissible.learners.uls.boost import GRADIENT_WORK, Loop, LoopTask, OnRound, Start, boost
from permissible.learners.uls.compiled import boost_compiled, held_out_curve
from permissible.learners.uls.criteria.search import CriterionSearch
from permissible.learners.uls.flavours import (
    FLAVOURS,
    LossEvidence,
    boost_adaptive,
    boost_best,
    choose_loss,
    equally_penalised,
)
from permissible.learners.uls.loss_rows import ExamplesOpening, Opened, open_rows
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import Examples, Terms
from permissible.learners.uls.step import FitRows, apply
from permissible.learners.uls.trace import Round, Trace
from permissible.losses import Loss
from permissible.rows.local import LocalSource
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.source import NoJournal, Source
from permissible.rows.splits import evaluation_folds, has_duplicates
from permissible.rows.totals import TotalsOf
from permissible.types import FloatArray

PATIENCE = 30
"""Rounds without a new least held-out loss that end a run on a fold."""
CLOSE = 1e-9
"""Figures of the earlier fit that differ by less, relatively, are the same: scores are added up in another order."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What to fit: the loss (a flavour, or "auto"), and the candidates between which held-out rows choose.

    `validation` holds rows that were given instead of a hold-out: they choose where `stopping` says so, and otherwise their
    loss is only recorded. `start` is a fit to continue, without a hold-out. `fast_rate` is a learning rate that is tried where
    the chosen candidate would need more rounds than it may have.
    """

    loss: Loss | str
    candidates: tuple[ULSOptions, ...]
    stopping: bool = True
    validation: Source | None = None
    start: Start | None = None
    n_threads: int = 1
    callback: OnRound | None = None
    fast_rate: float | None = None

    def with_loss(self, name: str) -> "Task":
        """The task with one loss of the bag of "auto", whose penalty is as strong as with any other."""
        loss = losses.get(name)
        candidates = tuple(replace(options, l2=equally_penalised(loss, options.l2)) for options in self.candidates)
        return replace(self, loss=loss, candidates=candidates)


@dataclass(frozen=True, slots=True, eq=False)
class FittedRules:
    """The trace of the final fit, the loss of its scores, and what the held-out rows and loss="auto" saw."""

    trace: Trace
    loss: Loss
    selection: Mapping[str, object] | None = None
    evidence: LossEvidence | None = None


class Chosen(NamedTuple):
    """Some rows of a source, with one label as the positive class."""

    source: Source
    label: int
    selection: Selection = ALL_ROWS

    @property
    def weight(self) -> float:
        """The sum of their weights."""
        return self.source.survey(TotalsOf(self.selection)).weight


def fit_labels(source: Source, tasks: Mapping[int, Task]) -> list[FittedRules]:
    """Fit each label against the rest; where a question is a message, those of all labels travel in one."""
    lock = threading.Lock()

    def locked(callback: OnRound, number: int) -> bool:
        with lock:  # a bar on the terminal is one for all labels and candidates
            return callback(number)

    def fit(label: int, task: Task, rows: Source) -> FittedRules:
        callback = None if task.callback is None else partial(locked, task.callback)
        return fit_rules(rows, label, replace(task, callback=callback))

    return source.each({str(label): partial(fit, label, task) for label, task in tasks.items()})


def fit_rules(source: Source, label: int, task: Task) -> FittedRules:
    """Fit one label against the rest."""
    if task.loss == "auto":
        assert isinstance(source, LocalSource)  # refused for rows on disk or on workers

        def fit(training: LocalSource, name: str) -> tuple[Loss, Trace]:
            """What the final fit would be: the same candidates, hold-out and penalty."""
            fitted = fit_rules(training, label, replace(task.with_loss(name), callback=None))
            return fitted.loss, fitted.trace

        evidence = choose_loss(source, label, fit)
        return replace(fit_rules(source, label, task.with_loss(evidence.chosen)), evidence=evidence)
    choice = _choice(source, label, task)
    options = task.candidates[0]
    if choice is not None:
        best = choice[0].chosen
        options = replace(best.candidate, n_rounds=max(best.stage, 1))
    # Given validation rows stay beside the final fit, so that the history shows their loss.
    given = None if task.validation is None else Chosen(task.validation, label)
    loss, trace = run(Chosen(source, label), given, task, options)
    return FittedRules(trace, loss, None if choice is None else _selection(*choice))


def _choice(source: Source, label: int, task: Task) -> tuple[Choice[ULSOptions], float] | None:
    """The best candidate with its number of rounds, and the fraction of weight that was held out; None without a choice."""
    everything = Chosen(source, label)
    if not task.stopping or (task.start is not None and task.validation is None):
        return None
    if task.validation is not None:
        pairs = [(everything, Chosen(task.validation, label))]
    elif has_duplicates(source):
        fold = Fold[ULSOptions](partial(_training_curve, everything, task), 1.0)
        return race([fold], task.candidates, first_stage=1, run=partial(_curves, source)), 0.0
    else:
        splits = evaluation_folds(source, label, task.candidates[0].seed)
        pairs = [(Chosen(source, label, s.training), Chosen(source, label, s.held_out)) for s in splits]
    if not pairs:
        return None
    held = [held_out.weight for _, held_out in pairs]
    folds = [
        Fold[ULSOptions](partial(_curve, training, held_out, task), weight)
        for (training, held_out), weight in zip(pairs, held, strict=True)
    ]
    total = everything.weight + (0.0 if task.validation is None else held[0])
    contest = partial(race, folds, first_stage=1, run=partial(_curves, source))
    choice = contest(task.candidates)
    slow = choice.chosen
    if task.fast_rate is not None and slow.stage >= slow.candidate.n_rounds:
        fast = contest([replace(slow.candidate, learning_rate=task.fast_rate)]).chosen
        choice = Choice(fast if fast.loss < slow.loss else slow, (*choice.tried, fast))
    return choice, sum(held) / total


def _training_curve(training: Chosen, task: Task, options: ULSOptions, source: Source) -> FloatArray:
    trace = run(training._replace(source=source), None, task, options)[1]
    return np.array([trace.start_surrogate, *(step.surrogate for step in trace.rounds)])


def _curves(source: Source, runs: Runs[ULSOptions]) -> list[FloatArray]:
    """The curves of several fits on rows of a source; their questions to workers travel together."""
    names = (f"{number}" for number in range(len(runs)))
    return source.each({name: partial(fold.losses, options) for name, (fold, options) in zip(names, runs, strict=True)})


def _curve(training: Chosen, held_out: Chosen, task: Task, options: ULSOptions, source: Source) -> FloatArray:
    """The mean loss of the held-out rows after each round; `source` has the training rows, for this fit."""
    if held_out.source is training.source:
        held_out = held_out._replace(source=source)
    training, options = training._replace(source=source), replace(options, patience=PATIENCE)
    if isinstance(task.loss, Loss) and task.start is None:
        with _rows_of(training, held_out, task, options) as (rows, held, loop_task, in_memory):
            if in_memory and held is not None:
                return held_out_curve(rows, held, loop_task, options)
    trace = run(training, held_out, task, options)[1]
    return np.array([trace.start_validation, *(step.validation for step in trace.rounds)])


def _selection(choice: Choice[ULSOptions], fraction: float) -> dict[str, object]:
    """What the choice saw, as the estimator shows it."""
    candidates = [
        {
            "max_literals": tried.candidate.max_literals,
            "learning_rate": tried.candidate.learning_rate,
            "n_rounds": tried.stage,
            "validation": tried.loss,
            "curve": tried.curve,
        }
        for tried in choice.tried
    ]
    return {"candidates": candidates, "validation_share": fraction}


def run(training: Chosen, held_out: Chosen | None, task: Task, options: ULSOptions) -> tuple[Loss, Trace]:
    """One fit with fixed options, from the beginning or from an earlier fit."""
    if task.start is None:
        return _run(training, held_out, task, options)
    before = task.start.trace
    known = _Measured(training, task, options)
    try:
        earlier = known.trace(before)
        start = replace(task.start, same_rows=earlier is before)
        left = replace(options, n_rounds=max(options.n_rounds - len(before.rounds), 0))
        loss, after = _run(training, held_out, replace(task, start=start), left)
        trace = _joined(earlier, after)
        if options.scheme != 1:  # its gradient is over all rules
            return loss, trace
        return loss, replace(trace, gradient_norm=known.gradient_norm(trace, earlier, after, loss))
    finally:
        known.close()


def _run(training: Chosen, held_out: Chosen | None, task: Task, options: ULSOptions) -> tuple[Loss, Trace]:
    """The loop that the task asks for; its trace has the rounds of this run only."""
    if task.loss == "F*":
        return boost_best(lambda loss: _run(training, held_out, replace(task, loss=loss), options)[1])
    if not isinstance(task.loss, str) or task.loss not in FLAVOURS:
        loss = losses.get(task.loss)
        return loss, training.source.journal.run(lambda: _boost(training, held_out, replace(task, loss=loss), options))
    examples, held = _examples(training), None if held_out is None else _examples(held_out)
    more: dict[str, Any] = {"start": task.start, "n_threads": task.n_threads, "callback": task.callback}
    trace = boost_adaptive(task.loss, examples, options, held, **more)
    # The scores were last moved to the minimum of the last round's surrogate: its link gives their probabilities.
    last = trace.rounds or (() if task.start is None else task.start.trace.rounds)
    return losses.get(last[-1].loss if last else "logistic"), trace


def _boost(training: Chosen, held_out: Chosen | None, task: Task, options: ULSOptions) -> Trace:
    """Boost rules by the compiled loop where it can run, else by the readable one; both give the same trace."""
    with _rows_of(training, held_out, task, options) as (rows, held, loop_task, in_memory):
        loop: Loop = boost_compiled if in_memory else boost
        return loop(rows, held, loop_task, options)


@contextmanager
def _rows_of(
    training: Chosen, held_out: Chosen | None, task: Task, options: ULSOptions
) -> Iterator[tuple[Opened, Opened | None, LoopTask, bool]]:
    """The opened rows of a run, its task, and whether the compiled loop can run it."""
    assert isinstance(task.loss, Loss)
    source, opened = training.source, list[Opened]()
    try:
        for chosen in (training, held_out):
            if chosen is not None:
                opened.append(_open(chosen, task.loss, task, options))
        held = opened[1] if held_out is not None else None
        only = opened[0].rows.only
        in_memory = only is not None and only.compiled is not None and isinstance(source.journal, NoJournal)
        # The compiled loop records no rounds in a journal, refits nothing, and starts held-out rows at score 0.
        free = options.constraints is None and options.criterion == "newton"
        classic = free and options.scheme == 1 and (task.start is None or held is None)
        more: dict[str, Any] = {"start": task.start, "callback": task.callback, "journal": source.journal}
        if options.criterion != "newton":
            score = None if task.start is None else task.start.scores
            more["search"] = CriterionSearch(_examples(training), task.loss, options, score)
        yield opened[0], held, LoopTask.of(task.loss, source.binning, **more), in_memory and classic
    finally:
        for rows in opened:
            rows.rows.close()


def _open(chosen: Chosen, loss: Loss, task: Task, options: ULSOptions) -> Opened:
    source, label, selection = chosen
    return open_rows(source, label, loss, options.fit_intercept, selection=selection, n_threads=task.n_threads)


def _examples(chosen: Chosen) -> Examples:
    """All rows in one place, where they lie in memory: flavours are refused for rows on disk or on workers."""
    examples = chosen.source.open(ExamplesOpening(chosen.label, chosen.selection)).only
    assert examples is not None
    return examples


class _Measured:
    """The rows of a continuation, under the loss of each earlier round."""

    def __init__(self, rows: Chosen, task: Task, options: ULSOptions) -> None:
        self._open = partial(_open, rows, task=task, options=options)
        self._binning, self._loss = rows.source.binning, task.loss
        self._opened: dict[str, tuple[LoopTask, FitRows]] = {}

    def of(self, loss: Loss | str) -> tuple[LoopTask, FitRows]:
        """The rows under a loss, or under that of a round by its name."""
        name = loss if isinstance(loss, str) else loss.name
        if name not in self._opened:
            own = isinstance(self._loss, Loss) and self._loss.name == name
            made = self._loss if own and isinstance(self._loss, Loss) else losses.get(loss)
            task = LoopTask.of(made, self._binning)
            self._opened[name] = task, FitRows.start(self._open(loss=made), task.surrogate, Terms())
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


def _joined(before: Trace, after: Trace) -> Trace:
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
