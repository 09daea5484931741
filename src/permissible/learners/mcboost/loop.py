"""Algorithm 1 of [B], the loop: weights, weak learner, exact line search, coordinate by coordinate, round by round.

The learner's `step` holds the inner loop over the coordinates. Stopping, held-out rows and reporting are looked at
between rounds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.learners.mcboost.monitor import HeldOut, Watch
from permissible.learners.mcboost.problem import Problem
from permissible.learners.mcboost.rounds import Learner, Round, Rows
from permissible.losses import get_multiclass
from permissible.types import AnyArray, FloatArray


@dataclass(slots=True)
class Trace:
    """What happened, a value per round: the surrogate, cost and error of the training rows after it, and the edge it found."""

    surrogate: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    edge: list[float] = field(default_factory=list)
    capped: list[bool] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    loss: str = "gll"
    start: float = float("nan")
    stopped: str = "rounds"

    def history(self) -> dict[str, AnyArray]:
        """The mapping that estimators publish as ``history_``."""
        found: dict[str, AnyArray] = {
            "surrogate": np.array(self.surrogate),
            "train_cost": np.array(self.cost),
            "train_error": np.array(self.error),
            "edge": np.array(self.edge),
            "loss": np.array([self.loss] * len(self.surrogate)),
        }
        if self.validation:
            found["validation"] = np.array(self.validation)
        return found


def mean_trace(traces: list[Trace]) -> Trace:
    """The trace of an average of runs: the mean of each value over the runs that had that round."""
    longest = max(traces, key=lambda trace: len(trace.surrogate))
    mean = Trace(loss=longest.loss, start=longest.start, stopped=longest.stopped)
    for number in range(len(longest.surrogate)):
        alive = [trace for trace in traces if number < len(trace.surrogate)]
        mean.surrogate.append(float(np.mean([trace.surrogate[number] for trace in alive])))
        mean.cost.append(float(np.mean([trace.cost[number] for trace in alive])))
        mean.error.append(float(np.mean([trace.error[number] for trace in alive])))
        mean.edge.append(float(np.max([trace.edge[number] for trace in alive])))
        mean.capped.append(any(trace.capped[number] for trace in alive))
    return mean


def boost(
    problem: Problem,
    learner: Learner,
    n_rounds: int,
    *,
    scores: FloatArray | None = None,
    held_out: HeldOut | None = None,
    tol: float = 1e-10,
    first_round: int = 0,
    n_threads: int = 1,
    report: Callable[[int, Trace], None] | None = None,
) -> tuple[list[Round], Trace, FloatArray]:
    """Run the rounds; return them, the trace, and the scores of the training rows.

    Rounds end early when no learner has an edge, when the surrogate stops falling (`tol`, relative; only where every
    round sees every row), when every row is right and the surrogate all but gone (separable rows: further rounds would only
    scale the scores; not with tol=0), or when the held-out rows say so.
    """
    state = problem.state(scores, n_threads)
    rounds, trace = run_rounds(
        state, problem.total_weight, problem.loss, learner, n_rounds, watch=held_out, tol=tol, first_round=first_round,
        report=report,
    )  # fmt: skip
    return rounds, trace, state.scores()


def run_rounds(
    state: Rows,
    total: float,
    loss: str,
    learner: Learner,
    n_rounds: int,
    *,
    watch: Watch | None = None,
    tol: float = 1e-10,
    first_round: int = 0,
    report: Callable[[int, Trace], None] | None = None,
) -> tuple[list[Round], Trace]:
    """The rounds on rows of weight `total` that may be anywhere."""
    rounds: list[Round] = []
    trace = Trace(loss=loss)
    before = state.begin_round()[0] / total
    trace.start = before
    for number in range(n_rounds):
        made = learner.step(state, first_round + number)
        rounds.append(made)
        surrogate, cost, error = (value / total for value in state.begin_round())
        _record(trace, made, surrogate, cost, error)
        if watch is not None:
            trace.validation.append(watch.after(learner, made))
        if report is not None:
            report(first_round + number, trace)
        if watch is not None and watch.exhausted:
            trace.stopped = "validation"
            break
        stopped = _finished(made, before - surrogate, surrogate, trace, tol, learner)
        if stopped is not None:
            trace.stopped = stopped
            break
        before = surrogate
    return rounds, trace


SEPARATED = 1e-5
"""Share of the first surrogate below which rows without an error count as separated."""


def _finished(made: Round, fall: float, surrogate: float, trace: Trace, tol: float, learner: Learner) -> str | None:
    """Why to stop after this round, or None."""
    if not made.moved:
        return "no edge"
    if tol <= 0:
        return None
    if fall <= tol * max(1.0, abs(surrogate)) and _sees_all(learner):
        return "converged"
    least = get_multiclass(trace.loss).least
    if trace.error[-1] == 0 and surrogate - least < SEPARATED * (trace.start - least):
        return "separable"
    return None


def _record(trace: Trace, made: Round, surrogate: float, cost: float, error: float) -> None:
    trace.surrogate.append(surrogate)
    trace.cost.append(cost)
    trace.error.append(error)
    trace.edge.append(made.edge)
    trace.capped.append(made.capped)


def _sees_all(learner: Any) -> bool:
    """Whether a round's learner sees every row and column, so that no progress now means none later."""
    return bool(learner.sampling.row_share >= 1.0 and learner.sampling.column_share >= 1.0)
