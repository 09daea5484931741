"""Twin of the boosted trees: the same integers and the same choices, written to be read. Slow, and the referee of the core.

Gradients and curvatures become integers on the largest power-of-two grids on which their sums fit 30 bits. A side of a split
with sums G, H is worth G^2 / (H + l2); nothing is remembered between nodes, every node looks at its own rows again.
"""

import math
from dataclasses import dataclass

import numpy as np

from permissible.types import AnyArray, BoolArray, Codes, FloatArray, IntArray

MISSING = 255
Side = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TwinSplit:
    """A split: rows of leaf `parent` outside of `left` go to a new leaf."""

    parent: int
    column: int
    left: BoolArray  # (256,)
    gain: float


@dataclass(slots=True)
class TwinOptions:
    """The limits of one tree that the twin knows."""

    max_leaf_nodes: int = 31
    max_depth: int = 0
    min_curvature: float = 0.0
    l2: float = 1.0
    category_smoothing: float = 1.0
    category_l2: float = 20.0


def grid_to(largest: float, bits: int) -> float:
    """The power of two with 2^(bits - 1) < largest * grid <= 2^bits."""
    if not largest > 0:
        return 1.0
    mantissa, exponent = math.frexp(largest)
    return math.ldexp(1.0, bits - exponent + (mantissa == 0.5))


def on_grid(values: AnyArray, copies: AnyArray | None = None) -> tuple[IntArray, float]:
    """Float32 numbers as integers, and the grid."""
    times = np.ones(len(values), np.int64) if copies is None else copies.astype(np.int64)
    first = grid_to(float(np.abs(values).max(initial=0)), 30)
    total = int((np.abs(values * np.float32(first)).astype(np.int64) * times).sum())
    grid = grid_to(total / first, 30)
    return np.rint(values * np.float32(grid)).astype(np.int64) * times, grid


class GrowthTwin:
    """One tree grown on given gradients and curvatures, best leaf first."""

    def __init__(self, codes: Codes, bins: AnyArray, categorical: BoolArray, options: TwinOptions) -> None:
        self.codes, self.bins, self.categorical, self.options = codes, bins, categorical, options

    def grow(self, gradient: AnyArray, curvature: AnyArray, copies: AnyArray | None = None) -> list[TwinSplit]:
        """The splits in the order in which they are made."""
        self.g, self.g_grid = on_grid(gradient, copies)
        self.h, self.h_grid = on_grid(curvature, copies)
        leaf, depth = np.zeros(len(self.g), dtype=np.int64), [0]
        best, splits = [self.best_split(leaf == 0)], list[TwinSplit]()
        while len(depth) < self.options.max_leaf_nodes:
            at = max(range(len(best)), key=lambda k: best[k][0])
            gain, column, left = best[at]
            if gain <= 0:
                break
            splits.append(TwinSplit(at, column, left, gain))
            leaf[(leaf == at) & ~left[self.codes[:, column]]] = len(depth)
            depth[at] += 1
            depth.append(depth[at])
            best.append((-1.0, 0, left))
            for k in (at, len(depth) - 1):
                deep = 0 < self.options.max_depth <= depth[k]
                best[k] = (-1.0, 0, left) if deep else self.best_split(leaf == k)
        return splits

    def best_split(self, rows: BoolArray) -> tuple[float, int, BoolArray]:
        """Gain, column and codes that stay; the first of the best in the order of columns, tests and cuts."""
        total = int(self.g[rows].sum()), int(self.h[rows].sum())
        worth, found = np.float32(0), (-1.0, 0, np.zeros(256, dtype=bool))
        for column in range(self.codes.shape[1]):
            sums = np.zeros((256, 2), dtype=np.int64)
            np.add.at(sums, self.codes[rows, column], np.stack([self.g[rows], self.h[rows]], axis=1))
            for left, extra in self.tests(column, sums):
                side = int(sums[left, 0].sum()), int(sums[left, 1].sum())
                other = total[0] - side[0], total[1] - side[1]
                least = max(math.ceil(self.options.min_curvature * self.h_grid), int(self.options.l2 == 0))
                if min(side[1], other[1]) < least:
                    continue
                now = self.worth(side, other, extra)
                if now > worth:
                    worth, found = now, (self.gain(side, other, total), column, left)
        return found

    def tests(self, column: int, sums: IntArray) -> list[tuple[BoolArray, float]]:
        """Every set of codes that may stay, and what is added to l2 for it."""
        codes = np.arange(256)
        if not self.categorical[column]:
            cuts = [codes <= k for k in range(self.bins[column])]
            missing = [cut | (codes == MISSING) for cut in cuts] if sums[MISSING].any() else []
            return [(left, 0.0) for left in [*cuts, *missing]]
        held = np.flatnonzero(sums.any(axis=1))
        smooth = np.float32(self.options.category_smoothing * self.h_grid)
        h = sums[held, 1].astype(np.float32) + smooth
        ratio = sums[held, 0].astype(np.float32) / np.where(h > 0, h, np.float32(1))
        order = held[np.lexsort((held, ratio))]
        return [(np.isin(codes, order[: k + 1]), self.options.category_l2) for k in range(len(order) - 1)]

    def worth(self, left: Side, right: Side, extra: float) -> np.float32:
        """G^2 / (H + l2) of both sides in single precision, as the core computes it."""
        l2 = np.float32(self.options.l2 * self.h_grid) + np.float32(extra * self.h_grid)
        gl, gr = np.float32(left[0]), np.float32(right[0])
        hl, hr = np.float32(left[1]) + l2, np.float32(right[1]) + l2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.float32((gl * gl * hr + gr * gr * hl) / (hl * hr))

    def gain(self, left: Side, right: Side, total: Side) -> float:
        """What the split takes off the quadratic approximation of the surrogate."""
        l2 = self.options.l2 * self.h_grid
        worth = [g * g / (h + l2) if h + l2 > 0 else 0.0 for g, h in (left, right, total)]
        return 0.5 * (worth[0] + worth[1] - worth[2]) * self.h_grid / self.g_grid**2


def newton_boost(
    growth: GrowthTwin, target: AnyArray, n_trees: int, learning_rate: float
) -> tuple[list[list[TwinSplit]], list[FloatArray], float]:
    """Boosting with the logistic loss on all rows, one Newton step per leaf: trees, values and the constant."""
    y = np.where(target == 1, 1.0, -1.0)
    constant = math.log(target.mean() / (1 - target.mean()))
    score = np.full(len(y), constant)
    trees, values = [], []
    for _ in range(n_trees):
        w = 1 / (1 + np.exp(y * score))
        g, h = (y * w).astype(np.float32), (w * (1 - w)).astype(np.float32)
        splits = growth.grow(g, h)
        leaf = leaves_of(splits, growth.codes)
        value = np.array([_newton(g[leaf == k], h[leaf == k], growth.options.l2) for k in range(len(splits) + 1)])
        score += learning_rate * value[leaf]
        trees.append(splits)
        values.append(learning_rate * value)
    return trees, values, constant


def _newton(g: AnyArray, h: AnyArray, l2: float) -> float:
    return float(g.sum(dtype=np.float64) / (h.sum(dtype=np.float64) + l2))


def leaves_of(splits: list[TwinSplit], codes: Codes) -> IntArray:
    """The leaf of every row."""
    leaf = np.zeros(len(codes), dtype=np.int64)
    for made, split in enumerate(splits, start=1):
        leaf[(leaf == split.parent) & ~split.left[codes[:, split.column]]] = made
    return leaf
