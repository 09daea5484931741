"""The loss of a phi as piecewise polynomials, so that a fit does not invert the link for every row in every pass.

For a margin x >= 0 the table holds p(x) = ginv(-x), the weight of an example, as one polynomial on each of many cells; the
curvature is its derivative and the loss psi = b F its integral from x to infinity, so the three agree with each other to
rounding. Margins below 0 follow by reflection: w(-x) = 1 - p(x), psi(-x) = psi(x) + x.

A cell is halved until its polynomial agrees with the exact inversion at test points between its nodes, to 1e-12 of p or to
the rounding noise of the given function where that is larger. A kink of the link (a phi whose derivative is piecewise linear)
is enclosed by cells so narrow that, p being monotone, their two ends prove the accuracy.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from permissible.losses.entropy import Formula
from permissible.losses.own.inversion import invert_link
from permissible.losses.permissible_loss import PermissibleLoss
from permissible.types import BoolArray, FloatArray, IntArray

DEGREE = 5  # as in cpp/losses/table.hpp, where a cell is then one cache line
ACCURACY = 1e-12
ROUGH_ACCURACY = 1e-9
"""Of a link by differences, which has no more digits; its weights are also uncertain by 1e-13 of weight 1."""
SMALLEST = 1e-30
"""The table ends where the weight does: beyond it weight and loss are 0."""
HALVINGS = 60
CELLS = 65536
"""A link that needs more cells is not tabulated: fits then invert it exactly, which is slow."""
STEEPEST = 2.0**16
"""Curvatures are at most this many times the one at margin 0; only the search and Newton's method use them."""
EPS = float(np.finfo(np.float64).eps)

# Chebyshev's points with both ends, so that neighbouring cells agree there; test points lie half-way between them.
_NODES = -np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
_TESTS = -np.cos(np.pi * (np.arange(DEGREE) + 0.5) / DEGREE)
_TO_POWERS = np.linalg.inv(np.vander(_NODES, increasing=True))
_POWERS = np.arange(DEGREE + 1)


@dataclass(frozen=True, slots=True, eq=False)
class LossTable:
    """Weight, curvature and loss of a margin by cells."""

    breaks: FloatArray  # the ends of the cells, rising from 0
    weight: FloatArray  # coefficients of p in y = (x - centre) / half width, lowest power first, one row for each cell
    value: FloatArray  # psi = b F at the centre of each cell
    unit: float  # a power of two; the cells are pieces of the octaves of 1 + x / unit, by which a margin finds its own
    largest_curvature: float  # curvatures are cut here; next to the end of the scores they may have no bound

    def at(self, margin: FloatArray) -> FloatArray:
        """Loss, weight, curvature and slope of the curvature at margins: the readable twin of the compiled functor."""
        inside = np.abs(margin) < self.breaks[-1]
        x = np.minimum(np.abs(margin), self.breaks[-1])
        cell = np.minimum(np.searchsorted(self.breaks, x, side="right") - 1, len(self.value) - 1)
        half = 0.5 * (self.breaks[cell + 1] - self.breaks[cell])
        y = np.clip((x - (self.breaks[cell] + half)) / half, -1.0, 1.0)
        c = self.weight[cell]
        p, first, area = (np.zeros(x.shape) for _ in range(3))
        for k in range(DEGREE, -1, -1):
            first = first * y + p
            p = p * y + c[:, k]
            area = area * y + c[:, k] * (1.0 / (k + 1.0))
        second = 2.0 * c[:, 2] + y * (6.0 * c[:, 3] + y * (12.0 * c[:, 4]))  # steers Halley's method: leading terms do
        left = margin < 0
        value = np.where(inside, np.maximum(self.value[cell] - half * y * area, 0.0), 0.0) + np.where(
            left, -margin, 0.0
        )
        tail = np.where(inside, np.clip(p, 0.0, 0.5), 0.0)
        curvature = np.where(inside, np.clip(-first / half, 0.0, self.largest_curvature), 0.0)
        slope = np.where(left, 1.0, -1.0) * np.clip(second / half / half, -curvature, curvature)
        return np.column_stack((value, np.where(left, 1.0 - tail, tail), curvature, slope))


@lru_cache(maxsize=64)
def tabulated(loss: PermissibleLoss) -> LossTable | None:
    """Return the table of a loss, built once; None where its link needs more than `CELLS` cells."""
    link = loss.entropy.link
    unit, end = (-link(np.array([0.25, SMALLEST]))).tolist()
    end = min(end, loss.score_limit)
    if not (np.isfinite(end) and 0 < unit < end):  # such as a link whose digits are lost for small p
        return None
    unit = float(np.exp2(np.floor(np.log2(unit))))
    octaves = np.ldexp(1.0, np.arange(int(np.log2(1.0 + end / unit)) + 1)).astype(np.float64)
    pieces = np.concatenate((octaves, 1.5 * octaves, np.arange(1.0, 2.0, 1 / 16) * octaves[-1]))
    breaks = np.unique(unit * (pieces - 1.0))
    breaks = np.append(breaks[breaks < end], end)
    at = invert_link(link, -breaks)
    cells = _Cells(breaks[:-1], breaks[1:], at[:-1], at[1:])
    found: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    count = 0
    for _ in range(HALVINGS):
        weight, good = _fitted(link, loss.entropy.rough, cells)
        found.append((cells.left[good], cells.right[good], weight[good]))
        cells = cells.take(~good)
        count += int(good.sum())
        if not cells.left.size:
            return _joined(found, unit, float(np.asarray(loss.value(end))) * loss.b)
        if count + 2 * cells.left.size > CELLS:
            return None
        cells = cells.halved(link)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Cells in progress: their ends, and p there (it falls from left to right)."""

    left: FloatArray
    right: FloatArray
    p_left: FloatArray
    p_right: FloatArray

    def take(self, chosen: BoolArray) -> "_Cells":
        return _Cells(self.left[chosen], self.right[chosen], self.p_left[chosen], self.p_right[chosen])

    def halved(self, link: Formula) -> "_Cells":
        middle = 0.5 * (self.left + self.right)
        p = invert_link(link, -middle, (self.p_right, self.p_left))
        pairs = ((self.left, middle), (middle, self.right), (self.p_left, p), (p, self.p_right))
        return _Cells(*map(np.concatenate, pairs))

    def at(self, link: Formula, y: FloatArray) -> FloatArray:
        """The exact p at places y in [-1, 1] of every cell."""
        x = 0.5 * (self.left + self.right)[:, None] + 0.5 * (self.right - self.left)[:, None] * y
        low, high = (np.repeat(end, len(y)) for end in (self.p_right, self.p_left))
        return invert_link(link, -x.ravel(), (low, high)).reshape(x.shape)


def _fitted(link: Formula, rough: bool, cells: _Cells) -> tuple[FloatArray, BoolArray]:
    """The polynomial of each cell, and whether it is as exact as it must be."""
    left, right, first, last = cells.left, cells.right, cells.p_left, cells.p_right
    half = 0.5 * (right - left)
    p = np.column_stack((first, cells.at(link, _NODES[1:-1]), last))
    weight = (p[:, None, :] * _TO_POWERS).sum(axis=2)
    slope = (first - last) / (right - left)
    least = ROUGH_ACCURACY * last + 1e-13 if rough else ACCURACY * last
    allowed = least + 4 * EPS * right * slope

    y = np.broadcast_to(_TESTS, (len(left), DEGREE))
    tested, rise = np.zeros(y.shape), np.zeros(y.shape)
    for k in range(DEGREE, -1, -1):
        rise = rise * y + tested
        tested = tested * y + weight[:, [k]]
    possible = (tested > 0) & (tested <= 0.5)
    reached = link(np.where(possible, tested, 0.25).ravel()).reshape(y.shape)
    off = np.abs(reached + (left + half)[:, None] + half[:, None] * y)
    off = np.where(possible, off * np.maximum(-rise / half[:, None], slope[:, None]), np.inf).max(axis=1)
    doubtful = np.flatnonzero(~(off <= allowed))
    allowed[doubtful] += 8 * _noise(link, rough, p[doubtful, DEGREE // 2], slope[doubtful])
    good = off <= allowed
    # p is monotone, so the ends of a cell bound its error.
    narrow = (first - last <= allowed) | (right - left <= 8 * EPS * right)
    straight = np.zeros_like(weight)
    straight[:, 0], straight[:, 1] = 0.5 * (first + last), 0.5 * (last - first)
    return np.where((narrow & ~good)[:, None], straight, weight), good | narrow


def _noise(link: Formula, rough: bool, p: FloatArray, slope: FloatArray) -> FloatArray:
    """How far p is uncertain because the link is not computed exactly.

    Fourth differences over close numbers show rounding alone; a kink is in four of nine at most, so the median is taken.
    """
    near = np.clip(p[:, None] * (1 - (1e-4 if rough else 1e-7) * np.arange(13)), SMALLEST, 0.5)
    values = link(near.ravel()).reshape(near.shape)
    return np.asarray(np.median(np.abs(np.diff(values, 4, axis=1)), axis=1) * slope)


def _joined(found: list[tuple[FloatArray, FloatArray, FloatArray]], unit: float, beyond: float) -> LossTable:
    """The cells in order, and psi at their centres: integrals of p from the far end, where psi is `beyond`."""
    left, right, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order: IntArray = np.argsort(left, kind="stable")
    left, right, weight = left[order], right[order], np.ascontiguousarray(weight[order])
    half = 0.5 * (right - left)
    even = (weight / (_POWERS + 1))[:, ::2].sum(axis=1)  # of p over y in [-1, 1], halved
    after = beyond + np.append(np.cumsum((2 * half * even)[::-1])[::-1][1:], 0.0)
    value = after + half * (weight / (_POWERS + 1)).sum(axis=1)
    steepest = float(((np.abs(weight) * _POWERS).sum(axis=1) / half).max())
    return LossTable(
        np.append(left, right[-1]),
        weight,
        np.ascontiguousarray(value),
        unit,
        min(steepest, STEEPEST * -float(weight[0, 1]) / float(half[0])),
    )
