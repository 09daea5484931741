"""Training rows grouped by what a model of terms can distinguish: their class and the terms that cover them.

Rows of one group have the same score, so the problem of a round needs one row per group, with the sum of the weights. Weights
are added as integers on a power-of-two grid and groups are sorted by class and coverage, so the problem depends neither on
the order of the rows nor on whether a row of weight 2 is written twice.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from permissible.learners.boundary.generation.master import Master
from permissible.learners.boundary.segments import Segments
from permissible.types import BoolArray, FloatArray, IntArray

EXACT_BITS = 52
"""Sums of integers below 2^52 are exact in double precision."""


def grid_below(total: float) -> float:
    """The largest power of two by which `total` can be multiplied and still be summed exactly."""
    return math.ldexp(1.0, EXACT_BITS - math.frexp(total)[1])


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The group of each row; per group its class, its weight and, per term, whether the term covers it.

    `weight` holds the weights of the rows, `counted` whether all of them are integers. A term is `inside` on the rows that
    it covers and `outside` on the others.
    """

    of_row: IntArray
    weight: FloatArray
    counted: bool
    positive: BoolArray
    size: FloatArray
    covers: BoolArray
    outside: float

    @classmethod
    def of(cls, positive: BoolArray, weight: FloatArray, outside: float) -> "Groups":
        """The rows of two classes, before any term."""
        total = math.fsum(weight)
        counted = bool((weight == np.rint(weight)).all()) and total < 2.0 ** (EXACT_BITS - 20)
        grid = 1.0 if counted else grid_below(total)
        rounded = np.maximum(np.rint(weight * grid), 1.0) / grid  # every row counts for something
        of_row = positive.astype(np.intp)
        size = np.asarray(np.bincount(of_row, rounded, 2), dtype=np.float64)
        return cls(of_row, rounded, counted, np.array([False, True]), size, np.empty((0, 2), dtype=bool), outside)

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.size.sum())

    def with_terms(self, masks: list[BoolArray]) -> "Groups":
        """The groups split by further terms, each given by the rows that it covers."""
        of_row = self.of_row
        for mask in masks:
            of_row = np.unique(2 * of_row + mask, return_inverse=True)[1]
        first = np.zeros(int(of_row.max()) + 1, dtype=np.intp)
        first[of_row[::-1]] = np.arange(len(of_row) - 1, -1, -1)
        before = self.of_row[first]
        covers = np.vstack([self.covers[:, before], *(mask[first][None, :] for mask in masks)])
        size = np.asarray(np.bincount(of_row, self.weight), dtype=np.float64)
        return replace(self, of_row=of_row, positive=self.positive[before], size=size, covers=covers)

    def problem(self, segments: Segments, alpha: float, fit_intercept: bool) -> Master:
        """The problem of a round."""
        terms = np.where(self.covers, 1.0, self.outside)
        return Master(segments, self.positive, self.size / self.total, terms, alpha, fit_intercept)

    def signed_integers(self, dual: FloatArray) -> tuple[FloatArray, float]:
        """Weight times t y of each row as an integer, and its unit: a sum over rows times the unit is a share."""
        signed = np.where(self.positive, dual, -dual)
        largest = float(np.abs(signed).max(initial=0.0)) or 1.0
        grid = grid_below(self.total * largest)
        if self.counted:  # the row twice has the same integer twice
            values = self.weight * np.rint(signed * grid)[self.of_row]
        else:
            values = np.rint(self.weight * signed[self.of_row] * grid)
        return values, 1.0 / (grid * self.total)
