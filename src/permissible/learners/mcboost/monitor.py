"""Held-out rows: their cost or surrogate after each round, and when it has stopped improving.

| question | answer | merged by |
|---|---|---|
| `AddRound` (changes) | surrogate, cost and errors of the rows after a round | exact sums |
| `LogLossAt` | log-loss of the rows at an exponent | exact sums |
| `StagedScores` | scores after some of the rounds | by part |
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from permissible.kernels._core import sums
from permissible.learners.mcboost.rounds import Round, Terms
from permissible.learners.mcboost.rows import RowView, SelectedRows
from permissible.learners.mcboost.temperature import log_loss_limbs
from permissible.rows.part import MemoryStorage, Part, Storage
from permissible.rows.source import OpenRows, Question
from permissible.types import FloatArray, IntArray


@dataclass(slots=True, eq=False)
class HeldOutMonitor:
    """The measure of held-out rows after each round, and the best round so far.

    `patience` rounds without improvement end a fit; None never does. `total` is the weight of the rows.
    """

    rows: OpenRows["HeldOutRows"]
    measure: str
    total: float
    patience: int | None
    best_round: int = 0
    measures: list[float] = field(default_factory=list)

    def after(self, made: Round) -> float:
        """Add a round; return the mean surrogate, or cost of the largest scores, after it."""
        limbs = self.rows.ask(AddRound(made.terms, self._last_was_best()))
        surrogate, cost, _ = sums.exact_values(np.ascontiguousarray(limbs))
        value = float((cost if self.measure == "cost" else surrogate) / self.total)
        best = self.measures[self.best_round - 1] if self.measures else float("inf")
        self.measures.append(value)
        if value < best - 1e-9 * abs(best) or len(self.measures) == 1:
            self.best_round = len(self.measures)
        return value

    @property
    def exhausted(self) -> bool:
        """Whether the measure has not improved for `patience` rounds."""
        return self.patience is not None and len(self.measures) - self.best_round >= self.patience

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
    """Held-out rows of one part: their current scores, and the scores after the best round."""

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

    def scores_of(self, storage: Storage) -> FloatArray:
        """The stored scores."""
        return storage.read().reshape(-1, self.rows.task.n_classes)

    def scores(self) -> tuple[IntArray, FloatArray]:
        """The class and the scores of each row."""
        return self.read(columns=False).problem.target, self.scores_of(self.last)


@dataclass(frozen=True, slots=True, eq=False)
class AddRound(Question[HeldOutRows, IntArray]):
    """Add a round to the scores; exact sums of surrogate, cost and errors. `was_best`: the last round was the best."""

    terms: Terms
    was_best: bool = False
    changes: ClassVar[bool] = True

    def answer(self, rows: HeldOutRows) -> IntArray:
        """The sums of one part."""
        read, before = rows.read(), rows.scores_of(rows.last)
        if self.was_best:
            rows.best.write(before)
        scores = before + rows.rows.added(rows.part, self.terms, read)
        rows.last.write(scores)
        return read.problem.state(scores).begin_sums()


@dataclass(frozen=True, slots=True)
class LogLossAt(Question[HeldOutRows, IntArray]):
    """The exact sum of the log-losses of the rows at an exponent, after the last round or the best one."""

    exponent: float
    best: bool

    def answer(self, rows: HeldOutRows) -> IntArray:
        """That of one part."""
        problem = rows.read(columns=False).problem
        scores = rows.scores_of(rows.best if self.best else rows.last)
        return log_loss_limbs(self.exponent, scores, problem.target, problem.weight)


@dataclass(frozen=True, slots=True, eq=False)
class StagedScores(Question[HeldOutRows, dict[int, FloatArray]]):
    """The scores after each of the given numbers of rounds, (stages, n, M), by the number of the part."""

    rounds: tuple[Terms, ...]
    stages: tuple[int, ...]

    def answer(self, rows: HeldOutRows) -> dict[int, FloatArray]:
        """Those of one part."""
        read, scores, found = rows.read(), rows.scores_of(rows.last), list[FloatArray]()
        for number in range(max(self.stages)):
            if number < len(self.rounds):
                scores = scores + rows.rows.added(rows.part, self.rounds[number], read)
            if number + 1 in self.stages:
                found.append(scores)
        return {rows.part.number: np.array(found)}

    def merge(self, answers: Sequence[dict[int, FloatArray]]) -> dict[int, FloatArray]:
        """All parts, in order."""
        return dict(sorted(item for answer in answers for item in answer.items()))
