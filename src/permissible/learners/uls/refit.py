"""The refit of many coefficients (mathematics.md section 4).

A score made of rules is the same for all rows that the same rules cover, so a refit works on these patterns and their
weights alone. `ScoreObjective` is the penalised surrogate as a function of the coefficients, for patterns here and for
the columns of a matrix in uls/columns.py; learners/newton.py minimises it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from permissible.kernels._core import boosting as kernels
from permissible.learners.newton import minimise
from permissible.learners.uls.rows import Patterns
from permissible.losses.surrogate import Surrogate
from permissible.types import BoolArray, FloatArray

MAX_STEPS, FEW_STEPS = 600, 100
"""Of all refits, and of compiled ones: more are needed near kinks only."""
TOLERANCE = 1e-12
ACCEPTED = 1e-9
"""A scaled gradient up to this counts as converged if rounding does not allow `TOLERANCE`."""
VANISHED = 1e-12
"""A surrogate below this fraction of its value at score 0 has nothing left to gain."""
FAR = 20.0
"""Growing scores beyond this many caps of the loss are taken to diverge."""
STILL = 1e-6
"""A change of a score below this fraction of the largest change counts as zero."""
RIDGE = 1e-14
"""Added to a Hessian of unit diagonal, so that repeated features share their coefficient."""


@dataclass(frozen=True, slots=True, eq=False)
class Refit:
    """Constant and coefficients at the minimum, and how it was reached.

    `residual` is the largest derivative over the free coefficients, as a fraction of what it could be at score 0;
    `endless` the positions in `theta` without a finite minimiser (Stiemke's condition fails, mathematics.md 4.1).
    """

    theta: FloatArray
    converged: bool
    residual: float
    endless: tuple[int, ...]


class Losses(NamedTuple):
    """The surrogate of rows with given scores: its sum, and for each row the sum of y w and of curvatures."""

    value: float
    first: FloatArray
    second: FloatArray


class ScoreExpansion:
    """A penalised surrogate at some coefficients; derivatives are computed when requested."""

    def __init__(
        self, objective: "ScoreObjective", theta: FloatArray, score: FloatArray, losses: Losses | None = None
    ) -> None:
        self.objective, self.theta, self.score = objective, theta, score
        self.losses = objective.losses(score) if losses is None else losses
        self.value = self.losses.value + 0.5 * float(objective.penalty @ theta**2)

    @cached_property
    def gradient(self) -> FloatArray:
        """The derivatives by the coefficients."""
        return self.objective.penalty * self.theta - self.objective.first_sums(self.losses.first)

    @cached_property
    def hessian(self) -> FloatArray:
        """The second derivatives."""
        hessian = self.objective.second_sums(self.losses.second)
        hessian.flat[:: len(hessian) + 1] += self.objective.penalty
        return hessian

    @cached_property
    def residual(self) -> FloatArray:
        """Each derivative as a fraction of what it could be at score 0."""
        return np.asarray(np.abs(self.gradient) / self.objective.slopes)

    @property
    def rounding(self) -> FloatArray:
        """The part of `residual` that the last digit of the scores decides."""
        sizes = np.abs(self.objective.design)
        change = np.finfo(np.float64).eps * (sizes @ np.abs(self.theta)) * self.losses.second
        return np.asarray(sizes.T @ change / self.objective.slopes)


@dataclass(frozen=True, eq=False)
class ScoreObjective:
    """Sum of b F over rows with score `rest` + `design` @ theta, plus half of penalty * theta^2.

    The entries of `design` have sizes of at most about 1, so that theta has the unit of a score; `rest` is the score of
    the other features. `weight` (rows, 2) is that of the negatives and of the positives of each row. `losses` gives the
    surrogate at scores, `first_sums` and `second_sums` the sums of x first and of x x' second; `sizes` and `squares`
    are sums of the weight times |x| and times x^2.
    """

    design: FloatArray
    rest: FloatArray
    weight: FloatArray
    penalty: FloatArray
    surrogate: Surrogate
    losses: Callable[[FloatArray], Losses]
    first_sums: Callable[[FloatArray], FloatArray]
    second_sums: Callable[[FloatArray], FloatArray]
    sizes: FloatArray
    squares: FloatArray

    @cached_property
    def at_zero(self) -> tuple[float, float, float]:
        """Loss, weight and curvature at score 0."""
        value, weight, curvature, _ = self.surrogate.at(np.zeros(1))[0].tolist()
        return value, weight, curvature

    @cached_property
    def slopes(self) -> FloatArray:
        """The largest derivative by each coefficient that the weights at score 0 could give."""
        return self.at_zero[1] * self.sizes + 1e-300

    @cached_property
    def unit(self) -> FloatArray:
        """The second derivative by each coefficient at score 0: it makes a damping of 1 as strong as the curvature."""
        return self.at_zero[2] * self.squares

    def at(self, point: FloatArray) -> ScoreExpansion:
        """The objective at some coefficients."""
        return ScoreExpansion(self, point, self.rest + self.design @ point)

    def direction(self, at: ScoreExpansion, damping: float, free: BoolArray) -> FloatArray:
        """The damped Newton step, solved for columns of unit norm."""
        diagonal = at.hessian.diagonal() + damping * self.unit
        used = np.flatnonzero(free & (diagonal > 0))
        norm = np.sqrt(diagonal[used])
        scaled = at.hessian[np.ix_(used, used)] / norm / norm[:, None]
        scaled.flat[:: len(used) + 1] = 1.0 + RIDGE
        step = np.zeros(len(diagonal))
        step[used] = _solved(scaled, -at.gradient[used] / norm) / norm
        return step

    def bent(self, at: ScoreExpansion, refused: ScoreExpansion) -> ScoreExpansion:
        """The same point, with the mean curvature of each row on the way to the rejected point if that is larger."""
        move = refused.score - at.score
        mean = (at.losses.first - refused.losses.first) / np.where(np.abs(move) > 1e-12, move, np.inf)
        return ScoreExpansion(self, at.theta, at.score, at.losses._replace(second=np.maximum(at.losses.second, mean)))

    def endless(self, at: ScoreExpansion, step: FloatArray) -> int | None:
        """The coefficient that moves most along a step on which extreme scores grow and no margin falls."""
        if not self.is_far(at):
            return None
        far = int(np.argmax(np.abs(at.score)))
        return self.receding(step) if float(self.design[far] @ step) / float(at.score[far]) > 1e-3 else None

    @cached_property
    def may_recede(self) -> bool:
        """Whether there may be no finite minimiser: the loss has none, and there is no penalty."""
        return not (self.surrogate.attained or self.penalty.any())

    def is_far(self, at: ScoreExpansion) -> bool:
        """Whether some score is beyond the range that a loss can resolve."""
        return self.may_recede and float(np.abs(at.score).max(initial=0.0)) > FAR * self.surrogate.cap

    def receding(self, step: FloatArray, least: float = 0.0) -> int | None:
        """The coefficient that moves most if no margin falls along a step and some score changes by more than `least`.

        Without a penalty, a strictly decreasing loss has no finite minimiser along such a direction of recession.
        """
        if not self.may_recede:
            return None
        change = self.design @ step
        largest = float(np.abs(change).max(initial=0.0))
        loss = np.maximum(np.where(self.weight[:, 1] > 0, -change, 0.0), np.where(self.weight[:, 0] > 0, change, 0.0))
        if not largest > least or float(loss.max(initial=0.0)) > STILL * largest:
            return None
        size = np.abs(step) * np.abs(self.design).max(axis=0)
        return int(np.flatnonzero(size >= 0.99 * size.max())[-1])  # the last of ties: the constant comes first


def fit_scores(objective: ScoreObjective, theta: FloatArray, free: BoolArray) -> Refit:
    """Minimise over the free coefficients, and say where there is no finite minimiser."""
    start = float(objective.weight.sum()) * objective.at_zero[0]

    def enough(at: ScoreExpansion, residual: float) -> bool:
        """Whether nothing is left to gain, or the coefficients diverge with hardly any gain."""
        vanished = objective.may_recede and at.value <= VANISHED * start
        return vanished or (residual <= ACCEPTED and objective.is_far(at))

    found = minimise(objective, theta, free, tolerance=TOLERANCE, accepted=ACCEPTED, max_steps=MAX_STEPS, enough=enough)
    endless, left = list(found.held), free.copy()
    left[endless] = False
    if objective.may_recede:
        # At a minimum Newton's step vanishes with the gradient; without a finite minimiser it does not.
        last = objective.receding(objective.direction(found.at, 0.0, left), least=0.3)
        endless += [] if last is None else [last]
    return Refit(found.point, found.converged, found.residual, tuple(endless))


def refit(
    patterns: Patterns, grid: float, surrogate: Surrogate, theta: FloatArray, free: BoolArray, l2: float
) -> Refit:
    """Minimise sum b F + l2 * sum of squared coefficients over the free part of theta = (constant, coefficients).

    The constant is not penalised. A single rule without the constant has the penalty of a classic step.
    """
    weight = patterns.weight / grid
    if isinstance(surrogate, kernels.LossFunction) and (surrogate.attained or l2 > 0):  # a finite minimum is sure
        moved, residual, converged = surrogate.refit(
            patterns.bits, weight, theta, free, 2.0 * l2, min(MAX_STEPS, FEW_STEPS)
        )
        if converged:
            return Refit(moved, True, residual, ())
    signs = np.column_stack((np.ones(len(patterns.bits)), 2.0 * patterns.bits - 1.0))
    penalty = np.append(0.0, np.full(len(theta) - 1, 2.0 * l2))

    def losses(score: FloatArray) -> Losses:
        negative, positive = surrogate.at(-score), surrogate.at(score)
        return Losses(
            float((weight[:, 0] * negative[:, 0] + weight[:, 1] * positive[:, 0]).sum()),
            weight[:, 1] * positive[:, 1] - weight[:, 0] * negative[:, 1],
            weight[:, 1] * positive[:, 2] + weight[:, 0] * negative[:, 2],
        )

    first, second = (partial(sums, patterns.bits) for sums in (kernels.pattern_gradient, kernels.pattern_hessian))
    rest, total = np.zeros(len(signs)), np.full(len(theta), weight.sum())
    objective = ScoreObjective(signs, rest, weight, penalty, surrogate, losses, first, second, total, total)
    return fit_scores(objective, theta, free)


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The solution of a positive definite system; the one of least norm if rounding has made it singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-12)[0], dtype=np.float64)
