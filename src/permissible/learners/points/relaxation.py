"""Lower bounds for many partly fixed cards at once: rules without points yet keep real coefficients.

With the points of the first j rules fixed, the scores are offset + unit * (their total) + sum of v_i over the other rules that
hold: linear in (offset, unit, v_{j+1}, ..., v_k). The loss is convex in these, and its minimum is at most that of every card
that completes the points. Newton's method finds it for a batch of cards; gradients and Hessians of all cards are two matrix
products over the cells. From the value at the end Newton's decrement is subtracted, so that what is left is a bound.
"""

from typing import NamedTuple

import numpy as np

from permissible.learners.points.rounding import PointsProblem
from permissible.types import FloatArray, IntArray

MAX_STEPS = 100
SETTLED = 1e-9
"""A decrement below this fraction of the value ends the descent."""


class _Derivatives(NamedTuple):
    value: FloatArray
    gradient: FloatArray
    hessian: FloatArray


class Relaxation:
    """The relaxations of one set of rules, in the order in which their points are fixed."""

    def __init__(self, problem: PointsProblem, order: list[int]) -> None:
        cells = problem.cells
        self._surrogate = problem.surrogate
        self._design = np.column_stack((np.ones(len(cells.bits)), cells.bits[:, order].astype(np.float64)))
        self._size = len(order) + 1
        self._upper = np.triu_indices(self._size)
        self._products = self._design[:, self._upper[0]] * self._design[:, self._upper[1]]
        self._weight = cells.weight / cells.grid
        self._penalty = np.append(0.0, np.full(len(order), 0.5 * problem.l2))

    def bounds(self, fixed: IntArray, start: FloatArray) -> FloatArray:
        """A lower bound for every card that begins with the points of a row of `fixed`.

        `start` holds the offset and the coefficients (in the order of the points) of a card nearby.
        """
        maps = self._maps(fixed)
        n_cards, n_free = len(fixed), maps.shape[2]
        point = np.zeros((n_cards, n_free))
        point[:, 0] = start[0]
        n_fixed = fixed.shape[1]
        if n_fixed:
            squares = np.maximum((fixed**2).sum(axis=1), 1)
            point[:, 1] = np.maximum(fixed @ start[1 : n_fixed + 1] / squares, 1e-3)
        point[:, n_free - (self._size - 1 - n_fixed) :] = start[n_fixed + 1 :]
        return self._minimised(maps, point)

    def _maps(self, fixed: IntArray) -> FloatArray:
        """For each card the matrix from (offset, unit, free coefficients) to the coefficients of all rules."""
        n_cards, n_fixed = fixed.shape
        units = int(n_fixed > 0)
        maps = np.zeros((n_cards, self._size, 1 + units + self._size - 1 - n_fixed))
        maps[:, 0, 0] = 1.0
        if n_fixed:
            maps[:, 1 : n_fixed + 1, 1] = fixed
        for place in range(n_fixed + 1, self._size):
            maps[:, place, place - n_fixed + units] = 1.0
        return maps

    def _minimised(self, maps: FloatArray, point: FloatArray) -> FloatArray:
        n_cards = len(point)
        at = self._at(maps, point)
        damping, bound, active = np.full(n_cards, 1e-9), np.full(n_cards, -np.inf), np.ones(n_cards, dtype=bool)
        for _ in range(MAX_STEPS):
            places = np.flatnonzero(active)
            hessian, gradient = at.hessian[places], at.gradient[places]
            plain = _solved(hessian, gradient, np.full(len(places), 1e-12))
            decrement = (gradient * plain).sum(axis=1)
            going = decrement > SETTLED * np.abs(at.value[places])
            bound[places[~going]] = (at.value[places] - decrement)[~going]
            active[places[~going]] = False
            places, hessian, gradient = places[going], hessian[going], gradient[going]
            if not len(places):
                break
            step = -_solved(hessian, gradient, damping[places])
            there = self._at(maps[places], point[places] + step)
            better = at.value[places] - there.value >= -1e-4 * (gradient * step).sum(axis=1)
            taken = places[better]
            point[taken] += step[better]
            for now, new in zip(at, there, strict=True):
                now[taken] = new[better]
            damping[places] = np.where(better, np.maximum(damping[places] / 10.0, 1e-12), damping[places] * 10.0 + 1e-6)
            active[places[damping[places] > 1e12]] = False
        return np.asarray(np.maximum(bound, 0.0))  # 0 where Newton's method did not settle

    def _at(self, maps: FloatArray, point: FloatArray) -> _Derivatives:
        theta = (maps @ point[:, :, None])[:, :, 0]
        score = theta @ self._design.T
        shape = (*score.shape, 4)
        positive = self._surrogate.at(score.ravel()).reshape(shape)
        negative = self._surrogate.at(-score.ravel()).reshape(shape)
        n_neg, n_pos = self._weight[:, 0], self._weight[:, 1]
        value = (n_pos * positive[..., 0] + n_neg * negative[..., 0]).sum(axis=1)
        value += 0.5 * (self._penalty * theta**2).sum(axis=1)
        first = (n_neg * negative[..., 1] - n_pos * positive[..., 1]) @ self._design + self._penalty * theta
        second = (n_pos * positive[..., 2] + n_neg * negative[..., 2]) @ self._products
        full = np.zeros((len(theta), self._size, self._size))
        full[:, self._upper[0], self._upper[1]] = full[:, self._upper[1], self._upper[0]] = second
        full[:, np.arange(self._size), np.arange(self._size)] += self._penalty
        turned = maps.transpose(0, 2, 1)
        return _Derivatives(value, (turned @ first[:, :, None])[:, :, 0], turned @ full @ maps)


def _solved(hessian: FloatArray, gradient: FloatArray, damping: FloatArray) -> FloatArray:
    """The solution of (H + damping diagonal) step = gradient for each card."""
    size = np.arange(hessian.shape[1])
    damped = hessian.copy()
    diagonal = hessian[:, size, size]
    largest = diagonal.max(axis=1, keepdims=True)
    damped[:, size, size] += damping[:, None] * np.maximum(diagonal, 1e-9 * largest) + 1e-12 * largest + 1e-290
    return np.asarray(np.linalg.solve(damped, gradient[:, :, None])[:, :, 0])
