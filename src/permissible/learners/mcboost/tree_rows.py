"""The rows of a fit by trees or rules on one part, and the questions that the fit asks about them.

In memory a part keeps its scores in compiled form, and so do the first blocks on disk, within a budget. A further block
writes them to its storage and reads them again for each question.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.problem import LOSSES, CostProblem, CostTask
from permissible.learners.mcboost.rows import MOST_SENT, NO_SUMS, RowView
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
    """The rows of a search: codes (perhaps in room for more), gradients, curvatures, and copies (empty: 1 each)."""

    blocks: Codes
    gradient: AnyArray
    curvature: AnyArray
    copies: AnyArray

    @staticmethod
    def joined(drawn: Sequence["Searched"]) -> "Searched":
        """Those of all parts; further rows go to the room of the first ones."""
        ends, blocks, begin = np.cumsum([0, *(len(one.gradient) for one in drawn)]).tolist(), drawn[0].blocks, 1
        if blocks.shape[1] < ends[-1]:
            room = max(ends[-1], MOST_SENT // (8 * len(blocks)))
            blocks, begin = np.empty((len(blocks), room, 8), dtype=np.uint8), 0
        for one, first in list(zip(drawn, ends, strict=False))[begin:]:
            blocks[:, first : first + len(one.gradient)] = one.blocks[:, : len(one.gradient)]
        others = zip(*((one.gradient, one.curvature, one.copies) for one in drawn), strict=True)
        return Searched(blocks, *map(np.concatenate, others))

    def __reduce__(self) -> tuple[object, ...]:
        """What is sent has no room."""
        blocks = np.ascontiguousarray(self.blocks[:, : len(self.gradient)])
        return Searched, (blocks, self.gradient, self.curvature, self.copies)

    def sizes(self, grids: tuple[float, float]) -> IntArray:
        """Sums of |g| and h on the given grids, as `SearchSizes` has them."""
        found = np.zeros(2, dtype=np.int64)
        for _, g, h, copies in self._few():
            terms = zip((np.abs(g), h), grids, strict=True)
            found += [((of * np.float32(by)).astype(np.int64) * copies).sum() for of, by in terms]
        return found

    def packed(self, grids: tuple[float, float]) -> IntArray:
        """Gradients and curvatures on the grids of the search, two in one integer."""
        packed = np.empty(len(self.gradient), dtype=np.int64)
        for at, g, h, copies in self._few():
            whole = [np.rint(of * np.float32(by)).astype(np.int64) for of, by in zip((g, h), grids, strict=True)]
            packed[at] = ((whole[0] << 32) + whole[1]) * copies
        return packed

    def _few(self) -> Iterator[tuple[slice, AnyArray, AnyArray, AnyArray | int]]:
        for first in range(0, len(self.gradient), 65_536):
            at = slice(first, first + 65_536)
            yield at, self.gradient[at], self.curvature[at], self.copies[at] if self.copies.size else 1


class Seen(NamedTuple):
    """Sums of surrogate, cost and errors; largest terms of a leaf and of the rows searched; these rows, and their number."""

    sums: IntArray
    terms: FloatArray
    largest: FloatArray
    taken: int
    drawn: Searched | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TreeOpening:
    """How a part builds the rows of a fit by trees."""

    rows: RowView
    drawn_by: tuple[int, ...] | None = None  # the numbers of the columns by which searches draw their rows
    n_threads: int = 1
    look: Look = field(default_factory=lambda: Look(np.zeros(0), False))
    directions: tuple[int, ...] = ()  # of the constraints

    def build(self, part: Part) -> "PartTrees | None":
        """The rows of one part."""
        return None if self.rows.empty(part) else PartTrees(part, self)


def row_bytes(task: CostTask) -> int:
    """About what a row takes in compiled form, its codes apart: scores, derivatives, hash, class, and samples of rows."""
    return 8 * (-(-task.n_classes // 4) * 4 + 8)


class PartTrees:
    """The rows of one part. A block on disk beyond the budget gives its scores back after each question."""

    def __init__(self, part: Part, opening: TreeOpening) -> None:
        self.part, self.opening = part, opening
        self.look = Look(np.zeros(opening.rows.task.n_classes), False)
        self.grids: tuple[float, float] | None = None
        self.best = part.storage()
        # Within twice the budget of mapped files: scores that are written and read again take a third of a fit's time.
        self._storage: Storage | None = None if part.keeps(row_bytes(opening.rows.task) // 2) else part.storage()
        self._state: kernel.TreeRows | None = None

    @contextmanager
    def open(self) -> Iterator[kernel.TreeRows]:
        """The rows with their scores, for one question."""
        state = self._state
        if state is None:
            state = self._state = self._built()
        elif self._storage is not None:
            state.restore(self._storage.read().reshape(state.rows, -1))
        yield state
        if self._storage is not None:
            state.drop()

    def _built(self) -> kernel.TreeRows:
        """The rows with the scores of the start."""
        opening, binning = self.opening, self.part.binned().binning
        rows = opening.rows.read(self.part)
        task = rows.problem.task
        state = kernel.tree_rows(
            rows.blocks,
            layout_of(binning, opening.directions),
            np.array(opening.drawn_by or (), dtype=np.uint64),
            rows.problem.target.astype(np.uint16),
            np.ascontiguousarray(task.costs, dtype=np.float64),
            not task.by_row,
            np.ascontiguousarray(rows.problem.weight, dtype=np.float64),
            LOSSES.index(task.loss),
            opening.n_threads,
            self.part.in_memory,
        )
        start = opening.rows.start_scores(self.part, rows)
        if start is not None:
            state.set_scores(np.ascontiguousarray(start))
        if self._storage is not None and opening.drawn_by is not None:
            state.borrow_hash(self.part.put_aside(state.hash()))
        self.keep(state)
        return state

    def looking(self, state: kernel.TreeRows, drawn: bool = True) -> kernel.TreeRows:
        """The rows as they look along the last direction, with or without those drawn."""
        if self._storage is not None:
            self.take(state, None, self.look if drawn else self.look._replace(mu=0.0))
        return state

    def take(self, state: kernel.TreeRows, step: TreeStep | None, look: Look) -> tuple[float, float, float, float, int]:
        """Take a step, then look along a direction."""
        draw = look.coordinate, look.mu > 0, look.key, look.mu or 1.0
        if step is None:
            return state.take(NO_SPLITS, -1, None, look.along, *draw)
        moves = step.moves(len(look.along))
        return state.take(np.ascontiguousarray(step.splits), step.inside, moves, look.along, *draw)

    def keep(self, state: kernel.TreeRows) -> None:
        """Store the scores of a block beyond the budget."""
        if self._storage is not None:
            self._storage.write(state.save())

    def packed(self, state: kernel.TreeRows, grids: tuple[float, float]) -> kernel.TreeRows:
        """The rows searched, on the grids."""
        self.looking(state)
        if self.grids != grids or self._storage is not None:
            state.pack(*grids)
            self.grids = grids
        return state

    def problem(self) -> CostProblem:
        """Classes and weights."""
        return self.opening.rows.read(self.part, columns=False).problem

    def scores(self) -> tuple[IntArray, FloatArray]:
        """The class and the scores of each row."""
        with self.open() as state:
            return self.problem().target, state.scores()


@dataclass(frozen=True, slots=True, eq=False)
class TakeTree(Question[PartTrees, Seen]):
    """Take the step of a tree, if any, and look along the next direction."""

    step: TreeStep | None
    look: Look
    measured: bool  # whether the sums are asked for
    send: bool = False  # whether the rows that are searched are
    changes: ClassVar[bool] = True

    def answer(self, rows: PartTrees) -> Seen:
        """The answer of one part."""
        with rows.open() as state:
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
        sums, taken = np.sum([answer.sums for answer in answers], axis=0), sum(answer.taken for answer in answers)
        drawn = [answer.drawn for answer in answers if answer.drawn is not None]
        return Seen(sums, terms, largest, taken, Searched.joined(drawn) if drawn else None)


@dataclass(frozen=True, slots=True)
class SumOfRoots(Question[PartTrees, int]):
    """The sum of sqrt(g^2 + h^2 / 10), on a grid for terms up to `largest`."""

    largest: float

    def answer(self, rows: PartTrees) -> int:
        """The answer of one part."""
        with rows.open() as state:
            return int(rows.looking(state, drawn=False).sum_of_roots(self.largest))


@dataclass(frozen=True, slots=True)
class SearchSizes(Question[PartTrees, IntArray]):
    """Sums of |g| and h over the rows searched, on the given grids."""

    grids: tuple[float, float]

    def answer(self, rows: PartTrees) -> IntArray:
        """The answer of one part."""
        with rows.open() as state:
            return np.array(rows.looking(state).sizes(*self.grids), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class LeafCells(Question[PartTrees, IntArray]):
    """The histogram of a leaf over the rows searched, and its total."""

    splits: IntArray
    leaf: int
    used: Codes
    grids: tuple[float, float]

    def answer(self, rows: PartTrees) -> IntArray:
        """The answer of one part."""
        with rows.open() as state:
            return rows.packed(state, self.grids).cells(np.ascontiguousarray(self.splits), self.leaf, self.used)


@dataclass(frozen=True, slots=True, eq=False)
class LeafSums(Question[PartTrees, IntArray]):
    """Gradients and curvatures of each leaf and output over all rows, (2, leaves, outputs)."""

    splits: IntArray
    inside: int
    grids: tuple[float, float]

    def answer(self, rows: PartTrees) -> IntArray:
        """The answer of one part."""
        with rows.open() as state:
            rows.looking(state, drawn=False)
            return state.step_sums(np.ascontiguousarray(self.splits), self.inside, rows.look.coordinate, *self.grids)


@dataclass(frozen=True, slots=True, eq=False)
class TreeSlopes(Question[PartTrees, IntArray]):
    """Exact first and second derivative of the surrogate, `alpha` along a tree."""

    step: TreeStep
    alpha: float

    def answer(self, rows: PartTrees) -> IntArray:
        """The answer of one part."""
        moves = self.step.moves(rows.opening.rows.task.n_classes)
        with rows.open() as state:
            return state.slopes(np.ascontiguousarray(self.step.splits), self.step.inside, moves, self.alpha)
