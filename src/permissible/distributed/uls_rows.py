"""The rows of a ULS fit in parts: how a part builds them, and how the answers of parts merge (learners/uls/rows.py).

A session holds the rows of one label against the rest, all of them or those kept or held out. Which rows are held out follows
from their content hash and one bound per class, so every holder finds the same ones without talking.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.bins.literal import Literal as BinLiteral
from permissible.bins.literal import Rule
from permissible.distributed.asked import Asked
from permissible.distributed.protocol.remote import RemoteSource
from permissible.distributed.streamed import StreamedRows
from permissible.kernels._core import sums
from permissible.learners.mcboost.standardise import Spread, mean_sums, spread_of
from permissible.learners.uls.compiled import Examples, whole
from permissible.learners.uls.loss_rows import CompiledRows, PythonRows
from permissible.learners.uls.rows import (
    Facts,
    Grids,
    HistogramRequest,
    Patterns,
    Rows,
    Standing,
    Terms,
    merged_sums,
)
from permissible.losses import Loss
from permissible.losses.surrogate import compiled
from permissible.models.kinds.attributes import Attribute
from permissible.rows.part import Part, table_of
from permissible.rows.source import Source
from permissible.table.table import Table
from permissible.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows: all, or those kept or held out; a row is held out when its hash is at most its class's bound."""

    which: Literal["all", "kept", "held"] = "all"
    bounds: tuple[int, int] = (-1, -1)

    def mask(self, hashes: Any, positive: BoolArray) -> BoolArray | None:
        """The rows, or None for all."""
        if self.which == "all":
            return None
        held = np.zeros(len(hashes), dtype=bool)
        for label, bound in enumerate(self.bounds):
            if bound >= 0:
                held |= (positive == bool(label)) & (hashes <= np.uint64(bound))
        return held if self.which == "held" else ~held


@dataclass(frozen=True, slots=True)
class ULSSettings:
    """What a part must know to build its rows: which label is positive, the loss, the kind of weights, the rows chosen."""

    label: int
    loss: Loss
    two_sums: bool
    copies: bool
    selection: Selection
    first_rows: Mapping[int, int]
    n_threads: int = 1


class WeightFacts(NamedTuple):
    """What parts say of their weights: rows, an exact sum as several floats, the largest, and whether all are whole."""

    n_rows: int
    partials: tuple[float, ...]
    largest: float
    whole: bool


def exact_partials(weight: FloatArray | None, n_rows: int) -> tuple[float, ...]:
    """Floats whose exact sum is the exact sum of the weights (to 150 bits), so that parts can be rounded once, together."""
    if weight is None:
        return (float(n_rows),)
    values = weight.tolist()
    partials: list[float] = []
    for _ in range(3):
        partials.append(math.fsum([*values, *(-p for p in partials)]))
    return tuple(partials)


def examples_of(part: Part, settings: ULSSettings) -> Examples:
    """The chosen rows of a part, with their labels."""
    binned, weight = part.binned(), part.weight()
    positive = part.target() == settings.label
    chosen = settings.selection.mask(part.hashes(), positive)
    if chosen is not None:
        blocks = np.ascontiguousarray(binned.blocks[:, chosen])
        binned = BinnedTable(binned.binning, blocks, blocks.shape[1])
        positive, weight = positive[chosen], None if weight is None else weight[chosen]
    return Examples(binned, positive, weight, settings.first_rows.get(part.number, 0), settings.copies)


class ULSKind:
    """Builds and merges the rows of ULS fits."""

    changes = frozenset({"reset", "apply"})

    def build(self, part: Part, settings: ULSSettings) -> Rows:
        """The rows of one part under a fit."""
        examples = examples_of(part, settings)
        n_rows = examples.binned.n_rows
        if n_rows == 0:
            return SplitRows(EmptyRows(examples.binned.n_columns, 2 if settings.two_sums else 1))
        kernel = compiled(settings.loss)
        if kernel is None:
            return SplitRows(PythonRows(examples, settings.loss, settings.two_sums, settings.n_threads))
        if not part.in_memory:
            read = partial(examples_of, part, settings)
            return StreamedRows(read, n_rows, kernel, settings.two_sums, settings.n_threads)
        return SplitRows(CompiledRows(examples, kernel, settings.two_sums, settings.n_threads))

    def merge(self, method: str, answers: Sequence[Any]) -> Any:
        """Add what adds; join what joins."""
        match method:
            case "facts":
                return Facts.merged(answers)
            case "reset" | "apply":
                return Standing.merged(answers)
            case "count":
                return sum(answers)
            case "patterns":
                return Patterns.merged(answers)
            case _:
                return merged_sums(answers)


class SurveyKind:
    """Questions about the parts themselves, before a fit: counts, weights, hashes. Nothing changes."""

    changes: frozenset[str] = frozenset()

    def build(self, part: Part, settings: Any) -> "PartSurvey":
        """The part itself answers."""
        return PartSurvey(part)

    def merge(self, method: str, answers: Sequence[Any]) -> Any:
        """Lists of (part number, answer), joined; the coordinator puts them in order."""
        return [item for answer in answers for item in answer]


class Mask(Protocol):
    """Some of the rows, chosen by their content and class."""

    def mask(self, hashes: Any, target: Any) -> BoolArray:
        """The rows."""
        ...


@dataclass(frozen=True, slots=True)
class PartSurvey:
    """What a part can say before a fit."""

    part: Part

    def rows_of(self, label: int, selection: Selection) -> list[tuple[int, int]]:
        """How many rows a selection has here."""
        part = self.part
        chosen = selection.mask(part.hashes(), part.target() == label)
        n_rows = len(part.target()) if chosen is None else int(chosen.sum())
        return [(self.part.number, n_rows)]

    def classes(self, n_classes: int) -> list[tuple[int, IntArray]]:
        """Rows of each class."""
        return [(self.part.number, np.bincount(self.part.target(), minlength=n_classes))]

    def weights(self, label: int, selection: Selection) -> list[tuple[int, WeightFacts]]:
        """The weights of a selection."""
        part = self.part
        weight = part.weight()
        chosen = selection.mask(part.hashes(), part.target() == label)
        if weight is not None and chosen is not None:
            weight = weight[chosen]
        n_rows = (len(part.target()) if chosen is None else int(chosen.sum())) if weight is None else len(weight)
        largest = 1.0 if weight is None or n_rows == 0 else float(weight.max())
        return [(self.part.number, WeightFacts(n_rows, exact_partials(weight, n_rows), largest, whole(weight)))]

    def share_sizes(self, share: "Mask | None") -> list[tuple[int, tuple[int, IntArray]]]:
        """Number and exact weight of some rows."""
        part = self.part
        weight, target = part.weight(), part.target()
        weight = np.ones(len(target)) if weight is None else weight
        chosen = weight if share is None else weight[share.mask(part.hashes(), target)]
        return [
            (self.part.number, (len(chosen), sums.exact_limbs(np.ascontiguousarray(chosen, dtype=np.float64)[None, :])))
        ]

    def shares(self, fraction: float, n_classes: int) -> list[tuple[int, FloatArray]]:
        """Of each class: its rows, those whose number (hash / 2^64) is below a fraction, and the largest number."""
        target, number = self.part.target(), self.part.hashes().astype(np.float64) / 2.0**64
        largest = np.zeros(n_classes)
        np.maximum.at(largest, target, number)
        counts = np.bincount(target, minlength=n_classes), np.bincount(target[number < fraction], minlength=n_classes)
        return [(self.part.number, np.stack([*counts, largest], axis=1))]

    def lowest(self, bound: int) -> list[tuple[int, Any]]:
        """The different hashes up to a bound."""
        hashes = self.part.hashes()
        return [(self.part.number, np.unique(hashes[hashes <= np.uint64(bound)]))]

    def attribute_means(self, share: "Mask | None") -> list[tuple[int, IntArray]]:
        """Exact sums of the values of each attribute, for its mean."""
        return [(self.part.number, mean_sums(*self._valued(share)))]

    def attribute_spread(
        self, attributes: tuple[Attribute, ...], share: "Mask | None"
    ) -> list[tuple[int, Spread]]:  # fmt: skip
        """How the rows lie around the means."""
        return [(self.part.number, spread_of(attributes, *self._valued(share)))]

    def _valued(self, share: "Mask | None") -> tuple[Table, FloatArray]:
        part = self.part
        weight, target = part.weight(), part.target()
        weight = np.ones(len(target)) if weight is None else weight
        rows = None if share is None else share.mask(part.hashes(), target)
        return table_of(part, rows), weight if rows is None else weight[rows]

    def contents(self) -> list[tuple[int, tuple[Any, Any, Any]]]:
        """Hashes, classes and weights of all rows: asked for only where the rows are few."""
        part = self.part
        return [(self.part.number, (part.hashes(), part.target(), part.weight()))]


class EmptyRows:
    """The rows of a part that has none of the chosen ones: the neutral element of every merge."""

    def __init__(self, n_columns: int, n_sums: int) -> None:
        self._shape = (n_columns, n_sums, 256)

    def facts(self) -> Facts:
        """No rows."""
        return Facts(0, 0.0, 0.0, False)

    def reset(self, terms: Terms, grids: Grids) -> Standing:
        """Nothing to set."""
        return Standing(np.zeros((6, 2), dtype=np.int64), math.inf, -math.inf)

    def count(self, rule: Rule) -> int:
        """No row is covered."""
        return 0

    def histogram(self, rule: Rule, request: HistogramRequest) -> IntArray:
        """Zeros."""
        return np.zeros(self._shape, dtype=np.int64)

    def measure(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> IntArray:
        """Zeros."""
        return np.zeros((6, 2), dtype=np.int64)

    def apply(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> Standing:
        """Nothing to move."""
        return self.reset(Terms(), grids)

    def patterns(self, rules: tuple[Rule, ...], grid: float) -> Patterns:
        """No pattern occurs."""
        return Patterns(np.zeros((0, len(rules)), dtype=np.uint8), np.zeros((0, 2), dtype=np.int64))


class SplitRows:
    """Rows that remember the histograms of a round, so that each cut needs one question: the lighter side here is visited."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.known: dict[Rule, IntArray] = {}
        self.facts, self.count, self.measure, self.patterns = rows.facts, rows.count, rows.measure, rows.patterns

    def reset(self, terms: Terms, grids: Grids) -> Standing:
        """Set every margin to that of a model."""
        self.known.clear()
        return self.rows.reset(terms, grids)

    def apply(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> Standing:
        """Take a step."""
        self.known.clear()
        return self.rows.apply(rule, value_in, value_out, grids)

    def histogram(self, rule: Rule, request: HistogramRequest) -> IntArray:
        """Quantised weights by column and code."""
        sums = self.rows.histogram(rule, request)
        if not rule:
            self.known = {rule: sums}
        return sums

    def splits(self, cuts: tuple[tuple[Rule, BinLiteral], ...], request: HistogramRequest) -> IntArray:
        """The sums of each rule and its further literal."""
        return np.stack([self._kept(parent, literal, request) for parent, literal in cuts])

    def weights_in(self, rules: tuple[Rule, ...], request: HistogramRequest) -> IntArray:
        """The sum of quantised weights over the rows of each rule."""
        return np.array([int(self.rows.histogram(rule, request)[0, 0].sum()) for rule in rules], dtype=np.int64)

    def _kept(self, parent: Rule, literal: BinLiteral, request: HistogramRequest) -> IntArray:
        rule, whole = (*parent, literal), self.known.get(parent)
        if whole is None:  # this part was made anew in mid-round
            return self.rows.histogram(rule, request)
        if 2 * self.rows.count(rule) <= self.rows.count(parent):
            self.known[rule] = self.rows.histogram(rule, request)
        else:
            self.known[rule] = whole - self.rows.histogram((*parent, literal.negated()), request)
        return self.known[rule]


class MergedRows:
    """All parts as the one `Rows` that the learner asks; where a question is a message, cuts are asked for together."""

    def __init__(self, source: Source, settings: ULSSettings, facts: Facts) -> None:
        self._remote, self._facts = Asked(source, "uls", settings), facts
        together = isinstance(source, RemoteSource)
        self.splits = self._splits if together else None
        self.weights_in = self._weights_in if together else None

    def facts(self) -> Facts:
        """The facts of all parts, their weights summed exactly."""
        return self._facts

    def reset(self, terms: Terms, grids: Grids) -> Standing:
        """Set every margin to that of a model."""
        answer: Standing = self._remote.ask("reset", terms, grids)
        return answer

    def count(self, rule: Rule) -> int:
        """How many rows the rule covers."""
        return int(self._remote.ask("count", rule))

    def histogram(self, rule: Rule, request: HistogramRequest) -> IntArray:
        """Quantised weights by column and code."""
        answer: IntArray = self._remote.ask("histogram", rule, request)
        return answer

    def measure(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> IntArray:
        """Derivatives at a trial step."""
        answer: IntArray = self._remote.ask("measure", rule, value_in, value_out, grids)
        return answer

    def apply(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> Standing:
        """Take a step."""
        answer: Standing = self._remote.ask("apply", rule, value_in, value_out, grids)
        return answer

    def _splits(self, cuts: tuple[tuple[Rule, BinLiteral], ...], request: HistogramRequest) -> IntArray:
        """The sums of each rule and its further literal."""
        answer: IntArray = self._remote.ask("splits", cuts, request)
        return answer

    def _weights_in(self, rules: tuple[Rule, ...], request: HistogramRequest) -> IntArray:
        """The sum of quantised weights over the rows of each rule."""
        answer: IntArray = self._remote.ask("weights_in", rules, request)
        return answer

    def patterns(self, rules: tuple[Rule, ...], grid: float) -> Patterns:
        """The combinations of covering rules."""
        answer: Patterns = self._remote.ask("patterns", rules, grid)
        return answer

    def close(self) -> None:
        """Let the holders forget these rows."""
        self._remote.close()
