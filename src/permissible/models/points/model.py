"""A point card: rules with small whole numbers of points, the frozen result of ULS with `points`.

    total(x) = sum of the points of the rules that hold for x          score(x) = offset + unit * total(x)

The total is added up in whole numbers, so rows of the same total have exactly the same score in every export.
The card is also a model of +-1 rules: coefficient_t = unit * points_t / 2, intercept = offset + unit * sum(points) / 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from permissible.bins.literal import Rule
from permissible.losses import Loss
from permissible.models.kinds.rules import RuleModel
from permissible.models.model import Model, binary_margins, counted
from permissible.table.schema import Schema
from permissible.table.table import Table
from permissible.types import Codes, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PointsModel(Model):
    """A binary classifier made of rules with whole-number points."""

    schema: Schema  # the columns of the rules
    loss: Loss  # what turns a score into a probability
    offset: float  # score of a total of 0; a point adds `unit`
    unit: float
    rules: tuple[Rule, ...]
    points: IntArray  # one per rule
    # The bin of each category, for the categorical columns where it is not simply the category's position.
    code_of_category: Mapping[int, Codes] = field(default_factory=dict)
    # Training weight of the negatives and the positives at each total 0, 1, ..., (n_totals, 2).
    cases: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    seen_missing: tuple[int, ...] | None = None  # the columns that had missing values in training; None: all may

    def _size(self) -> str:
        return f"{counted(len(self.rules), 'rule')}, at most {counted(self.most, 'point')}"

    @property
    def coefficients(self) -> FloatArray:
        """The coefficient of each +-1 rule."""
        return 0.5 * self.unit * self.points.astype(np.float64)

    @property
    def intercept(self) -> float:
        """The constant beside the +-1 rules."""
        return float(self.offset + 0.5 * self.unit * int(self.points.sum()))

    @property
    def most(self) -> int:
        """The largest total, were all rules to hold."""
        return int(self.points.sum())

    def totals(self, table: Table, n_threads: int = 1) -> IntArray:
        """The total of each row."""
        halves = 0.5 * self.points.astype(np.float64)  # sums of halves are exact
        counted = RuleModel(self.schema, self.loss, 0.5 * self.most, self.rules, halves, self.code_of_category)
        return counted.scores(table, n_threads).astype(np.int64)

    def scores(self, table: Table, n_threads: int = 1) -> FloatArray:
        """The score of each row; its sign decides (0 counts as positive)."""
        return self.score_of(self.totals(table, n_threads))

    def score_of(self, total: IntArray) -> FloatArray:
        """The score of each total."""
        return np.asarray(self.offset + self.unit * total)

    def margins(self, table: Table, codes: IntArray, n_threads: int = 1) -> FloatArray:
        """2 ginv(y H) - 1 of each row."""
        return binary_margins(self.loss, self.scores(table, n_threads), codes)
