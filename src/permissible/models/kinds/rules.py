"""A list of rules with a coefficient each: the frozen result of ULS for two classes.

A rule is a monomial (a conjunction of literals); h = +1 on the rows it covers and -1 on the others, so that

    score(x) = intercept + sum_t coefficient_t * h_t(x)          (H of mathematics.md section 4)

and the loss turns a score into a probability, Pr[+1 | x] = ginv(score). The sum is taken in groups of eight rules, each
group first to last and then the groups first to last, whatever kernel computes it: so every path gives the same bits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from permissible.bins.literal import OTHER, Literal, Rule
from permissible.kernels._core import boosting as kernels
from permissible.losses import Loss
from permissible.models.kinds.linear import LinearModel, probabilities_at
from permissible.models.model import Compiled, Model, binary_margins, counted, probability_margins
from permissible.table.schema import Schema
from permissible.table.table import MISSING_CATEGORY, Table
from permissible.types import AnyArray, BoolArray, Codes, FloatArray, IntArray
from permissible.validation import Words, refusal

GROUP = 8
"""Rules whose contributions are added to each other before they are added to the score."""


_KernelLiteral: TypeAlias = tuple[int, int, float, bool, Codes | None]
_TESTS = {"<=": 0, ">": 1, "missing": 2, "present": 3}


@dataclass(frozen=True, eq=False, repr=False)
class RuleModel(Compiled):
    """A binary classifier made of weighted rules."""

    schema: Schema  # the columns of the rules
    loss: Loss  # what turns a score into a probability (`loss.probability`)
    intercept: float
    rules: tuple[Rule, ...]
    coefficients: FloatArray  # one per rule
    # The bin of each category, for the categorical columns where it is not simply the category's position.
    code_of_category: Mapping[int, Codes] = field(default_factory=dict)
    # The probabilities that the rules were trained for, and the scores at which they lie; empty without any.
    boundaries: FloatArray = field(default_factory=lambda: np.empty(0))
    deltas: FloatArray = field(default_factory=lambda: np.empty(0))
    seen_missing: ClassVar[tuple[int, ...] | None] = None

    def _size(self) -> str:
        return f"{counted(len(self.rules), 'rule')} on {counted(len(self.schema.columns), 'column')}"

    def scores(self, table: Table, n_threads: int = 1) -> FloatArray:
        """The score H of each row; its sign decides (0 counts as positive)."""
        used, literals, rules = self._kernel_form
        columns = [_plain(table.columns[column]) for column in used]
        return kernels.score_rules(
            columns, literals, rules, self.coefficients, float(self.intercept), table.n_rows, n_threads
        )

    @cached_property
    def _kernel_form(self) -> tuple[list[int], list[_KernelLiteral], list[list[int]]]:
        """The columns that are used, the distinct literals on them, and the literals of each rule."""
        used = sorted({literal.column for rule in self.rules for literal in rule})
        place = {column: position for position, column in enumerate(used)}
        position: dict[Literal, int] = {}
        for rule in self.rules:
            for literal in rule:
                position.setdefault(literal, len(position))
        literals = [self._kernel_literal(literal, place[literal.column]) for literal in position]
        return used, literals, [[position[literal] for literal in rule] for rule in self.rules]

    def _kernel_literal(self, literal: Literal, place: int) -> _KernelLiteral:
        """A literal on raw values; of a categorical column the members: unseen, missing, then the categories."""
        if self.schema.columns[literal.column].kind != "categorical":
            return place, _TESTS[literal.test], literal.threshold, literal.missing, None
        known = np.arange(-2, len(self.schema.columns[literal.column].categories), dtype=np.int32)
        members = passes(literal, known, self.code_of_category.get(literal.column)).view(np.uint8)
        return place, len(_TESTS), 0.0, False, members

    def probabilities(self, table: Table, n_threads: int = 1) -> FloatArray:
        """The probability of each class; of the positive one ginv(H)."""
        scores = self.scores(table, n_threads)
        if len(self.deltas):
            return probabilities_at(scores, self.loss, self.boundaries, self.deltas)
        return self.link.probabilities(scores)

    def margins(self, table: Table, codes: IntArray, n_threads: int = 1) -> FloatArray:
        """2 ginv(y H) - 1 of each row."""
        if len(self.deltas):
            return probability_margins(self.probabilities(table, n_threads), codes)
        return binary_margins(self.loss, self.scores(table, n_threads), codes)


def _plain(values: AnyArray) -> AnyArray:
    """A column in one of the types that the kernel accepts."""
    if values.dtype in (np.float64, np.float32, np.int32):
        return values
    return values.astype(np.float64 if values.dtype.kind in "fb" else np.int32)


def passes(literal: Literal, values: AnyArray, code_of_category: Codes | None = None) -> BoolArray:
    """Whether each value of a column (as a Table holds it) passes a literal."""
    if literal.test in ("<=", ">"):
        compared = values <= literal.threshold if literal.test == "<=" else values > literal.threshold
        return np.asarray(compared | np.isnan(values) if literal.missing else compared, dtype=bool)
    missing = np.isnan(values) if values.dtype.kind == "f" else values == MISSING_CATEGORY
    if literal.test in ("missing", "present"):
        return np.asarray(missing if literal.missing else ~missing, dtype=bool)
    codes = np.full(len(values), OTHER, dtype=np.uint8)
    known = values >= 0
    positions = values[known].astype(np.intp)
    codes[known] = positions if code_of_category is None else code_of_category[positions]
    return np.asarray(np.where(missing, literal.missing, literal.covers(codes)), dtype=bool)


def normalised_margins(model: Model, rows: Any, codes: IntArray, n_threads: int = 1) -> FloatArray:
    """The margin y H / sum |alpha| of each row, with the constant as a term; 0 where every coefficient is 0 ([T] section 4.1.5).

    It lies in [-1, 1] where every h_t does, as rules do, and does not depend on the loss ([T] prints the sum of alpha: E20).
    The margin bounds of boosting refer to it; (27) of [T], the default of `margins`, depends on the scale of the scores too.
    """
    if isinstance(model, RuleModel):
        sizes = model.coefficients
    elif isinstance(model, LinearModel):
        sizes = model.coef
    else:
        came = Words(f"a {type(model).__name__}")
        raise refusal("normalised", "False unless the model is one list of rules or one linear separator", came)
    total = abs(float(model.intercept)) + float(np.abs(sizes).sum())
    scores = np.asarray(model.scores(rows, n_threads))
    return np.where(codes == 1, scores, -scores) / (total if total > 0 else 1.0)
