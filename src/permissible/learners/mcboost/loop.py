"""Algorithm 1 of [B], the loop: weights, weak learner, exact line search, coordinate by coordinate, round by round.

A round's inner loop over the coordinates is in `Steps.step`. Stopping, held-out rows and reporting are handled between
rounds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from permissible.learners.mcboost.monitor import HeldOutMonitor
from permissible.learners.mcboost.rounds import CostRound
from permissible.types import AnyArray

SEPARATED = 1e-5
"""Fraction of the first surrogate below which rows without errors count as separated."""


@dataclass(slots=True)
class CostTrace:
    """One value per round: surrogate, cost and error of the training rows after it, and its edge."""

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
        """The mapping that estimators store as ``history_``."""
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

    def record(self, made: CostRound, surrogate: float, cost: float, error: float) -> None:
        """Record a round and the means after it."""
        self.surrogate.append(surrogate)
        self.cost.append(cost)
        self.error.append(error)
        self.edge.append(made.edge)
        self.capped.append(made.capped)


Report = Callable[[int, CostTrace], None]


class Steps(Protocol):
    """The training rows, and how a round on them is made."""

    def begin_round(self) -> tuple[float, float, float]:
        """Sums of the surrogate, the cost and the errors of all rows."""

    def step(self, number: int) -> CostRound:
        """Make a round."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run, the relative decrease of the surrogate required of a round, and the number of the first round.

    `sees_all` says that a round sees every row and column, so that no progress now means none later; `least` is the
    infimum of the loss.
    """

    n_rounds: int
    tol: float = 1e-10
    first_round: int = 0
    sees_all: bool = True
    least: float = 0.0


def boost(
    steps: Steps,
    loss: str,
    total: float,
    limits: Limits,
    monitor: HeldOutMonitor | None = None,
    report: Report | None = None,
) -> tuple[list[CostRound], CostTrace]:
    """Run the rounds on rows of weight `total`; return them and the trace.

    Rounds end early when no learner has an edge, when the surrogate stops falling (`tol`; only where every round sees
    every row), when every row is classified correctly and the surrogate is nearly 0 (separable rows: further rounds
    would only scale the scores; not with tol=0), or when the held-out loss stops improving.
    """
    rounds: list[CostRound] = []
    trace = CostTrace(loss=loss)
    trace.start = before = steps.begin_round()[0] / total
    for number in range(limits.first_round, limits.first_round + limits.n_rounds):
        made = steps.step(number)
        rounds.append(made)
        surrogate, cost, error = (value / total for value in steps.begin_round())
        trace.record(made, surrogate, cost, error)
        if monitor is not None:
            trace.validation.append(monitor.after(made))
        if report is not None:
            report(number, trace)
        if monitor is not None and monitor.exhausted:
            trace.stopped = "validation"
            break
        stopped = _finished(made, before - surrogate, trace, limits)
        if stopped is not None:
            trace.stopped = stopped
            break
        before = surrogate
    return rounds, trace


def _finished(made: CostRound, fall: float, trace: CostTrace, limits: Limits) -> str | None:
    """Why to stop after this round, or None."""
    surrogate = trace.surrogate[-1]
    if not made.moved:
        return "no edge"
    if limits.tol <= 0:
        return None
    if fall <= limits.tol * max(1.0, abs(surrogate)) and limits.sees_all:
        return "converged"
    if trace.error[-1] == 0 and surrogate - limits.least < SEPARATED * (trace.start - limits.least):
        return "separable"
    return None


def mean_trace(traces: list[CostTrace]) -> CostTrace:
    """The trace of an average of runs: the mean of each value over the runs that had that round."""
    longest = max(traces, key=lambda trace: len(trace.surrogate))
    mean = CostTrace(loss=longest.loss, start=longest.start, stopped=longest.stopped)
    for number in range(len(longest.surrogate)):
        alive = [trace for trace in traces if number < len(trace.surrogate)]
        for name in ("surrogate", "cost", "error"):
            getattr(mean, name).append(float(np.mean([getattr(trace, name)[number] for trace in alive])))
        mean.edge.append(max(trace.edge[number] for trace in alive))
        mean.capped.append(any(trace.capped[number] for trace in alive))
    return mean
