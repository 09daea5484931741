"""Fit a boundary classifier: choose a solver for rows in memory or in parts, and collect doubts about the fit.

| rows | kernel | K boundaries | soft |
|---|---|---|---|
| memory | none | `linear` (Newton, coordinate descent) or `subgradient` | `objective` |
| memory | any | `kernel` (pair updates) | `kernel` (through the eigenvectors) |
| parts | none | `parts/bands`, else `objective` over smoothed hinges; or `subgradient` | `objective` |
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from permissible.learners.boundary.certificate import Certificate
from permissible.learners.boundary.kernel import solve_kernel, solve_kernel_soft
from permissible.learners.boundary.linear import solve_linear
from permissible.learners.boundary.objective import minimise, solve_soft
from permissible.learners.boundary.parts.bands import gathered, problem_of, solve_bands
from permissible.learners.boundary.parts.rows import LinearOpening, SummedObjective
from permissible.learners.boundary.problem import Options, Penalty, Problem, Solution
from permissible.learners.boundary.segments import NO_SEGMENTS
from permissible.learners.boundary.subgradient import MemorySlopes, SummedSlopes, solve_subgradient
from permissible.learners.boundary.surfaces import SmoothLoss, smoothed
from permissible.learners.boundary.target import Target
from permissible.learners.doubts import (
    SAMPLE_ROWS,
    certain_score,
    evenly_spaced,
    of_boundary,
    saturated,
    shortfall,
    spread,
)
from permissible.models.kinds.kernel import Kernel, KernelModel
from permissible.models.kinds.linear import LinearModel
from permissible.rows.source import Source
from permissible.types import FloatArray, IntArray, Matrix
from permissible.validation import Words, refusal

Model: TypeAlias = LinearModel | KernelModel


@dataclass(frozen=True, slots=True, eq=False)
class BoundaryTask:
    """Rows in memory, and the problem to solve on them."""

    X: Matrix
    problem: Problem
    target: Target
    kernel: Kernel | None
    options: Options

    def take(self, rows: IntArray) -> "BoundaryTask":
        """The task for some of the rows."""
        problem = replace(self.problem, positive=self.problem.positive[rows], weight=self.problem.weight[rows])
        return replace(self, X=self.features(rows, rows), problem=problem)

    def features(self, rows: IntArray, others: IntArray) -> Matrix:
        """Some rows of X; of a precomputed kernel, their values with the training rows `others`."""
        given = self.kernel is not None and self.kernel.name == "precomputed"
        return self.X[rows][:, others] if given else self.X[rows]

    def with_alpha(self, alpha: float) -> "BoundaryTask":
        """The same task with another penalty."""
        return replace(self, problem=replace(self.problem, alpha=alpha))


@dataclass(frozen=True, slots=True, eq=False)
class BoundaryFit:
    """A solution as a model; the certificate holds the doubts."""

    solution: Solution
    model: Model
    certificate: Certificate


def solve(task: BoundaryTask, last: Solution | None = None) -> Solution:
    """Solve (18) on rows in memory, starting from the `last` solution if it has the right shape."""
    X, problem, target, options = task.X, task.problem, task.target, task.options
    start = last if last is not None and _suits(last, task) else None
    match task.kernel, target.segments:
        case None, None:
            return solve_soft(X, problem, target.loss, options, start)
        case None, _ if options.solver == "psgd":
            return solve_subgradient(MemorySlopes(X, problem), options)
        case None, _:
            return solve_linear(X, problem, options, start)
        case kernel, None:
            return solve_kernel_soft(X, problem, target.loss, kernel, options)
        case kernel, _:
            return solve_kernel(X, problem, kernel, options, start)


def _suits(last: Solution, task: BoundaryTask) -> bool:
    """Whether a solution has as many coefficients as columns or, for a kernel, as many dual values as rows."""
    n, d = task.X.shape
    return last.kernel == (task.kernel is not None) and (len(last.dual) == n if last.kernel else len(last.coef) == d)


def fit_rows(task: BoundaryTask, last: Solution | None = None) -> BoundaryFit:
    """Fit to rows in memory."""
    solution = solve(task, last)
    model, linear = model_of(task, solution), task.kernel is None
    effects = solution.coef * spread(task.X) if linear else np.zeros(0)  # kernel coefficients are bounded by alpha
    score = model.scores(evenly_spaced(task.X, SAMPLE_ROWS if linear else SAMPLE_ROWS // 25))
    return _certified(solution, model, task.options, effects, saturated(task.target.loss, score))


def model_of(task: BoundaryTask, solution: Solution) -> Model:
    """The model of a solution."""
    if task.kernel is None:
        return _linear_model(task.target, solution)
    target, support = task.target, np.flatnonzero(solution.dual > 0)
    vectors = support if task.kernel.name == "precomputed" else task.X[support]
    head = task.kernel, vectors, solution.coef[support], solution.intercept
    return KernelModel(*head, target.loss, target.boundaries, target.deltas)


def fit_source(source: Source, target: Target, penalty: Penalty, options: Options) -> BoundaryFit:
    """Fit a linear classifier to rows in parts."""
    rows = source.open(LinearOpening())
    try:
        objective = SummedObjective.of(rows, penalty)
        if not np.isfinite(objective.largest).all():
            name = source.binning.schema.names[int(np.flatnonzero(~np.isfinite(objective.largest))[0])]
            came = Words(f"NaN or infinity in column {name!r}")
            raise refusal("X", "finite and without missing values for this classifier", came, "fill them in first")
        fit = _solve_sums(objective, source, target, options)
        reach, farthest = certain_score(target.loss), np.abs(fit.coef) * objective.largest
        effects, share = np.zeros(len(fit.coef)), 0.0
        if abs(fit.intercept) + float(farthest.sum()) >= reach:  # otherwise no score can saturate
            spreads, share = objective.extremes(np.append(fit.coef, fit.intercept), reach, source.n_rows)
            effects = fit.coef * spreads
        return _certified(fit, _linear_model(target, fit), options, effects, share)
    finally:
        rows.close()


def _solve_sums(objective: SummedObjective, source: Source, target: Target, options: Options) -> Solution:
    segments, n_columns = target.segments, len(objective.largest)
    if segments is not None and options.solver == "psgd":
        return solve_subgradient(SummedSlopes(objective, segments), options)
    sample, spaced = gathered(objective, source)
    if segments is None:
        problem = problem_of(sample, NO_SEGMENTS, objective.penalty)
        fit = replace(solve_soft(sample.X, problem, target.loss, options), dual=np.zeros(0))
        if len(sample.weight) == source.n_rows:
            return fit
        return minimise(objective, [SmoothLoss(target.loss)], np.append(fit.coef, fit.intercept), options)
    found = solve_bands(objective, segments, options, sample, spaced)
    whole = len(sample.weight) == source.n_rows
    if found is not None and (found.converged or found.n_iter >= options.max_iter or whole):
        return found
    slow = minimise(objective, smoothed(segments), np.zeros(n_columns + 1), options)  # many rows lie at a kink
    return slow if found is None or slow.certificate.gap < found.certificate.gap else found


def _linear_model(target: Target, fit: Solution) -> LinearModel:
    return LinearModel(fit.coef, fit.intercept, target.loss, target.boundaries, target.deltas)


def _certified(
    solution: Solution, model: Model, options: Options, effects: FloatArray, saturated_share: float
) -> BoundaryFit:
    """Add doubts, from the effect of one standard deviation of each column and the fraction of saturated rows."""
    short = shortfall(solution.converged, solution.n_iter, options.max_iter)
    gap = solution.certificate.relative_gap
    doubts = of_boundary(model.loss, effects, saturated_share, gap, options.tol, short)
    ended = solution.certificate.ended(solution.converged, solution.n_iter, options.max_iter, doubts)
    return BoundaryFit(solution, model, ended)
