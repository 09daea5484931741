"""Growing a rule to be read: greedy monomials over distinct columns (mathematics.md section 5), from histograms of the rows.

The criterion is the second-order decrease of the surrogate for the values that the rule will really take. With two values
(the constant is refitted with the rule) D = (G_in^2 / (K_in + l2) + G_out^2 / (K_out + l2)) / 2; with one value d inside
and -d outside D = (G_in - G_out)^2 / (2 (K + 2 l2)), that is the edge; G sums y w and K curvatures on a side. Where a side has
no curvature and l2 is 0, |G| stands for G^2 / K, so that the larger edge wins. A literal and its negation tie as first
literals and continue differently, so both are completed; only the side with fewer rows is summed.
The compiled twin is cpp/rules/grow.cpp.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.literal import MISSING, OTHER, Literal, Rule
from permissible.kernels._core import boosting as kernels
from permissible.kernels.reference.boosting import decrease
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import HistogramRequest, Rows
from permissible.learners.uls.trace import literal_of
from permissible.types import AnyArray, IntArray

IMPROVEMENT = 1.0 + 1e-9
"""A literal is only added when it gains more than this factor; less is rounding."""


class Extended(NamedTuple):
    """A rule, its decrease, and the sums over the rows that it covers, in units."""

    decrease: float
    weight_in: int
    curvature_in: int
    rule: Rule


@dataclass(frozen=True, slots=True)
class Criterion:
    """The decrease as a function of the sums inside, given those over all rows."""

    two_values: bool
    l2: float
    weight_unit: float
    curvature_unit: float
    total_weight: int
    total_curvature: int

    def decrease(self, weight_in: int, curvature_in: int) -> float:
        """The second-order decrease of a rule, from the sums over the rows that it covers."""
        units = self.weight_unit, self.curvature_unit
        total = self.total_weight * units[0], self.total_curvature * units[1]
        return decrease(weight_in * units[0], curvature_in * units[1], *total, self.l2, self.two_values)


@dataclass(frozen=True, slots=True)
class GrownRule:
    """A rule, and the real sums inside and over all searched rows: where the leverage starts."""

    rule: Rule
    decrease: float
    weight_in: float
    weight_all: float
    curvature_in: float
    curvature_all: float


class Cut(NamedTuple):
    """A rule that is cut by a literal: its rows (None: to be counted), and the sums over them."""

    parent: Rule
    n_rows: int | None
    sums: IntArray
    literal: Literal


@dataclass(slots=True)
class Chain:
    """A rule that grows, and the sums over the rows that it covers."""

    grown: Extended
    sums: IntArray


class Growth:
    """The search of one round."""

    def __init__(
        self, rows: Rows, n_rows: int, binning: Binning, layout: AnyArray, options: ULSOptions,
        request: HistogramRequest, total_curvature: float,
    ) -> None:  # fmt: skip
        self.rows, self.n_rows, self.binning, self.layout = rows, n_rows, binning, layout
        self.options, self.request = options, request
        self.all = rows.histogram((), request)
        two, share = options.fit_intercept, request.share
        self.criterion = Criterion(
            two, options.l2 * share, 1.0 / request.weight_grid,
            1.0 / request.curvature_grid if two else total_curvature * share,
            int(self.all[0, 0].sum()), int(self.all[0, 1].sum()) if two else 1,
        )  # fmt: skip

    def best(self, excluded: Collection[Rule] = ()) -> GrownRule | None:
        """The best rule, none of the excluded, that starts with one of the `beam` best first literals; None if there is none."""
        found = sorted(self._extensions((), self.all, oriented=False), key=lambda found: -found.decrease)
        firsts = found[: self.options.beam]
        completed = self._completed(firsts) if self.options.max_literals > 1 else [[] for _ in firsts]
        best: Extended | None = None
        for first, longer in zip(firsts, completed, strict=True):
            for candidate in (first, *longer):
                if candidate.rule not in excluded:
                    best = _better(best, candidate)
        if best is None and excluded:  # with l2, rules that are in the model already may be the best of every column
            best = self._remaining(excluded)
        return None if best is None else self._grown(best)

    def _remaining(self, excluded: Collection[Rule]) -> Extended | None:
        """The best single literal that is not excluded."""
        c, best = self.criterion, Extended(0.0, 0, 0, ())
        for column, sums in enumerate(self.all):
            literals = single_literals(column, self.layout, self.binning, excluded)
            weights = literal_sums(literals, sums[0])
            curvatures = literal_sums(literals, sums[1]) if c.two_values else np.zeros_like(weights)
            for literal, weight, curvature in zip(literals, weights.tolist(), curvatures.tolist(), strict=True):
                decrease = c.decrease(weight, curvature)
                if decrease > best.decrease:
                    best = Extended(decrease, weight, curvature, (literal,))
        return best if best.rule else None

    def _completed(self, firsts: list[Extended]) -> list[list[Extended]]:
        """Each first literal and its negation, continued while they gain, side by side: one question serves all."""
        sides = self._splits([Cut((), self.n_rows, self.all, first.rule[0]) for first in firsts])
        chains: list[Chain] = []
        for first, (kept, left) in zip(firsts, sides, strict=True):
            has_missing = self.binning.columns[first.rule[0].column].has_missing
            opposite = Extended(
                first.decrease, self.criterion.total_weight - first.weight_in,
                self.criterion.total_curvature - first.curvature_in, (_negated(first.rule[0], has_missing),),
            )  # fmt: skip
            chains += [Chain(first, kept), Chain(opposite, left)]
        growing = chains
        while growing:
            cuts = [(chain, cut) for chain in growing if (cut := self._continued(chain)) is not None]
            sides = self._splits([cut for _, cut in cuts])
            for (chain, _), (kept, _) in zip(cuts, sides, strict=True):
                chain.sums = kept
            growing = [chain for chain, _ in cuts]
        return [
            [chain.grown for chain in chains[place : place + 2] if len(chain.grown.rule) > 1]
            for place in range(0, len(chains), 2)
        ]

    def _continued(self, chain: Chain) -> Cut | None:
        """Add the best literal where it gains; the cut whose sums are wanted before the next one, None when the chain ends."""
        found = self._extensions(chain.grown.rule, chain.sums, oriented=True)
        if not found:
            return None
        best = max(found, key=lambda candidate: candidate.decrease)  # the first of equals: the lowest column
        if not best.decrease > chain.grown.decrease * IMPROVEMENT:
            return None
        parent, chain.grown = chain.grown.rule, best
        return Cut(parent, None, chain.sums, best.rule[-1]) if len(best.rule) < self.options.max_literals else None

    def _extensions(self, rule: Rule, sums: IntArray, oriented: bool) -> list[Extended]:
        """The rule with the best literal of each further column."""
        c = self.criterion
        found = kernels.best_literals(
            self.layout, sums, c.two_values, c.l2, c.weight_unit, c.curvature_unit, c.total_weight, c.total_curvature,
            oriented, [literal.column for literal in rule], self.request.share,
        )  # fmt: skip
        return [Extended(d, weight, curvature, (*rule, literal_of(literal, self.binning)))
                for d, weight, curvature, literal in found]  # fmt: skip

    def _splits(self, cuts: list[Cut]) -> list[tuple[IntArray, IntArray]]:
        """Sums of parent and literal, and of parent and not literal, for each cut; only the sides with fewer rows are visited."""
        ask = getattr(self.rows, "splits", None)
        if ask is None or not cuts:
            return [self._split(cut) for cut in cuts]
        kept = ask(
            tuple((cut.parent, cut.literal) for cut in cuts), self.request
        )  # rows elsewhere: one question for all
        return [(sums, cut.sums - sums) for cut, sums in zip(cuts, kept, strict=True)]

    def _split(self, cut: Cut) -> tuple[IntArray, IntArray]:
        parent_rows = self.rows.count(cut.parent) if cut.n_rows is None else cut.n_rows
        if 2 * self.rows.count((*cut.parent, cut.literal)) <= parent_rows:
            kept = self.rows.histogram((*cut.parent, cut.literal), self.request)
            return kept, cut.sums - kept
        left = self.rows.histogram((*cut.parent, cut.literal.negated()), self.request)
        return cut.sums - left, left

    def _grown(self, best: Extended) -> GrownRule:
        c = self.criterion
        return GrownRule(
            best.rule, best.decrease, float(best.weight_in) * c.weight_unit, float(c.total_weight) * c.weight_unit,
            float(best.curvature_in) * c.curvature_unit, float(c.total_curvature) * c.curvature_unit,
        )  # fmt: skip


def _better(best: Extended | None, other: Extended) -> Extended:
    return other if best is None or other.decrease > best.decrease * IMPROVEMENT else best


def _negated(literal: Literal, has_missing: bool) -> Literal:
    """The opposite literal; where no value was missing in training, a missing one passes neither."""
    return replace(literal.negated(), missing=has_missing and not literal.missing)


def single_literals(column: int, layout: AnyArray, binning: Binning, without: Collection[Rule]) -> list[Literal]:
    """Every literal of a column, one of each pair of a literal and its negation; those that are rules of `without` left out.

    `layout` is that of all columns (bins/layout.py).
    """
    categorical, n_bins, has_missing = (int(number) for number in layout[column])
    sides = (False, True) if has_missing else (False,)
    if categorical:
        found = [Literal(column, "in", codes=(code,), missing=False) for code in (*range(n_bins), OTHER)]
    else:
        ends = binning.columns[column].thresholds
        found = [Literal(column, "<=", float(ends[k]), (k,), side) for k in range(n_bins - 1) for side in sides]
    found += [Literal(column, "missing", missing=True)] if has_missing else []
    held = np.isin(np.arange(256), (*range(n_bins), *((OTHER,) if categorical else ()), *((MISSING,) * has_missing)))
    known = {rule[0].membership()[held].tobytes() for rule in without if len(rule) == 1 and rule[0].column == column}
    known |= {(~np.frombuffer(members, dtype=bool)).tobytes() for members in known}
    return [literal for literal in found if literal.membership()[held].tobytes() not in known]


def literal_sums(literals: Sequence[Literal], sums: IntArray) -> IntArray:
    """The sum over the rows that each literal covers, from the sums by code of their column."""
    return np.array([sums[literal.membership()].sum(axis=-1) for literal in literals], dtype=np.int64)
