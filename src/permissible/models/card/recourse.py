"""The smallest change of a row that changes its decision, found exactly by branch and bound.

A sum of rules sees a column only through the cells between its thresholds (or groups of its categories), so changing a column
is changing its cell, made by the nearest value in it. Columns are decided one after the other, the row's own cell first. With
some columns decided, the score lies between two bounds; a branch whose bounds both give a decision that is not wanted is pruned,
and so is one that costs as much as the best change known.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.bins.literal import Literal
from permissible.models.card.reasons import rule_terms
from permissible.models.card.scorecard import Scorecard
from permissible.models.kinds.rules import passes
from permissible.table.table import MISSING_CATEGORY, Table
from permissible.types import AnyArray, BoolArray

DISTANCE = 1e-3
"""Weight of the distance of a change beside the number of changed columns, where no costs are given."""


@dataclass(frozen=True, slots=True)
class Recourse:
    """A change of a row, and what it does.

    Attributes
    ----------
    found : bool
        Whether some change of at most this many columns changes the decision.
    changes : mapping from column name to (old value, new value)
        A missing value is None.
    cost : float
    before, after : label
        The decision of the row, and after the change.
    proved : bool
        Whether no cheaper change exists; False only where the time limit was reached.

    Examples
    --------
    >>> import numpy as np, permissible as pm
    >>> card = pm.ULSClassifier.points(n_rules=1).fit({"age": np.arange(20.0, 60.0)}, np.arange(40) > 25)
    >>> print(card.recourse({"age": [30.0]}))
    False -> True by age: 30.0 -> 45.51
    """

    found: bool
    changes: Mapping[str, tuple[object, object]]
    cost: float
    before: object
    after: object
    proved: bool

    def __str__(self) -> str:
        if not self.found:
            return (
                "no change of so few columns changes the decision"
                if self.proved
                else "no change found in the time given"
            )
        each = [f"{name}: {old!r} -> {new!r}" for name, (old, new) in self.changes.items()]
        return f"{self.before} -> {self.after} by " + ", ".join(each)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A value that stands for its cell, which literals of the column hold in it, and what moving there costs."""

    value: Any
    holds: BoolArray
    cost: float
    changed: bool


@dataclass(slots=True, eq=False)
class RecourseProblem:
    """The columns to be decided, each with its cells; rules as (positions of literals, value where it holds, where not)."""

    start: float
    columns: list[int]
    cells: list[list[Cell]]
    literals: list[tuple[int, int]]
    rules: list[tuple[list[int], float, float]]
    max_columns: int


@dataclass(slots=True, eq=False)
class Search:
    """Depth-first search over the columns."""

    problem: RecourseProblem
    wanted: Callable[[float, float], bool]
    confirm: Callable[[list[Cell]], bool]
    end: float
    best: list[Cell] | None = None
    cost: float = math.inf
    steps: int = 0
    in_time: bool = True
    truth: list[int] = field(default_factory=list)

    def run(self) -> None:
        """Search all of the tree, or until the time is up."""
        self.truth = [int(self.problem.cells[depth][0].holds[place]) for depth, place in self.problem.literals]
        self._visit(0, [], 0.0, 0)

    def _bounds(self, depth: int, left: int) -> tuple[float, float]:
        """The least and the largest score when at most `left` of the columns from `depth` on leave their own cells.

        A change of some columns alters only the rules on them, so it moves the score by at most the sum, over these columns, of
        what their rules can move: the largest such sums count.
        """
        score, n_columns = self.problem.start, len(self.problem.columns)
        down, up = [0.0] * n_columns, [0.0] * n_columns
        for places, inside, outside in self.problem.rules:
            value = inside if all(self.truth[place] for place in places) else outside
            score += value
            owners = {self.problem.literals[place][0] for place in places}
            if any(not self.truth[place] and self.problem.literals[place][0] < depth for place in places):
                continue  # a decided column makes it fail
            for column in owners:
                down[column] += min(inside, outside) - value
                up[column] += max(inside, outside) - value
        return score + sum(sorted(down[depth:])[:left]), score + sum(sorted(up[depth:], reverse=True)[:left])

    def _visit(self, depth: int, chosen: list[Cell], cost: float, changed: int) -> None:
        self.steps += 1
        if self.steps % 64 == 0 and time.monotonic() > self.end:
            self.in_time = False
        if (
            not self.in_time
            or cost >= self.cost
            or not self.wanted(*self._bounds(depth, self.problem.max_columns - changed))
        ):
            return
        if depth == len(self.problem.columns):
            if self.confirm(chosen):
                self.best, self.cost = list(chosen), cost
            return
        own = [place for place, (column, _) in enumerate(self.problem.literals) if column == depth]
        for cell in self.problem.cells[depth]:
            count = changed + cell.changed
            if count > self.problem.max_columns or cost + cell.cost >= self.cost:
                continue
            for place in own:
                self.truth[place] = int(cell.holds[self.problem.literals[place][1]])
            self._visit(depth + 1, [*chosen, cell], cost + cell.cost, count)
        for place in own:
            self.truth[place] = int(self.problem.cells[depth][0].holds[self.problem.literals[place][1]])


def problem_of(
    card: Scorecard, row: Table, costs: Mapping[int, float] | None, fixed: Sequence[int], most: int
) -> RecourseProblem:
    """The cells of a row's columns and the rules of a card."""
    terms = rule_terms(card)
    by_column: dict[int, list[Literal]] = {}
    for term in terms:
        for literal in term.rule:
            own = by_column.setdefault(literal.column, [])
            if literal not in own:
                own.append(literal)
    weight = dict.fromkeys(by_column, 0.0)
    for term in terms:
        for column in {literal.column for literal in term.rule}:
            weight[column] += abs(term.holds[0] - term.fails[0])
    columns = sorted(by_column, key=lambda column: -weight[column])
    literals = [(depth, place) for depth, column in enumerate(columns) for place in range(len(by_column[column]))]
    where = {(columns[depth], by_column[columns[depth]][place]): index for index, (depth, place) in enumerate(literals)}
    rules = [([where[x.column, x] for x in term.rule], term.holds[0], term.fails[0]) for term in terms]
    cells = []
    for column in columns:
        cost = None if costs is None else costs.get(column, 1.0)
        found = _cells(card, column, by_column[column], row.columns[column], cost)
        cells.append(found[:1] if column in fixed else found)
    return RecourseProblem(float(card.intercept[0]), columns, cells, literals, rules, most)


def _cells(card: Scorecard, column: int, literals: list[Literal], values: AnyArray, cost: float | None) -> list[Cell]:
    """The row's own cell first, then the others by their cost; one of each combination of answers."""
    codes = card.code_of_category.get(column)
    categorical = card.schema.columns[column].kind == "categorical"
    if categorical:
        reached = np.arange(len(card.schema.columns[column].categories), dtype=np.int32)
    else:
        reached = _nearest_values(float(values[0]), literals, card.schema.columns[column].kind == "boolean")
    points = np.concatenate((values[:1], reached.astype(values.dtype)))
    answers = np.array([passes(literal, points, codes) for literal in literals]).T
    old = None if values[0] == MISSING_CATEGORY and categorical else float(values[0])
    ends = [literal.threshold for literal in literals if math.isfinite(literal.threshold)]
    span = max((max(ends) - min(ends)) if ends else 0.0, max(map(abs, ends), default=0.0), 1e-9)
    found = [Cell(values[0], answers[0], 0.0, False)]
    for value, holds in zip(points[1:], answers[1:], strict=True):
        moved = 0.0 if categorical or old is None or math.isnan(old) else abs(float(value) - old)
        if cost is None:
            price = 1.0 + DISTANCE * min(moved / span, 1.0)
        else:
            price = cost * (1.0 if categorical or old is None or math.isnan(old) else moved)
        found.append(Cell(value, holds, price, True))
    kept: dict[bytes, Cell] = {}
    for cell in sorted(found, key=lambda cell: (cell.changed, cell.cost)):
        kept.setdefault(cell.holds.tobytes(), cell)
    return sorted(kept.values(), key=lambda cell: (cell.changed, cell.cost))


def _nearest_values(old: float, literals: list[Literal], boolean: bool) -> AnyArray:
    """The value nearest to the old one in each cell between thresholds."""
    if boolean:
        return np.array([0.0, 1.0])
    ends = sorted({literal.threshold for literal in literals if math.isfinite(literal.threshold)})
    if not ends:
        return np.array([0.0] if math.isnan(old) else [])
    found = [end for end in ends if math.isnan(old) or old > end]  # the largest value of the cell below an end
    for end, next_end in zip(ends, [*ends[1:], math.inf], strict=True):
        if math.isnan(old) or old <= end:
            found.append(_just_above(end, next_end))
    return np.array(found)


def _just_above(end: float, limit: float) -> float:
    """A short decimal a little above an end and at most the limit, apart from it in single precision too."""
    size = math.floor(math.log10(max(abs(end), 1e-3)))
    for digits in range(4, 16):
        step = 10.0 ** (size - digits + 1)
        value = round((math.floor(end / step) + 1) * step, max(0, digits - 1 - size))
        if end < value <= limit:
            return value
    return float(np.nextafter(end, limit))
