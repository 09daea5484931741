"""The average of several fits as a model of few rules, whose scores go as far as rows that no fit saw bear out.

Scores of rules add up, so that the average of fits is a model of all of their rules. Where these are too many, rules leave one
by one, and those that are left take over by least squares: the mean square of the change of the score over the rows, with the
curvature of the loss at the average as weight, plus `CHANGE` times that of each rule's own change. The rule whose leaving
costs least goes next.

The folds fitted the same candidates on other rows, and the scores of their held-out rows tell how far scores should go: the
factor t on all of them that has the least loss there, plus `STAYING` times what l2 costs of a value (t - 1) F(0) / w(0), which
has the unit of a score. The factor changes no label.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.choose import Tried
from permissible.learners.uls.boost import LoopTask
from permissible.learners.uls.guarantees.agreement import FoldFits, HeldScores, agreement, fold_terms, held_rows, scores
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import PatternsOf
from permissible.learners.uls.step import FitRows
from permissible.learners.uls.trace import Round, Trace
from permissible.losses import Loss
from permissible.losses.surrogate import Surrogate
from permissible.types import FloatArray

STAYING = 5.0
"""Penalty of the factor, in units of the one on values of rules; 3 to 30 do as well (docs/adr/0005)."""
FARTHEST, HALVINGS = 4.0, 44
"""The largest factor, and how often its interval is halved."""
CHANGE, TIE, FLAT = 0.01, 1e-9, 1e-12
"""See above; costs that differ by less than this fraction are equal; the variance of a rule that covers all rows, or none."""


def fewer(trace: Trace, most: int, task: LoopTask, rows: FitRows) -> Trace:
    """Remove rules until at most `most` are left, one round each; a trace that has no more is returned as it is."""
    constant, found = trace.terms()
    if len(found) <= most:
        return trace
    grid, coefficients = rows.sizes.pattern_grid, np.array(list(found.values()))
    patterns = rows.rows.ask(PatternsOf(tuple(found), grid))
    score = scores((constant, found), tuple(found), patterns) / task.scale
    negative, positive = task.surrogate.at(-score)[:, 2], task.surrogate.at(score)[:, 2]
    curvature = (patterns.weight[:, 0] * negative + patterns.weight[:, 1] * positive) / grid
    products = kernels.pattern_hessian(patterns.bits, curvature)
    mean = products[0, 1:] / max(float(products[0, 0]), 1e-300)
    left, first = without(products, coefficients, most), dict[Rule, Round]()
    for step in trace.rounds:
        first.setdefault(step.rule, step)
    rounds = tuple(
        replace(first[rule], value_in=c * (1.0 - m), value_out=-c * (1.0 + m))  # of mean 0 over the weighted rows
        for rule, c, m in zip(found, left.tolist(), mean.tolist(), strict=True)
        if c != 0.0
    )
    return replace(trace, constant=constant + float((mean * coefficients).sum()), rounds=rounds)


def without(products: FloatArray, coefficients: FloatArray, most: int) -> FloatArray:
    """The coefficients with at most so many that are not 0; `products` has the weighted sums of products of 1 and the rules."""
    total = max(float(products[0, 0]), 1e-300)
    mean = products[0, 1:] / total
    inverse = products[1:, 1:] / total - mean[:, None] * mean
    inverse.flat[:: len(mean) + 1] = inverse.diagonal() * (1.0 + CHANGE) + FLAT
    for k in range(len(mean)):
        swept(inverse, k)
    left, alive = coefficients.copy(), np.ones(len(mean), dtype=bool)
    for _ in range(len(mean) - most):
        costs = np.where(alive, left**2 / inverse.diagonal(), np.inf)
        gone = int(np.flatnonzero(costs <= costs.min() * (1.0 + TIE))[0])  # the first, up to rounding
        left -= inverse[gone] * (left[gone] / inverse[gone, gone])
        swept(inverse, gone)  # the inverse of the others
        inverse[gone], inverse[:, gone], inverse[gone, gone] = 0.0, 0.0, 1.0
        left[gone], alive[gone] = 0.0, False
    return left


def swept(matrix: FloatArray, k: int) -> None:
    """One column of Gauss-Jordan elimination, in place: after all of them the matrix is its inverse. It has no order of sums."""
    pivot, row, column = matrix[k, k], matrix[k].copy(), matrix[:, k] / matrix[k, k]
    matrix -= column[:, None] * row
    matrix[k], matrix[:, k], matrix[k, k] = row / pivot, -column, 1.0 / pivot


def borne_out(
    trace: Trace, loss: Loss, beside: Sequence[FoldFits], kept: Sequence[Tried[ULSOptions]], task: LoopTask
) -> Trace:
    """The trace with its scores times the factor of the folds, and what the folds' models have in common with it."""
    folds = fold_terms(beside, kept)
    if folds is None:
        return trace
    final, opened = trace.terms(), [partial(fold.open, loss) for fold in beside]
    held = [held_rows(final, fold, rows) for fold, rows in zip(folds, opened, strict=True)]
    times = factor(held, task.surrogate, task.scale, kept[0].candidate.l2)
    rounds = tuple(replace(s, value_in=times * s.value_in, value_out=times * s.value_out) for s in trace.rounds)
    told = {**trace.evidence, "factor": times, "agreement": agreement(final, folds, held)}
    return replace(trace, constant=times * trace.constant, rounds=rounds, evidence=told)


def factor(held: Sequence[HeldScores], surrogate: Surrogate, scale: float, l2: float) -> float:
    """The factor of least loss on the held-out scores plus the penalty, which is convex in it: where its slope is 0."""
    weight = np.concatenate([one.weight for one in held])
    score = np.concatenate([one.fold for one in held]) / scale
    at_zero, weight_at_zero, *_ = surrogate.at(np.zeros(1))[0].tolist()
    penalty = STAYING * l2 * scale * (at_zero / weight_at_zero) ** 2

    def slope(times: float) -> float:
        pulls = weight[:, 1] * surrogate.at(times * score)[:, 1] - weight[:, 0] * surrogate.at(-times * score)[:, 1]
        return float(penalty * (times - 1.0) - (pulls * score).sum())

    low, high = 0.0, FARTHEST
    if slope(high) < 0.0:
        return high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slope(middle) >= 0.0 else (middle, high)
    return high


Shaped = Callable[[Trace, LoopTask, FitRows], Trace]
"""What is done to an average before its figures are measured."""
