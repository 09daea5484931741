"""The rows of an MCBoost fit in parts: what a part keeps between questions, and how it answers (learners/mcboost/steps.py).

In memory a part keeps the compiled state of its rows. A block on disk keeps it in a nameless file (spill.py): between questions
only the node of each row stays in memory, 4 bytes a row. A share of the rows, and rows held out, follow from content hashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from permissible.bins.layout import layout_of
from permissible.kernels._core import mcboost as kernel
from permissible.learners.mcboost.fit import saturated_rows, smallest_margin
from permissible.learners.mcboost.growing import Sizes
from permissible.learners.mcboost.linear import AffineStep, affine_scores
from permissible.learners.mcboost.problem import Problem
from permissible.learners.mcboost.rounds import Sampling
from permissible.learners.mcboost.standardise import Space
from permissible.learners.mcboost.steps import Next, Standing, Step
from permissible.learners.mcboost.temperature import misfit_limbs
from permissible.learners.trees.arrays import Grown
from permissible.learners.trees.rows import NodeSplit, move_rows
from permissible.models.kinds.forest import forest_values
from permissible.models.kinds.simplex import scores_of
from permissible.rows.part import Part, Storage, table_of
from permissible.types import AnyArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Share:
    """Rows kept or held out: a row is held out when its number (hash / 2^64) is below its class's bound."""

    which: Literal["kept", "held"]
    below: tuple[float, ...]

    def mask(self, hashes: Any, target: AnyArray) -> BoolArray:
        """The rows."""
        held = numbers_of(hashes) < np.array(self.below)[target]
        return np.asarray(held if self.which == "held" else ~held)


def numbers_of(hashes: Any) -> FloatArray:
    """Hashes as numbers in [0, 1)."""
    return np.asarray(hashes.astype(np.float64) / 2.0**64)


@dataclass(frozen=True, slots=True, eq=False)
class BoostSettings:
    """What a part must know: classes, costs and loss, which rows, which share of them a round looks at."""

    costs: FloatArray
    loss: str
    share: Share | None = None
    sampling: Sampling = field(default_factory=Sampling)
    n_threads: int = 1
    space: Space | None = None


class Examples(NamedTuple):
    """The chosen rows of a part: their codes, or where affine terms are learned their attributes."""

    blocks: AnyArray
    values: FloatArray
    problem: Problem
    hashes: npt.NDArray[np.uint64]


def examples_of(part: Part, settings: BoostSettings, features: bool = True) -> Examples:
    """Read the chosen rows, with or without their features."""
    source = part
    target, weight, hashes = source.target().astype(np.int64), source.weight(), source.hashes()
    weight = np.ones(len(target)) if weight is None else weight
    rows = None if settings.share is None else settings.share.mask(hashes, target)
    blocks, values = np.zeros((0, 0, 8), dtype=np.uint8), np.zeros((0, 0))
    if features and settings.space is not None:
        values = settings.space.values(table_of(part, rows))
    elif features:
        blocks = source.binned().blocks
    if rows is not None:
        blocks = blocks[:, rows] if blocks.size else blocks
        target, weight, hashes = target[rows], weight[rows], hashes[rows]
    return Examples(
        np.ascontiguousarray(blocks), values, Problem(target, settings.costs, weight, settings.loss), hashes
    )  # fmt: skip


def spill_of(part: Part) -> Storage | None:
    """Where a part on disk keeps its state; parts in memory keep it there."""
    return None if part.in_memory else part.storage()


@dataclass(slots=True)
class Kept:
    """An array that stays: in memory, or in a file."""

    spill: Storage | None
    values: FloatArray = field(default_factory=lambda: np.zeros(0))

    def write(self, values: FloatArray) -> None:
        """Replace it."""
        if self.spill is None:
            self.values = values
        else:
            self.spill.write(values)

    def read(self) -> FloatArray:
        """The array; nothing before the first `write`."""
        return self.values if self.spill is None else self.spill.read()


class BoostRows:
    """The training rows of one part."""

    def __init__(self, part: Part, settings: BoostSettings) -> None:
        self.part, self.settings = part, settings
        layout = layout_of(part.binned().binning)
        self.layout = layout.categorical, layout.n_codes
        self.following = Next(0, True, 0)
        self.place: npt.NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.tree, self.cut = "", 0
        self._examples: Examples | None = None
        self._state: kernel.State | None = None
        self._spill = spill_of(part)

    # -- what is kept ------------------------------------------------------------------------------------------------

    def _open(self) -> tuple[Examples, kernel.State]:
        """The rows and their state, from memory or from disk."""
        if self._examples is not None and self._state is not None:
            return self._examples, self._state
        examples = examples_of(self.part, self.settings)
        state = examples.problem.state(None, self.settings.n_threads)
        if self._spill is not None:
            saved = self._spill.read()
            if saved.size:
                state.restore(saved.reshape(-1, state.rows))
                state.derive_largest(self.following.coordinate, self.following.newton)
        else:
            self._examples, self._state = examples, state
        return examples, state

    def _keep(self, state: kernel.State) -> None:
        if self._spill is not None:
            self._spill.write(state.save())

    def _stand(self, examples: Examples, state: kernel.State, sums: IntArray, following: Next) -> Standing:
        """Keep the state, and derive along the next coordinate."""
        self.following = following
        largest = state.derive_largest(following.coordinate, following.newton)
        self._keep(state)
        sampling = self.settings.sampling
        sampled = sampling.row_share < 1.0
        chosen = int(sampling.chosen(examples.hashes, following.number).sum()) if sampled else 0
        return Standing(sums, largest, chosen)

    # -- questions ---------------------------------------------------------------------------------------------------

    def begin(self, following: Next) -> Standing:
        """Begin at score zero."""
        examples, state = self._open()
        return self._stand(examples, state, state.begin_sums(), following)

    def cells(
        self, tree: str, cuts: tuple[NodeSplit, ...], wanted: tuple[int, ...], grids: Sizes, sampled: bool
    ) -> tuple[IntArray, IntArray]:
        """Cells of nodes of a tree; the cuts are all those made so far."""
        examples, state = self._open()
        if tree != self.tree or self.cut > len(cuts):
            self.tree, self.cut = tree, 0
            self.place = np.zeros(state.rows, dtype=np.int32)
            if sampled:
                self.place[~self.settings.sampling.chosen(examples.hashes, self.following.number)] = -1
        if len(cuts) > self.cut:
            move_rows(examples.blocks, self.place, cuts[self.cut :])
            self.cut = len(cuts)
        outputs = 1 if self.following.coordinate >= 0 else state.classes - 1
        return state.node_cells(
            examples.blocks, *self.layout, self.place, np.array(wanted, dtype=np.int32), outputs, *grids
        )

    def packed_cells(self, largest: list[float], n_rows: int) -> IntArray:
        """Packed cells of all rows."""
        examples, state = self._open()
        return state.packed_cells(examples.blocks, *self.layout, largest, n_rows)

    def packed_sums(self, test: tuple[int, int, bool], largest: list[float], n_rows: int) -> IntArray:
        """Exact sums of the sides of a stump."""
        examples, state = self._open()
        return state.packed_sums(examples.blocks, *test, largest, n_rows)

    def affine(self, largest: float, n_rows: int, sampled: bool) -> IntArray:
        """Sums of all attributes."""
        examples, state = self._open()
        space, number = self.settings.space, self.following.number
        assert space is not None
        share = self.settings.sampling.chosen(examples.hashes, number).astype(np.float64) if sampled else None
        outputs = 1 if self.following.coordinate >= 0 else state.classes - 1
        return state.affine_sums(examples.values, space.low, space.high, share, outputs, largest, n_rows)

    def slopes(self, step: Step, alpha: float) -> IntArray:
        """Exact slopes along a tree or term."""
        examples, state = self._open()
        self._step(examples, state, step)
        return state.slopes(self.following.coordinate, alpha)

    def take(self, step: Step, factor: float, following: Next) -> Standing:
        """Take a step, finish the round where it was the last, and begin the next."""
        examples, state = self._open()
        coordinate = self.following.coordinate
        if isinstance(step, Grown) and step.packed and coordinate < 0:
            leaf = kernel.leaves_of(examples.blocks, *step.nodes())
            state.move_two(leaf, step.values(state.classes - 1), factor)
        else:
            self._step(examples, state, step)
            state.move(coordinate, factor)
        sums = np.zeros((3, 0), dtype=np.int64)
        if following.number != self.following.number:
            if coordinate >= 0:
                state.finish_round()
            sums = state.begin_sums()
        return self._stand(examples, state, sums, following)

    def _step(self, examples: Examples, state: kernel.State, step: Step) -> None:
        coordinate = self.following.coordinate
        if isinstance(step, AffineStep):
            state.set_affine(coordinate, examples.values, step.column, step.slope, step.level)
            return
        leaf = kernel.leaves_of(examples.blocks, *step.nodes())
        state.set_steps(coordinate, leaf, step.values(1 if coordinate >= 0 else state.classes - 1))

    def saturated(self, exponent: float) -> int:
        """How many rows have a posterior of 0 or 1."""
        _, state = self._open()
        return saturated_rows(state.scores(), exponent)

    def margin(self) -> float:
        """The least margin of the rows."""
        examples, state = self._open()
        return smallest_margin(examples.problem.target, state.scores())


class JudgedRows:
    """Held-out rows of one part: their scores grow round by round; those after the best round are kept beside them."""

    def __init__(self, part: Part, settings: BoostSettings) -> None:
        self.part, self.settings = part, settings
        spills = [spill_of(part) for _ in range(2)]
        examples = examples_of(part, settings, features=spills[0] is None)
        self._examples = examples if spills[0] is None else None
        self._kept = {"last": Kept(spills[0]), "best": Kept(spills[1])}
        self._kept["last"].write(np.zeros((len(examples.problem.target), len(settings.costs))))

    def _scores(self, which: str) -> FloatArray:
        return self._kept[which].read().reshape(-1, len(self.settings.costs))

    def judge(self, terms: Any, was_best: bool) -> IntArray:
        """Take a round in; exact sums of the surrogate, the cost and the errors. `was_best`: the round before was."""
        examples = self._examples or examples_of(self.part, self.settings)
        before = self._scores("last")
        if was_best:
            self._kept["best"].write(before)
        scores = before + self._added(terms, examples)
        self._kept["last"].write(scores)
        return examples.problem.state(scores, 1).begin_sums()

    def _added(self, terms: Any, examples: Examples) -> FloatArray:
        """What a round adds to the scores."""
        space, n_classes = self.settings.space, len(self.settings.costs)
        if space is None:
            binning = self.part.binned().binning
            return scores_of(forest_values(terms, examples.blocks, binning, n_classes))
        return affine_scores(terms, examples.values, n_classes)

    def misfit(self, best: bool, exponent: float) -> IntArray:
        """The exact sum of the log-losses of the rows at an exponent."""
        problem = (self._examples or examples_of(self.part, self.settings, features=False)).problem
        return misfit_limbs(exponent, self._scores("best" if best else "last"), problem.target, problem.weight)

    def margin(self) -> float:
        """The least margin of the rows."""
        problem = (self._examples or examples_of(self.part, self.settings, features=False)).problem
        return smallest_margin(problem.target, self._scores("last"))


class BoostKind:
    """Builds and merges the training rows of MCBoost fits."""

    changes = frozenset({"begin", "take"})

    def build(self, part: Part, settings: BoostSettings) -> BoostRows:
        """The rows of one part under a fit."""
        return BoostRows(part, settings)

    def merge(self, method: str, answers: Sequence[Any]) -> Any:
        """Add what adds."""
        match method:
            case "begin" | "take":
                return Standing.merged(answers)
            case "cells":
                return tuple(sum(found[1:], found[0]) for found in zip(*answers, strict=True))
            case "margin":
                return min(answers)
            case _:
                return sum(answers[1:], answers[0])


class JudgeKind:
    """Builds and merges the held-out rows of MCBoost fits."""

    changes = frozenset({"judge"})

    def build(self, part: Part, settings: BoostSettings) -> JudgedRows:
        """The held-out rows of one part."""
        return JudgedRows(part, settings)

    def merge(self, method: str, answers: Sequence[Any]) -> Any:
        """Sums add."""
        return min(answers) if method == "margin" else sum(answers[1:], answers[0])
