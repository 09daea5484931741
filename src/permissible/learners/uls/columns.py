"""ULS with features known in advance: the columns of X are the h_t, exactly Algorithm 1 of [N] and [T] (section 4).

In each round the weights w = weight(margin) give every column its edge; the column that promises the largest decrease joins,
and (35) is solved for T_j: that column alone (classic), all columns so far (corrective), or a block of them. The constant,
where it is asked for, is one more column. A coefficient c costs l2 c^2, as that of a +-1 rule does. Every scheme ends at the
same minimum; without l2 that is logistic regression for the logistic loss, and least squares for `least_squares`.

A column without a finite coefficient (its rows of one sign are all of one class) keeps the one it reached, and the others go on.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.columns_start import begin, rounds_at_hand
from permissible.learners.uls.leverage import FADED
from permissible.learners.uls.options import Stop, ULSOptions
from permissible.learners.uls.refit import Losses, ScoreObjective, fit_scores
from permissible.learners.uls.trace import Round, Trace
from permissible.losses import Loss
from permissible.losses.surrogate import PythonSurrogate, Surrogate, compiled
from permissible.types import AnyArray, BoolArray, FloatArray, IntArray


class Columns:
    """The columns of a dense or sparse matrix, with a constant one in front where asked for."""

    def __init__(self, X: Any, constant: bool) -> None:
        self.sparse = hasattr(X, "tocsc")
        self.matrix: Any = X.tocsc() if self.sparse else np.asarray(X, dtype=np.float64)
        self.constant = constant
        self.n_rows = int(X.shape[0])
        self.n_features = int(X.shape[1]) + constant
        self._squares: Any = X.multiply(X).tocsc() if self.sparse else None
        ends = [self.matrix.max(axis=0), -self.matrix.min(axis=0)]
        sizes = np.max([end.toarray().ravel() if self.sparse else end for end in ends], axis=0)
        self.reach: FloatArray = np.append([1.0] * constant, np.where(sizes > 0, sizes, 1.0))
        """The largest size of each feature, 1 where it is zero everywhere."""

    def products(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of each feature, sum x first and sum x^2 second; sums in the order of the rows, by one thread."""
        if self.sparse:
            sums, squares = self.matrix.T @ first, self._squares.T @ second
        else:
            sums = (self.matrix * first[:, None]).sum(axis=0)
            squares = (self.matrix * self.matrix * second[:, None]).sum(axis=0)
        if self.constant:
            return np.append(first.sum(), sums), np.append(second.sum(), squares)
        return np.asarray(sums), np.asarray(squares)

    def feature(self, position: int) -> tuple[AnyArray, FloatArray]:
        """Rows where a feature is not zero, and its values there."""
        if self.constant and position == 0:
            return np.arange(self.n_rows), np.ones(self.n_rows)
        column = position - self.constant
        if self.sparse:
            start, end = self.matrix.indptr[column : column + 2]
            return self.matrix.indices[start:end], self.matrix.data[start:end].astype(np.float64)
        return np.arange(self.n_rows), self.matrix[:, column]

    def dense(self, positions: IntArray) -> FloatArray:
        """Some features as a matrix."""
        out = np.zeros((self.n_rows, len(positions)))
        for place, position in enumerate(positions):
            rows, values = self.feature(int(position))
            out[rows, place] = values
        return out


@dataclass(slots=True)
class ColumnFit:
    """A fit in progress."""

    columns: Columns
    sign: FloatArray
    sample: FloatArray
    surrogate: Surrogate
    scale: float
    options: ULSOptions
    score: FloatArray
    theta: FloatArray
    joined: list[int] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    path: list[FloatArray] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    endless: list[int] = field(default_factory=list)
    short: FloatArray = field(default_factory=lambda: np.zeros(0))

    def derivatives(self, score: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Sum of b F, and per row y w and the curvature, times the sample weight."""
        at = self.surrogate.at(self.sign * score)
        return float(self.sample @ at[:, 0]), self.sample * self.sign * at[:, 1], self.sample * at[:, 2]

    def penalty(self) -> FloatArray:
        """The second derivative of what each coefficient costs, in the units of the kernel; the constant costs nothing."""
        cost = np.full(len(self.theta), 2.0 * self.options.l2 * self.scale)
        if self.columns.constant:
            cost[0] = 0.0
        return cost


@dataclass(frozen=True, slots=True, eq=False)
class ColumnTrace:
    """Intercept and coefficients, those after each round, the trace, and the features in the order in which they joined."""

    intercept: float
    coefficients: FloatArray
    trace: Trace
    path: tuple[tuple[float, FloatArray], ...]
    joined: tuple[int, ...] = ()


def boost_columns(
    X: Any, positive: BoolArray, weight: FloatArray | None, loss: Loss, options: ULSOptions, *,
    watch: Callable[[int], bool] | None = None, start: ColumnTrace | None = None,
) -> ColumnTrace:  # fmt: skip
    """Fit the columns of X, from coefficients 0 or from those of an earlier fit."""
    kernel = compiled(loss)
    surrogate: Surrogate = PythonSurrogate(loss) if kernel is None else kernel.function()
    columns = Columns(X, options.fit_intercept)
    sample = np.ones(columns.n_rows) if weight is None else weight
    scale = 1.0 if kernel is None else kernel.scale
    fit = ColumnFit(
        columns, np.where(positive, 1.0, -1.0), sample, surrogate, scale, options, np.zeros(columns.n_rows),
        np.zeros(columns.n_features), short=np.zeros(columns.n_features),
    )  # fmt: skip
    unit = float(surrogate.at(np.zeros(1))[0, 0]) * float(sample.sum())
    start_error = float(sample @ (~positive)) / float(sample.sum())
    if start is not None:
        fit.options = replace(options, n_rules=max(options.n_rules - len(start.trace.rounds), 0))
        begin(fit, start)
        fit.rounds, fit.objective = rounds_at_hand(fit, start, unit)
    stop, edge, norm = _rounds(fit, unit, loss.name, watch)
    evidence = {
        "objective": fit.objective, "features": "columns", "unconverged": tuple(fit.short.tolist()),
        "endless": tuple(position - columns.constant for position in fit.endless),
        "earlier": 0 if start is None else len(start.path),
    }  # fmt: skip
    trace = Trace(0.0, tuple(fit.rounds), stop, 1.0, start_error, total_weight=float(sample.sum()), largest_edge=edge,
                  gradient_norm=norm, evidence=evidence)  # fmt: skip
    split = [] if start is None else list(start.path)
    split += [_split(scale * theta, options.fit_intercept) for theta in fit.path]
    intercept, coefficients = split[-1] if split else _split(fit.theta, options.fit_intercept)
    return ColumnTrace(intercept, coefficients, trace, tuple(split), tuple(fit.joined))


def _split(theta: FloatArray, constant: bool) -> tuple[float, FloatArray]:
    return (float(theta[0]), theta[1:].copy()) if constant else (0.0, theta.copy())


def _rounds(fit: ColumnFit, unit: float, name: str, watch: Callable[[int], bool] | None) -> tuple[Stop, float, float]:
    """Algorithm 1; why it ended, with the largest edge and the norm of the gradient over the sum of weights."""
    options, begun, total = fit.options, time.monotonic(), float(fit.sample.sum())
    cost = fit.penalty()
    stop: Stop = "rounds"
    separated = False
    for number in range(options.n_rules + 1):  # the last turn only measures what is left
        value, first, second = fit.derivatives(fit.score)
        gradient, curvature = fit.columns.products(first, second)
        gradient = gradient - cost * fit.theta
        weight = float(np.abs(first).sum())
        edges = np.abs(gradient) / max(weight, 1e-300)
        decrease = _decreases(fit, gradient, curvature + cost)
        best = int(np.argmax(decrease))
        if separated:
            stop = "separable"
            break
        if number == options.n_rules:
            break
        if not decrease[best] > options.tolerance * options.tolerance * max(value, 1e-300):
            stop = "no edge"
            break
        if value <= options.tolerance * unit:  # nothing is left to gain
            stop = "no edge" if fit.surrogate.attained else "separable"
            break
        if watch is not None and not watch(number):
            stop = "callback"
            break
        if options.max_seconds and time.monotonic() - begun > options.max_seconds:
            stop = "time"
            break
        _step(fit, best, float(gradient[best] / (curvature[best] + cost[best] + 1e-300)))
        fit.path.append(fit.theta.copy())
        wrong = (fit.score >= 0) != (fit.sign > 0)
        after = fit.derivatives(fit.score)[0]
        fit.objective.append((after + 0.5 * float(cost @ fit.theta**2)) / unit)  # what a step is to lower
        fit.rounds.append(Round((), 0.0, 0.0, float(edges[best]), weight, after / unit,
                                float(fit.sample @ wrong) / total, name))  # fmt: skip
        separated = bool(fit.endless) and not wrong.any()
    if not weight > FADED * float(fit.surrogate.at(np.zeros(1))[0, 1]) * total:  # every weight has vanished
        return stop, 0.0, 0.0
    return stop, float(edges.max(initial=0.0)), float(np.sqrt(np.sum(edges**2)))


def _decreases(fit: ColumnFit, gradient: FloatArray, curvature: FloatArray) -> FloatArray:
    """What each feature promises: the second-order decrease, where there is no curvature the edge.

    Nothing is to be had from a feature without a finite coefficient, nor from one that the corrective scheme has refitted.
    """
    quotient = gradient**2 / (2.0 * np.where(curvature > 0, curvature, 1.0))
    decrease = np.where(curvature > 0, quotient, 0.5 * np.abs(gradient) / fit.columns.reach)
    decrease[fit.endless + (fit.joined if fit.options.scheme == 0 else [])] = 0.0
    return np.asarray(decrease)


def _step(fit: ColumnFit, best: int, guess: float) -> None:
    """Solve (35) for T_j."""
    if best not in fit.joined:
        fit.joined.append(best)
    scheme = fit.options.scheme
    if scheme == 1:
        _line(fit, best, guess)
        return
    size = len(fit.joined) if scheme == 0 else min(scheme, len(fit.joined))
    turn = fit.joined.index(best)
    active = [fit.joined[(turn - k) % len(fit.joined)] for k in range(size)]
    if fit.columns.constant and 0 not in active:
        active.insert(0, 0)
    _refit(fit, np.array(active))


def _line(fit: ColumnFit, best: int, guess: float) -> None:
    """The exact step along one feature."""
    rows, values = fit.columns.feature(best)
    sign, sample, score = fit.sign[rows], fit.sample[rows], fit.score[rows]
    cost, now = float(fit.penalty()[best]), float(fit.theta[best])
    root = kernels.Root()
    cap = fit.surrogate.cap / float(fit.columns.reach[best])
    root.value = min(max(guess, -cap), cap)
    while not root.done:
        at = fit.surrogate.at(np.ascontiguousarray(sign * (score + root.value * values)))
        slope = float((sample * sign * values * at[:, 1]).sum()) - cost * (now + root.value)
        bend = -float((sample * values * values * at[:, 2]).sum()) - cost
        root.advance(slope, bend, 0.0, False, cap)
    fit.theta[best] += root.value
    fit.score[rows] += root.value * values
    if root.capped:
        fit.endless.append(best)


def _refit(fit: ColumnFit, active: IntArray) -> None:
    """(35) for several features, each measured in units of its largest size."""
    reach = fit.columns.reach[active]
    design = fit.columns.dense(active) / reach
    theta = fit.theta[active] * reach
    weight = np.column_stack((np.where(fit.sign < 0, fit.sample, 0.0), np.where(fit.sign > 0, fit.sample, 0.0)))

    objective = ScoreObjective(
        design, fit.score - design @ theta, weight, fit.penalty()[active] / reach**2, fit.surrogate,
        lambda score: Losses(*fit.derivatives(score)), lambda first: (design * first[:, None]).sum(axis=0),
        lambda second: np.einsum("ij,ik->jk", design * second[:, None], design), fit.sample @ np.abs(design),
        fit.sample @ design**2,
    )  # fmt: skip
    found = fit_scores(objective, theta, np.ones(len(active), dtype=bool))
    fit.theta[active] = found.theta / reach
    fit.score = objective.rest + design @ found.theta
    fit.endless.extend(int(active[place]) for place in found.endless if int(active[place]) not in fit.endless)
    fit.short[active] = 0.0 if found.converged else found.residual
