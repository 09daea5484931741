"""The loop of uls/boost.py for compiled losses in memory, in one call; it gives the same trace, bit for bit."""

import math
from collections.abc import Callable

from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.boost import LoopTask
from permissible.learners.uls.criteria.draws import noise_of
from permissible.learners.uls.loss_rows import Opened
from permissible.learners.uls.options import STOPS, ULSOptions
from permissible.learners.uls.trace import Round, Trace, literal_of
from permissible.types import FloatArray


def boost_compiled(training: Opened, held_out: Opened | None, task: LoopTask, options: ULSOptions) -> Trace:
    """Boost rules by the classic scheme, from start to end in compiled code."""
    rows, held = _rows(training), None if held_out is None else _rows(held_out)
    start = None if task.start is None else task.start.scores / task.scale
    asked = loop_options(options, task, task.first_round, start_constant=start is None)
    found = kernels.boost(rows, held, task.layout, asked, start, task.callback)
    total = training.sizes.total_weight
    weight = task.unit * total
    held_weight = math.nan if held_out is None else task.unit * held_out.sizes.total_weight
    return Trace(
        constant=task.scale * found.constant,
        rounds=tuple(round_of(step, task, total, held_weight) for step in found.rounds),
        stop=STOPS[found.stop],
        start_surrogate=found.start_surrogate / weight,
        start_error=found.start_error / total,
        start_validation=found.start_validation / held_weight,
        total_weight=total,
        largest_edge=found.largest_edge,
        gradient_norm=found.gradient_norm,
    )


def held_out_curve(
    training: Opened, held_out: Opened, task: LoopTask, options: ULSOptions
) -> tuple[FloatArray, Callable[[int], tuple[float, dict[Rule, float]]]]:
    """The mean loss of the held-out rows before the first round and after each, and the model after so many rounds."""
    asked = loop_options(options, task, 0, start_constant=True, certified=False)
    found = kernels.boost(_rows(training), _rows(held_out), task.layout, asked, None, task.callback)

    def terms(n_rounds: int) -> tuple[float, dict[Rule, float]]:
        rounds = tuple(round_of(step, task, 1.0) for step in found.rounds[:n_rounds])
        return Trace(task.scale * found.constant, rounds, STOPS[found.stop], math.nan, math.nan).terms()

    return found.validation() / (task.unit * held_out.sizes.total_weight), terms


def _rows(opened: Opened) -> kernels.Rows:
    rows = None if opened.rows.only is None else opened.rows.only.compiled
    assert rows is not None, "the compiled loop runs on rows of a compiled loss in memory"
    return rows


def loop_options(
    options: ULSOptions, task: LoopTask, first_round: int, start_constant: bool, certified: bool = True
) -> kernels.LoopOptions:
    """The options of the compiled loop, in the units of the rows."""
    return kernels.LoopOptions(
        n_rounds=options.n_rounds,
        max_literals=options.max_literals,
        beam=options.beam,
        fit_constant=options.fit_intercept,
        l2=options.l2 * task.scale,
        learning_rate=options.learning_rate,
        share=options.search_fraction,
        tolerance=options.tolerance,
        seed=options.seed,
        first_round=first_round,
        start_constant=start_constant,
        max_seconds=options.max_seconds,
        intervals=options.intervals,
        patience=options.patience,
        certified=certified,
        noise=noise_of(task.surrogate, options.noise),
    )


def round_of(step: kernels.Round, task: LoopTask, total: float, held_weight: float = math.nan) -> Round:
    """Convert a round; `total` is the training weight, `held_weight` the loss of held-out rows at score 0."""
    return Round(
        rule=tuple(literal_of(literal, task.binning) for literal in step.literals),
        value_in=task.scale * step.value_in,
        value_out=task.scale * step.value_out,
        edge=step.edge,
        weight=step.weight,
        surrogate=step.surrogate / (task.unit * total),
        train_error=step.error / total,
        loss=task.loss_name,
        validation=step.validation / held_weight,
        passes=step.passes,
        support=step.covered / total,
        positive=step.covered_positive / step.covered if step.covered else math.nan,
        endless=step.endless,
    )
