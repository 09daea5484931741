"""Rows of a block on disk under a fit: between questions only the state of each margin stays in memory, 8 bytes a row.

Codes, labels and weights are read when a question comes and dropped after the answer; the weights of a round follow from the
states. The kernels are those of rows in memory, so nothing shows in a model.
"""

from collections.abc import Callable

import numpy as np

from permissible.bins.literal import Rule
from permissible.learners.uls.compiled import Examples
from permissible.learners.uls.loss_rows import CompiledRows
from permissible.learners.uls.rows import Facts, Grids, HistogramRequest, Patterns, Standing, Terms
from permissible.losses.entropy import Functor
from permissible.types import IntArray


class StreamedRows:
    """Answers as `CompiledRows`, which it builds anew for every question."""

    def __init__(
        self, read: Callable[[], Examples], n_rows: int, loss: Functor, two_sums: bool, n_threads: int = 1
    ) -> None:
        self._read, self._loss, self._two_sums, self._n_threads = read, loss, two_sums, n_threads
        self.state = np.zeros(n_rows)
        self._grids = Grids(1.0, 1.0)

    def _rows(self) -> CompiledRows:
        return CompiledRows(self._read(), self._loss, self._two_sums, self._n_threads, self.state)

    def facts(self) -> Facts:
        """Rows, total sample weight, largest real sample weight."""
        return self._rows().facts()

    def reset(self, terms: Terms, grids: Grids) -> Standing:
        """Set every margin to that of a model."""
        self._grids = grids
        return self._rows().reset(terms, grids)

    def count(self, rule: Rule) -> int:
        """How many rows the rule covers."""
        return self._rows().count(rule)

    def histogram(self, rule: Rule, request: HistogramRequest) -> IntArray:
        """Quantised signed weights (and curvatures) of the covered rows, summed by column and code."""
        rows = self._rows()
        rows.apply((), 0.0, 0.0, self._grids)  # a step of nothing leaves the weights that the states call for
        return rows.histogram(rule, request)

    def measure(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> IntArray:
        """Sums of derivatives at a trial step."""
        return self._rows().measure(rule, value_in, value_out, grids)

    def apply(self, rule: Rule, value_in: float, value_out: float, grids: Grids) -> Standing:
        """Take a step."""
        self._grids = grids
        return self._rows().apply(rule, value_in, value_out, grids)

    def patterns(self, rules: tuple[Rule, ...], grid: float) -> Patterns:
        """The combinations of covering rules that occur, with the weight of each class."""
        return self._rows().patterns(rules, grid)
