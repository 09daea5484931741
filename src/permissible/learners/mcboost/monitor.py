"""Held-out rows: their cost or surrogate after each round, and when it has stopped improving.

| question | answer | merged by |
|---|---|---|
| `AddRound` (changes) | surrogate, cost and errors of the rows after a round | exact sums |
| `LogLossAt` | log-loss of the rows at an exponent | exact sums |
| `HeldOutScores` | their scores | by part |
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

import numpy as np

from permissible.kernels._core import sums
from permissible.learners.mcboost.problem import CostProblem
from permissible.learners.mcboost.rounds import CostRound, Terms
from permissible.learners.mcboost.rows import RowView, SelectedRows
from permissible.learners.mcboost.temperature import log_loss_limbs
from permissible.learners.mcboost.tree_rows import Look, PartTrees, TreeOpening
from permissible.learners.mcboost.tree_step import TreeRound
from permissible.rows.part import MemoryStorage, Part
from permissible.rows.source import ByPart, OpenRows, Question
from permissible.types import FloatArray, IntArray


@dataclass(slots=True, eq=False)
class HeldOutMonitor:
    """The measure of held-out rows after each round, and the best round so far.

    `patience` rounds without improvement end a fit; None never does. `total` is the weight of the rows. The scores
    after the rounds in `stages` are kept.
    """

    rows: OpenRows["HeldOut"]
    measure: str
    total: float
    patience: int | None
    stages: tuple[int, ...] = ()
    best_round: int = 0
    measures: list[float] = field(default_factory=list)
    staged: dict[int, FloatArray] = field(default_factory=dict)

    def after(self, made: CostRound) -> float:
        """Add a round; return the mean surrogate, or cost of the largest scores, after it."""
        limbs = self.rows.ask(AddRound(made.terms, self._last_was_best()))
        surrogate, cost, _ = sums.exact_values(np.ascontiguousarray(limbs))
        value = float((cost if self.measure == "cost" else surrogate) / self.total)
        best = self.measures[self.best_round - 1] if self.measures else float("inf")
        self.measures.append(value)
        if value < best - 1e-9 * abs(best) or len(self.measures) == 1:
            self.best_round = len(self.measures)
        if len(self.measures) in self.stages:
            self.staged[len(self.measures)] = self._scores()
        return value

    @property
    def exhausted(self) -> bool:
        """Whether the measure has not improved for `patience` rounds."""
        return self.patience is not None and len(self.measures) - self.best_round >= self.patience

    def staged_to_the_end(self) -> dict[int, FloatArray]:
        """The scores at all stages: those of a fit that ended before stay as they are."""
        last = self._scores()
        return {stage: self.staged.get(stage, last) for stage in self.stages}

    def _scores(self) -> FloatArray:
        return np.concatenate([*self.rows.ask(HeldOutScores()).values()])

    def log_loss(self, exponent: float) -> IntArray:
        """The exact sum of the log-losses at an exponent: after the best round if that ended the fit, else the last."""
        return self.rows.ask(LogLossAt(exponent, self.patience is not None and not self._last_was_best()))

    def _last_was_best(self) -> bool:
        return bool(self.measures) and self.best_round == len(self.measures)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutOpening:
    """How a part builds its held-out rows; attributes are not scaled, since terms are on their original scale."""

    rows: RowView

    def build(self, part: Part) -> "HeldOutRows | None":
        """The held-out rows of one part."""
        standardised = self.rows.standardised
        if standardised is not None:
            standardised = replace(standardised, scale=np.ones(len(standardised.scale)))
        rows = replace(self.rows, standardised=standardised)
        return None if rows.empty(part) else HeldOutRows(part, rows)


class HeldOutRows:
    """Held-out rows whose terms are evaluated one by one."""

    def __init__(self, part: Part, rows: RowView) -> None:
        self.part, self.rows = part, rows
        self.last, self.best = (MemoryStorage() if part.in_memory else part.storage() for _ in range(2))
        self._read: SelectedRows | None = None
        read = self.read(columns=part.in_memory or rows.start is not None)
        start = rows.start_scores(part, read)
        self.last.write(np.zeros((len(read.problem.target), rows.task.n_classes)) if start is None else start)

    def read(self, columns: bool = True) -> SelectedRows:
        """The rows, from memory or from disk."""
        if self._read is not None:
            return self._read
        read = self.rows.read(self.part, columns=columns)
        if self.part.in_memory:
            self._read = read
        return read

    def problem(self) -> CostProblem:
        """Classes and weights."""
        return self.read(columns=False).problem

    def scored(self, best: bool) -> FloatArray:
        """The current scores, or those after the best round."""
        return (self.best if best else self.last).read().reshape(-1, self.rows.task.n_classes)

    def add(self, terms: Terms, was_best: bool) -> IntArray:
        """Add a round."""
        read, before = self.read(), self.scored(best=False)
        if was_best:
            self.best.write(before)
        scores = before + self.rows.added(self.part, terms, read)
        self.last.write(scores)
        return read.problem.state(scores).begin_sums()

    def scores(self) -> tuple[IntArray, FloatArray]:
        """The class and the scores of each row."""
        return self.problem().target, self.scored(best=False)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutTreesOpening:
    """How a part builds held-out rows that trees are added to."""

    rows: RowView
    n_threads: int = 1

    def build(self, part: Part) -> "HeldOutTrees | None":
        """The held-out rows of one part."""
        opening = TreeOpening(self.rows, n_threads=self.n_threads)
        return None if self.rows.empty(part) else HeldOutTrees(part, opening)


class HeldOutTrees(PartTrees):
    """Held-out rows that trees move as they move training rows."""

    def scored(self, best: bool) -> FloatArray:
        """The current scores, or those after the best round."""
        if best:
            return self.best.read().reshape(-1, self.opening.rows.task.n_classes)
        with self.open() as state:
            return state.scores()

    def add(self, terms: Terms, was_best: bool) -> IntArray:
        """Add a round."""
        nowhere = Look(np.zeros(self.opening.rows.task.n_classes), False)
        assert isinstance(terms, TreeRound)
        with self.open() as state:
            if was_best:
                self.best.write(state.scores())
            for step in terms.steps:
                self.take(state, step, nowhere)
            self.keep(state)
            return state.measure()


HeldOut: TypeAlias = HeldOutRows | HeldOutTrees
"""Held-out rows of one part: their current scores, and the scores after the best round."""


@dataclass(frozen=True, slots=True, eq=False)
class AddRound(Question[HeldOut, IntArray]):
    """Add a round to the scores; exact sums of surrogate, cost and errors. `was_best`: the last round was the best."""

    terms: Terms
    was_best: bool = False
    changes: ClassVar[bool] = True

    def answer(self, rows: HeldOut) -> IntArray:
        """The sums of one part."""
        return rows.add(self.terms, self.was_best)


@dataclass(frozen=True, slots=True)
class LogLossAt(Question[HeldOut, IntArray]):
    """The exact sum of the log-losses of the rows at an exponent, after the last round or the best one."""

    exponent: float
    best: bool

    def answer(self, rows: HeldOut) -> IntArray:
        """The answer of one part."""
        problem = rows.problem()
        return log_loss_limbs(self.exponent, rows.scored(self.best), problem.target, problem.weight)


@dataclass(frozen=True, slots=True)
class HeldOutScores(ByPart[HeldOut, FloatArray]):
    """The current scores of the held-out rows of each part, keyed by its position."""

    def answer(self, rows: HeldOut) -> dict[int, FloatArray]:
        """The answer of one part."""
        return {rows.part.number: rows.scored(best=False)}
