"""One fit of boosted rules on binned examples: which loop runs, and what a hold-out chooses. Returns the trace and the loss.

Built-in losses by the classic scheme run compiled; a user's own loss, refitting schemes and the adaptive flavours run the
readable loop; leaves of trees have their own.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from permissible import losses
from permissible.learners.uls.boost import boost
from permissible.learners.uls.compiled import Examples, Watch, boost_compiled
from permissible.learners.uls.flavours import FLAVOURS, boost_adaptive, boost_best
from permissible.learners.uls.holdout import Choice, choose, choose_by, choose_on, held_out, repeats
from permissible.learners.uls.loss_rows import CompiledRows, PythonRows
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import Rows, Terms
from permissible.learners.uls.start import Start, at_hand, continued
from permissible.learners.uls.trace import Trace
from permissible.losses import Loss
from permissible.losses.surrogate import PythonSurrogate, Surrogate, compiled


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What to fit: the loss (or a flavour), the candidates between which a hold-out chooses, and the hold-out.

    `hashes` are those of the rows' content when rows are to be held out; `validation` a set that was given instead, which
    chooses where `stopping` says so and is only looked at otherwise. `start` is a fit to go on from, without a hold-out.
    """

    loss: Loss | str
    candidates: tuple[ULSOptions, ...]
    features: str = "rules"
    hashes: npt.NDArray[np.uint64] | None = None
    validation: Examples | None = None
    stopping: bool = True
    start: Start | None = None
    n_threads: int = 1
    watch: Watch | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The trace of the final fit, the loss of its scores, and what the hold-out saw."""

    trace: Trace
    loss: Loss
    choice: Choice | None = None


def fit_rules(examples: Examples, task: Task) -> Fitted:
    """Choose by the hold-out where there is one, then fit on all rows."""

    def run(kept: Examples, options: ULSOptions, held: Examples | None = None) -> Trace:
        return run_loop(kept, options, task, held)[1]

    choice: Choice | None = None
    if task.validation is not None and task.stopping:
        choice = choose_on(examples, task.validation, task.candidates, run)
    elif task.hashes is not None:
        if repeats(task.hashes):
            choice = choose_by(task.candidates, lambda options: run(examples, options), 0.0, by_itself=True)
        elif (held := held_out(task.hashes, examples.positive, examples.weight)) is not None:
            choice = choose(examples, held, task.candidates, run)
    options = task.candidates[0] if choice is None else choice.options
    # A given validation set stays beside the final fit, so that the history shows its loss.
    loss, trace = run_loop(examples, options, task, task.validation)
    return Fitted(trace, loss, choice)


def run_loop(examples: Examples, options: ULSOptions, task: Task, held: Examples | None = None) -> tuple[Loss, Trace]:
    """One fit with fixed options, from the beginning or from an earlier fit."""
    before = task.start
    if before is None:
        return _run(examples, options, task, held)
    left = max(options.n_rules - len(before.trace.rounds), 0)
    loss, trace = _run(examples, replace(options, n_rules=left), task, held)
    earlier = at_hand(before, examples, lambda name: loss if name == loss.name else losses.get(name))
    return loss, continued(earlier, trace, examples, loss, refitted=options.scheme != 1)


def _run(examples: Examples, options: ULSOptions, task: Task, held: Examples | None) -> tuple[Loss, Trace]:
    """The loop that the task asks for; its trace has the rounds of this run only."""
    if task.loss == "F*":
        return boost_best(examples, lambda loss: _run(examples, options, replace(task, loss=loss), held)[1])
    before = task.start
    shared: dict[str, Any] = {"n_threads": task.n_threads, "watch": task.watch}
    if isinstance(task.loss, str) and task.loss in FLAVOURS:
        return losses.get("logistic"), boost_adaptive(task.loss, examples, options, held, before=before, **shared)
    loss = losses.get(task.loss)
    if task.features == "tree":
        from permissible.learners.uls.leaves import boost_trees  # loaded only where trees are grown

        return loss, boost_trees(examples, loss, options, validation=held, **shared)
    kernel = compiled(loss)
    if kernel is None or options.scheme != 1:
        return loss, _readable(examples, options, task, held, loss)
    return loss, boost_compiled(
        examples,
        kernel,
        loss.name,
        options,
        validation=held,
        start_scores=None if before is None else before.scores,
        first_round=0 if before is None else len(before.trace.rounds),
        **shared,
    )


def _readable(examples: Examples, options: ULSOptions, task: Task, held: Examples | None, loss: Loss) -> Trace:
    kernel, two = compiled(loss), options.fit_intercept
    surrogate: Surrogate = PythonSurrogate(loss) if kernel is None else kernel.function()
    scale = 1.0 if kernel is None else kernel.scale

    def rows(part: Examples) -> Rows:
        if kernel is None:
            return PythonRows(part, loss, two, task.n_threads)
        return CompiledRows(part, kernel, two, task.n_threads)

    start, told, first = None, None, 0
    if task.start is not None:
        intercept, terms = task.start.trace.terms()
        start = Terms(intercept / scale, tuple(terms), tuple(c / scale for c in terms.values()))
        first = len(task.start.trace.rounds)
        same = options.scheme != 1 and at_hand(task.start, examples, lambda _: loss) is task.start.trace
        told = task.start.trace.evidence if same else None
    return boost(
        rows(examples), surrogate, examples.binned.binning, loss.name, replace(options, l2=options.l2 * scale),
        held=None if held is None else rows(held), scale=scale, start=start, told=told, first_round=first,
        watch=task.watch,
    )  # fmt: skip
