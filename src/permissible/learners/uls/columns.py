"""ULS with features known in advance: the columns of X are the h_t, exactly Algorithm 1 of [N] and [T] (section 4).

In each round the weights w = weight(margin) give every column its edge; the column with the largest predicted decrease joins,
and (35) is solved for T_j: that column alone (classic), all columns so far (corrective), or a block of them. The constant, if
requested, is one more column. The penalty of a coefficient c is l2 c^2, as for a +-1 rule. Every scheme ends at the same
minimum; without l2 that is logistic regression for the logistic loss, and least squares for `least_squares`.

A column without a finite coefficient (its rows of one sign are all of one class) keeps the one it reached, and the
others continue.
"""

import time
from dataclasses import dataclass, field, replace

import numpy as np

from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.boost import OnRound
from permissible.learners.uls.guarantees.remeasured import CLOSE
from permissible.learners.uls.options import Stop, ULSOptions
from permissible.learners.uls.refit import Losses, ScoreObjective, fit_scores
from permissible.learners.uls.step import FADED
from permissible.learners.uls.trace import Round, Trace
from permissible.losses import Loss
from permissible.losses.surrogate import PythonSurrogate, Surrogate, compiled
from permissible.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix


class Columns:
    """The columns of a dense or sparse matrix, with a constant one in front if requested."""

    def __init__(self, X: Matrix, constant: bool) -> None:
        self.sparse = hasattr(X, "tocsc")
        self.matrix: Matrix = X.tocsc() if self.sparse else np.asarray(X, dtype=np.float64)
        self.constant = constant
        self.n_rows = int(X.shape[0])
        self.n_features = int(X.shape[1]) + constant
        self._squares: Matrix = X.multiply(X).tocsc() if self.sparse else None
        ends = [self.matrix.max(axis=0), -self.matrix.min(axis=0)]
        sizes = np.max([end.toarray().ravel() if self.sparse else end for end in ends], axis=0)
        self.reach: FloatArray = np.append([1.0] * constant, np.where(sizes > 0, sizes, 1.0))
        """The largest absolute value of each feature, 1 for a feature of zeros."""

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
        """Rows with a nonzero value of a feature, and these values."""
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
    """A fit in progress; `theta` in the units of the surrogate, the constant first."""

    columns: Columns
    sign: FloatArray
    sample: FloatArray
    surrogate: Surrogate
    scale: float
    options: ULSOptions
    score: FloatArray
    theta: FloatArray
    short: FloatArray
    joined: list[int] = field(default_factory=list)
    known: list[int] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    path: list[FloatArray] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    endless: list[int] = field(default_factory=list)

    @property
    def total(self) -> float:
        """The sum of the sample weights."""
        return float(self.sample.sum())

    @property
    def unit(self) -> float:
        """The sum of b F at score 0."""
        return float(self.surrogate.at(np.zeros(1))[0, 0]) * self.total

    @property
    def penalty(self) -> FloatArray:
        """The second derivative of each coefficient's penalty, in the units of the surrogate; 0 for the constant."""
        cost = np.full(len(self.theta), 2.0 * self.options.l2 * self.scale)
        cost[: self.columns.constant] = 0.0
        return cost

    def derivatives(self, score: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Sum of b F, and per row y w and the curvature, times the sample weight."""
        at = self.surrogate.at(self.sign * score)
        return float(self.sample @ at[:, 0]), self.sample * self.sign * at[:, 1], self.sample * at[:, 2]

    def means(self, theta: FloatArray, score: FloatArray) -> tuple[float, float, float]:
        """Mean surrogate, fraction misclassified and mean penalised surrogate, which every step must lower."""
        value = self.derivatives(score)[0]
        error = float(self.sample @ ((score >= 0) != (self.sign > 0))) / self.total
        return value / self.unit, error, (value + 0.5 * float(self.penalty @ theta**2)) / self.unit

    def score_of(self, theta: FloatArray) -> FloatArray:
        """Scores summed column by column, the same for any number of threads."""
        score = np.zeros(self.columns.n_rows)
        for position in np.flatnonzero(theta).tolist():
            rows, values = self.columns.feature(position)
            score[rows] += theta[position] * values
        return score


@dataclass(frozen=True, slots=True, eq=False)
class ColumnTrace:
    """Intercept and coefficients, at the end and after each round, the trace, and the features in selection order."""

    intercept: float
    coefficients: FloatArray
    trace: Trace
    path: tuple[tuple[float, FloatArray], ...]
    joined: tuple[int, ...] = ()

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds, as those of a `Trace`."""
        return self.trace.rounds

    def terms(self, n_rounds: int) -> tuple[float, FloatArray]:
        """Intercept and coefficients after this many rounds, as those of a `Trace`."""
        return self.path[n_rounds - 1]


def boost_columns(
    X: object,
    positive: BoolArray,
    weight: FloatArray | None,
    loss: Loss,
    options: ULSOptions,
    *,
    callback: OnRound | None = None,
    start: ColumnTrace | None = None,
) -> ColumnTrace:
    """Fit the columns of X, from coefficients 0 or from those of an earlier fit."""
    kernel, columns = compiled(loss), Columns(X, options.fit_intercept)
    surrogate: Surrogate = PythonSurrogate(loss) if kernel is None else kernel.function()
    sign, sample = np.where(positive, 1.0, -1.0), np.ones(columns.n_rows) if weight is None else weight
    scale, score = 1.0 if kernel is None else kernel.scale, np.zeros(columns.n_rows)
    theta, short = np.zeros(columns.n_features), np.zeros(columns.n_features)
    fit = ColumnFit(columns, sign, sample, surrogate, scale, options, score, theta, short)
    start_error = fit.means(theta, score)[1]
    if start is not None:
        fit.options = replace(options, n_rounds=max(options.n_rounds - len(start.trace.rounds), 0))
        _continue(fit, start)
    stop, edge, norm = _rounds(fit, loss.name, callback)
    evidence = {
        "objective": fit.objective,
        "learner": "column",
        "unconverged": tuple(fit.short.tolist()),
        "endless": tuple(position - columns.constant for position in fit.endless),
        "earlier": 0 if start is None else len(start.path),
        "known": tuple(fit.known),
    }
    ends = {"total_weight": fit.total, "largest_edge": edge, "gradient_norm": norm}
    trace = Trace(0.0, tuple(fit.rounds), stop, 1.0, start_error, evidence=evidence, **ends)
    split = [] if start is None else list(start.path)
    split += [_split(scale * theta, options.fit_intercept) for theta in fit.path]
    intercept, coefficients = split[-1] if split else _split(fit.theta, options.fit_intercept)
    return ColumnTrace(intercept, coefficients, trace, tuple(split), tuple(fit.joined))


def _split(theta: FloatArray, constant: bool) -> tuple[float, FloatArray]:
    return (float(theta[0]), theta[1:].copy()) if constant else (0.0, theta.copy())


def _rounds(fit: ColumnFit, name: str, callback: OnRound | None) -> tuple[Stop, float, float]:
    """Algorithm 1; why it ended, with the largest edge and the norm of the gradient over the sum of weights."""
    options, begun, cost = fit.options, time.monotonic(), fit.penalty
    stop: Stop | None = None
    for number in range(options.n_rounds + 1):  # the last iteration only measures what is left
        value, first, second = fit.derivatives(fit.score)
        gradient, curvature = fit.columns.products(first, second)
        gradient = gradient - cost * fit.theta
        weight = float(np.abs(first).sum())
        edges = np.abs(gradient) / max(weight, 1e-300)
        decrease = _decreases(fit, gradient, curvature + cost)
        best = int(np.argmax(decrease))
        if stop is not None or number == options.n_rounds:
            break
        if not decrease[best] > options.tolerance * options.tolerance * max(value, 1e-300):
            stop = "no edge"
        elif value <= options.tolerance * fit.unit:  # nothing is left to gain
            stop = "no edge" if fit.surrogate.attained else "separable"
        elif callback is not None and not callback(number):
            stop = "callback"
        elif options.max_seconds and time.monotonic() - begun > options.max_seconds:
            stop = "time"
        if stop is not None:
            break
        _step(fit, best, float(gradient[best] / (curvature[best] + cost[best] + 1e-300)))
        surrogate, error, penalised = fit.means(fit.theta, fit.score)
        fit.path.append(fit.theta.copy())
        fit.objective.append(penalised)
        fit.rounds.append(Round((), 0.0, 0.0, float(edges[best]), weight, surrogate, error, name))
        fit.known.append(len(fit.joined))
        stop = "separable" if fit.endless and not error else None
    if not weight > FADED * float(fit.surrogate.at(np.zeros(1))[0, 1]) * fit.total:  # every weight has vanished
        return stop or "rounds", 0.0, 0.0
    return stop or "rounds", float(edges.max(initial=0.0)), float(np.sqrt(np.sum(edges**2)))


def _decreases(fit: ColumnFit, gradient: FloatArray, curvature: FloatArray) -> FloatArray:
    """The predicted second-order decrease of each feature, or its edge if there is no curvature.

    It is 0 for a feature without a finite coefficient, and for one that the corrective scheme has refitted.
    """
    quotient = gradient**2 / (2.0 * np.where(curvature > 0, curvature, 1.0))
    decrease = np.where(curvature > 0, quotient, 0.5 * np.abs(gradient) / fit.columns.reach)
    decrease[fit.endless + (fit.joined if fit.options.scheme == 0 else [])] = 0.0
    return np.asarray(decrease)


def _step(fit: ColumnFit, best: int, guess: float) -> None:
    """Solve (35) of [N] for the coefficients of a block T_j of columns."""
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
    cost, now = float(fit.penalty[best]), float(fit.theta[best])
    root = kernels.Root()
    cap = fit.surrogate.cap / float(fit.columns.reach[best])
    root.value = min(max(guess, -cap), cap)
    while not root.done:
        at = fit.surrogate.at(np.ascontiguousarray(sign * (score + root.value * values)))
        slope = float((sample * sign * values * at[:, 1]).sum()) - cost * (now + root.value)
        bend = -float((sample * values * values * at[:, 2]).sum()) - cost
        root.advance([(slope, bend, 0.0)], -1.0, cap)
    fit.theta[best] += root.value
    fit.score[rows] += root.value * values
    if root.capped:
        fit.endless.append(best)


def _refit(fit: ColumnFit, active: IntArray) -> None:
    """(35) for several features, each in units of its largest absolute value."""
    reach = fit.columns.reach[active]
    design = fit.columns.dense(active) / reach
    theta = fit.theta[active] * reach
    weight = np.column_stack((np.where(fit.sign < 0, fit.sample, 0.0), np.where(fit.sign > 0, fit.sample, 0.0)))
    objective = ScoreObjective(
        design,
        rest=fit.score - design @ theta,
        weight=weight,
        penalty=fit.penalty[active] / reach**2,
        surrogate=fit.surrogate,
        losses=lambda score: Losses(*fit.derivatives(score)),
        first_sums=lambda first: (design * first[:, None]).sum(axis=0),
        second_sums=lambda second: np.einsum("ij,ik->jk", design * second[:, None], design),
        sizes=fit.sample @ np.abs(design),
        squares=fit.sample @ design**2,
    )
    found = fit_scores(objective, theta, np.ones(len(active), dtype=bool))
    fit.theta[active] = found.theta / reach
    fit.score = objective.rest + design @ found.theta
    fit.endless.extend(int(active[place]) for place in found.endless if int(active[place]) not in fit.endless)
    fit.short[active] = 0.0 if found.converged else found.residual


def _continue(fit: ColumnFit, start: ColumnTrace) -> None:
    """Start from an earlier fit; its rounds are measured again unless the rows give its final figures (fit.py)."""
    parts = [((intercept,) if fit.columns.constant else (), coefficients) for intercept, coefficients in start.path]
    path = [np.zeros(fit.columns.n_features)] + [np.concatenate(pair) / fit.scale for pair in parts]
    fit.joined, fit.theta, fit.score = list(start.joined), path[-1], fit.score_of(path[-1])
    rounds = start.trace.rounds
    if not rounds:
        return
    fit.known = list(start.trace.evidence["known"])
    last = rounds[-1].surrogate, rounds[-1].train_error
    same = np.allclose(fit.means(fit.theta, fit.score)[:2], last, rtol=CLOSE, atol=1e-12)
    if start.trace.total_weight == fit.total and same:
        fit.rounds, fit.objective = list(rounds), list(start.trace.evidence["objective"])
        return
    for step, before, after in zip(rounds, path, path[1:], strict=False):
        _, first, second = fit.derivatives(fit.score_of(before))
        slopes = np.abs(fit.columns.products(first, second)[0] - fit.penalty * before)
        weight, newest = float(np.abs(first).sum()), int(np.argmax(np.abs(after - before)))
        surrogate, error, penalised = fit.means(after, fit.score_of(after))
        measured = replace(step, edge=float(slopes[newest]) / max(weight, 1e-300), weight=weight)
        fit.rounds.append(replace(measured, surrogate=surrogate, train_error=error))
        fit.objective.append(penalised)
