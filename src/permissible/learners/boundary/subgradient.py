"""The projected sub-gradient method of [K] section 5, corrected (E14, E15), in batches: for streams and comparisons.

    w <- (1 - eta lambda) w + (eta / n) sum_i t_i y_i x_i,  eta = 1 / (lambda m),  |w| <= sqrt(max A / lambda)

where t_i is minus the slope of the loss at the margin of row i. The signs printed in [K] ascend. The printed projection
of (w, b) can exclude the best b, and the step is too small for b. Here b is solved for after each step of a fit, and
has a step size of its own on a stream.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from permissible.kernels._core import boundary as core
from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.objective import MemoryObjective
from permissible.learners.boundary.parts.rows import AverageSlope, Certify, InterceptPulls, SummedObjective, exact
from permissible.learners.boundary.problem import Options, Penalty, Problem, Solution
from permissible.learners.boundary.segments import Segments
from permissible.learners.boundary.surfaces import SmoothedHinges
from permissible.types import FloatArray, Matrix

CHECK_EVERY = 10
"""Steps between two certificates."""
TRIALS = 33
"""Intercepts evaluated by one question."""


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The state of a stream: the iterate, the average of iterates (used to predict), and the number of batches."""

    coef: FloatArray
    intercept: float
    mean_coef: FloatArray
    mean_intercept: float
    batches: int = 0

    @classmethod
    def begin(cls, n_columns: int) -> "Stream":
        """At zero."""
        return cls(np.zeros(n_columns), 0.0, np.zeros(n_columns), 0.0)


def stream_step(X: Matrix, problem: Problem, stream: Stream) -> Stream:
    """One step on a batch; the average gives late iterates more weight (3 / (m + 2))."""
    m = stream.batches + 1
    point = np.append(stream.coef, stream.intercept)
    pull = MemorySlopes(X, problem).average(point, 1)
    moved = _stepped(point, pull, m, problem.segments, problem.penalty)
    if problem.penalty.free_intercept:
        moved[-1] = stream.intercept + 4.0 * pull[-1] / np.sqrt(m)
    mean, late = np.append(stream.mean_coef, stream.mean_intercept), 3.0 / (m + 2.0)
    mean = (1 - late) * mean + late * moved
    return Stream(moved[:-1], float(moved[-1]), mean[:-1], float(mean[-1]), m)


def _stepped(point: FloatArray, pull: FloatArray, number: int, segments: Segments, penalty: Penalty) -> FloatArray:
    """One step, with w on the ball that contains the optimum: lambda |w|^2 <= max A (the loss at w = 0, b = 0)."""
    step = (1.0 - 1.0 / number) * point + pull / (penalty.alpha * number)
    radius = np.sqrt((segments.hinge * segments.width).sum(axis=1).max() / penalty.alpha)
    norm = float(np.linalg.norm(step[:-1]))
    if norm > radius:
        step[:-1] *= radius / norm
    if not penalty.of_intercept:
        step[-1] = point[-1]
    return step


class MemorySlopes:
    """Rows in memory, dense or sparse; the best intercept is exact."""

    def __init__(self, X: Matrix, problem: Problem) -> None:
        self.objective, self.problem, self.averaged = MemoryObjective(X, problem), problem, np.zeros(0)
        self.segments, self.penalty, self.n_columns = problem.segments, problem.penalty, int(X.shape[1])

    def average(self, point: FloatArray, number: int) -> FloatArray:
        """Minus the mean gradient of the loss at a point; its slopes join the average as its `number`-th term."""
        slopes = self.segments.slope(self.problem.positive, self.objective.margins(point))
        self.averaged = slopes if number == 1 else self.averaged + (slopes - self.averaged) / number
        return self.objective.pull(slopes)

    def best_intercept(self, coef: FloatArray, last: float) -> float:
        """The weighted median of the kinks."""
        score = np.asarray(self.objective.X @ coef, dtype=np.float64)
        return core.best_intercept(score, self.problem.record, last)

    def certificate(self, point: FloatArray) -> tuple[Certificate, FloatArray]:
        """The certificate of a point with the average as dual point, and that average."""
        dual = self.problem.balanced(self.averaged)
        return self.objective.certificate(point, self.segments, dual), dual


class SummedSlopes:
    """Rows in parts. The best intercept is searched on a grid around the last one, whose width adapts."""

    def __init__(self, objective: SummedObjective, segments: Segments) -> None:
        self.objective, self.segments, self.penalty = objective, segments, objective.penalty
        self.n_columns = len(objective.largest)
        self.surface = SmoothedHinges(segments, 1e-12)  # practically unsmoothed hinges
        self.reach, self.factors = float(np.abs(segments.hinge).max()) + 1.0, (1.0, 1.0)

    def average(self, point: FloatArray, number: int) -> FloatArray:
        """Minus the mean gradient of the loss at a point; its slopes join the average."""
        negative, positive, *pull = exact(self.objective.rows.ask(AverageSlope(point, self.surface, number)))
        self.factors = self.penalty.balance(negative, positive)
        return np.array(pull) / self.objective.total

    def best_intercept(self, coef: FloatArray, last: float) -> float:
        """The derivative is monotone in b, so the best b is where it changes sign."""
        trials = last + self.reach * np.linspace(-1.0, 1.0, TRIALS)
        pulls = exact(self.objective.rows.ask(InterceptPulls(coef, trials, self.surface)))
        above = int((pulls > 0).sum())
        if above in (0, TRIALS):
            self.reach *= 4.0
            return float(trials[0] if above == 0 else trials[-1])
        left, right = pulls[above - 1], pulls[above]
        cell = trials[above] - trials[above - 1]
        self.reach = max(4.0 * cell, 1e-12)
        return float(trials[above - 1] + left / (left - right) * cell)

    def certificate(self, point: FloatArray) -> tuple[Certificate, FloatArray]:
        """The certificate of a point; its dual point, the average of the slopes, stays with the rows."""
        question = Certify(point, self.surface, self.factors, averaged=True)
        return self.objective.certificate(question), np.zeros(0)


Slopes: TypeAlias = MemorySlopes | SummedSlopes


def solve_subgradient(rows: Slopes, options: Options) -> Solution:
    """Run the method on all rows at once, b solved for after each step, until the certified gap is at most `tol`.

    Without the projection w_m is given by the average slope, so that average is the dual point of the certificate.
    """
    point = np.zeros(rows.n_columns + 1)
    best: Solution | None = None
    for number in range(1, options.max_iter + 1):
        point = _stepped(point, rows.average(point, number), number, rows.segments, rows.penalty)
        if rows.penalty.free_intercept:
            point[-1] = rows.best_intercept(point[:-1], float(point[-1]))
        if number % CHECK_EVERY and number != options.max_iter:
            continue
        certificate, dual = rows.certificate(point)
        if best is None or certificate.gap < best.certificate.gap:
            done = certificate.relative_gap <= options.tol
            best = Solution(point[:-1].copy(), float(point[-1]), dual, certificate, number, done, "psgd")
        if best.converged:
            break
    assert best is not None
    return replace(best, n_iter=number)
