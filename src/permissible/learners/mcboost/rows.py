"""The rows of a fit by affine terms on one part, and the questions that the fit asks about them.

In memory a part keeps the compiled state of its training rows. A block on disk keeps it in its storage. Rows of trees:
tree_rows.py; held-out rows: monitor.py.

| question | answer | merged by |
|---|---|---|
| `ClassWeights`, `ClassCodes` | weight of each class, and its codes | exact sums |
| `TakeStep` (changes) | sums and largest terms before the next step | exact sums, largest |
| `AffineSums` | what a step is chosen from | integer sums |
| `Slopes` | derivatives of the surrogate along a step | exact sums |
| `SmallestMargin`, `SaturatedRows` | about the scores | least, sum |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from permissible.bins.hashing import Hashes
from permissible.kernels._core import mcboost as kernel
from permissible.kernels._core import sums
from permissible.learners.doubts import LAST_DIGIT
from permissible.learners.mcboost.linear.affine import AffineStep, affine_scores
from permissible.learners.mcboost.linear.standardise import Standardised
from permissible.learners.mcboost.problem import CostProblem, CostTask
from permissible.learners.mcboost.rounds import Sampling, Terms
from permissible.learners.mcboost.tree_step import TreeRound
from permissible.models.kinds.additive import AdditiveModel
from permissible.models.kinds.forest import Forest, forest_values
from permissible.models.kinds.simplex import scores_of
from permissible.models.model import lead
from permissible.rows.part import Part, Storage, table_of, weights_of
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.source import Question
from permissible.types import BoolArray, Codes, FloatArray, IntArray

NO_SUMS = np.zeros((3, 0), dtype=np.int64)
MOST_SENT = 1 << 27
"""The rows of a search by trees are gathered up to about this many bytes; of more, sums are asked leaf by leaf."""


class NextStep(NamedTuple):
    """The coordinate to derive along (-1: all), and the number of the round."""

    coordinate: int
    number: int


class Standpoint(NamedTuple):
    """Sums over the rows before a step.

    Exact sums of surrogate, cost and errors (at the start of a round), the largest weight of a row along the coordinate of
    the step, and the number of rows drawn for its round.
    """

    sums: IntArray
    largest: float
    n_drawn: int


class SelectedRows(NamedTuple):
    """The selected rows of a part: their codes, or, for affine terms, their attributes."""

    blocks: Codes
    values: FloatArray
    problem: CostProblem
    hashes: Hashes


@dataclass(frozen=True, slots=True, eq=False)
class RowView:
    """The rows of a part that a fit uses, and the model or the constant scores to start from."""

    task: CostTask
    selection: Selection = ALL_ROWS
    standardised: Standardised | None = None
    start: AdditiveModel | None = None
    prior: FloatArray | None = None

    def read(self, part: Part, *, columns: bool = True, hashed: bool = False) -> SelectedRows:
        """Read the rows, with or without their columns and hashes."""
        rows = self.selection.rows(part)
        target, weight = part.target().astype(np.int64), weights_of(part)
        hashes = part.hashes() if hashed else np.zeros(0, dtype=np.uint64)
        blocks, values = np.zeros((0, 0, 8), dtype=np.uint8), np.zeros((0, 0))
        if columns and self.standardised is not None:
            values = self.standardised.values(table_of(part, rows))
        elif columns:
            blocks = part.binned().blocks
        if rows is not None:
            blocks = part.take(self.selection, rows) if blocks.size else blocks
            target, weight, hashes = target[rows], weight[rows], hashes[rows] if hashed else hashes
        problem = CostProblem(self.task.take(rows), target, weight)
        return SelectedRows(np.ascontiguousarray(blocks), values, problem, hashes)

    def empty(self, part: Part) -> bool:
        """Whether no row of the part is selected."""
        rows = self.selection.rows(part)
        return len(part.target()) == 0 if rows is None else not rows.any()

    def added(self, part: Part, terms: Terms, rows: SelectedRows) -> FloatArray:
        """What a round adds to the scores of rows that were read."""
        n_classes = self.task.n_classes
        if isinstance(terms, Mapping):
            return scores_of(forest_values(terms, rows.blocks, part.binned().binning, n_classes))
        assert not isinstance(terms, TreeRound)
        return affine_scores(terms, rows.values, n_classes)

    def start_scores(self, part: Part, rows: SelectedRows) -> FloatArray | None:
        """The scores of the rows by the model to continue from, or the constant ones; None for zero."""
        if self.start is None:
            return None if self.prior is None else np.tile(self.prior, (len(rows.problem.target), 1))
        scores = np.tile(self.start.prior, (len(rows.problem.target), 1))
        for component in self.start.parts:
            if isinstance(component, Forest):
                scores += self.added(part, component.arrays, rows)
            else:
                scores += component.scores(table_of(part, self.selection.rows(part)))
        return scores


@dataclass(frozen=True, slots=True, eq=False)
class TrainingOpening:
    """How a part builds its training rows."""

    rows: RowView
    sampling: Sampling = field(default_factory=Sampling)
    n_threads: int = 1

    def build(self, part: Part) -> "BoostRows | None":
        """The training rows of one part."""
        return None if self.rows.empty(part) else BoostRows(part, self)


class BoostRows:
    """The training rows of one part."""

    def __init__(self, part: Part, opening: TrainingOpening) -> None:
        self.part, self.opening = part, opening
        self.step = NextStep(0, 0)
        self._storage: Storage | None = None if part.in_memory else part.storage()
        self._open: tuple[SelectedRows, kernel.State] | None = None

    @property
    def outputs(self) -> int:
        """How many coordinates the step moves along."""
        return 1 if self.step.coordinate >= 0 else self.opening.rows.task.n_classes - 1

    def open(self) -> tuple[SelectedRows, kernel.State]:
        """The rows and their state, from memory or from storage."""
        if self._open is not None:
            return self._open
        opening = self.opening
        rows = opening.rows.read(self.part, hashed=opening.sampling.draws)
        state = rows.problem.state(opening.rows.start_scores(self.part, rows), opening.n_threads)
        if self._storage is None:
            self._open = rows, state
            return rows, state
        saved = self._storage.read()
        if saved.size:
            state.restore(saved.reshape(-1, state.rows))
            state.derive_largest(self.step.coordinate)
        return rows, state

    def stand(self, rows: SelectedRows, state: kernel.State, sums: IntArray, step: NextStep) -> Standpoint:
        """Compute derivatives along the coordinate of the next step, and store the state."""
        self.step = step
        largest = state.derive_largest(step.coordinate)
        if self._storage is not None:
            self._storage.write(state.save())
        drawn = self.drawn(rows) if self.opening.sampling.draws else None
        return Standpoint(sums, largest, 0 if drawn is None else int(drawn.sum()))

    def drawn(self, rows: SelectedRows) -> BoolArray:
        """The rows drawn for the round."""
        return self.opening.sampling.chosen(rows.hashes, self.step.number)

    def attributes(self, rows: SelectedRows) -> kernel.Attributes:
        """The attributes of the rows."""
        assert self.opening.rows.standardised is not None
        return self.opening.rows.standardised.record(rows.values)

    def scores(self) -> tuple[IntArray, FloatArray]:
        """The class and the scores of each row."""
        rows, state = self.open()
        return rows.problem.target, state.scores()


@dataclass(frozen=True, slots=True, eq=False)
class TakeStep(Question[BoostRows, Standpoint]):
    """Take a step, finish the round where it was the last one, and begin the next step; the first follows none."""

    taken: AffineStep | None
    factor: float
    step: NextStep
    changes: ClassVar[bool] = True

    def answer(self, rows: BoostRows) -> Standpoint:
        """The sums of one part."""
        selected, state = rows.open()
        coordinate, taken = rows.step.coordinate, self.taken
        if taken is not None:
            state.set_affine(coordinate, rows.attributes(selected), taken.record())
            state.move(coordinate, self.factor)
            if self.step.number == rows.step.number:
                return rows.stand(selected, state, NO_SUMS, self.step)
        if taken is not None and coordinate >= 0:
            state.finish_round()
        return rows.stand(selected, state, state.begin_sums(), self.step)

    def merge(self, answers: Sequence[Standpoint]) -> Standpoint:
        """The sums of all parts."""
        sums = np.sum([answer.sums for answer in answers], axis=0)
        largest = max(answer.largest for answer in answers)
        return Standpoint(sums, largest, sum(answer.n_drawn for answer in answers))


@dataclass(frozen=True, slots=True)
class AffineSums(Question[BoostRows, IntArray]):
    """Sums of all attributes, from which the best one is chosen."""

    largest: float
    n_rows: int
    sampled: bool

    def answer(self, rows: BoostRows) -> IntArray:
        """The answer of one part."""
        selected, state = rows.open()
        drawn = rows.drawn(selected).astype(np.float64) if self.sampled else None
        return state.affine_sums(rows.attributes(selected), drawn, rows.outputs, self.largest, self.n_rows)


@dataclass(frozen=True, slots=True, eq=False)
class Slopes(Question[BoostRows, IntArray]):
    """Exact first and second derivative of the surrogate, `alpha` along a step."""

    along: AffineStep
    alpha: float

    def answer(self, rows: BoostRows) -> IntArray:
        """The answer of one part."""
        selected, state = rows.open()
        state.set_affine(rows.step.coordinate, rows.attributes(selected), self.along.record())
        return state.slopes(rows.step.coordinate, self.alpha)


@dataclass(frozen=True, slots=True)
class ClassWeights(Question[Part, IntArray]):
    """The exact weight of each class over the selected rows, (classes, limbs)."""

    n_classes: int
    selection: Selection

    def answer(self, rows: Part) -> IntArray:
        """The answer of one part."""
        target, weight = rows.target(), weights_of(rows)
        chosen = self.selection.rows(rows)
        if chosen is not None:
            target, weight = target[chosen], weight[chosen]
        terms = [weight * (target == label) for label in range(self.n_classes)]
        return sums.exact_limbs(np.ascontiguousarray(np.stack(terms)))


@dataclass(frozen=True, slots=True)
class ClassCodes(Question[Part, IntArray]):
    """The exact sums of weight times code, of each class and column, (classes, columns, limbs)."""

    n_classes: int
    selection: Selection

    def answer(self, rows: Part) -> IntArray:
        """The answer of one part."""
        target, weight, binned = rows.target(), weights_of(rows), rows.binned()
        chosen = self.selection.rows(rows)
        chosen = np.ones(len(target), bool) if chosen is None else chosen
        found = []
        for label in range(self.n_classes):
            own = chosen & (target == label)
            terms = [weight[own] * binned.column_codes(column)[own] for column in range(binned.n_columns)]
            found.append(sums.exact_limbs(np.ascontiguousarray(np.stack(terms))))
        return np.stack(found)


class WithScores(Protocol):
    """Rows with scores."""

    def scores(self) -> tuple[IntArray, FloatArray]:
        """The class and the scores of each row."""


AnyScored = TypeVar("AnyScored", bound=WithScores)


@dataclass(frozen=True, slots=True)
class SmallestMargin(Question[AnyScored, float]):
    """The least margin (9) of the rows."""

    def answer(self, rows: AnyScored) -> float:
        """The answer of one part."""
        target, scores = rows.scores()
        return float(np.min(lead(scores, target), initial=np.inf))

    def merge(self, answers: Sequence[float]) -> float:
        """The least of all."""
        return min(answers)


@dataclass(frozen=True, slots=True)
class SaturatedRows(Question[AnyScored, int]):
    """The number of rows whose posterior, softmax(exponent * S), is 0 or 1 in double precision."""

    exponent: float

    def answer(self, rows: AnyScored) -> int:
        """The answer of one part."""
        second, first = np.partition(rows.scores()[1], -2, axis=1)[:, -2:].T
        return int(np.sum(self.exponent * (first - second) >= -np.log(LAST_DIGIT)))
