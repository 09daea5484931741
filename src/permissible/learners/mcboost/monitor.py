"""Held-out rows: which they are, what the rounds do to their cost or surrogate, and when that has stopped improving.

Rows are chosen by a hash of their content and the seed, so identical rows stay together, the order of rows does not matter, and
weight 2 stays the row twice.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.bins import row_hashes
from permissible.learners.mcboost.problem import Problem
from permissible.learners.mcboost.rounds import Learner, Round
from permissible.table.table import Table
from permissible.types import BoolArray, FloatArray, IntArray


def held_out_rows(table: Table, target: IntArray, fraction: float, seed: int) -> BoolArray:
    """The rows to hold out: about `fraction` of each class, by the hash of their content; a class keeps at least one row."""
    number = row_hashes(table, seed).astype(np.float64) / 2.0**64
    chosen = np.zeros(table.n_rows, dtype=bool)
    for cls in np.unique(target):
        members = np.flatnonzero(target == cls)
        chosen[members] = number[members] < fraction
        if chosen[members].all():
            chosen[members] = number[members] < number[members].max()
    return chosen


def rows_of(table: Table, rows: BoolArray) -> Table:
    """Some rows of a table under the same schema: codes of categories keep their meaning."""
    if table.matrix is not None:
        matrix = table.matrix[rows]
        return Table(table.schema, tuple(matrix.T), len(matrix), matrix)
    return Table(table.schema, tuple(column[rows] for column in table.columns), int(rows.sum()))


@dataclass(slots=True, eq=False)
class Watch:
    """The measure of held-out rows after each round, and the best round so far; `patience` rounds without one end a fit."""

    patience: int | None = 10
    best: float = float("inf")
    best_round: int = 0
    rounds: int = 0
    measures: list[float] = field(default_factory=list)

    def after(self, learner: Learner, made: Round) -> float:
        """Take a round in; return the measure after it."""
        value = self.judge(learner, made)
        self.rounds += 1
        self.measures.append(value)
        if value < self.best - 1e-9 * abs(self.best) or self.rounds == 1:
            self.best, self.best_round = value, self.rounds
            self.keep()
        return value

    def judge(self, learner: Learner, made: Round) -> float:
        """The measure of the held-out rows after a round."""
        raise NotImplementedError

    def keep(self) -> None:
        """The round was the best so far."""

    @property
    def exhausted(self) -> bool:
        """Whether the measure has not improved for `patience` rounds."""
        return self.patience is not None and self.rounds - self.best_round >= self.patience


@dataclass(slots=True, eq=False)
class HeldOut(Watch):
    """Held-out rows in memory while the rounds go by, with their scores, and those after the best round."""

    problem: Problem = field(kw_only=True)
    watched: Any = field(kw_only=True)
    scores: FloatArray = field(kw_only=True)
    measure: str = field(default="surrogate", kw_only=True)
    best_scores: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def judge(self, learner: Learner, made: Round) -> float:
        """The mean surrogate, or cost of the largest scores."""
        self.scores = self.scores + learner.scores(made, self.watched)
        surrogate, cost, _ = self.problem.state(self.scores, 1).begin_round()
        return (cost if self.measure == "cost" else surrogate) / self.problem.total_weight

    def keep(self) -> None:
        """Remember the scores."""
        self.best_scores = self.scores
