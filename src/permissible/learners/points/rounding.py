"""Real coefficients to points: scale and round, then single changes until none helps.

A unit rounds the coefficients v to the points round(v / unit), at most M. The points change only where some v_i / unit passes
a half, so k M units give every rounding there is. Each one gets its exact offset and unit (lines.py), and the best is
improved: of all cards that differ in the points of one rule the best is taken, until none is better.
"""

from dataclasses import dataclass, replace

import numpy as np

from permissible.kernels._core import boosting as kernels
from permissible.learners.points.cells import RuleCells
from permissible.learners.points.lines import FittedLines, fit_lines
from permissible.losses.surrogate import Surrogate
from permissible.types import FloatArray, IntArray

BETTER = 1.0 - 1e-9
"""A card is better if its loss is below this fraction of another's: less is rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class PointsProblem:
    """RuleCells of the rules, the loss in the units of the rows, its penalty, and the largest number of points of a rule."""

    cells: RuleCells
    surrogate: Surrogate
    l2: float
    max_points: int

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return int(self.cells.bits.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """Points, offset and unit of a card, and its loss (a sum over the weights, with the penalty)."""

    points: IntArray
    offset: float
    unit: float
    value: float


def best_of(problem: PointsProblem, vectors: IntArray, start: tuple[float, float]) -> Rounded:
    """The card of least loss among vectors of points (a row each); among equals the one of fewest points.

    A unit is positive, since points raise the score of the positive class. If no vector has a positive unit, the card is empty.
    """
    lines = _lines_of(problem, vectors, start)
    value = np.where((lines.unit > 0) | ~vectors.any(axis=1), lines.value, np.inf)
    if not np.isfinite(value).any():
        return best_of(problem, np.zeros_like(vectors[:1]), start)
    least = float(value.min())
    tied = np.flatnonzero(value <= least + 1e-10 * abs(least))
    best = min(tied.tolist(), key=lambda place: (int(vectors[place].sum()), vectors[place].tolist()))
    return Rounded(vectors[best], float(lines.offset[best]), float(lines.unit[best]), float(lines.value[best]))


def _lines_of(problem: PointsProblem, vectors: IntArray, start: tuple[float, float]) -> FittedLines:
    """Offset and unit of the card of each vector."""
    cells, surrogate = problem.cells, problem.surrogate
    if isinstance(surrogate, kernels.LossFunction):
        given = cells.bits, cells.weight, cells.grid, np.ascontiguousarray(vectors), problem.l2
        found = surrogate.fit_cards(*given, *start)
        return FittedLines(found[:, 0], found[:, 1], found[:, 2])
    weight = cells.totals(vectors, int(vectors.sum(axis=1).max(initial=0)))
    ridge = 0.5 * problem.l2 * (vectors**2).sum(axis=1)
    return fit_lines(weight, ridge, surrogate, np.tile(np.array(start), (len(vectors), 1)))


def roundings(coefficients: FloatArray, max_points: int) -> IntArray:
    """Every rounding of non-negative coefficients to points of at most `max_points`, a row each."""
    positive = coefficients[coefficients > 0]
    if not len(positive):
        return np.zeros((1, len(coefficients)), dtype=np.int64)
    turns = np.sort((positive[:, None] / (np.arange(max_points) + 0.5)).ravel())
    units = np.concatenate((0.5 * turns[:1], np.sqrt(turns[1:] * turns[:-1])))  # one between each two, one below all
    found = np.floor(coefficients / units[:, None] + 0.5).astype(np.int64)
    return np.unique(np.minimum(found, max_points), axis=0)


def rounded(problem: PointsProblem, coefficients: FloatArray, offset: float) -> Rounded:
    """The best card near non-negative real coefficients of the rules (what each adds where it holds)."""
    vectors = roundings(coefficients, problem.max_points)
    unit = float(coefficients.max(initial=0.0)) / problem.max_points
    return improved(problem, best_of(problem, vectors, (offset, unit or 1.0)))


def improved(problem: PointsProblem, card: Rounded) -> Rounded:
    """Change the points of one rule at a time while that lowers the loss."""
    while len(card.points):
        better = best_of(problem, neighbours(card.points, problem.max_points), (card.offset, card.unit))
        if not better.value < card.value * BETTER:
            return card
        card = better
    return card


def neighbours(points: IntArray, max_points: int) -> IntArray:
    """Every vector of points that differs in one rule, a row each."""
    values = np.arange(max_points + 1)
    found = np.repeat(points[None, :], len(points) * len(values), axis=0)
    places = np.repeat(np.arange(len(points)), len(values))
    found[np.arange(len(found)), places] = np.tile(values, len(points))
    return np.asarray(found[(found != points).any(axis=1)])


def without_factor(card: Rounded) -> Rounded:
    """The same card with the common divisor of its points taken into the unit."""
    divisor = int(np.gcd.reduce(card.points)) if card.points.any() else 1
    return replace(card, points=card.points // divisor, unit=card.unit * divisor)
