"""The rows of a part while a tree grows: the node of each row, and the questions of a grower.

A question carries all splits of the tree so far. A part applies those that it has not applied yet, so a part that was
lost starts again at the root and catches up. Weights are integers, so the answers of parts add up exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from permissible.bins.binning import BinnedTable, Binning
from permissible.bins.layout import layout_of
from permissible.kernels._core import trees
from permissible.models.kinds.tree import TreeModel
from permissible.rows.part import Part, weights_of
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.source import Question
from permissible.rows.totals import Totals
from permissible.types import AnyArray, Codes, FloatArray, IntArray

NodeOfRow = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class NodeSplit:
    """A split of a node, as sent to the parts."""

    node: int
    column: int
    left_set: bytes
    left: int
    right: int


NodeSums = tuple[IntArray, IntArray]
"""Histograms of the requested nodes, (nodes, size), and the number of rows of each."""


@dataclass(frozen=True, slots=True)
class Weighting:
    """How weights become integers: times `grid` (None: they are integers), and whether rows are counted too."""

    grid: float | None = None
    counted: bool = False

    @classmethod
    def of(cls, totals: Totals, counted: bool = False) -> "Weighting":
        """Integer weights are unchanged; others are rounded to the power-of-two grid on which their sum fits 61 bits.

        The grid follows from the largest weight and the number of rows only, not from their order.
        """
        if totals.integers and (totals.largest <= 1 or totals.largest * totals.n_rows < 2**31):
            return cls()
        _, exponent = np.frexp(totals.largest * totals.n_rows)
        return cls(float(np.ldexp(1.0, 61 - int(exponent))), counted)

    @property
    def unit(self) -> float:
        """The weight of one integer step."""
        return 1.0 if self.grid is None else 1.0 / self.grid

    def integers(self, weight: FloatArray) -> IntArray:
        """Weights as integers; a positive one is never 0."""
        scaled = np.rint(weight if self.grid is None else weight * self.grid).astype(np.int64)
        return np.maximum(scaled, weight > 0)


def kernel_columns(binning: Binning, monotone: AnyArray | None = None) -> trees.Columns:
    """The columns as the kernels take them; `monotone` is -1, 0 or 1 for each."""
    layout = layout_of(binning)
    directions = np.zeros(len(layout.n_codes)) if monotone is None else monotone
    return trees.Columns(layout.n_codes, layout.categorical, np.ascontiguousarray(directions, dtype=np.int8))


@dataclass(frozen=True, slots=True)
class OpenClassRows:
    """Opens the selected rows of each part, with their classes and integer weights."""

    n_classes: int
    weighting: Weighting
    selection: Selection = ALL_ROWS
    n_threads: int = 1

    def build(self, part: Part) -> "ClassRows | None":
        """The rows of one part."""
        chosen = self.selection.rows(part)
        return ClassRows(part, self) if (len(part.target()) if chosen is None else chosen.any()) else None

    def start(self, part: Part) -> NodeOfRow:
        """Node 0 for each row of the fit, -1 for the others."""
        weight, target = part.weight(), part.target()
        start = np.zeros(len(target), dtype=np.int32)
        if weight is not None:
            start[weight <= 0] = -1
        if self.selection.intervals:
            start[~np.asarray(self.selection.rows(part))] = -1
        return start


class ClassRows:
    """The rows of one part: the node of each, 4 bytes per row. Codes and weights stay with the part.

    Without weights the rows as the kernels take them are kept too, 2 bytes per row for the classes.
    """

    def __init__(self, part: Part, opening: OpenClassRows) -> None:
        self.part, self.opening = part, opening
        self._kept: trees.Rows | None = None
        self._node_of_row: NodeOfRow | None = None
        self._splits_made = 0

    def sums(self, splits: tuple[NodeSplit, ...], requested: tuple[int, ...]) -> NodeSums:
        """Apply the new splits, then sum the requested nodes."""
        if self._node_of_row is None or self._splits_made > len(splits):
            self._node_of_row, self._splits_made = self.opening.start(self.part), 0
        binned = self.part.binned()
        if len(splits) > self._splits_made:
            move_rows(binned.blocks, self._node_of_row, splits[self._splits_made :])
            self._splits_made = len(splits)
        rows = self._kernel_rows_now(binned)
        return rows.sums(self._node_of_row, np.array(requested, dtype=np.int32), self.opening.n_threads)

    def _kernel_rows_now(self, binned: BinnedTable) -> trees.Rows:
        if self._kept is not None:
            return self._kept
        weight = self.part.weight()
        rows = self.kernel_rows(binned, None if weight is None else self.opening.weighting.integers(weight))
        self._kept = rows if weight is None else None
        return rows

    def kernel_rows(self, binned: BinnedTable, weight: AnyArray | None) -> trees.Rows:
        """The rows as the kernels take them."""
        target, opening = np.ascontiguousarray(self.part.target(), dtype=np.uint16), self.opening
        classes, counted = max(opening.n_classes, 2), opening.weighting.counted
        rows = trees.Rows(binned.blocks, kernel_columns(binned.binning), target, weight, classes, counted)
        rows.mapped = not self.part.keeps(8 * len(binned.blocks))
        return rows

    def whole(self) -> trees.Rows:
        """All rows of the part; rows that are not selected have weight 0."""
        weight, weighting = self.part.weight(), self.opening.weighting
        if self.opening.selection.intervals:
            weight = np.where(self.opening.start(self.part) < 0, 0.0, weights_of(self.part))
        integers: AnyArray | None = None if weight is None else weighting.integers(weight)
        if integers is not None and weighting.grid is None:
            integers = integers.astype(np.int32)
        rows = self.kernel_rows(self.part.binned(), integers)
        self.part.release()
        return rows


def move_rows(blocks: Codes, node_of_row: NodeOfRow, splits: Sequence[NodeSplit]) -> None:
    """Move the rows of the nodes that are split to their children."""
    sets = np.frombuffer(b"".join(split.left_set for split in splits), dtype=np.uint8).reshape(-1, 32)
    numbers = np.array([(split.node, split.column, split.left, split.right) for split in splits], dtype=np.int32)
    trees.move_rows(blocks, node_of_row, numbers, sets)


@dataclass(frozen=True, slots=True)
class SumNodes(Question[ClassRows, NodeSums]):
    """Apply the splits of a tree, and sum the rows of the requested nodes."""

    splits: tuple[NodeSplit, ...]
    requested: tuple[int, ...]

    def answer(self, rows: ClassRows) -> NodeSums:
        """The sums of one part."""
        return rows.sums(self.splits, self.requested)

    def merge(self, answers: Sequence[NodeSums]) -> NodeSums:
        """The sums of all parts, added."""
        if len(answers) == 1:
            return answers[0]
        histograms, counts = answers[0][0] + answers[1][0], answers[0][1] + answers[1][1]
        for more in answers[2:]:
            histograms += more[0]
            counts += more[1]
        return histograms, counts


@dataclass(frozen=True, slots=True, eq=False)
class LeafWeights(Question[Part, IntArray]):
    """Class weights, as integers, of the selected rows at each leaf of a tree."""

    tree: TreeModel
    weighting: Weighting
    selection: Selection = ALL_ROWS

    def answer(self, rows: Part) -> IntArray:
        """The answer of one part."""
        binned, target = rows.binned(), rows.target().astype(np.int64)
        integers = self.weighting.integers(weights_of(rows))
        if self.selection.intervals:
            integers = np.where(np.asarray(self.selection.rows(rows)), integers, 0)
        sums = np.zeros(self.tree.weight.shape, dtype=np.int64)
        np.add.at(sums, (descend(self.tree, binned), target), integers)
        return sums


def descend(tree: TreeModel, binned: BinnedTable) -> IntArray:
    """The leaf of each binned row."""
    node_of_row = np.zeros(binned.n_rows, dtype=np.int64)
    stack = [(0, np.arange(binned.n_rows))]
    while stack:
        node, rows = stack.pop()
        literal = tree.literals[node]
        if literal is None:
            node_of_row[rows] = node
            continue
        goes = literal.covers(binned.column_codes(literal.column)[rows])
        stack += [(int(tree.left[node]), rows[goes]), (int(tree.right[node]), rows[~goes])]
    return node_of_row
