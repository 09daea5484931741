"""Readable rule search: greedy monomials (mathematics.md section 5), from histograms.

The criterion is the second-order decrease of the surrogate for the values that the rule will take. With two values (the
constant is refitted with the rule) D = (G_in^2 / (K_in + l2) + G_out^2 / (K_out + l2)) / 2; with one value d inside and
-d outside D = (G_in - G_out)^2 / (2 (K + 2 l2)), that is the edge; G sums y w and K curvatures on a side. Where a side
has no curvature and l2 is 0, |G| replaces G^2 / K, so that the larger edge wins. With `noise` literals are compared by
D drawn anew within its error (cpp/rules/search/draws.hpp). A literal and its negation tie as first literals but continue
differently, so both are continued. Only one side of a literal is summed, the one of less curvature if known; the other
is the difference. The compiled twin is cpp/rules/search/grow.cpp.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.literal import MISSING, OTHER, Literal, Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.constraints.rules import ConstrainedScan
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import HistogramRequest, Histograms
from permissible.learners.uls.trace import literal_of
from permissible.models.kinds.tree_rules import simplified
from permissible.types import AnyArray, IntArray

BEAM_BYTES = 1 << 26
"""Histograms of one question, at most; a table of 1,000 columns has 4 MiB per rule."""
FEW_ROWS = 4096
"""So few rows take less memory than their histogram: summing again costs no more than a difference of histograms."""
IMPROVEMENT = 1.0 + 1e-9
"""A literal is added only if it gains more than this factor; less is rounding."""


class Extended(NamedTuple):
    """A rule, its decrease, the sums over the rows that it covers, in units, and what its last literal is compared by."""

    decrease: float
    weight_in: int
    curvature_in: int
    rule: Rule
    score: float = 0.0


Offer: TypeAlias = Extended | kernels.Candidate


@dataclass(frozen=True, slots=True)
class GrownRule:
    """A rule, the real sums inside and over all searched rows, from which the leverage starts, and the sum of y h w."""

    rule: Rule
    decrease: float
    weight_in: float
    weight_all: float
    curvature_in: float
    curvature_all: float
    slope: float


class Extension(NamedTuple):
    """A rule extended by a literal: the sums over its rows, and the curvature of those that the literal covers."""

    parent: Rule
    sums: IntArray
    literal: Literal
    curvature_in: int


@dataclass(slots=True)
class Chain:
    """A rule that grows, and the sums over the rows that it covers."""

    grown: Extended
    sums: IntArray


class SearchedRows(Protocol):
    """Rows that a search can ask for sums of their weights."""

    def ask(self, question: Histograms) -> IntArray:
        """The sums of each rule by column and code."""


class RuleSearch:
    """The search of one round; `layout` is that of all columns, `everything` the histogram of all rows.

    Where `n_rows` is small and the histogram is large, one at a time is in memory: sums are asked for when they are needed.
    """

    def __init__(
        self,
        rows: SearchedRows,
        binning: Binning,
        layout: AnyArray,
        options: ULSOptions,
        request: HistogramRequest,
        total_curvature: float,
        everything: IntArray,
        n_rows: int = FEW_ROWS + 1,
    ) -> None:
        self.rows, self.binning, self.layout, self.options, self.request = rows, binning, layout, options, request
        self.all = everything
        self._one_by_one = n_rows <= FEW_ROWS and 2 * everything.nbytes > BEAM_BYTES
        two = options.fit_intercept
        curvature_unit = 1.0 / request.curvature_grid if two else total_curvature
        self.criterion = kernels.Criterion(
            two_values=two,
            l2=options.l2,
            weight_unit=1.0 / request.weight_grid,
            curvature_unit=curvature_unit,
            total_weight=int(self.all[0, 0].sum()),
            total_curvature=int(self.all[0, 1].sum()) if two else 1,
            noise=options.noise,
            seed=request.seed,
        )
        self._constrained = None
        if options.constraints is not None:
            sizes = (self.criterion, options.l2)
            self._constrained = ConstrainedScan(options.constraints, binning, layout, *sizes)

    def best(self, excluded: Collection[Rule] = ()) -> GrownRule | None:
        """The best rule, not excluded, that starts with one of the `beam` best first literals, or None."""
        firsts = self._firsts()
        completed = self._completed(firsts) if self.options.max_literals > 1 else [[] for _ in firsts]
        best: Extended | None = None
        for first, longer in zip(firsts, completed, strict=True):
            for grown in (first, *longer):
                twice = self.options.intervals and len({one.column for one in grown.rule}) < len(grown.rule)
                candidate = grown._replace(rule=simplified(grown.rule)) if twice else grown
                if candidate.rule not in excluded:
                    best = _better(best, candidate)
        if best is None and excluded:  # with l2, rules of the model may be the best of every column
            best = self._remaining(excluded)
        return None if best is None else self._grown(best)

    def _firsts(self) -> list[Extended]:
        """The best literals of `beam` columns; copies of a column have equal sums and count once."""
        found = self._offers((), self.all, oriented=False)
        found.sort(key=attrgetter("score"), reverse=True)  # ties stay in order
        firsts: list[Extended] = []
        before: tuple[int, int] | None = None
        for candidate in found:
            sums = candidate.weight_in, candidate.curvature_in
            if sums != before:
                firsts.append(self._extended((), candidate))
            if len(firsts) == self.options.beam:
                break
            before = sums
        return firsts

    def several(self, count: int) -> list[GrownRule]:
        """The `count` best rules, at most, that start with different first literals, the best first."""
        firsts = self._heaviest(self.options.beam)
        completed = self._completed(firsts) if self.options.max_literals > 1 else [[] for _ in firsts]
        chains = zip(firsts, completed, strict=True)
        best = [max((first, *longer), key=lambda candidate: candidate.decrease) for first, longer in chains]
        return [self._grown(one) for one in sorted(best, key=lambda candidate: -candidate.decrease)[:count]]

    def candidates(self, count: int) -> list[Extended]:
        """The `count` rules of largest decrease, each starting with the best literal of another column."""
        found = self._heaviest(count)
        longer = self._completed(found) if self.options.max_literals > 1 else []
        found += [candidate for chains in longer for candidate in chains]
        return sorted(found, key=lambda found: -found.decrease)[:count]

    def _remaining(self, excluded: Collection[Rule]) -> Extended | None:
        """The best single literal that is not excluded."""
        c, best = self.criterion, Extended(0.0, 0, 0, ())
        for column, sums in enumerate(self.all if len(self.all) else self._sums(())):
            literals = single_literals(column, self.layout, self.binning, excluded)
            weights = literal_sums(literals, sums[0])
            curvatures = literal_sums(literals, sums[1]) if c.two_values else np.zeros_like(weights)
            for literal, weight, curvature in zip(literals, weights.tolist(), curvatures.tolist(), strict=True):
                decrease = c.decrease(weight, curvature)
                if self._constrained is not None and not self._constrained.permits(literal, weight, curvature):
                    continue
                if decrease > best.decrease:
                    best = Extended(decrease, weight, curvature, (literal,))
        return best if best.rule else None

    def _completed(self, firsts: list[Extended]) -> list[list[Extended]]:
        """Each first literal and its negation, extended while they gain; few at once where histograms are large."""
        if self._one_by_one:
            self.all = self.all[:0].copy()
            return [self._completed_alone(first) for first in firsts]
        at_once = max(1, BEAM_BYTES // self.all.nbytes)
        pieces = [self._completed_together(firsts[k : k + at_once]) for k in range(0, len(firsts), at_once)]
        return [longer for piece in pieces for longer in piece]

    def _completed_together(self, firsts: list[Extended]) -> list[list[Extended]]:
        """Some of them; one question serves all."""
        sides = self._splits([Extension((), self.all, first.rule[0], first.curvature_in) for first in firsts])
        chains: list[Chain] = []
        for first, (kept, left) in zip(firsts, sides, strict=True):
            chains += [Chain(first, kept), Chain(self._opposite(first), left)]
        growing = chains
        while growing:
            extensions = [(chain, extension) for chain in growing if (extension := self._continued(chain)) is not None]
            sides = self._splits([extension for _, extension in extensions])
            for (chain, _), (kept, _) in zip(extensions, sides, strict=True):
                chain.sums = kept
            growing = [chain for chain, _ in extensions]
        return [
            [chain.grown for chain in chains[place : place + 2] if len(chain.grown.rule) > 1]
            for place in range(0, len(chains), 2)
        ]

    def _completed_alone(self, first: Extended) -> list[Extended]:
        """One of them, one side after the other, without differences."""
        longer = []
        for grown, literal in ((first, first.rule[0]), (self._opposite(first), first.rule[0].negated())):
            chain = Chain(grown, self._sums((literal,)))
            while (extension := self._continued(chain)) is not None:
                chain.sums = self._sums((*extension.parent, extension.literal))
            longer += [chain.grown] if len(chain.grown.rule) > 1 else []
            del chain
        return longer

    def _opposite(self, first: Extended) -> Extended:
        """The negation of a first literal."""
        has_missing = self.binning.columns[first.rule[0].column].has_missing
        weight = self.criterion.total_weight - first.weight_in
        curvature = self.criterion.total_curvature - first.curvature_in
        return Extended(first.decrease, weight, curvature, (negated(first.rule[0], has_missing),))

    def _sums(self, rule: Rule) -> IntArray:
        """The sums over the rows that a rule covers."""
        found: IntArray = self.rows.ask(Histograms((rule,), self.request))[0]
        return found

    def _continued(self, chain: Chain) -> Extension | None:
        """Add the best literal if it gains; returns the extension whose sums are needed next, None at the end."""
        found = self._offers(chain.grown.rule, chain.sums, oriented=True)
        if not found:
            return None
        literal = max(found, key=attrgetter("score"))  # the first of ties: the lowest column
        if not literal.decrease > chain.grown.decrease * IMPROVEMENT:
            return None
        best = self._extended(chain.grown.rule, literal)
        parent, chain.grown = chain.grown.rule, best
        if len(best.rule) == self.options.max_literals:
            return None
        return Extension(parent, chain.sums, best.rule[-1], best.curvature_in)

    def _heaviest(self, count: int) -> list[Extended]:
        """The `count` best literals of different columns, the best first."""
        offers = sorted(self._offers((), self.all, oriented=False), key=lambda offer: -offer.decrease)
        return [self._extended((), offer) for offer in offers[:count]]

    def _offers(self, rule: Rule, sums: IntArray, oriented: bool) -> list[Offer]:
        """The best literal of each further column; an ordered one may get its other bound."""
        own = self.criterion.after(self.layout, rule) if self.criterion.noise > 0 else self.criterion
        if self._constrained is not None:
            return [Extended(*found) for found in self._constrained.best(rule, sums, own)]
        used = [literal.column for literal in rule if not self.options.intervals or self.layout[literal.column, 0]]
        return [*kernels.best_literals(self.layout, sums, own, oriented, used)]

    def _extended(self, rule: Rule, offer: Offer) -> Extended:
        """The rule with an offered literal."""
        if isinstance(offer, Extended):
            return offer
        literal = literal_of(offer, self.binning)
        return Extended(offer.decrease, offer.weight_in, offer.curvature_in, (*rule, literal))

    def _splits(self, extensions: list[Extension]) -> list[tuple[IntArray, IntArray]]:
        """For each extension the sums over the rows that the literal keeps and over the parent's others."""
        if not extensions:
            return []
        known = self.criterion.two_values
        own = [not known or 2 * extension.curvature_in <= int(extension.sums[0, 1].sum()) for extension in extensions]
        literals = [
            extension.literal if kept else extension.literal.negated()
            for extension, kept in zip(extensions, own, strict=True)
        ]
        rules = tuple((*extension.parent, literal) for extension, literal in zip(extensions, literals, strict=True))
        found = self.rows.ask(Histograms(rules, self.request))
        pairs = [(sums, extension.sums - sums) for extension, sums in zip(extensions, found, strict=True)]
        return [pair if kept else pair[::-1] for pair, kept in zip(pairs, own, strict=True)]

    def _grown(self, best: Extended) -> GrownRule:
        c = self.criterion
        weights = float(best.weight_in) * c.weight_unit, float(c.total_weight) * c.weight_unit
        curvatures = float(best.curvature_in) * c.curvature_unit, float(c.total_curvature) * c.curvature_unit
        return GrownRule(best.rule, best.decrease, *weights, *curvatures, 2.0 * weights[0] - weights[1])


def _better(best: Extended | None, other: Extended) -> Extended:
    return other if best is None or other.decrease > best.decrease * IMPROVEMENT else best


def negated(literal: Literal, has_missing: bool) -> Literal:
    """The opposite literal; if no value was missing in training, a missing value satisfies neither."""
    return replace(literal.negated(), missing=has_missing and not literal.missing)


def single_literals(column: int, layout: AnyArray, binning: Binning, without: Collection[Rule]) -> list[Literal]:
    """Every literal of a column, one of each pair of a literal and its negation, except the rules of `without`.

    `layout` is that of all columns.
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
