"""The rows of a fit by trees or rules on one part, and the questions that the fit asks about them.

In memory a part keeps its scores in compiled form. A block on disk keeps them in its storage.

| question | answer | merged by |
|---|---|---|
| `TakeTree` (changes) | sums of all rows after a tree, largest terms before the next one, rows drawn | exact sums, largest |
| `SumOfRoots`, `SearchSizes` | from which the sample and the grids of the search follow | integer sums |
| `LeafCells`, `LeafSums` | what splits and values are chosen from | integer sums |
| `TreeSlopes` | derivatives of the surrogate along a tree | exact sums |
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from permissible.bins.hashing import category_hash
from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.problem import LOSSES
from permissible.learners.mcboost.rows import NO_SUMS, RowView, SelectedRows
from permissible.learners.mcboost.tree_step import TreeStep
from permissible.learners.trees.boosted import layout_of
from permissible.rows.part import Part, Storage
from permissible.rows.source import Question
from permissible.types import AnyArray, Codes, FloatArray, IntArray

NO_SPLITS = np.zeros((0, 8), dtype=np.int64)


class Look(NamedTuple):
    """What the next search looks along: a weight per class, and the key and the mu by which its rows are drawn (0: all)."""

    along: FloatArray
    coordinate: bool
    key: int = 0
    mu: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The rows of a search: codes, gradients, curvatures, and copies (empty: 1 each)."""

    blocks: Codes
    gradient: AnyArray
    curvature: AnyArray
    copies: AnyArray

    @staticmethod
    def joined(drawn: Sequence["Searched"]) -> "Searched":
        """Those of all parts."""
        blocks = np.ascontiguousarray(np.concatenate([one.blocks for one in drawn], axis=1))
        names = "gradient", "curvature", "copies"
        return Searched(blocks, *(np.concatenate([getattr(one, name) for one in drawn]) for name in names))

    def sizes(self, grids: tuple[float, float]) -> IntArray:
        """Sums of |g| and h on the given grids, as `SearchSizes` has them."""
        terms = (np.abs(self.gradient), self.curvature)
        whole = [(of * np.float32(grid)).astype(np.int64) for of, grid in zip(terms, grids, strict=True)]
        return np.array([(of * self.copies if self.copies.size else of).sum() for of in whole], dtype=np.int64)

    def packed(self, grids: tuple[float, float]) -> IntArray:
        """Gradients and curvatures on the grids of the search, two in one integer."""
        terms = (self.gradient, self.curvature)
        high, low = (np.rint(of * np.float32(grid)).astype(np.int64) for of, grid in zip(terms, grids, strict=True))
        both = (high << 32) + low
        return np.asarray(both * self.copies if self.copies.size else both)


class Seen(NamedTuple):
    """Sums of surrogate, cost and errors; largest terms of a leaf and of the rows searched; these rows, and their number."""

    sums: IntArray
    terms: FloatArray
    largest: FloatArray
    taken: int
    drawn: Searched | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TreeOpening:
    """How a part builds the rows of a fit by trees. `drawn`: searches look at samples; `directions`: those of the columns."""

    rows: RowView
    drawn: bool = False
    n_threads: int = 1
    look: Look = field(default_factory=lambda: Look(np.zeros(0), False))
    directions: tuple[int, ...] = ()

    def build(self, part: Part) -> "PartTrees | None":
        """The rows of one part."""
        return None if self.rows.empty(part) else PartTrees(part, self)


class PartTrees:
    """The rows of one part."""

    def __init__(self, part: Part, opening: TreeOpening) -> None:
        self.part, self.opening = part, opening
        self.look = Look(np.zeros(opening.rows.task.n_classes), False)
        self.grids: tuple[float, float] | None = None
        self.best = part.storage()
        self._storage: Storage | None = None if part.in_memory else part.storage()
        self._open: tuple[SelectedRows, kernel.TreeRows] | None = None

    def open(self, hashed: bool = True) -> tuple[SelectedRows, kernel.TreeRows]:
        """The rows and their scores, from memory or from storage; without hashes none of them can be drawn."""
        if self._open is not None:
            return self._open
        opening, binning = self.opening, self.part.binned().binning
        rows = opening.rows.read(self.part)
        problem, task = rows.problem, rows.problem.task
        names = (
            [category_hash(column.name) for column in binning.schema.columns]
            if opening.drawn and (hashed or self._storage is None)
            else []
        )
        costs, weight = (np.ascontiguousarray(of, dtype=np.float64) for of in (task.costs, problem.weight))
        state = kernel.tree_rows(
            rows.blocks,
            layout_of(binning, opening.directions),
            np.array(names, dtype=np.uint64),
            problem.target.astype(np.uint16),
            costs,
            not task.by_row,
            weight,
            LOSSES.index(task.loss),
            opening.n_threads,
        )
        saved = np.zeros(0) if self._storage is None else self._storage.read()
        if saved.size:
            state.restore(np.ascontiguousarray(saved.reshape(state.rows, -1)))
        else:
            start = opening.rows.start_scores(self.part, rows)
            if start is not None:
                state.set_scores(np.ascontiguousarray(start))
        if self._storage is None:
            self._open = rows, state
        return rows, state

    def looking(self, drawn: bool = True) -> kernel.TreeRows:
        """The rows as they look along the last direction, with or without those drawn."""
        _, state = self.open(drawn)
        if self._storage is not None:
            self.take(state, None, self.look if drawn else self.look._replace(mu=0.0))
        return state

    def take(self, state: kernel.TreeRows, step: TreeStep | None, look: Look) -> tuple[float, float, float, float, int]:
        """Take a step, then look along a direction."""
        sampled = look.mu > 0
        draw = look.coordinate, sampled, look.key, look.mu if sampled else 1.0
        if step is None:
            return state.take(NO_SPLITS, -1, None, look.along, *draw)
        moves = step.moves(len(look.along))
        return state.take(np.ascontiguousarray(step.splits), step.inside, moves, look.along, *draw)

    def keep(self, state: kernel.TreeRows) -> None:
        """Store the scores of a block on disk."""
        if self._storage is not None:
            self._storage.write(state.save())

    def packed(self, grids: tuple[float, float]) -> kernel.TreeRows:
        """The rows searched, on the grids."""
        state = self.looking()
        if self.grids != grids or self._storage is not None:
            state.pack(*grids)
            self.grids = grids
        return state

    def scores(self) -> tuple[IntArray, FloatArray]:
        """The class and the scores of each row."""
        rows, state = self.open(hashed=False)
        return rows.problem.target, state.scores()


@dataclass(frozen=True, slots=True, eq=False)
class TakeTree(Question[PartTrees, Seen]):
    """Take the step of a tree, if any, and look along the next direction.

    `measured` asks for the sums, `send` for the rows that are searched.
    """

    step: TreeStep | None
    look: Look
    measured: bool
    send: bool = False
    changes: ClassVar[bool] = True

    def answer(self, rows: PartTrees) -> Seen:
        """The answer of one part."""
        _, state = rows.open(hashed=self.look.mu > 0)
        *largest, taken = rows.take(state, self.step, self.look)
        rows.look, rows.grids = self.look, None
        rows.keep(state)
        sums = state.measure() if self.measured else NO_SUMS
        drawn = Searched(*state.searched()) if self.send else None
        return Seen(sums, np.array(largest[:2]), np.array(largest[2:]), int(taken), drawn)

    def merge(self, answers: Sequence[Seen]) -> Seen:
        """Sums add; the largest terms of all."""
        terms = np.max([answer.terms for answer in answers], axis=0)
        largest = np.max([answer.largest for answer in answers], axis=0)
        sums = np.sum([answer.sums for answer in answers], axis=0)
        drawn = [answer.drawn for answer in answers if answer.drawn is not None]
        joined = Searched.joined(drawn) if drawn else None
        return Seen(sums, terms, largest, sum(answer.taken for answer in answers), joined)


@dataclass(frozen=True, slots=True)
class SumOfRoots(Question[PartTrees, int]):
    """The sum of sqrt(g^2 + h^2 / 10), on a grid for terms up to `largest`."""

    largest: float

    def answer(self, rows: PartTrees) -> int:
        """The answer of one part."""
        return int(rows.looking(drawn=False).sum_of_roots(self.largest))


@dataclass(frozen=True, slots=True)
class SearchSizes(Question[PartTrees, IntArray]):
    """Sums of |g| and h over the rows searched, on the given grids."""

    grids: tuple[float, float]

    def answer(self, rows: PartTrees) -> IntArray:
        """The answer of one part."""
        return np.array(rows.looking().sizes(*self.grids), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class LeafCells(Question[PartTrees, IntArray]):
    """The histogram of a leaf over the rows searched, and its total."""

    splits: IntArray
    leaf: int
    used: Codes
    grids: tuple[float, float]

    def answer(self, rows: PartTrees) -> IntArray:
        """The answer of one part."""
        return rows.packed(self.grids).cells(np.ascontiguousarray(self.splits), self.leaf, self.used)


@dataclass(frozen=True, slots=True, eq=False)
class LeafSums(Question[PartTrees, IntArray]):
    """Gradients and curvatures of each leaf and output over all rows, (2, leaves, outputs)."""

    splits: IntArray
    inside: int
    grids: tuple[float, float]

    def answer(self, rows: PartTrees) -> IntArray:
        """The answer of one part."""
        state = rows.looking(drawn=False)
        return state.step_sums(np.ascontiguousarray(self.splits), self.inside, rows.look.coordinate, *self.grids)


@dataclass(frozen=True, slots=True, eq=False)
class TreeSlopes(Question[PartTrees, IntArray]):
    """Exact first and second derivative of the surrogate, `alpha` along a tree."""

    step: TreeStep
    alpha: float

    def answer(self, rows: PartTrees) -> IntArray:
        """The answer of one part."""
        selected, state = rows.open(hashed=False)
        moves = self.step.moves(selected.problem.task.n_classes)
        return state.slopes(np.ascontiguousarray(self.step.splits), self.step.inside, moves, self.alpha)
