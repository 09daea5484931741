"""Constraints on rules, held for every row there can be: directions of columns, and columns that may meet in one rule.

A score is a constant plus c_t times +1 where rule t holds and -1 elsewhere. Raising column j can only make `x_j > t` true and
`x_j <= t` false, whatever the other columns are. So the score never falls in column j if each literal on it in a rule with
c_t > 0 is `x_j > t`, and in a rule with c_t < 0 is `x_j <= t`: for each rule by itself, hence for the sum. A literal on a column
of direction d thus fixes the sign of its rule's coefficient, +d for `>` and -d for `<=`. The search takes only rules whose
literals agree on a sign and whose step has it; every refit keeps it. Tests for missing values do not change with a value.

The search here is that of search.py in NumPy, for columns with such conditions.
"""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.hashing import Hashes
from permissible.bins.literal import MISSING, OTHER, Literal, Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.criteria.draws import number_of_set
from permissible.types import AnyArray, BoolArray, FloatArray, IntArray

CATEGORY_COST = 1.0
"""What each category after the first must bring to a set (kCategoryCost of cpp/rules/search/search.hpp)."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """What rules must obey.

    `directions` has -1, 0 or 1 for each column; `groups`, if given, lists the columns that may meet in one rule; with `positive`
    every coefficient is at least 0, as the points of a card are.
    """

    directions: tuple[int, ...]
    groups: tuple[frozenset[int], ...] | None = None
    positive: bool = False

    def sign(self, rule: Rule) -> int:
        """The sign that the coefficient of a rule must have; 0 for any."""
        signs = [self.literal_sign(literal) for literal in rule]
        return 1 if self.positive else next((sign for sign in signs if sign), 0)

    def literal_sign(self, literal: Literal) -> int:
        """The sign that a literal asks for."""
        direction = self.directions[literal.column]
        return direction if literal.test == ">" else -direction if literal.test == "<=" else 0

    def barred(self, rule: Rule) -> set[int]:
        """The columns that may not be added to a rule."""
        used = {literal.column for literal in rule}
        if self.groups is None or not used:
            return used
        return used | (set(range(len(self.directions))) - allowed_columns(self.groups, used))


def allowed_columns(groups: tuple[frozenset[int], ...], used: Set[int]) -> set[int]:
    """The columns that share a group with all used ones."""
    return {column for group in groups if used <= group for column in group}


class Side(NamedTuple):
    """Literals of one column, made when asked for, with the sums over the rows that they keep.

    `asked` is the sign that each asks for, `cost` what naming its categories costs, `drawn` its number in a draw.
    """

    literal: Callable[[int], Literal]
    sums: IntArray
    asked: IntArray
    cost: FloatArray
    drawn: Hashes


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedScan:
    """The best permitted literal of each column, from histograms."""

    constraints: Constraints
    binning: Binning
    layout: AnyArray
    criterion: kernels.Criterion
    l2: float

    def best(
        self, rule: Rule, sums: IntArray, draws: kernels.Criterion
    ) -> Iterator[tuple[float, int, int, Rule, float]]:
        """For each permitted column the decrease, the sums inside, the rule with the column's best literal, its score."""
        barred, sign = self.constraints.barred(rule), self.constraints.sign(rule)
        for column in range(len(sums)):
            if column in barred:
                continue
            side = self._literals(column, sums[column])
            decrease = self.decrease(*side.sums) - side.cost
            decrease[~self._permitted(side.sums, side.asked, sign)] = -1.0
            score = decrease
            if draws.noise > 0:
                score = np.sqrt(2.0 * np.maximum(decrease, 0.0) / draws.noise)
                score = np.where(decrease < 0.0, -np.inf, score + draws.draws(self.layout, column, side.drawn))
            place = int(score.argmax()) if len(score) else 0
            if len(score) and decrease[place] >= 0.0:
                weight, curvature = side.sums[:, place].tolist()
                yield float(decrease[place]), weight, curvature, (*rule, side.literal(place)), float(score[place])

    def permits(self, literal: Literal, weight: int, curvature: int) -> bool:
        """Whether a rule of one literal obeys."""
        asked = np.array([self.constraints.literal_sign(literal)])
        return bool(self._permitted(np.array([[weight], [curvature]]), asked, self.constraints.sign(()))[0])

    def decrease(self, weight: IntArray, curvature: IntArray) -> FloatArray:
        """`Criterion.decrease` of many literals."""
        c, (w_in, w_out, k_in, k_out) = self.criterion, self._sides(weight, curvature)
        if not c.two_values:
            total = float(c.total_curvature) * c.curvature_unit + 2.0 * self.l2
            return 0.5 * _second_order(w_in - w_out, np.full(len(weight), total))
        return 0.5 * (_second_order(w_in, k_in) + _second_order(w_out, k_out))

    def _sides(self, weight: IntArray, curvature: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        c = self.criterion
        w_in, w_all = weight.astype(np.float64) * c.weight_unit, float(c.total_weight) * c.weight_unit
        k_in, k_all = curvature.astype(np.float64) * c.curvature_unit, float(c.total_curvature) * c.curvature_unit
        return w_in, w_all - w_in, k_in + self.l2, k_all - k_in + self.l2

    def _permitted(self, sums: IntArray, asked: IntArray, sign: int) -> BoolArray:
        """Which literals ask for no other sign than the rule, and give a step of the sign asked for."""
        c, (weight, curvature), (w_in, w_out, k_in, k_out) = self.criterion, sums, self._sides(*sums)
        effect = w_in - w_out
        if c.two_values:
            effect = w_in * np.maximum(k_out, 1e-300) - w_out * np.maximum(k_in, 1e-300)
        wanted = np.where(asked == 0, sign, asked)
        permitted = (wanted == 0) | (effect * wanted > 0)
        if sign:
            permitted &= (asked == 0) | (asked == sign)
        if c.two_values:  # a side without any row is no rule
            permitted &= (weight != 0) | (curvature != 0)
            permitted &= (weight != c.total_weight) | (curvature != c.total_curvature)
        return np.asarray(permitted)

    def _literals(self, column: int, sums: IntArray) -> Side:
        both = np.stack((sums[0], sums[1] if self.criterion.two_values else np.zeros_like(sums[0])))
        return self._sets(column, both) if self.layout[column, 0] else self._cuts(column, both)

    def _cuts(self, column: int, both: IntArray) -> Side:
        """Four variants of each cut, `<=` and `>` without and with missing values, then the two tests for missing values."""
        n_cuts, has_missing = max(int(self.layout[column, 1]) - 1, 0), bool(self.layout[column, 2])
        below, absent = both[:, :n_cuts].cumsum(axis=1), both[:, MISSING, None]
        whole = both.sum(axis=1, keepdims=True)
        parts = [below, whole - below - absent]
        if has_missing:
            parts += [below + absent, whole - below, absent, whole - absent]
        direction, ends = self.constraints.directions[column], self.binning.columns[column].thresholds
        asked = np.zeros(sum(part.shape[1] for part in parts), dtype=np.int64)
        for variant in range(4 if has_missing else 2):
            asked[variant * n_cuts : (variant + 1) * n_cuts] = direction if variant % 2 else -direction

        def literal(place: int) -> Literal:
            variant, code = divmod(place, n_cuts) if n_cuts else (4, place)
            if variant >= 4:
                return _missing(column, place - 4 * n_cuts)
            return Literal(column, ">" if variant % 2 else "<=", float(ends[code]), (code,), variant >= 2)

        drawn = np.where(np.arange(len(asked)) < 4 * n_cuts, np.arange(len(asked)) % max(n_cuts, 1), MISSING)
        return Side(literal, np.concatenate(parts, axis=1), asked, np.zeros(len(asked)), drawn.astype(np.uint64))

    def _sets(self, column: int, both: IntArray) -> Side:
        """Each category against the rest, and the prefixes of the categories sorted by their own value."""
        held = [code for code in (*range(int(self.layout[column, 1])), OTHER) if both[:, code].any()]
        whole, unit = both.sum(axis=1) - both[:, MISSING], self.criterion.curvature_unit
        own = both[0] * self.criterion.weight_unit / (both[1] * unit + self.l2 + 1e-300)
        order = sorted(held, key=lambda code: float(own[code]))
        chosen = [[code] for code in held]
        chosen += [order[:count] for count in range(2, len(order) - 1)] if self.criterion.two_values else []
        literals, values, costs, drawn = list[Literal](), list[IntArray](), list[float](), list[int]()
        for names in chosen:
            kept, named = both[:, names].sum(axis=1), tuple(sorted(names))
            others = tuple(sorted(set(held) - set(names)))
            cost = CATEGORY_COST * max(min(len(named), len(others)) - 1, 0)
            short = len(named) <= len(others)
            inside = Literal(column, "in", codes=named) if short else Literal(column, "not in", codes=others)
            outside = Literal(column, "not in", codes=named) if short else Literal(column, "in", codes=others)
            literals, values, costs = [*literals, inside, outside], [*values, kept, whole - kept], [*costs, cost, cost]
            drawn += [min(number_of_set(named), number_of_set(others))] * 2
        if self.layout[column, 2]:
            literals += [_missing(column, 0), _missing(column, 1)]
            values, costs, drawn = [*values, both[:, MISSING], whole], [*costs, 0.0, 0.0], [*drawn, MISSING, MISSING]
        sums = np.array(values, dtype=np.int64).reshape(len(values), 2).T
        asked = np.zeros(len(literals), dtype=np.int64)
        return Side(literals.__getitem__, sums, asked, np.array(costs), np.array(drawn, dtype=np.uint64))


def _missing(column: int, place: int) -> Literal:
    """The test for a missing value, or for a present one."""
    return Literal(column, "present") if place else Literal(column, "missing", missing=True)


def _second_order(weight: FloatArray, curvature: FloatArray) -> FloatArray:
    """Twice the decrease of a side; |weight| where it has no curvature."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(curvature > 0.0, weight * weight / curvature, np.abs(weight))
