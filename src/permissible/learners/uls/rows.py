"""The questions of a fit of rules, their answers, and the rows that answer them.

Every answer is a sum of integers over rows (or an extreme), so the answers of parts *add*, in any order, to the answer
of the whole table. The rows change by `Reset` and `Apply` only. Questions contain only rules and numbers, so their
pickles are small; parts keep codes, labels, sample weights and margins. A part that is lost is rebuilt from its data.

| question | answer |
|---|---|
| `Reset(terms, grids)` | `StepSums` after the margins are set to those of a model |
| `Apply(rule, value_in, value_out, grids)` | `StepSums` after the step |
| `ChangeAndLook(step, request)` | both: `StepSums` after one of these, and the histogram of all rows for the next search |
| `Measure(rule, trials, grids)` | exact sums (trials, 6, 2) of derivatives at trial steps |
| `Histograms(rules, request)` | int64 (rules, columns, sums, 256) over the rows that each rule covers |
| `SignedWeights(rules, grid)` | int64 (rules): y w over the rows that each rule covers |
| `PatternsOf(rules, grid)` | `Patterns`: weight per class of each combination of rules |

An exact sum is a pair (high, low) of int64 with value high * 2^32 + low, so pairs add elementwise without carrying.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.rows.source import Question
from permissible.types import AnyArray, BoolArray, Codes, FloatArray, IntArray

Trial: TypeAlias = tuple[float, float]
"""Values that a step might add inside and outside of a rule."""


class Grids(NamedTuple):
    """The powers of two on which terms become integers: of weights, curvatures, losses and sample weights."""

    weight: float
    curvature: float
    value: float = 1.0
    error: float = 1.0


class HistogramRequest(NamedTuple):
    """Grids of a histogram, and which rows it visits.

    A row with weight w and curvature k is taken with probability p = min(1, r / threshold), r^2 = w^2 + k^2 / 10, and counts
    for 1 / p: minimal variance sampling. Whether it is taken depends on a hash of its content and on the seed, so that all
    holders of rows agree and equal rows stay together. A threshold of 0 takes every row.
    """

    weight_grid: float
    curvature_grid: float
    threshold: float = 0.0
    seed: int = 0


class Terms(NamedTuple):
    """A model of rules: score = constant + sum of coefficient * h."""

    constant: float = 0.0
    rules: tuple[Rule, ...] = ()
    coefficients: tuple[float, ...] = ()

    @staticmethod
    def of(intercept: float, found: dict[Rule, float], scale: float = 1.0) -> "Terms":
        """The coefficient of each rule, in the unit of rows whose scores are divided by `scale`."""
        return Terms(intercept / scale, tuple(found), tuple(c / scale for c in found.values()))


class StepSums(NamedTuple):
    """The result of a change: six exact sums and the extreme states.

    The sums are of |weight|, curvature, loss and misclassified sample weight over all rows, and of the sample weight of
    the covered rows and of the positives among them.
    """

    sums: IntArray
    low_state: float
    high_state: float


class Patterns(NamedTuple):
    """The distinct combinations of covering rules, sorted, and the weight of negatives and positives of each.

    `bits` is uint8 (patterns, rules), `weight` int64 (patterns, 2) on the grid of sample weights.
    """

    bits: Codes
    weight: IntArray

    @staticmethod
    def merged(parts: Sequence["Patterns"]) -> "Patterns":
        """The patterns of all parts together, sorted, weights of equal ones added."""
        bits = np.concatenate([part.bits for part in parts])
        weight = np.concatenate([part.weight for part in parts])
        if bits.shape[1] == 0:
            return Patterns(bits[:1], weight.sum(axis=0, keepdims=True))
        order = np.lexsort(bits.T[::-1])
        bits, weight = bits[order], weight[order]
        starts = np.flatnonzero(np.append(True, (bits[1:] != bits[:-1]).any(axis=1)))
        return Patterns(np.ascontiguousarray(bits[starts]), np.add.reduceat(weight, starts, axis=0))


def value_of(pair: IntArray, grid: float) -> float:
    """The real value of an exact sum."""
    return float((int(pair[0]) << 32) + int(pair[1])) / grid


class RuleRows(Protocol):
    """Rows that answer: `kernels.Rows` for compiled losses, `LossRows` for any loss. See the table at the top."""

    def reset(self, terms: Terms, grids: Grids) -> tuple[IntArray, float, float]:
        """Set every margin to that of a model; the fields of `StepSums`."""

    def apply(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> tuple[IntArray, float, float]:
        """Add a value to the score of covered rows and one to that of the others; the fields of `StepSums`."""

    def measure(self, rule: Rule, trials: Sequence[Trial], grids: Grids) -> IntArray:
        """Sums of y w, curvature and y * its slope at trial steps: three over covered rows, three over the others."""

    def histograms(self, rules: Sequence[Rule], request: HistogramRequest) -> IntArray:
        """Quantised signed weights (and curvatures) of the rows that each rule covers, by column and code."""

    def signed_weights(self, rules: Sequence[Rule], weight_grid: float) -> IntArray:
        """The sum of quantised signed weights over the rows that each rule covers."""

    def patterns(self, rules: Sequence[Rule], grid: float) -> tuple[Codes, IntArray]:
        """The combinations of covering rules that occur; the fields of `Patterns`."""


class RulePart:
    """The rows of one part during a fit; `build` makes them on an array of the states of their margins.

    The codes of rows on disk are mapped, and so are their hashes where searches draw samples. In memory are their states
    and labels, 9 bytes per row, and the rows themselves where they are `kept`: a mask of one byte per row.
    """

    def __init__(self, build: Callable[[FloatArray], RuleRows], n_rows: int, kept: bool) -> None:
        self._build, self._state = build, np.zeros(n_rows)
        self._kept = build(self._state) if kept else None

    @property
    def now(self) -> RuleRows:
        """The rows, with their margins as they are now."""
        return self._build(self._state) if self._kept is None else self._kept

    @property
    def compiled(self) -> kernels.Rows | None:
        """The rows in memory of a compiled loss."""
        return self._kept if isinstance(self._kept, kernels.Rows) else None


class Change(Question[RulePart, StepSums]):
    """A change of the margins."""

    changes: ClassVar[bool] = True

    def merge(self, answers: Sequence[StepSums]) -> StepSums:
        """Sums add; the states are merged to their extremes."""
        sums = sum((answer.sums for answer in answers[1:]), answers[0].sums)
        low, high = min(answer.low_state for answer in answers), max(answer.high_state for answer in answers)
        return StepSums(sums, low, high)


@dataclass(frozen=True, slots=True)
class Reset(Change):
    """Set every margin to that of a model."""

    terms: Terms
    grids: Grids

    def answer(self, rows: RulePart) -> StepSums:
        """The sums of one part."""
        return StepSums(*rows.now.reset(self.terms, self.grids))


@dataclass(frozen=True, slots=True)
class Apply(Change):
    """Apply a step along a rule."""

    rule: Rule
    value_in: float
    value_out: float
    grids: Grids

    def answer(self, rows: RulePart) -> StepSums:
        """The sums of one part."""
        return StepSums(*rows.now.apply(self.rule, self.value_in, self.value_out, self.grids))


class Ahead(NamedTuple):
    """The sums after a step, and the histogram of all rows under the new weights."""

    step: StepSums
    histogram: IntArray


@dataclass(frozen=True, slots=True)
class ChangeAndLook(Question[RulePart, Ahead]):
    """Change the margins, and answer with the histogram that the next round begins with: one visit of the rows less."""

    step: Change
    request: HistogramRequest
    changes: ClassVar[bool] = True

    def answer(self, rows: RulePart) -> Ahead:
        """The sums and the histogram of one part."""
        return Ahead(self.step.answer(rows), rows.now.histograms(((),), self.request))

    def merge(self, answers: Sequence[Ahead]) -> Ahead:
        """Both merge on their own."""
        steps, histograms = zip(*answers, strict=True)
        return Ahead(self.step.merge(steps), sum(histograms[1:], histograms[0]))


@dataclass(frozen=True, slots=True)
class Measure(Question[RulePart, IntArray]):
    """Sums of derivatives at trial steps."""

    rule: Rule
    trials: tuple[Trial, ...]
    grids: Grids

    def answer(self, rows: RulePart) -> IntArray:
        """The sums of one part."""
        return rows.now.measure(self.rule, self.trials, self.grids)


@dataclass(frozen=True, slots=True)
class Histograms(Question[RulePart, IntArray]):
    """The histograms of several rules."""

    rules: tuple[Rule, ...]
    request: HistogramRequest

    def answer(self, rows: RulePart) -> IntArray:
        """The answer of one part."""
        return rows.now.histograms(self.rules, self.request)


@dataclass(frozen=True, slots=True)
class SignedWeights(Question[RulePart, IntArray]):
    """Sums of y w over the rows of several rules."""

    rules: tuple[Rule, ...]
    weight_grid: float

    def answer(self, rows: RulePart) -> IntArray:
        """The answer of one part."""
        return rows.now.signed_weights(self.rules, self.weight_grid)

    def slopes(self, answer: IntArray) -> list[float]:
        """The sum of y h w of each +-1 rule after the first one, which covers every row."""
        total, *inside = answer.tolist()
        return [float(2 * weight - total) / self.weight_grid for weight in inside]


@dataclass(frozen=True, slots=True)
class PatternsOf(Question[RulePart, Patterns]):
    """The combinations of covering rules, with the weight of each class."""

    rules: tuple[Rule, ...]
    grid: float

    def answer(self, rows: RulePart) -> Patterns:
        """The answer of one part."""
        return Patterns(*rows.now.patterns(self.rules, self.grid))

    def merge(self, answers: Sequence[Patterns]) -> Patterns:
        """Weights of equal patterns add."""
        return Patterns.merged(answers)


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Binned rows with a label each: `positive`, and a sample weight (None: 1 each).

    In a part of a larger table `integers` says whether all weights of the table are integers, which count as duplicated
    rows. `hashes` of the codes of each row are for searches on samples, whose rows may be kept for the next question.
    """

    binned: BinnedTable
    positive: BoolArray
    weight: FloatArray | None = None
    integers: bool | None = None
    hashes: AnyArray | None = None
    keeps: bool = False

    @property
    def integer_weights(self) -> bool:
        """Whether sample weights count as duplicated rows."""
        if self.integers is not None or self.weight is None:
            return bool(self.integers)
        return bool((self.weight <= kernels.MULTIPLICITY_LIMIT).all() and (self.weight == np.rint(self.weight)).all())

    @property
    def total(self) -> float:
        """The sum of the sample weights."""
        return float(len(self.positive)) if self.weight is None else math.fsum(self.weight)

    def take(self, chosen: AnyArray) -> "Examples":
        """The chosen rows (positions or a mask)."""
        blocks = np.ascontiguousarray(self.binned.blocks[:, chosen])
        weight = None if self.weight is None else self.weight[chosen]
        return Examples(BinnedTable(self.binned.binning, blocks, blocks.shape[1]), self.positive[chosen], weight)

    def covers(self, rule: Rule) -> BoolArray:
        """Which rows a rule covers."""
        return kernels.rule_mask(self.binned.blocks, self.binned.n_columns, rule).view(np.bool_)

    def score(self, intercept: float, terms: dict[Rule, float]) -> FloatArray:
        """The score of each row under a model of rules."""
        score = np.full(len(self.positive), intercept)
        for rule, coefficient in terms.items():
            score += np.where(self.covers(rule), coefficient, -coefficient)
        return score
