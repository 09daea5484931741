"""Readable NumPy twins of the boundary solvers: problem (18) of [K] by Newton, coordinate descent and pair updates.

The loss of each class is given as hinges h_1 > h_2 > ... and widths D, arrays of shape (2, K), row 1 for the positive
class: phi(z) = sum_k D_k (h_k - z)_+ and g(t) = sum_k h_k clip(t - t_{k-1}, 0, D_k). `strength` is L = lambda sum c,
and each solver returns the primal point with a dual point t, from which `values` computes both sides of the gap.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Sides = npt.NDArray[np.int8]


class HingeProblem(NamedTuple):
    """The class and weight of each row, the loss of both classes, and the strength of the penalty."""

    positive: Sides
    weight: Floats
    hinge: Floats
    width: Floats
    strength: float

    @property
    def rows(self) -> tuple[Floats, Floats, Floats]:
        """Hinges and widths of each row, (n, K), and its sign y."""
        return self.hinge[self.positive], self.width[self.positive], np.where(self.positive, 1.0, -1.0)


def losses(z: Floats, hinge: Floats, width: Floats) -> Floats:
    """phi(z) of each row; `hinge` and `width` hold a row's own segments, shape (n, K)."""
    return np.asarray((width * np.maximum(hinge - z[:, None], 0)).sum(axis=1))


def gains(t: Floats, hinge: Floats, width: Floats) -> Floats:
    """g(t) of each row."""
    below = np.cumsum(width, axis=1) - width
    return np.asarray((hinge * np.clip(t[:, None] - below, 0, width)).sum(axis=1))


def values(X: Floats, problem: HingeProblem, coef: Floats, intercept: float, t: Floats) -> tuple[float, float]:
    """Primal and dual value with a free intercept: the heavier class is scaled down until sum c t y = 0."""
    (positive, weight, *_, strength), (h, d, y) = problem, problem.rows
    primal = weight @ losses(y * (X @ coef + intercept), h, d) + strength / 2 * coef @ coef
    mass = [float(weight[positive == side] @ t[positive == side]) for side in (0, 1)]
    heavy = int(mass[1] > mass[0])
    balanced = np.where(positive == heavy, t * (mass[1 - heavy] / mass[heavy] if mass[heavy] else 1.0), t)
    pull = X.T @ (weight * y * balanced)
    return float(primal), float(weight @ gains(balanced, h, d) - pull @ pull / (2 * strength))


def best_intercept(score: Floats, problem: HingeProblem) -> float:
    """The minimiser b of sum c phi(y (f + b)), a weighted median of the kinks y h_k - f; the middle of an interval."""
    h, d, y = problem.rows
    kinks, widths = (y[:, None] * h - score[:, None]).ravel(), problem.weight[:, None] * d
    rises, order = widths.ravel(), np.argsort(kinks, kind="stable")
    slope = np.cumsum(rises[order]) - widths[problem.positive == 1].sum()
    first = int(np.flatnonzero(slope >= -1e-12 * rises.sum())[0])
    flat = slope[first] <= 1e-12 * rises.sum() and first + 1 < len(order)
    return float(kinks[order[first]] if not flat else (kinks[order[first]] + kinks[order[first + 1]]) / 2)


def newton(X: Floats, problem: HingeProblem) -> tuple[Floats, float, Floats]:
    """Semismooth Newton on all rows with a free intercept; returns (w, b, t).

    tau_k = clip(c_k + (h_k - z) / (2 e), 0, 1), t = sum D_k tau_k; e shrinks until few rows lie between kinks, then c
    <- tau.
    """
    weight, strength, (h, d, y) = problem.weight, problem.strength, problem.rows
    rows = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    ridge = np.append(np.full(X.shape[1], strength), 0.0)
    point, center, e = np.zeros(X.shape[1] + 1), np.full(h.shape, 0.5), 2 * np.abs(problem.hinge).max()
    t = np.zeros(len(X))
    for _ in range(500):
        raw = center + (h - (rows @ point)[:, None]) / (2 * e)
        tau = np.clip(raw, 0, 1)
        t = (d * tau).sum(axis=1)
        residual = rows.T @ (weight * t) - ridge * point
        primal, dual = values(X, problem, point[:-1], point[-1], t)
        if primal - dual <= 1e-8 * primal:
            break
        inner = residual[:-1] @ residual[:-1] / (2 * strength) + np.abs(residual[-1]) * np.abs(problem.hinge).max()
        between = raw == tau
        if inner <= 0.05 * (weight @ (losses(rows @ point, h, d) - gains(t, h, d) + t * (rows @ point))):
            if between.any(axis=1).sum() <= 4 * len(point):
                center, e = tau, e * 0.7
            else:
                e /= 4
            continue
        bend = weight * (d * between).sum(axis=1) / (2 * e)
        step = np.linalg.lstsq(rows.T @ (bend[:, None] * rows) + np.diag(ridge), residual, rcond=None)[0]
        moved = point + _line(point, step, rows, (weight, h, d), (center, e), ridge) * step
        if np.allclose(moved, point, rtol=1e-12, atol=0):  # no curvature in b: solve for it, which puts a row on a kink
            moved[-1] = best_intercept(X @ point[:-1], problem)
        point = moved
    return point[:-1], float(point[-1]), t


def _line(
    point: Floats,
    step: Floats,
    rows: Floats,
    hinges: tuple[Floats, Floats, Floats],
    smoothing: tuple[Floats, float],
    ridge: Floats,
) -> float:
    """Bisection for the zero of the derivative along a step."""
    (weight, h, d), (center, e) = hinges, smoothing

    def derivative(s: float) -> float:
        there = point + s * step
        tau = np.clip(center + (h - (rows @ there)[:, None]) / (2 * e), 0, 1)
        return float((ridge * there) @ step - (weight * (d * tau).sum(axis=1)) @ (rows @ step))

    low, high = 0.0, 1.0
    while derivative(high) < 0 and high < 1e6:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if derivative(middle) < 0 else (low, middle)
    return (low + high) / 2


def descend(X: Floats, problem: HingeProblem) -> tuple[Floats, float, Floats]:
    """Coordinate descent with a penalised intercept: t <- sum_k clip((h_k - v) / q - t_{k-1}, 0, D_k), v = z - q t."""
    weight, strength, (h, d, y) = problem.weight, problem.strength, problem.rows
    rows = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    below = np.cumsum(d, axis=1) - d
    q = weight * (rows * rows).sum(axis=1) / strength
    t, point, random = np.zeros(len(X)), np.zeros(rows.shape[1]), np.random.default_rng(0)
    for _ in range(200):
        for i in random.permutation(len(X)):
            v = rows[i] @ point - q[i] * t[i]
            fresh = np.clip((h[i] - v) / q[i] - below[i], 0, d[i]).sum()
            point = point + weight[i] * (fresh - t[i]) / strength * rows[i]
            t[i] = fresh
    return point[:-1], float(point[-1]), t


def pair_updates(gram: Floats, problem: HingeProblem) -> tuple[Floats, float]:
    """Pair updates with a free intercept on gamma = y c t, one breakpoint a step; returns (t, b)."""
    (positive, weight, *_, strength), (h, d, y) = problem, problem.rows
    edges = np.column_stack([np.zeros(len(y)), np.cumsum(d, axis=1)])
    t, f = np.zeros(len(y)), np.zeros(len(y))
    up, down = np.zeros(len(y)), np.zeros(len(y))
    for _ in range(100_000):
        more = np.array(
            [next((a for a, e in zip(h[i], edges[i, 1:], strict=True) if t[i] < e), -np.inf) for i in range(len(y))]
        )
        less = np.array(
            [
                next((a for a, e in zip(h[i][::-1], edges[i, -2::-1], strict=True) if t[i] > e), np.inf)
                for i in range(len(y))
            ]
        )
        up, down = np.where(positive, more, -less), np.where(positive, less, -more)
        i = int(np.argmax(up - f))
        if up[i] - f[i] - (down - f).min() < 1e-7:
            break
        slope = np.maximum(up[i] - f[i] - (down - f), 0)
        bend = np.maximum(gram[i, i] + np.diag(gram) - 2 * gram[i], 1e-12)
        j = int(np.argmax(np.where(np.isfinite(slope), slope, 0) ** 2 / bend))
        s = min(
            slope[j] * strength / bend[j],
            _room(t[i], edges[i], y[i] > 0) * weight[i],
            _room(t[j], edges[j], y[j] < 0) * weight[j],
        )
        for row, move in ((i, s), (j, -s)):
            t[row] += y[row] * move / weight[row]
            near = edges[row][np.abs(edges[row] - t[row]).argmin()]
            t[row] = near if abs(near - t[row]) < 1e-14 else t[row]
            f += move * gram[row] / strength
    return t, float(((up - f).max() + (down - f).min()) / 2)


def _room(t: float, edges: Floats, grows: bool) -> float:
    """How far t can go before its next breakpoint."""
    return float((edges[edges > t].min() - t) if grows else (t - edges[edges < t].max()))


def kernel_scores(
    support: Floats, name: str, gamma: float, coef0: float, degree: int, coef: Floats, points: Floats
) -> Floats:
    """sum_j coef_j k(x_j, point) for every point."""
    product = points @ support.T
    if name == "rbf":
        squares = (points**2).sum(axis=1)[:, None] + (support**2).sum(axis=1)
        matrix = np.exp(-gamma * np.maximum(squares - 2 * product, 0))
    elif name == "poly":
        matrix = (gamma * product + coef0) ** degree
    else:
        matrix = np.tanh(gamma * product + coef0) if name == "sigmoid" else product
    return np.asarray(matrix @ coef)


def structured_sweep(
    x: Floats, costs: Floats, caps: Floats, alpha: float, order: npt.NDArray[np.int64], weights: Floats, dual: Floats
) -> None:
    """One sweep of dual ascent of the structured SVM ([B] appendix E): each row's exact step projects on its simplex."""
    square = np.einsum("ij,ij->i", x, x) / alpha
    for i in order:
        if square[i] > 0 and caps[i] > 0:
            point = dual[i] + (costs[i] + weights @ x[i]) / square[i]
            ordered = np.sort(point)[::-1]
            level = (np.cumsum(ordered) - caps[i]) / np.arange(1, len(point) + 1)
            new = np.maximum(point - level[np.flatnonzero(ordered > level)[-1]], 0.0)
            weights -= np.outer(new - dual[i], x[i]) / alpha
            dual[i] = new
