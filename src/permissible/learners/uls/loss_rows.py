"""How a part builds the rows of a fit, and `LossRows`: rows of any loss, whose weights are computed in NumPy.

Rows of compiled losses are `kernels.Rows`. The compiled loop runs the same ones, so a fit by the readable loop over
them is the compiled fit bit for bit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.bins.hashing import code_hashes
from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.rows import (
    Examples,
    Grids,
    HistogramRequest,
    Patterns,
    RulePart,
    RuleRows,
    StepSums,
    Terms,
    Trial,
)
from permissible.losses import Loss
from permissible.losses.entropy import Functor
from permissible.losses.surrogate import compiled, natural_value
from permissible.rows.keys import column_numbers
from permissible.rows.part import Part
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.source import OpenRows, Source
from permissible.rows.totals import TotalsOf
from permissible.types import BoolArray, FloatArray, IntArray

DRAWN_BYTES = 12
"""What a row that a search draws takes in its table, beside its codes: its place, weight and curvature."""


class RowSizes(NamedTuple):
    """What a fit must know about its rows before the first round; `largest_weight` is 1 if weights are integers."""

    n_rows: int
    total_weight: float
    largest_weight: float
    real_weights: bool

    @property
    def units(self) -> float:
        """The number of rows, or the sum of integer weights: the capacity that histogram sums need."""
        return float(self.n_rows) if self.real_weights else self.total_weight

    @property
    def pattern_grid(self) -> float:
        """The grid on which real weights of a pattern are added in 64 bits; 1 where weights are counts."""
        if not self.real_weights:
            return 1.0
        return math.ldexp(1.0, min(46, 61 - self.n_rows.bit_length()) - math.frexp(self.largest_weight)[1])


@dataclass(frozen=True, slots=True)
class ExamplesOpening:
    """Builds the selected rows of a part, with label `label` as the positive class."""

    label: int
    selection: Selection = ALL_ROWS
    integers: bool | None = None

    def build(self, part: Part) -> Examples | None:
        """The examples; None where no row is selected."""
        target = part.target()
        chosen = self.selection.rows(part)
        if not (len(target) if chosen is None else chosen.any()):
            return None
        binned, positive, weight = part.binned(), target == self.label, part.weight()
        if chosen is not None:
            blocks = part.take(self.selection, chosen)
            binned, positive = BinnedTable(binned.binning, blocks, blocks.shape[1]), positive[chosen]
            weight = None if weight is None else weight[chosen]
        weight = None if weight is None else part.put_aside(weight)
        return Examples(binned, positive, weight, self.integers)


@dataclass(frozen=True, slots=True)
class RuleOpening:
    """Builds the rows of a fit.

    `two_sums` asks for curvatures in the histograms too; `drawn_by` are the numbers of the columns by which samples are drawn.
    """

    examples: ExamplesOpening
    loss: Loss
    two_sums: bool
    n_threads: int = 1
    drawn_by: tuple[int, ...] | None = None

    def build(self, part: Part) -> RulePart | None:
        """The rows of one part; None where no row is selected."""
        examples = self.examples.build(part)
        if examples is None:
            return None
        # Weights of their own and other losses take more memory: on disk their rows are built for each question.
        light = examples.weight is None and compiled(self.loss) is not None
        if self.drawn_by is not None:
            hashes = part.put_aside(code_hashes(examples.binned, self.drawn_by, self.n_threads))
            row_bytes = DRAWN_BYTES + 8 * len(examples.binned.blocks)  # charged twice, though few of the rows are drawn
            examples = replace(examples, hashes=hashes, keeps=part.keeps(2 * row_bytes))
        return RulePart(partial(self._rows, examples), len(examples.positive), part.in_memory or light)

    def _rows(self, examples: Examples, state: FloatArray) -> RuleRows:
        kernel = compiled(self.loss)
        if kernel is None:
            return LossRows(examples, self.loss, self.two_sums, self.n_threads, state)
        return kernel_rows(examples, kernel, self.two_sums, self.n_threads, state)


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The rows of a fit, and their sizes."""

    rows: OpenRows[RulePart]
    sizes: RowSizes


def open_rows(
    source: Source,
    label: int,
    loss: Loss,
    two_sums: bool,
    *,
    selection: Selection = ALL_ROWS,
    n_threads: int = 1,
    sampled: bool = False,
) -> Opened:
    """Open the selected rows of every part."""
    totals = source.survey(TotalsOf(selection))
    integers = source.weighted and totals.integers and totals.largest <= kernels.MULTIPLICITY_LIMIT
    real = source.weighted and not integers
    sizes = RowSizes(totals.n_rows, totals.weight, totals.largest if real else 1.0, real)
    examples = ExamplesOpening(label, selection, integers)
    drawn_by = column_numbers(source) if sampled else None
    return Opened(source.open(RuleOpening(examples, loss, two_sums, n_threads, drawn_by)), sizes)


def examples_in_memory(source: Source, label: int, selection: Selection) -> Examples:
    """The selected rows in one place, where they lie in memory: flavours are refused for rows on disk or on workers."""
    examples = source.open(ExamplesOpening(label, selection)).only
    assert examples is not None
    return examples


def kernel_rows(
    examples: Examples, loss: Functor, two_sums: bool, n_threads: int = 1, state: FloatArray | None = None
) -> kernels.Rows:
    """The examples as the kernels hold them during a fit; `state`, if given, stores the states of their margins."""
    return kernels.Rows(
        examples.binned.blocks,
        examples.binned.n_columns,
        np.ascontiguousarray(examples.positive).view(np.uint8),
        examples.weight,
        examples.integer_weights,
        loss.name,
        loss.parameter,
        two_sums,
        n_threads,
        examples.hashes,
        state,
        loss.table,
        examples.keeps,
    )


class LossRows:
    """Rows of any loss: the state is the margin, and the loss computes derivatives."""

    def __init__(
        self, examples: Examples, loss: Loss, two_sums: bool, n_threads: int = 1, margin: FloatArray | None = None
    ) -> None:
        self.examples, self.loss, self.two_sums, self.n_threads = examples, loss, two_sums, n_threads
        integers = examples.weight is not None and examples.integer_weights
        self._sign = np.where(examples.positive, 1.0, -1.0)
        self._real = None if integers else examples.weight
        self._copies = examples.weight.astype(np.int64) if integers and examples.weight is not None else None
        self._margin = np.zeros(len(self._sign)) if margin is None else margin

    def reset(self, terms: Terms, grids: Grids) -> StepSums:
        """Set every margin to that of a model."""
        score = self.examples.score(terms.constant, dict(zip(terms.rules, terms.coefficients, strict=True)))
        self._margin[:] = self._sign * score
        return self._sums(grids, np.ones(len(score), dtype=bool))

    def apply(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> StepSums:
        """Apply a step."""
        mask = self.examples.covers(rule)
        self._margin[:] = self._moved(mask, value_in, value_out)
        return self._sums(grids, mask)

    def measure(self, rule: Rule, trials: Sequence[Trial], grids: Grids) -> IntArray:
        """Sums of derivatives at trial steps; the slope of the curvature is unknown and set to 0."""
        mask, found = self.examples.covers(rule), []
        for trial in trials:
            moved = self._moved(mask, *trial)
            weight = self._terms(self._sign * np.asarray(self.loss.weight(moved)), grids.weight)
            bend = self._terms(np.asarray(self.loss.curvature(moved)), grids.curvature)
            sums = [_exact(weight[mask]), _exact(bend[mask]), 0, _exact(weight[~mask]), _exact(bend[~mask]), 0]
            found.append(pairs_of(sums))
        return np.stack(found)

    def histograms(self, rules: Sequence[Rule], request: HistogramRequest) -> IntArray:
        """Quantised signed weights (and curvatures) of the rows that each rule covers, by column and code."""
        return self._histograms(rules, request, self.two_sums)

    def _histograms(self, rules: Sequence[Rule], request: HistogramRequest, two_sums: bool) -> IntArray:
        examples, sample = self.examples, 1.0 if self._real is None else self._real
        signed = (self._sign * (sample * np.asarray(self.loss.weight(self._margin)))).astype(np.float32)
        curved = (sample * np.asarray(self.loss.curvature(self._margin))).astype(np.float32) if two_sums else None
        copies = None if self._copies is None else self._copies.astype(np.float32)
        masks = [examples.covers(rule).view(np.uint8) if rule else None for rule in rules]
        of = partial(kernels.histogram, examples.binned.blocks, examples.binned.n_columns, signed, curved, copies)
        return np.stack([of(mask, *request, examples.hashes, self.n_threads) for mask in masks])

    def signed_weights(self, rules: Sequence[Rule], weight_grid: float) -> IntArray:
        """The sum of quantised signed weights over the rows that each rule covers; the grid is that of weights alone."""
        request = HistogramRequest(weight_grid, 1.0)
        found = (self._histograms((rule,), request, two_sums=False) for rule in rules)
        return np.array([sums[0, 0, 0].sum() for sums in found], dtype=np.int64)

    def patterns(self, rules: Sequence[Rule], grid: float) -> Patterns:
        """The combinations of covering rules that occur, with the weight of each class."""
        n_rows = len(self._sign)
        bits = np.array([self.examples.covers(rule) for rule in rules], dtype=np.uint8).reshape(len(rules), n_rows).T
        weight = np.zeros((n_rows, 2), dtype=np.int64)
        weight[np.arange(n_rows), self.examples.positive.astype(np.intp)] = self._terms(np.ones(n_rows), grid)
        return Patterns.merged([Patterns(np.ascontiguousarray(bits), weight)])

    def _moved(self, mask: BoolArray, value_in: float, value_out: float) -> FloatArray:
        """The margins after a trial step."""
        return np.asarray(self._margin + self._sign * np.where(mask, value_in, value_out))

    def _terms(self, values: FloatArray, grid: float) -> IntArray:
        """Values as integers on a grid, times the sample weight."""
        if self._real is not None:
            values = self._real * values
        terms = np.rint(values * grid).astype(np.int64)
        return terms if self._copies is None else terms * self._copies

    def _sums(self, grids: Grids, mask: BoolArray) -> StepSums:
        loss, margin, positive = self.loss, self._margin, self.examples.positive
        wrong = (margin < 0) | ((margin == 0) & ~positive)  # H = 0 predicts +1
        counted = [np.asarray(rows, dtype=np.float64) for rows in (wrong, mask, mask & positive)]
        terms = [
            self._terms(np.abs(loss.weight(margin)), grids.weight),
            self._terms(np.asarray(loss.curvature(margin)), grids.curvature),
            self._terms(natural_value(loss, margin), grids.value),
            *(self._terms(rows, grids.error) for rows in counted),
        ]
        return StepSums(pairs_of([_exact(term) for term in terms]), float(margin.min()), float(margin.max()))


def pairs_of(totals: Sequence[int]) -> IntArray:
    """Exact sums as pairs."""
    return np.array([(total >> 32, total & 0xFFFFFFFF) for total in totals], dtype=np.int64)


def _exact(terms: IntArray) -> int:
    """The sum of int64 terms without overflow."""
    return (int((terms >> 32).sum()) << 32) + int((terms & 0xFFFFFFFF).sum())
