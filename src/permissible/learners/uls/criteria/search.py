"""The papers' own criteria for +-1 rules (mathematics.md section 5), where search.py takes the second-order decrease.

| criterion | the value of a rule h, to be least |
|---|---|
| "exact" | V = min_d sum_i F(y_i (H_i + d h_i)) + l2 d^2: the surrogate after the rule's step ([N] section 6, [I]) |
| "impurity" | V = sum over its two sides of W phi(W+ / W), W sums of weights: a split of UDT, (49) of [T] |

A rule grows as in search.py: the best literal and its negation are both completed while V falls. The impurity of all
literals follows from two histograms. For "exact", one histogram of F(m + d y) - F(m - d y) gives the surrogate of all
literals at a step d. As it is convex in d, secants through a few steps bound every V from below; literals whose
bound is above the least V so far are left out, and only the others are minimised along d.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from permissible.bins.layout import layout_of
from permissible.bins.literal import Literal, Rule
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import Examples
from permissible.learners.uls.search import IMPROVEMENT, GrownRule, negated, single_literals
from permissible.losses import Loss
from permissible.losses.surrogate import longest_step, natural_value
from permissible.types import BoolArray, FloatArray, IntArray

STEPS = np.array([0.25, 0.5, 0.7, 0.85, 1.0, 1.18, 1.4, 1.8, 2.5, 4.0])
"""Steps at which all literals are judged, in units of the step of the literal with the largest edge."""
TIE = 1e-12
"""Relative difference of two surrogates below which the earlier literal wins."""
AT_ONCE = 16
"""Rules that are minimised together."""


class ValuedRule(NamedTuple):
    """A rule with its value, and the rows that it covers."""

    value: float
    rule: Rule
    mask: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Literals:
    """All literals of one column, and which codes each covers."""

    column: int
    found: list[Literal]
    members: BoolArray


class CriterionSearch:
    """The search of one fit over rows in memory. `score` is that of the rows, and follows the rounds."""

    def __init__(self, examples: Examples, loss: Loss, options: ULSOptions, score: FloatArray | None = None) -> None:
        self.examples, self.loss, self.options = examples, loss, options
        n_rows = len(examples.positive)
        self.sign = np.where(examples.positive, 1.0, -1.0)
        self.sample = np.ones(n_rows) if examples.weight is None else examples.weight
        self.score = np.zeros(n_rows) if score is None else score.copy()
        self.cap = longest_step(loss)
        binned = examples.binned
        self.codes = [np.ascontiguousarray(binned.column_codes(j)).astype(np.intp) for j in range(binned.n_columns)]
        layout = layout_of(binned.binning).by_column
        self._first = [self._literals(single_literals(j, layout, binned.binning, ())) for j in range(len(self.codes))]
        self._all = list[Literals]()
        if options.max_literals > 1:
            for own, bins in zip(self._first, binned.binning.columns, strict=True):
                self._all.append(self._literals([*own.found, *(negated(one, bins.has_missing) for one in own.found)]))

    def move(self, rule: Rule, value_in: float, value_out: float) -> None:
        """Take the step of a round."""
        self.score += np.where(self.examples.covers(rule), value_in, value_out)

    def best(self) -> GrownRule | None:
        """The rule of least value, or None where no literal divides the rows."""
        self.margin = self.sign * self.score
        self.weight = self.sample * np.asarray(self.loss.weight(self.margin))
        self.curvature = float(self.sample @ np.asarray(self.loss.curvature(self.margin)))
        self.trivial = trivial = self._start()
        best: ValuedRule | None = None
        barred = set[int]()
        for _ in range(self.options.beam):
            first = self._least(self._first, np.ones(len(self.sign), dtype=bool), barred)
            if first is None:
                break
            barred.add(first.rule[0].column)
            for grown in (first, *self._completed(first)):
                if best is None or trivial - grown.value > (trivial - best.value) * IMPROVEMENT:
                    best = grown
        if best is None:
            return None
        signed = self.sign * self.weight
        inside, everything = float(signed[best.mask].sum()), float(signed.sum())
        decrease = trivial - best.value
        if abs(2 * inside - everything) <= TIE * float(self.weight.sum()):
            decrease = 0.0  # sides of different purity whose edges cancel: no step lowers the surrogate
        return GrownRule(best.rule, decrease, inside, everything, 0.0, self.curvature, 2.0 * inside - everything)

    def line(self, masks: BoolArray, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The minimising step of each +-1 rule, by Newton's method within a bracket, and the surrogate there."""
        signs = np.where(masks, self.sign, -self.sign)
        low, high = np.full(len(masks), -self.cap), np.full(len(masks), self.cap)
        step, l2 = np.clip(guess, -self.cap, self.cap), self.options.l2
        for _ in range(200):
            moved = self.margin + signs * step[:, None]
            slope = (signs * np.asarray(self.loss.weight(moved))) @ self.sample - 2.0 * l2 * step
            bend = np.asarray(self.loss.curvature(moved)) @ self.sample + 2.0 * l2
            low, high = np.where(slope > 0, step, low), np.where(slope < 0, step, high)
            reach = 1.0 + np.abs(step)
            with np.errstate(divide="ignore", invalid="ignore"):
                newton = step + np.clip(np.where(bend > 0, slope / bend, np.sign(slope) * reach), -reach, reach)
            inside = (newton > low) & (newton < high)
            following = np.where(slope == 0, step, np.where(inside, newton, 0.5 * (low + high)))
            done = np.abs(following - step) <= TIE * (1.0 + np.abs(following))
            step = following
            if done.all():
                break
        value = natural_value(self.loss, self.margin + signs * step[:, None]) @ self.sample
        return step, value + l2 * step * step

    def _start(self) -> float:
        """The value without a rule."""
        if self.options.criterion == "exact":
            return float(natural_value(self.loss, self.margin) @ self.sample)
        return float(self._impurity(self.weight[self.examples.positive].sum(), self.weight.sum()))

    def _completed(self, first: ValuedRule) -> list[ValuedRule]:
        """The first literal and its negation, each extended while the value falls."""
        found = list[ValuedRule]()
        if self.options.max_literals == 1:
            return found
        bins = self.examples.binned.binning.columns[first.rule[0].column]
        opposite = ValuedRule(first.value, (negated(first.rule[0], bins.has_missing),), ~first.mask)
        for grown in (first, opposite):
            while len(grown.rule) < self.options.max_literals:
                used = {literal.column for literal in grown.rule}
                longer = self._least(self._all, grown.mask, used)
                if longer is None or not self.trivial - longer.value > (self.trivial - grown.value) * IMPROVEMENT:
                    break
                grown = ValuedRule(longer.value, (*grown.rule, *longer.rule), longer.mask)
                found.append(grown)
        return found

    def _literals(self, found: list[Literal]) -> Literals:
        members = np.array([literal.membership() for literal in found], dtype=bool).reshape(len(found), 256)
        return Literals(found[0].column if found else -1, found, members)

    def _least(self, columns: list[Literals], within: BoolArray, barred: Collection[int]) -> ValuedRule | None:
        """The literal of least value for the rows `within`, which the rule so far covers."""
        open_columns = [own for own in columns if own.found and own.column not in barred]
        counts = self._sums(open_columns, within, np.ones((1, len(self.sign))))[0] if open_columns else np.zeros(0)
        places = [(own, place) for own in open_columns for place in range(len(own.found))]
        proper = np.flatnonzero((counts > 0) & (counts < len(self.sign)))
        if not len(proper):
            return None

        def mask(place: int) -> BoolArray:
            own, row = places[place]
            return np.asarray(within & own.members[row][self.codes[own.column]])

        if self.options.criterion == "impurity":
            value = self._impurities(open_columns, within)[proper]
            chosen = int(np.argmax(value <= value.min() * (1 + TIE)))
            least = float(value[chosen])
        else:
            chosen, least = self._exact(open_columns, within, proper, mask)
        own, row = places[int(proper[chosen])]
        return ValuedRule(least, (own.found[row],), mask(int(proper[chosen])))

    def _sums(self, columns: list[Literals], within: BoolArray, terms: FloatArray) -> FloatArray:
        """The sum of each term over the rows that each literal covers; on a grid, so that the order of the rows is none."""
        largest = float(np.abs(terms).max(initial=0.0)) or 1.0
        grid = 2.0 ** min(51 - len(self.sign).bit_length() - int(np.ceil(np.log2(largest))), 1000)
        whole = np.rint(terms[:, within] * grid)
        parts = list[FloatArray]()
        for own in columns:
            codes = self.codes[own.column][within]
            sums = np.array([np.bincount(codes, weights=term, minlength=256) for term in whole])
            parts.append(sums @ own.members.T.astype(np.float64))
        return np.concatenate(parts, axis=1) / grid

    def _impurity(self, positive: FloatArray, weight: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(weight > 0, np.clip(positive / weight, 0.0, 1.0), 0.0)
        return np.asarray(weight * np.asarray(self.loss.impurity(share)))

    def _impurities(self, columns: list[Literals], within: BoolArray) -> FloatArray:
        """W phi(W+ / W) of the covered rows and of the others, for each literal."""
        of_positives = np.where(self.examples.positive, self.weight, 0.0)
        positive, weight = self._sums(columns, within, np.stack((of_positives, self.weight)))
        outside = np.maximum(of_positives.sum() - positive, 0.0), np.maximum(self.weight.sum() - weight, 0.0)
        return self._impurity(positive, weight) + self._impurity(*outside)

    def _exact(
        self, columns: list[Literals], within: BoolArray, proper: IntArray, mask: Callable[[int], BoolArray]
    ) -> tuple[int, float]:
        """The place in `proper` of the literal of least surrogate, and that surrogate."""
        signed = self.sign * self.weight
        edge = 2.0 * self._sums(columns, within, signed[None])[0][proper] - signed.sum()
        largest = int(np.argmax(np.abs(edge)))
        guess = edge[largest] / (self.curvature + 2.0 * self.options.l2 + 1e-300)
        step, value = self.line(mask(int(proper[largest]))[None], np.array([guess]))
        chosen, least = largest, float(value[0])
        steps = STEPS * max(abs(float(step[0])), 1e-12)
        ups, downs = (natural_value(self.loss, self.margin + way * self.sign * steps[:, None]) for way in (1.0, -1.0))
        change = self._sums(columns, within, self.sample * (ups - downs))[:, proper]
        way = np.where(edge >= 0, 1.0, -1.0)
        base = np.where(way > 0, (downs @ self.sample)[:, None], (ups @ self.sample)[:, None])
        known = base + way * change + self.options.l2 * (steps * steps)[:, None]
        start = np.full((1, len(proper)), self.trivial)
        points, known = np.concatenate(([0.0], steps)), np.concatenate((start, known))
        bound = lower_bounds(points, known, -np.abs(edge))
        order = np.argsort(known.min(axis=0), kind="stable")
        while True:
            left = order[bound[order] < least * (1.0 - TIE)]
            if not len(left):
                return chosen, least
            batch, order = np.sort(left[:AT_ONCE]), left[AT_ONCE:]
            guesses = (way * points[known.argmin(axis=0)])[batch]
            _, values = self.line(np.array([mask(int(proper[place])) for place in batch]), guesses)
            for place, found in zip(batch.tolist(), values.tolist(), strict=True):
                better = found < least * (1.0 - TIE)
                if better or (abs(found - least) <= TIE * least and place < chosen):
                    chosen, least = place, found if better else least


def lower_bounds(points: FloatArray, known: FloatArray, slope: FloatArray) -> FloatArray:
    """Lower bounds of the minima over [0, inf) of convex functions, known at `points` from 0 on, with their slopes at 0.

    Between two points a convex function lies above the secants of the intervals on both sides; beyond the last one a
    falling one is only known to be at least 0.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> lower_bounds(x, (x[:, None] - 1.5) ** 2, np.array([-3.0])).tolist()  # the minimum is 0
    [-0.75]
    """
    width = np.diff(points)[:, None]
    secant = np.diff(known, axis=0) / width
    before = np.concatenate((slope[None], secant[:-1]))  # the line that an interval's function lies above on its left
    after = np.concatenate((secant[1:], np.full((1, known.shape[1]), np.inf)))
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (known[1:] - known[:-1] - after * width) / (before - after)
        meet = np.where(np.isinf(after), width, np.clip(meet, 0.0, width))
    inner = np.where(before >= 0, known[:-1], np.where(after <= 0, known[1:], known[:-1] + before * meet))
    beyond = np.where(secant[-1] < 0, 0.0, known[-1])
    return np.asarray(np.minimum(inner.min(axis=0), beyond))
