"""UDT over parts of the rows: blocks on disk, or workers. The same tree as in one piece, bit for bit.

The coordinator holds the tree, the parts hold the rows and know only which node each row is in. One question serves a batch of
nodes: cut these, and count the histograms of those. Histograms are integers and add. A leaf's best cut does not depend on the
order of growth, so leaves that may be wanted are cut ahead of time, and the best-first order is played back over what is known:
a tree of 255 leaves takes about as many questions as it is deep.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from permissible.bins.binning import BinnedTable, Binning
from permissible.bins.layout import layout_of
from permissible.kernels._core import sums, trees
from permissible.learners.udt.fit import TreeLimits, TreeTrace, assemble, compiled_impurity
from permissible.models.kinds.tree import TreeModel
from permissible.types import AnyArray, Codes, FloatArray, IntArray

BATCH_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Weighting:
    """How weights become integers: times `grid` (None: they are counts), and whether rows are counted apart."""

    grid: float | None
    counted: bool

    @property
    def unit(self) -> float:
        """The weight of one integer step."""
        return 1.0 if self.grid is None else 1.0 / self.grid

    def integers(self, weight: FloatArray) -> IntArray:
        """Weights as integers; a positive one is never 0."""
        scaled = np.rint(weight if self.grid is None else weight * self.grid).astype(np.int64)
        return np.maximum(scaled, weight > 0)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the parts say before growth: rows, largest and total weight, and whether all weights are whole numbers."""

    n_rows: int
    largest: float
    limbs: IntArray
    whole: bool

    @property
    def total(self) -> float:
        """The exact total weight, rounded once."""
        return sums.exact_values(self.limbs)[0]

    @classmethod
    def of(cls, weight: FloatArray | None, n_rows: int) -> "Facts":
        """The facts of one part."""
        if weight is None or not len(weight):
            return cls(n_rows, 1.0 if n_rows else 0.0, sums.exact_limbs(np.array([[float(n_rows)]])), True)
        limbs = sums.exact_limbs(np.ascontiguousarray(weight, dtype=np.float64)[None, :])
        return cls(n_rows, float(weight.max()), limbs, bool(np.array_equal(weight, np.rint(weight))))

    @classmethod
    def merged(cls, facts: Sequence["Facts"]) -> "Facts":
        """The facts of several parts together."""
        largest = max((fact.largest for fact in facts), default=0.0)
        limbs = sum((fact.limbs for fact in facts[1:]), facts[0].limbs)
        return cls(sum(fact.n_rows for fact in facts), largest, limbs, all(fact.whole for fact in facts))

    def weighting(self, limits: TreeLimits) -> Weighting:
        """The same grid as `quantise` takes for the rows in one piece."""
        if self.whole and self.largest * self.n_rows < 2**31:
            return Weighting(None, False)
        _, exponent = np.frexp(self.largest * self.n_rows)
        return Weighting(float(np.ldexp(1.0, 61 - int(exponent))), limits.min_samples_leaf > 1)


@dataclass(frozen=True, slots=True)
class Cut:
    """A node that is cut, as the parts need to know it."""

    node: int
    column: int
    left_set: bytes
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Weighed:
    """What was found out about some nodes with one question: totals, rows and best cut (or None) of each. A journal keeps it."""

    nodes: tuple[tuple[Any, int, Any], ...]


Answer = tuple[IntArray, IntArray]
"""Histograms of the wanted nodes, shape (n, size), and the number of rows of each."""
Ask = Callable[[tuple[Cut, ...], tuple[int, ...]], Answer]


class Blocks(Protocol):
    """The rows of a part, read when they are needed: (binned rows, target, weight or None) block by block."""

    def __iter__(self) -> Iterator[tuple[BinnedTable, AnyArray, FloatArray | None]]: ...


class PartRows:
    """The rows of one part during growth: which node each one is in."""

    def __init__(self, blocks: Blocks, n_classes: int, weighting: Weighting, n_threads: int = 1) -> None:
        self.blocks, self.n_classes, self.weighting, self.n_threads = blocks, n_classes, weighting, n_threads
        self.node_of_row: list[npt.NDArray[np.int32]] | None = None

    def expand(self, cuts: tuple[Cut, ...], wanted: tuple[int, ...]) -> Answer:
        """Cut nodes, then count the histograms of others."""
        places, total = [], None
        for number, (binned, target, weight) in enumerate(self.blocks):
            integers, place = self._integers(weight), self._place(number, weight, binned.n_rows)
            places.append(place)
            if cuts:
                move_rows(binned.blocks, place, cuts)
            answer = trees.part_histograms(
                binned.blocks, binned.n_columns, np.ascontiguousarray(target, dtype=np.uint16), max(self.n_classes, 2),
                integers, self.weighting.counted, layout_of(binned.binning).n_codes, place,
                np.array(wanted, dtype=np.int32), self.n_threads,
            )  # fmt: skip
            total = answer if total is None else merge_answers([total, answer])
        self.node_of_row = places
        assert total is not None
        return total

    def facts(self) -> Facts:
        """Number and weights of the rows."""
        return Facts.merged([Facts.of(weight, binned.n_rows) for binned, _, weight in self.blocks])

    def _place(self, number: int, weight: FloatArray | None, n_rows: int) -> npt.NDArray[np.int32]:
        if self.node_of_row is not None:
            return self.node_of_row[number]
        start = np.zeros(n_rows, dtype=np.int32)
        if weight is not None:
            start[weight <= 0] = -1
        return start

    def _integers(self, weight: FloatArray | None) -> IntArray | None:
        return None if weight is None else self.weighting.integers(weight)


def merge_answers(answers: Sequence[Answer]) -> Answer:
    """The answers of several parts, added."""
    return sum((a[0] for a in answers[1:]), answers[0][0]), sum((a[1] for a in answers[1:]), answers[0][1])


def move_rows(blocks: Codes, place: npt.NDArray[np.int32], cuts: tuple[Cut, ...]) -> None:
    """Move the rows of the nodes that are cut to their children."""
    sets = np.frombuffer(b"".join(cut.left_set for cut in cuts), dtype=np.uint8).reshape(-1, 32)
    columns = [[getattr(cut, name) for cut in cuts] for name in ("node", "column", "left", "right")]
    nodes, column, left, right = (np.array(values, dtype=np.int32) for values in columns)
    trees.move_rows(blocks, place, nodes, column, sets, left, right)


@dataclass(slots=True)
class _Node:
    """A node that is known to the coordinator, whether the tree will have it or not."""

    number: int
    totals: IntArray
    rows: int
    depth: int
    low: float = 0.0
    high: float = 1.0
    histogram: IntArray | None = None
    choice: tuple[float, float, int, int, int, Codes, IntArray] | None = None
    children: "tuple[_Node, _Node] | None" = None


@dataclass(slots=True)
class Coordinator:
    """Grows the tree from answers alone."""

    ask: Ask
    binning: Binning
    n_classes: int
    loss: Any
    weighting: Weighting
    limits: TreeLimits
    total: float
    monotone: AnyArray | None = None
    n_threads: int = 1
    recall: Callable[[Callable[[], Weighed]], Weighed] = lambda find: find()
    known: int = 1
    untold: list[Cut] = field(default_factory=list)

    def run(self, smoothing: float = 0.0) -> tuple[TreeModel, TreeTrace]:
        """Grow best-first."""
        root = _Node(0, np.zeros(0, dtype=np.int64), 0, 0)
        self._learn([root], lambda: self._ask_root(root))
        final, parents = [root], []
        gains: list[float] = []
        queue: list[tuple[float, int]] = []
        self._queue(queue, root, 0)
        while queue and (self.limits.max_leaves is None or len(gains) + 1 < self.limits.max_leaves):
            _, place = heapq.heappop(queue)
            node = final[place]
            if node.children is None:
                self._expand([node, *self._ahead(queue, final, len(gains))])
            assert node.children is not None
            assert node.choice is not None
            parents.append(place)
            gains.append(node.choice[0])
            for child in node.children:
                final.append(child)
                self._queue(queue, child, len(final) - 1)
        return self._assemble(final, parents, gains, smoothing)

    @staticmethod
    def _queue(queue: list[tuple[float, int]], node: _Node, place: int) -> None:
        if node.choice is not None:
            heapq.heappush(queue, (-node.choice[1], place))

    def _ahead(self, queue: list[tuple[float, int]], final: list[_Node], made: int) -> list[_Node]:
        """The leaves that growth may come to next: as many as there may be splits, within the memory of a batch."""
        size = sum(len(run) for run in self._run_lengths()) * 8
        most = max(BATCH_BYTES // size - 1, 0)
        if self.limits.max_leaves is not None:
            most = min(most, self.limits.max_leaves - made - 2)
        # A node can come only after those above it, so it ranks by the least gain on its way.
        ranked: list[tuple[float, int, _Node]] = []
        stack = [(-key, final[place]) for key, place in queue]
        while stack:
            rank, node = stack.pop()
            if node.children is None:
                ranked.append((-rank, node.number, node))
            else:
                stack += [(min(rank, child.choice[1]), child) for child in node.children if child.choice is not None]
        return [node for _, _, node in sorted(ranked, key=lambda entry: entry[:2])[: max(most, 0)]]

    def _run_lengths(self) -> list[range]:
        channels = max(self.n_classes, 2) + self.weighting.counted
        return [range((int(codes) + 1) * channels) for codes in layout_of(self.binning).n_codes]

    def _totals(self, histogram: IntArray) -> IntArray:
        """Channel sums of a node, from the first column of its histogram."""
        channels = max(self.n_classes, 2) + self.weighting.counted
        totals = histogram[: len(self._run_lengths()[0])].reshape(channels, -1).sum(axis=1)
        return np.asarray(totals, dtype=np.int64)

    def _expand(self, batch: list[_Node]) -> None:
        """Cut a batch of nodes with one question, and weigh their children; the larger child comes by subtraction."""
        cuts, smaller = [], []
        for node in batch:
            assert node.choice is not None
            left_totals = node.choice[6]
            left = _Node(self.known, left_totals, 0, node.depth + 1, node.low, node.high)
            right = _Node(self.known + 1, node.totals - left_totals, 0, node.depth + 1, node.low, node.high)
            self.known += 2
            self._bound(node, left, right)
            node.children = left, right
            column, left_set = node.choice[2], node.choice[5]
            cuts.append(Cut(node.number, column, left_set.tobytes(), left.number, right.number))
            smaller.append(left if left.totals.sum() <= right.totals.sum() else right)
        self.untold += cuts
        self._learn(
            [child for node in batch for child in node.children or ()], lambda: self._ask_children(batch, smaller)
        )

    def _learn(self, nodes: list[_Node], find: Callable[[], None]) -> None:
        """Find something out about nodes, or take it from the journal of an earlier try, which leaves no histograms."""

        def found() -> Weighed:
            find()
            return Weighed(tuple((node.totals, node.rows, node.choice) for node in nodes))

        for node, (totals, rows, choice) in zip(nodes, self.recall(found).nodes, strict=True):
            node.totals, node.rows = np.asarray(totals, dtype=np.int64), int(rows)
            if choice is not None:
                left_set, left = np.asarray(choice[-2], dtype=np.uint8), np.asarray(choice[-1], dtype=np.int64)
                node.choice = (*choice[:5], left_set, left)  # journals of earlier versions hold one more value

    def _ask_root(self, root: _Node) -> None:
        histogram, rows = self.ask((), (0,))
        root.totals, root.rows, root.histogram = self._totals(histogram[0]), int(rows[0]), histogram[0]
        self._weigh(root)

    def _ask_children(self, batch: list[_Node], smaller: list[_Node]) -> None:
        """One question: the cuts that the parts do not know yet, and a histogram for each node (two where its own is gone)."""
        wanted: list[_Node] = []
        for node, small in zip(batch, smaller, strict=True):
            wanted += [small] if node.histogram is not None else list(node.children or ())
        histograms, rows = self.ask(tuple(self.untold), tuple(node.number for node in wanted))
        self.untold.clear()
        answers = {node.number: answer for node, *answer in zip(wanted, histograms, rows, strict=True)}
        for node, small in zip(batch, smaller, strict=True):
            assert node.children is not None
            large = node.children[1] if small is node.children[0] else node.children[0]
            small.histogram, count = answers[small.number]
            small.rows, large.rows = int(count), node.rows - int(count)
            large.histogram = answers[large.number][0] if node.histogram is None else node.histogram - small.histogram
            node.histogram = None
            for child in node.children:
                self._weigh(child)

    def _bound(self, node: _Node, left: _Node, right: _Node) -> None:
        """A monotone cut keeps one side below the middle of the two probabilities, and the other above it."""
        assert node.choice is not None
        direction = 0 if self.monotone is None or node.choice[3] == 1 else int(self.monotone[node.choice[2]])
        if direction:
            unit = self.weighting.unit
            shares = [part.totals[1] * unit / (part.totals[0] * unit + part.totals[1] * unit) for part in (left, right)]
            below, above = (left, right) if direction > 0 else (right, left)
            below.high = above.low = float(0.5 * (shares[0] + shares[1]))

    def _weigh(self, node: _Node) -> None:
        """Find a node's best cut, if it may be cut."""
        classes = max(self.n_classes, 2)
        too_deep = self.limits.max_depth is not None and node.depth >= self.limits.max_depth
        if (node.totals[:classes] > 0).sum() < 2 or node.rows < 2 or too_deep or node.histogram is None:
            node.histogram = None
            return
        layout = layout_of(self.binning)
        codes, categorical = layout.n_codes, layout.categorical
        monotone = np.zeros(len(codes)) if self.monotone is None else self.monotone
        node.choice = trees.choose_cut(
            np.ascontiguousarray(node.histogram), np.ascontiguousarray(node.totals), classes, self.weighting.unit,
            self.weighting.counted, codes, categorical, np.ascontiguousarray(monotone, dtype=np.int8),
            *compiled_impurity(self.loss), float(self.limits.min_samples_leaf),
            self.limits.min_weight_fraction_leaf * self.total, self.limits.min_gain * self.total, node.low, node.high,
            self.n_threads,
        )  # fmt: skip
        if node.choice is None:
            node.histogram = None

    def _assemble(
        self, final: list[_Node], parents: list[int], gains: list[float], smoothing: float
    ) -> tuple[TreeModel, TreeTrace]:
        n, classes = len(final), max(self.n_classes, 2)
        grown: dict[str, AnyArray] = {
            "left": np.full(n, -1), "right": np.full(n, -1), "column": np.full(n, -1), "code": np.full(n, -1),
            "test": np.full(n, -1), "left_set": np.zeros((n, 32), dtype=np.uint8),
            "weight": np.array([node.totals[:classes] for node in final]) * self.weighting.unit,
            "samples": np.array([node.rows for node in final]), "split_order": np.array(parents, dtype=np.int64),
            "gain": np.array(gains), "leaf_of_row": np.zeros(0, dtype=np.int64),
        }  # fmt: skip
        sums = np.ascontiguousarray(grown["weight"].T, dtype=np.float64)
        grown["impurity"] = trees.node_impurities(sums, *compiled_impurity(self.loss))
        for made, place in enumerate(parents):
            choice = final[place].choice
            assert choice is not None
            _, _, grown["column"][place], grown["test"][place], grown["code"][place], grown["left_set"][place], _ = (
                choice
            )
            grown["left"][place], grown["right"][place] = 2 * made + 1, 2 * made + 2
        return assemble(self.binning, self.loss, grown, self.n_classes, smoothing, self.limits, self.monotone)
