"""Growing a rule to be read: greedy monomials over distinct columns (mathematics.md section 5), from histograms of the rows.

The criterion is the second-order decrease of the surrogate for the values that the rule will really take. With two values
(the constant is refitted with the rule) D = (G_in^2 / (K_in + l2) + G_out^2 / (K_out + l2)) / 2; with one value d inside
and -d outside D = (G_in - G_out)^2 / (2 (K + 2 l2)), that is the edge; G sums y w and K curvatures on a side. Where a side has
no curvature and l2 is 0, |G| stands for G^2 / K, so that the larger edge wins. A literal and its negation tie as first literals and continue differently, so both are completed; only the side with fewer rows is summed.
The compiled twin is cpp/boosting/grow.cpp.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.literal import MISSING, OTHER, Literal, Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls_options import ULSOptions
from permissible.learners.uls_rows import HistogramRequest, Rows
from permissible.learners.uls_trace import literal_of
from permissible.types import AnyArray, FloatArray, IntArray

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
        return None if best is None else self._grown(best)

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


def literal_sums(sums: IntArray, layout: AnyArray, without: Collection[Literal]) -> FloatArray:
    """The sum over the rows that each literal of a column covers, from its sums by code; some literals are left out.

    A literal and its negation count once, and are left out together. `layout` is one row of uls_fast.layout_of.
    """
    categorical, n_bins, has_missing = (int(number) for number in layout)
    codes = np.arange(256)
    held = (codes < n_bins) | ((codes == OTHER) & bool(categorical)) | ((codes == MISSING) & bool(has_missing))
    present = codes[:MISSING][held[:MISSING]]
    starts = codes[None] == present[:, None] if categorical else codes[None] <= present[:-1, None]
    if has_missing:
        with_missing = starts | (codes == MISSING)[None] if not categorical else starts[:0]
        starts = np.concatenate((starts, with_missing, (codes == MISSING)[None]))
    known = [np.asarray(literal.membership(), dtype=bool)[held] for literal in without]
    kept = [not any(np.array_equal(row, m) or np.array_equal(row, ~m) for m in known) for row in starts[:, held]]
    return np.asarray(starts[kept] @ sums, dtype=np.float64)
