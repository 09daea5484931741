"""Boosted trees over rows in parts, on disk or on workers: the loop of memory, and two questions per tree.

`SumLeaves` sends a tree and gets integer sums of every leaf; `MoveRows` sends the steps of the leaves and gets the rows that the
next search looks at, with their codes, gradients and curvatures. The tree is grown where the fit runs, so there is no message a
level. Answers are integers, maxima and rows in any order, so the trees are those of memory, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from permissible.bins.binning import BinnedTable, Binning
from permissible.kernels._core import boosted as kernels
from permissible.kernels._core import sums
from permissible.learners.trees.boosted import (
    BoostedRows,
    BoostedTrace,
    BoostedTrees,
    Callback,
    class_order,
    code_sums,
    equal_weights,
    fit_options,
    fitted,
    kernel_of,
    kernel_rows,
    layout_of,
)
from permissible.learners.trees.boosted_options import BoostedOptions
from permissible.learners.trees.boosted_weights import WeightUnit
from permissible.losses import Loss
from permissible.losses.entropy import Functor
from permissible.rows.part import Part
from permissible.rows.selection import Selection
from permissible.rows.source import OpenRows, Question, Source
from permissible.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What is known of the training rows and the held-out rows before a fit; answers of parts add up."""

    rows: IntArray  # training, held out
    limbs: IntArray  # exact sums of weights: training, held out, and of squares of the training weights
    class_limbs: IntArray
    codes: FloatArray  # sums of codes of each column and class, and at the end the rows of each class

    def __add__(self, other: "Facts") -> "Facts":
        """Both together."""
        return Facts(
            self.rows + other.rows,
            self.limbs + other.limbs,
            self.class_limbs + other.class_limbs,
            self.codes + other.codes,
        )


@dataclass(frozen=True, slots=True)
class OpenBoosted:
    """The rows of a fit of boosted trees: training rows, and held-out rows beside them."""

    loss: Loss
    n_classes: int
    unit: WeightUnit
    training: Selection
    held_out: Selection | None
    order: tuple[int, ...] = ()
    hashed: bool = False
    n_threads: int = 1
    numbers: tuple[int, ...] | None = None

    def selected(self, part: Part, selection: Selection) -> BoostedRows:
        """The selected rows of a part."""
        binned, target, weight = part.binned(), part.target(), self.unit.of(part.weight())
        mask = selection.rows(part)
        if mask is not None:
            blocks = np.ascontiguousarray(binned.blocks[:, mask])
            binned, target = BinnedTable(binned.binning, blocks, blocks.shape[1]), target[mask]
            weight = None if weight is None else weight[mask]
        if self.order:
            target = np.array(self.order)[target]
        return BoostedRows(binned, target, self.n_classes, weight, self.numbers)

    def build(self, part: Part) -> kernels.Part:
        """The rows as the kernel holds them, with their scores."""
        functor = kernel_of(self.loss)
        assert functor is not None
        held = None
        if self.held_out is not None:
            held = _kept(self.selected(part, self.held_out), functor, self.unit.whole, False, self.n_threads)
        training = _kept(self.selected(part, self.training), functor, self.unit.whole, self.hashed, self.n_threads)
        return kernels.Part(training, held, self.n_threads)


def _kept(rows: BoostedRows, loss: Functor, whole: bool, hashed: bool, n_threads: int) -> kernels.Rows:
    codes = kernels.Codes(rows.binned.blocks, rows.binned.n_columns, n_threads)
    return kernel_rows(codes, rows, loss, whole=whole, hashed=hashed, n_threads=n_threads)


@dataclass(frozen=True, slots=True)
class FactsOf(Question[Part, Facts]):
    """The facts of an opening."""

    opening: OpenBoosted

    def answer(self, rows: Part) -> Facts:
        """The answer of one part."""
        opening = self.opening
        training = opening.selected(rows, opening.training)
        held = None if opening.held_out is None else opening.selected(rows, opening.held_out)
        weight, whole = equal_weights(training), opening.unit.whole
        others = np.zeros(0) if held is None else equal_weights(held)
        target, n_classes = np.asarray(training.target), opening.n_classes
        narrow = weight if whole else weight.astype(np.float32).astype(np.float64)
        return Facts(
            np.array([len(weight), len(others)]),
            np.concatenate([_limbs(weight), _limbs(others), _limbs(weight**2)]),
            np.concatenate([_limbs(narrow[target == k]) for k in range(n_classes)]),
            code_sums(training, weight if whole else None) if n_classes > 2 else np.zeros(0),
        )


def _limbs(values: FloatArray) -> IntArray:
    values = values if len(values) else np.zeros(1)
    return np.asarray(sums.exact_limbs(np.ascontiguousarray(values, dtype=np.float64)[None, :]))


def _exact(limbs: IntArray) -> list[float]:
    return [float(value) for value in sums.exact_values(limbs)]


@dataclass(frozen=True, slots=True, eq=False)
class SumLeaves(Question[kernels.Part, IntArray]):
    """Sums of gradients and curvatures of every leaf at a step; a tree given with them becomes that of all rows."""

    changes: ClassVar[bool] = True
    repeatable: ClassVar[bool] = True
    splits: tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray] | None
    step: FloatArray | None
    leaves: int
    grids: tuple[float, float]
    exact: bool

    def answer(self, rows: kernels.Part) -> IntArray:
        """The answer of one part."""
        tree = None
        if self.splits is not None:
            n_splits = len(self.splits[0])
            ends = np.array([0, n_splits], dtype=np.int32)
            tree = kernels.Trees(*self.splits, np.zeros(n_splits), ends, np.zeros((n_splits + 1, 1)))
        return np.stack(rows.sums(tree, self.step, self.leaves, *self.grids, self.exact))


@dataclass(frozen=True, slots=True, eq=False)
class MovedRows:
    """Largest terms, number of rows drawn, sums of losses, and the rows drawn."""

    largest: tuple[float, float]
    taken: int
    losses: IntArray
    blocks: AnyArray
    gradient: AnyArray
    curvature: AnyArray
    copies: AnyArray


@dataclass(frozen=True, slots=True, eq=False)
class MoveRows(Question[kernels.Part, MovedRows]):
    """Take the step of every leaf, and draw the rows of the next search."""

    changes: ClassVar[bool] = True
    step: FloatArray
    leaves: int
    signs: AnyArray
    sampled: bool
    key: int
    mu: float
    track_loss: bool
    send: bool

    def answer(self, rows: kernels.Part) -> MovedRows:
        """The rows drawn from one part."""
        draw = self.sampled, self.key, self.mu, self.track_loss, self.send
        found = rows.move(self.step, self.leaves, self.signs, *draw)
        largest = found.gradient_most, found.curvature_most
        drawn = found.blocks, found.gradient, found.curvature, found.copies
        return MovedRows(largest, found.taken, np.array(found.losses), *drawn)

    def merge(self, answers: Sequence[MovedRows]) -> MovedRows:
        """All together."""
        if len(answers) == 1:
            return answers[0]
        gradient, curvature = zip(*(answer.largest for answer in answers), strict=True)
        losses = np.sum([answer.losses for answer in answers], axis=0)
        taken = sum(answer.taken for answer in answers)
        if not self.send:
            return replace(answers[0], largest=(max(gradient), max(curvature)), taken=taken, losses=losses)
        return MovedRows(
            (max(gradient), max(curvature)),
            taken,
            losses,
            np.ascontiguousarray(np.concatenate([answer.blocks for answer in answers], axis=1)),
            *(
                np.concatenate([getattr(answer, name) for answer in answers])
                for name in ("gradient", "curvature", "copies")
            ),
        )


@dataclass(frozen=True, slots=True)
class SumSizes(Question[kernels.Part, int]):
    """The sum of the sizes of gradients, from which the first sample follows."""

    largest: float

    def answer(self, rows: kernels.Part) -> int:
        """The answer of one part."""
        return rows.sizes(self.largest)


class _Asker:
    """What the compiled loop calls."""

    def __init__(self, rows: OpenRows[kernels.Part]) -> None:
        self._rows, self._begun = rows, False

    def sums(
        self,
        tree: kernels.Trees | None,
        step: FloatArray | None,
        leaves: int,
        gradient: float,
        curvature: float,
        exact: bool,
    ) -> tuple[IntArray, IntArray]:
        splits = None if tree is None else (tree.parent, tree.test, tree.cut, tree.column, tree.set)
        found: IntArray = self._rows.ask(SumLeaves(splits, step, leaves, (gradient, curvature), exact))
        return found[0], found[1]

    def move(
        self, step: FloatArray, leaves: int, signs: FloatArray, sampled: bool, key: int, mu: float, track_loss: bool
    ) -> kernels.Moved:
        send, self._begun = self._begun, True  # the first move leads to all scores 0, where nothing is searched
        drawn = self._rows.ask(MoveRows(step, leaves, signs, sampled, key, mu, track_loss, send))
        rows = drawn.blocks, drawn.gradient, drawn.curvature, drawn.copies
        return kernels.Moved(*drawn.largest, drawn.taken, drawn.losses.tolist(), *rows)

    def sizes(self, largest: float) -> int:
        return self._rows.ask(SumSizes(largest))


class RowsInParts:
    """Training rows and held-out rows of a source in parts."""

    def __init__(self, source: Source, opening: OpenBoosted) -> None:
        self._source, self.n_classes = source, opening.n_classes
        facts = source.survey(FactsOf(opening))
        self.has_held_out = opening.held_out is not None
        self.total, self.held_total, squares = _exact(facts.limbs)
        self._rows = float(facts.rows[0])
        if opening.unit.whole:
            self._rows = self.total
        elif source.weighted:
            self._rows = float(round(self.total**2 / squares))
        order = np.arange(self.n_classes)
        if self.n_classes > 2:
            order = np.argsort(class_order(facts.codes.reshape(-1, self.n_classes)))
        self._order, self._opening = order, replace(opening, order=tuple(order.tolist()) if self.n_classes > 2 else ())
        self._class_weight = [0.0] * self.n_classes
        for cls, weight in zip(order, _exact(facts.class_limbs), strict=True):
            self._class_weight[int(cls)] = weight

    def boost(
        self, loss: Functor, options: BoostedOptions, n_threads: int, callback: Callback | None
    ) -> tuple[BoostedTrees, BoostedTrace]:
        """Boost trees from start to end."""
        hashed = options.sample_size(self._rows) < self._rows
        rows = self._source.open(replace(self._opening, hashed=hashed))
        binning: Binning = self._source.binning
        no_rows = BinnedTable(binning, np.zeros(((len(binning.columns) + 7) // 8, 0, 8), dtype=np.uint8), 0)
        like = BoostedRows(no_rows, np.zeros(0, dtype=np.uint16), self.n_classes, numbers=self._opening.numbers)
        try:
            found = kernels.fit_asked(
                _Asker(rows),
                _kept(like, loss, True, False, 1),
                self._rows,
                self._class_weight,
                self.has_held_out,
                hashed,
                layout_of(binning, options.monotone),
                fit_options(options, like, self._rows, loss.scale, n_threads),
                callback,
            )
        finally:
            rows.close()
        return fitted(found, loss, self._order)
