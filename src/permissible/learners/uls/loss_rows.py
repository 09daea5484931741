"""Rows in memory: `CompiledRows` for built-in losses, `PythonRows` for any loss (weights computed by it, in NumPy).

Both answer the protocol of uls/rows.py. `CompiledRows` runs the kernels that the compiled loop runs, so a fit by the readable
loop over them is the compiled fit bit for bit.
"""

import math

import numpy as np

from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.compiled import Examples, kernel_rows
from permissible.learners.uls.rows import Facts, Grids, HistogramRequest, Patterns, Standing, Terms, pairs_of
from permissible.losses import Loss
from permissible.losses.entropy import Functor
from permissible.losses.surrogate import natural_value
from permissible.types import AnyArray, BoolArray, FloatArray, IntArray

KernelRule = tuple[AnyArray, AnyArray]


def kernel_rule(rule: Rule) -> KernelRule:
    """A rule as the kernels take it: the column of each literal, and which of the 256 codes it covers."""
    columns = np.array([literal.column for literal in rule], dtype=np.int32)
    members = np.array([literal.membership() for literal in rule], dtype=np.uint8).reshape(len(rule), 256)
    return columns, members


def sample_facts(examples: Examples) -> Facts:
    """What the coordinator must know of the sample weights."""
    weight = examples.weight
    n_rows = len(examples.positive)
    if weight is None:
        return Facts(n_rows, float(n_rows), 1.0, False)
    if examples.whole:
        return Facts(n_rows, float(weight.sum()), 1.0, False)
    return Facts(n_rows, math.fsum(weight), float(weight.max()), True)


def pattern_grid(facts: Facts) -> float:
    """The grid on which real sample weights of a pattern are added in 64 bits; 1 where weights are counts."""
    if not facts.real_weights:
        return 1.0
    return math.ldexp(1.0, min(46, 61 - facts.n_rows.bit_length()) - math.frexp(facts.largest_sample)[1])


class CompiledRows:
    """Rows of a built-in loss: the kernels hold the state. `scale` stretches values (losses.entropy.Functor)."""

    def __init__(
        self, examples: Examples, loss: Functor, two_sums: bool, n_threads: int = 1,
        state: FloatArray | None = None,
    ) -> None:  # fmt: skip
        self._facts = sample_facts(examples)
        self._rows = kernel_rows(examples, loss, two_sums, n_threads, state)

    def facts(self) -> Facts:
        """Rows, total sample weight, largest real sample weight."""
        return self._facts

    def reset(self, terms: Terms, grids: Grids) -> Standing:
        """Set every margin to that of a model."""
        rules = [kernel_rule(rule) for rule in terms.rules]
        return Standing(*self._rows.reset(rules, np.array(terms.coefficients), terms.constant, kernels.Grids(*grids)))

    def count(self, rule: Rule) -> int:
        """How many rows the rule covers."""
        return self._rows.count(*kernel_rule(rule))

    def histogram(self, rule: Rule, request: HistogramRequest) -> IntArray:
        """Quantised signed weights (and curvatures) of the covered rows, summed by column and code."""
        weight_grid, curvature_grid, share, seed = request
        return self._rows.histogram(*kernel_rule(rule), weight_grid, curvature_grid, share, seed)

    def measure(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> IntArray:
        """Sums of derivatives at a trial step."""
        return self._rows.measure(*kernel_rule(rule), value_in, value_out, kernels.Grids(*grids))

    def apply(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> Standing:
        """Take a step."""
        return Standing(*self._rows.apply(*kernel_rule(rule), value_in, value_out, kernels.Grids(*grids)))

    def patterns(self, rules: tuple[Rule, ...], grid: float) -> Patterns:
        """The combinations of covering rules that occur, with the weight of each class."""
        return Patterns(*self._rows.patterns([kernel_rule(rule) for rule in rules], grid))


class PythonRows:
    """Rows of any loss: the state is the margin, and derivatives come from the loss itself."""

    def __init__(self, examples: Examples, loss: Loss, two_sums: bool, n_threads: int = 1) -> None:
        self.examples, self.loss, self.two_sums, self.n_threads = examples, loss, two_sums, n_threads
        self._facts = sample_facts(examples)
        self._sign = np.where(examples.positive, 1.0, -1.0)
        self._real = examples.weight if self._facts.real_weights else None
        self._copies = None if examples.weight is None or self._real is not None else examples.weight.astype(np.int64)
        self._multiplicity = None if self._copies is None else self._copies.astype(np.float32)
        self.margin: FloatArray = np.zeros(len(examples.positive))

    def facts(self) -> Facts:
        """Rows, total sample weight, largest real sample weight."""
        return self._facts

    def mask(self, rule: Rule) -> BoolArray:
        """Which rows the rule covers."""
        binned = self.examples.binned
        return kernels.rule_mask(binned.blocks, binned.n_columns, *kernel_rule(rule)).view(np.bool_)

    def count(self, rule: Rule) -> int:
        """How many rows the rule covers."""
        return int(self.mask(rule).sum())

    def reset(self, terms: Terms, grids: Grids) -> Standing:
        """Set every margin to that of a model."""
        score = np.full(len(self._sign), terms.constant)
        for rule, coefficient in zip(terms.rules, terms.coefficients, strict=True):
            score += np.where(self.mask(rule), coefficient, -coefficient)
        self.margin = self._sign * score
        return self._stand(grids, np.ones(len(score), dtype=bool))

    def apply(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> Standing:
        """Take a step."""
        mask = self.mask(rule)
        self.margin = self.moved(mask, value_in, value_out)
        return self._stand(grids, mask)

    def moved(self, mask: BoolArray, value_in: float, value_out: float) -> FloatArray:
        """The margins after a trial step."""
        return np.asarray(self.margin + self._sign * np.where(mask, value_in, value_out))

    def histogram(self, rule: Rule, request: HistogramRequest) -> IntArray:
        """Quantised signed weights (and curvatures) of the covered rows, summed by column and code."""
        binned, scale = self.examples.binned, 1.0 if self._real is None else self._real
        signed = (self._sign * (scale * np.asarray(self.loss.weight(self.margin)))).astype(np.float32)
        curved = (scale * np.asarray(self.loss.curvature(self.margin))).astype(np.float32) if self.two_sums else None
        mask = self.mask(rule).view(np.uint8) if rule else None
        return kernels.histogram(
            binned.blocks, binned.n_columns, signed, curved, self._multiplicity, mask, *request,
            self.examples.first_row, n_threads=self.n_threads,
        )  # fmt: skip

    def measure(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> IntArray:
        """Sums of derivatives at a trial step; the slope of the curvature is not known and 0."""
        mask = self.mask(rule)
        moved = self.moved(mask, value_in, value_out)
        weight = self._terms(self._sign * np.asarray(self.loss.weight(moved)), grids.weight)
        curvature = self._terms(np.asarray(self.loss.curvature(moved)), grids.curvature)
        sums = [_exact(weight[mask]), _exact(curvature[mask]), 0, _exact(weight[~mask]), _exact(curvature[~mask]), 0]
        return pairs_of(sums)

    def patterns(self, rules: tuple[Rule, ...], grid: float) -> Patterns:
        """The combinations of covering rules that occur, with the weight of each class."""
        n_rows = len(self._sign)
        bits = np.array([self.mask(rule) for rule in rules], dtype=np.uint8).reshape(len(rules), n_rows).T
        each = self._terms(np.ones(n_rows), grid)
        weight = np.zeros((n_rows, 2), dtype=np.int64)
        weight[np.arange(n_rows), self.examples.positive.astype(np.intp)] = each
        return Patterns.merged([Patterns(np.ascontiguousarray(bits), weight)])

    def _terms(self, values: FloatArray, grid: float) -> IntArray:
        """Values as integers on a grid, times the sample weight."""
        if self._real is not None:
            values = self._real * values
        terms = np.rint(values * grid).astype(np.int64)
        return terms if self._copies is None else terms * self._copies

    def _stand(self, grids: Grids, mask: BoolArray) -> Standing:
        loss, margin = self.loss, self.margin
        wrong = (margin < 0) | ((margin == 0) & ~self.examples.positive)  # H = 0 predicts +1
        sums = [
            _exact(self._terms(np.abs(loss.weight(margin)), grids.weight)),
            _exact(self._terms(np.asarray(loss.curvature(margin)), grids.curvature)),
            _exact(self._terms(natural_value(loss, margin), grids.value)),
            *(
                _exact(self._terms(chosen.astype(np.float64), grids.error))
                for chosen in (wrong, mask, mask & self.examples.positive)
            ),
        ]
        return Standing(pairs_of(sums), float(margin.min()), float(margin.max()))


def _exact(terms: IntArray) -> int:
    """The sum of int64 terms without overflow."""
    return (int((terms >> 32).sum()) << 32) + int((terms & 0xFFFFFFFF).sum())
