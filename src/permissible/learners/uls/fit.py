"""A fit of boosted rules over a `Source`, in memory, on disk or on workers: choose by cross-validation, then fit on all rows.

The folds (rows/splits.py) choose the number of rounds of each candidate, and the candidates that are as good as the best
(learners/choose.py). A run on a fold ends when its held-out loss has had no new minimum for `PATIENCE` rounds. The model
is the average of these candidates, each fitted on all rows: by convexity its loss is at most the mean of theirs, and it
does not change when the folds narrowly prefer another one. While there is room, each is fitted with more draws. Of up to 10,000
rows two or three times as many rules are found as are left, and the folds say how far scores go (guarantees/averages.py).

The classic scheme of a compiled loss runs compiled where its rows lie in memory; everything else runs the readable loop.
A continuation starts from the scores of the earlier model on the rows that it is given. Where these rows give the surrogate and
the error with which the earlier fit ended, its rounds are kept as they are. Other rows measure them again, so that every entry
of the history and the certificate is about the rows of the last fit.
"""

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from permissible import losses
from permissible.learners.choose import Choice, Fold, Runs, Sure, Tried, race
from permissible.learners.uls.boost import Fit, LoopTask, OnRound, Pace, Start, boost
from permissible.learners.uls.compiled import boost_compiled, held_out_curve
from permissible.learners.uls.criteria.draws import search_layout
from permissible.learners.uls.criteria.search import CriterionSearch
from permissible.learners.uls.flavours import (
    FLAVOURS,
    LossEvidence,
    boost_adaptive,
    boost_best,
    choose_loss,
    equally_penalised,
)
from permissible.learners.uls.guarantees.agreement import FoldFits, agreed
from permissible.learners.uls.guarantees.averages import borne_out, fewer
from permissible.learners.uls.guarantees.remeasured import Measured, continued
from permissible.learners.uls.loss_rows import Opened, examples_in_memory, open_rows
from permissible.learners.uls.options import ULSOptions, described
from permissible.learners.uls.step import FitRows
from permissible.learners.uls.trace import Trace
from permissible.losses import Loss
from permissible.rows.local import LocalSource
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.source import NoJournal, Source
from permissible.rows.splits import FOLDS, evaluation_folds, has_duplicates
from permissible.rows.totals import TotalsOf
from permissible.types import AnyArray, FloatArray

PATIENCE = 30
"""Rounds without a new least held-out loss that end a run on a fold."""
MOST_DRAWS = 5
"""Fits of one candidate, at most, that are averaged since their searches draw."""
DEEPER, DEEP_ROWS, MORE = 3, 1000, FOLDS / (FOLDS - 1)
"""Where rules leave: rounds in units of the rules left, at most, from so many rows on; all rows over those of a fold."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What to fit: the loss (a flavour, or "auto"), and the candidates between which held-out rows choose.

    `validation` holds rows that were given instead of a hold-out: they choose where `stopping` says so, and otherwise their
    loss is only recorded. `start` is a fit to continue, without a hold-out. `fast_rate` is a learning rate that is tried where
    the chosen candidate would need more rounds than it may have. `ensemble` is the number of folds whose fits are averaged.
    `layout` is that of the columns in a search, with the keys by which it draws. `pace` is that of the rounds (uls/boost.py).
    """

    loss: Loss | str
    candidates: tuple[ULSOptions, ...]
    stopping: bool = True
    validation: Source | None = None
    start: Start | None = None
    n_threads: int = 1
    callback: OnRound | None = None
    fast_rate: float | None = None
    ensemble: int | None = None
    layout: AnyArray | None = None
    pace: Pace | None = None

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

        evidence = choose_loss(source, label, fit, task.candidates[0].seed)
        return replace(fit_rules(source, label, task.with_loss(evidence.chosen)), evidence=evidence)
    if isinstance(task.loss, str):  # the search of the papers' flavours is exact
        task = replace(task, candidates=tuple(replace(options, noise=0.0) for options in task.candidates))
    options = task.candidates[0]  # constraints may differ between copies of a column
    task = replace(task, layout=search_layout(source, label, options.noise > 0, options.constraints is not None))
    seen = _seen(source, label, task)
    everything = Chosen(source, label)
    additive = isinstance(task.loss, Loss) and task.candidates[0].scheme == 1  # refitted rounds are no sum of steps
    members = _members(everything, seen, task) if seen is not None and additive else []
    thinned = seen is not None and _thinned(len(seen.beside), task)
    if seen is not None and isinstance(task.loss, Loss) and (thinned or len(members) > 1):
        trace = _averaged(everything, members, task, task.loss, seen if thinned else None)
        factor = {"factor": trace.evidence.get("factor", 1.0)}
        return FittedRules(trace, task.loss, _selection(seen, averaged=True) | factor)
    told = {} if task.start is None else {k: v for k, v in task.start.trace.evidence.items() if k == "candidate"}
    options = task.candidates[told.get("candidate", 0)] if seen is None else _options(seen.choice.chosen)
    # Given validation rows stay beside the final fit, so that the history shows their loss.
    given = None if task.validation is None else Chosen(task.validation, label)
    loss, trace = (None if seen is None else seen.followed) or run(everything, given, task, options)
    if seen is not None and task.candidates[0].scheme != 1:  # a continuation keeps the candidate
        told = {"candidate": task.candidates.index(seen.choice.chosen.candidate)}
        told["agreement"] = agreed(trace.terms(), loss, seen.beside, seen.choice.chosen)
    trace = replace(trace, evidence={**trace.evidence, **told})
    return FittedRules(trace, loss, None if seen is None else _selection(seen))


def _options(tried: Tried[ULSOptions]) -> ULSOptions:
    """Those of a candidate with its number of rounds."""
    return replace(tried.candidate, n_rounds=max(tried.stage, 1))


def _thinned(n_folds: int, task: Task) -> bool:
    """Whether rules of an average may leave, since all folds are known; constraints hold for each fit, not for what is left."""
    own = task.candidates[0]
    return own.noise > 0 and own.constraints is None and not task.ensemble and n_folds == FOLDS


def _members(everything: Chosen, seen: "_Seen", task: Task) -> list[tuple[Chosen, Tried[ULSOptions]]]:
    """The candidates as good as the best, on all rows (drawn as often as the number of rules allows), or on each fold's."""
    kept, most, thinned = seen.choice.kept, task.candidates[0].n_rounds, _thinned(len(seen.beside), task)
    if task.ensemble:
        return [(rows, tried) for rows in seen.training for tried in kept]
    if thinned:  # all rows are FOLDS / (FOLDS - 1) times those of a fold's run, and bear so many times the rounds
        kept = tuple(replace(t, stage=min(math.ceil(t.stage * MORE), t.candidate.n_rounds)) for t in kept)
    total = sum(tried.stage for tried in kept)
    room = 2 * most if thinned else most  # half of the rules leave, or more (guarantees/averages.py)
    n_draws = min(room // max(total, 1), MOST_DRAWS) if task.candidates[0].noise > 0 and task.validation is None else 1
    seeds = [task.candidates[0].seed + draw * most for draw in range(max(n_draws, 1))]
    if not thinned and total > most:
        kept = tuple(replace(t, stage=min(t.stage, max(most // len(kept), 1))) for t in kept)
    return [(everything, replace(t, candidate=replace(t.candidate, seed=seed))) for seed in seeds for t in kept]


def _averaged(
    everything: Chosen, fits: list[tuple[Chosen, Tried[ULSOptions]]], task: Task, loss: Loss, seen: "_Seen | None"
) -> Trace:
    """The average of several fits; where `seen` is given, rules leave, and the folds say how far the scores go."""

    def fitted(rows: Chosen, tried: Tried[ULSOptions], source: Source) -> Trace:
        return run(rows._replace(source=source), None, task, _options(tried))[1]

    def shaped(trace: Trace, loop: LoopTask, rows: FitRows) -> Trace:
        if seen is None:
            return trace
        left = fewer(trace, task.candidates[0].n_rounds, loop, rows)
        return borne_out(left, loss, seen.beside, seen.choice.kept, loop)

    members = everything.source.each({f"{number}": partial(fitted, *fit) for number, fit in enumerate(fits)})
    known = _measured(everything, task, task.candidates[0])
    try:
        return known.average(members, loss, task.candidates[0], shaped)
    finally:
        known.close()


class _Seen(NamedTuple):
    """What the folds chose, the fraction held out, training rows and fits of each fold, and the last fit if it is known."""

    choice: Choice[ULSOptions]
    fraction: float
    training: list[Chosen]
    beside: tuple[FoldFits, ...] = ()
    followed: tuple[Loss, Trace] | None = None


def _seen(source: Source, label: int, task: Task) -> _Seen | None:
    """Choose the candidate and its number of rounds; None without a choice."""
    everything, seed = Chosen(source, label), task.candidates[0].seed
    if not task.stopping or (task.start is not None and task.validation is None):
        return None
    if task.validation is not None:
        pairs = [(everything, Chosen(task.validation, label))]
    elif has_duplicates(source) and not task.ensemble:
        fold = Fold[ULSOptions](partial(_training_curve, everything, task), 1.0)
        choice = race([fold], task.candidates, first_stage=1, run=partial(_curves, source))
        return _Seen(choice, 0.0, [everything])
    else:
        splits = evaluation_folds(source, label, seed, task.ensemble)
        pairs = [(Chosen(source, label, s.training), Chosen(source, label, s.held_out)) for s in splits]
    if not pairs:
        return None
    if _thinned(len(pairs), task) and source.n_rows >= DEEP_ROWS:
        task = replace(task, candidates=tuple(replace(of, n_rounds=DEEPER * of.n_rounds) for of in task.candidates))
    held = [held_out.weight for _, held_out in pairs]
    beside = tuple(FoldFits(partial(_open, held_out, task=task, options=task.candidates[0])) for _, held_out in pairs)

    def contest(source: Source, task: Task, candidates: Sequence[ULSOptions]) -> Choice[ULSOptions]:
        folds = [
            Fold[ULSOptions](partial(_curve, training, held_out, task, fits), weight)
            for (training, held_out), fits, weight in zip(pairs, beside, held, strict=True)
        ]
        return race(folds, candidates, first_stage=1, run=partial(_curves, source))

    choice, followed = contest(source, task, task.candidates), None
    slow = choice.chosen
    if task.fast_rate is not None and slow.stage >= slow.candidate.n_rounds:
        rate = replace(slow.candidate, learning_rate=task.fast_rate)
        least = rate.n_rounds // 2 if rate.noise > 0 else 0  # fits of fewer rounds are drawn again
        sure = Sure[ULSOptions](held[0], slow.loss, least, rate.n_rounds)

        def told(fit: Fit) -> Iterator[int]:
            return sure.told(fit.options.n_rounds, lambda: fit.validation / (fit.task.unit * held[0]))

        def last(rows: Source, n_rounds: int) -> tuple[Loss, Trace]:
            paced = replace(task, pace=lambda _: sure.rounds(rows.turn))
            return run(everything._replace(source=rows), None, paced, replace(rate, n_rounds=n_rounds))

        if len(pairs) > 1 or task.validation is not None or task.ensemble or rate.max_seconds:
            fast = contest(source, task, [rate]).chosen
        else:
            fast, followed = sure.follow(
                source, lambda rows: contest(rows, replace(task, pace=told), [rate]).chosen, last
            )
        if fast.loss < slow.loss:
            choice = replace(choice, chosen=fast, kept=(fast,))
        choice = replace(choice, tried=(*choice.tried, fast))
    total = everything.weight + (0.0 if task.validation is None else held[0])
    return _Seen(choice, sum(held) / total, [rows for rows, _ in pairs], () if task.validation else beside, followed)


def _training_curve(training: Chosen, task: Task, options: ULSOptions, _: int, source: Source) -> FloatArray:
    """The mean loss of all rows after each round; it always reaches the last one."""
    trace = run(training._replace(source=source), None, task, options)[1]
    return np.array([trace.start_surrogate, *(step.surrogate for step in trace.rounds)])


def _curves(source: Source, runs: Runs[ULSOptions]) -> list[FloatArray]:
    """The curves of several fits on rows of a source; their questions to workers travel together."""
    asked = {f"{n}": partial(fold.losses, options, last) for n, (fold, options, last) in enumerate(runs)}
    return source.each(asked) if asked else []


def _curve(
    training: Chosen, held_out: Chosen, task: Task, fits: FoldFits, options: ULSOptions, last: int, source: Source
) -> FloatArray:
    """The mean loss of the held-out rows after each round, or up to the round `last` where one is asked for.

    `source` has the training rows, for this fit. `fits` remembers the models.
    """
    candidate = options
    if held_out.source is training.source:
        held_out = held_out._replace(source=source)
    training = training._replace(source=source)
    options = replace(options, n_rounds=last) if last else replace(options, patience=PATIENCE)
    if isinstance(task.loss, Loss) and task.start is None and isinstance(source, LocalSource):
        with _rows_of(training, held_out, task, options) as (rows, held, loop_task, in_memory):
            if in_memory and held is not None:
                curve, terms = held_out_curve(rows, held, loop_task, options)
                fits.known.append((candidate, terms))
                return curve
    trace = run(training, held_out, task, options)[1]
    fits.known.append((candidate, trace.terms))
    return np.array([trace.start_validation, *(step.validation for step in trace.rounds)])


def _selection(seen: _Seen, averaged: bool = False) -> dict[str, object]:
    """What the choice saw, as the estimator shows it."""
    used = seen.choice.kept if averaged else (seen.choice.chosen,)
    candidates = [{"used": any(tried is one for one in used), **described(tried)} for tried in seen.choice.tried]
    return {"candidates": candidates, "validation_share": seen.fraction}


def run(training: Chosen, held_out: Chosen | None, task: Task, options: ULSOptions) -> tuple[Loss, Trace]:
    """One fit with fixed options, from the beginning or from an earlier fit."""
    if task.start is None:
        return _run(training, held_out, task, options)
    before = task.start.trace
    known = _measured(training, task, options)
    try:
        earlier = known.trace(before)
        start = replace(task.start, same_rows=earlier is before)
        left = replace(options, n_rounds=max(options.n_rounds - len(before.rounds), 0))
        loss, after = _run(training, held_out, replace(task, start=start), left)
        trace = continued(earlier, after)
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
    held = None if held_out is None else examples_in_memory(*held_out)
    more: dict[str, Any] = {"start": task.start, "layout": task.layout, "callback": task.callback}
    trace = boost_adaptive(task.loss, examples_in_memory(*training), options, held, n_threads=task.n_threads, **more)
    # The scores were last moved to the minimum of the last round's surrogate: its link gives their probabilities.
    last = trace.rounds or (() if task.start is None else task.start.trace.rounds)
    return losses.get(last[-1].loss if last else "logistic"), trace


def _boost(training: Chosen, held_out: Chosen | None, task: Task, options: ULSOptions) -> Trace:
    """Boost rules by the compiled loop where it can run, else by the readable one; both give the same trace."""
    with _rows_of(training, held_out, task, options) as (rows, held, loop_task, in_memory):
        return (boost_compiled if in_memory else boost)(rows, held, loop_task, options)


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
                opened.append(_open(chosen, task.loss, task=task, options=options))
        held = opened[1] if held_out is not None else None
        only = opened[0].rows.only
        in_memory = only is not None and only.compiled is not None and isinstance(source.journal, NoJournal)
        # The compiled loop records no rounds in a journal, refits nothing, and starts held-out rows at score 0.
        free = options.constraints is None and options.criterion == "newton"
        classic = free and options.scheme == 1 and (task.start is None or held is None)
        more: dict[str, Any] = {"start": task.start, "callback": task.callback, "journal": source.journal}
        if options.criterion != "newton":
            score = None if task.start is None else task.start.scores
            more["search"] = CriterionSearch(examples_in_memory(*training), task.loss, options, score)
        loop_task = LoopTask.of(task.loss, source.binning, task.layout, pace=task.pace, **more)
        yield opened[0], held, loop_task, in_memory and classic
    finally:
        for rows in opened:
            rows.rows.close()


def _open(chosen: Chosen, loss: Loss, *, task: Task, options: ULSOptions) -> Opened:
    source, label, selection = chosen
    two, threads, sampled = options.fit_intercept, task.n_threads, options.search_fraction < 1.0
    return open_rows(source, label, loss, two, selection=selection, n_threads=threads, sampled=sampled)


def _measured(rows: Chosen, task: Task, options: ULSOptions) -> Measured:
    return Measured(partial(_open, rows, task=task, options=options), rows.source.binning, task.loss)
