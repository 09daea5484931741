"""Which rules violate the dual of a round: their edges |sum_i c_i t_i y_i h(x_i)| exceed alpha.

The search is that of ULS (`learners/uls/search.py`) with the dual point for weights, one value per rule. Over rules of one test
(x <= t with missing values on either side, x = category, x is missing) it looks at every one; longer rules are built
test by test from the best first tests, so that the largest edge found is a lower bound on the largest one.
"""

from collections.abc import Sequence

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.bins.layout import layout_of
from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import HistogramRequest, Histograms
from permissible.learners.uls.search import RuleSearch
from permissible.types import BoolArray, FloatArray, IntArray

CODES = 256
WIDTH = 4
"""First tests, one per column, from which longer rules are built, at least."""


class DualRows:
    """Rows whose weights are a dual point: they answer the one question of a rule search, in exact integers."""

    def __init__(self, binned: BinnedTable, values: FloatArray) -> None:
        self.binned, self.values = binned, values

    def ask(self, question: Histograms) -> IntArray:
        """The sums over the rows that each rule covers, by column and code: (rules, columns, 1, 256)."""
        return np.stack([self._sums(rule) for rule in question.rules])

    def _sums(self, rule: Rule) -> IntArray:
        rows = np.flatnonzero(mask_of(self.binned, rule)) if rule else slice(None)
        values = self.values[rows]
        columns = (self.binned.column_codes(column)[rows] for column in range(self.binned.n_columns))
        sums = [np.bincount(codes, values, CODES) for codes in columns]
        return np.array(sums).astype(np.int64)[:, None, :]


def mask_of(binned: BinnedTable, rule: Rule) -> BoolArray:
    """Which rows a rule covers."""
    return kernels.rule_mask(binned.blocks, binned.n_columns, rule).view(np.bool_)


def largest_edges(
    binned: BinnedTable, max_literals: int, values: FloatArray, unit: float, count: int
) -> list[tuple[float, Rule]]:
    """At most `count` rules of large edge, the largest first; the first has the largest edge of a rule of one test or more.

    `values` are integers, one per row; a sum of them times `unit` is an edge.
    """
    options = ULSOptions(max_literals=max_literals, fit_intercept=False, beam=max(count, WIDTH))
    request = HistogramRequest(1.0, 1.0)
    rows = DualRows(binned, values)
    everything = rows.ask(Histograms(((),), request))[0]
    search = RuleSearch(rows, binned.binning, layout_of(binned.binning).by_column, options, request, 1.0, everything)
    found = search.several(count)
    return [(abs(2.0 * grown.weight_in - grown.weight_all) * unit, grown.rule) for grown in found]


def violated(found: Sequence[tuple[float, Rule]], alpha: float, known: Sequence[Rule]) -> list[Rule]:
    """The rules whose edge exceeds alpha and that are not in the problem."""
    return [rule for edge, rule in found if edge > alpha and rule not in known]
