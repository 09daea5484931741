"""UDT over parts: the coordinator of learners/trees/grower.py with rows in blocks on disk or on workers, pruning included.

A part knows its rows, the fold that is left out, and which node each row is in; everything else is with the coordinator.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.bins.binning import BinnedTable, Binning
from permissible.distributed.asked import Asked
from permissible.learners.trees.grower import Answer, Coordinator, Cut, Facts, PartRows, Weighting, merge_answers
from permissible.learners.trees.pruning import (
    PruningPath,
    best_level,
    candidate_levels,
    descend,
    left_out_surrogate,
    link_levels,
)
from permissible.learners.udt.fit import TreeLimits, TreeTrace
from permissible.models.kinds.tree import TreeModel
from permissible.rows.part import Part
from permissible.rows.source import Source
from permissible.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows left out: those whose content hash leaves `number` when divided by `n_folds`."""

    n_folds: int
    number: int

    def holds(self, hashes: Any) -> AnyArray:
        """Whether each row is in the fold."""
        return np.asarray(hashes % np.uint64(self.n_folds) == self.number)


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """What a part must know: how weights become integers, and which fold is left out."""

    n_classes: int
    weighting: Weighting = field(default_factory=lambda: Weighting(None, False))
    fold: Fold | None = None
    n_threads: int = 1


@dataclass(frozen=True, slots=True)
class PartBlocks:
    """A part as the learner reads it: one block, whose rows of the fold have weight 0."""

    part: Part
    fold: Fold | None

    def __iter__(self) -> Iterator[tuple[BinnedTable, AnyArray, FloatArray | None]]:
        part = self.part
        weight = part.weight()
        if self.fold is not None:
            outside = self.fold.holds(part.hashes())
            weight = np.where(outside, 0.0, 1.0 if weight is None else weight)
        yield part.binned(), part.target(), weight


@dataclass(slots=True)
class TreeRows:
    """The rows of one part under a fit."""

    part: Part
    settings: TreeSettings
    rows: PartRows

    def facts(self) -> Facts:
        """Number and weights of the rows."""
        return self.rows.facts()

    def expand(self, cuts: tuple[Cut, ...], wanted: tuple[int, ...]) -> Answer:
        """Cut nodes, count histograms."""
        return self.rows.expand(cuts, wanted)

    def leaf_sums(self, tree: TreeModel, fold: Fold) -> IntArray:
        """Class weights of the rows of a fold at each leaf, as integers."""
        part = self.part
        weight = part.weight()
        binned, target = part.binned(), part.target().astype(np.int64)
        ones = np.ones(binned.n_rows)
        integers = self.settings.weighting.integers(ones if weight is None else weight)
        sums = np.zeros(tree.weight.shape, dtype=np.int64)
        np.add.at(sums, (descend(tree, binned), target), np.where(fold.holds(part.hashes()), integers, 0))
        return sums


class TreeKind:
    """Builds and merges the rows of tree fits."""

    changes = frozenset({"expand"})
    repeatable = changes  # a node that was cut has no rows; histograms kept by every part would fill the memory

    def build(self, part: Part, settings: TreeSettings) -> TreeRows:
        """The rows of one part under a fit."""
        blocks = PartBlocks(part, settings.fold)
        return TreeRows(part, settings, PartRows(blocks, settings.n_classes, settings.weighting, settings.n_threads))

    def merge(self, method: str, answers: Sequence[Any]) -> Any:
        """Add what adds."""
        match method:
            case "facts":
                return Facts.merged(answers)
            case "expand":
                return merge_answers(answers)
            case _:
                return sum(answers[1:], answers[0])


@dataclass(frozen=True, slots=True, eq=False)
class TreeFit:
    """A tree to be grown on parts."""

    source: Source
    binning: Binning
    n_classes: int
    loss: Any
    limits: TreeLimits
    monotone: AnyArray | None = None
    smoothing: float = 0.0
    n_threads: int = 1
    recall: Callable[[Callable[[], Any]], Any] = lambda find: find()

    def grow(self, fold: Fold | None = None) -> tuple[TreeModel, TreeTrace, Facts]:
        """Grow the tree of all rows, or of those outside a fold."""
        facts: Facts = self._ask_once(TreeSettings(self.n_classes, fold=fold), "facts")
        weighting = facts.weighting(self.limits)
        settings = TreeSettings(self.n_classes, weighting, fold, self.n_threads)
        remote = Asked(self.source, "tree", settings)
        try:
            model, trace = Coordinator(
                lambda cuts, wanted: remote.ask("expand", cuts, wanted), self.binning, self.n_classes, self.loss,
                weighting, self.limits, facts.total, self.monotone, self.n_threads, self.recall,
            ).run(self.smoothing)  # fmt: skip
        finally:
            remote.close()
        return model, trace, facts

    def cross_validated(self, tree: TreeModel, trace: TreeTrace, facts: Facts, n_folds: int) -> PruningPath:
        """Choose the pruning level by folds of content."""
        candidates = candidate_levels(link_levels(tree, trace.impurity))
        total = np.zeros(len(candidates))
        weighting = facts.weighting(self.limits)
        for number in range(n_folds):
            fold = Fold(n_folds, number)
            part, part_trace, inside = self.grow(fold)
            if not inside.largest:
                continue
            sums = self._ask_once(TreeSettings(self.n_classes, weighting), "leaf_sums", part, fold)
            total += left_out_surrogate(part, part_trace, sums * weighting.unit, candidates)
        return best_level(candidates, total / facts.total)

    def _ask_once(self, settings: TreeSettings, method: str, *arguments: Any) -> Any:
        remote = Asked(self.source, "tree", settings)
        try:
            return remote.ask(method, *arguments)
        finally:
            remote.close()
