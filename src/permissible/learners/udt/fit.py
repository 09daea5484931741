"""UDT: a decision tree for any permissible phi ([T] section 4.2; mathematics.md section 6).

The surrogate of a tree is sum over its leaves of W_k (phi(p_k) - a) / b. Growth is best-first: among all leaves and all
splits take the one that lowers it most,

    A = (1/b) [sum_c W_c phi(p_c) - W_k phi(p_k)] <= 0                                                    (49)

as long as A < 0. With two classes phi_B is the criterion of CART, phi_Q the information gain of C4.5, phi_M the
criterion of Kearns and Mansour. With more classes, and with costs, see losses/class_impurity.py: Shannon's entropy for
phi_Q, Gini's index for phi_B, otherwise phi summed over the classes, each one against the rest. Ties: the older leaf,
then the first column, then missing values right, then the lower threshold; gains that differ by rounding only (1e-12 of
the gain, 1e-14 of the node's weight) are ties, such a gain is 0. A split on a categorical column is "in a set": the
categories are ordered by the probability of a class and split in this order, which is optimal for two classes and any
concave phi. With more classes each of the 8 most frequent ones gives an order to try. Rows with a category or a missing
value that a node did not have in training go to the heavier child.
"""

from dataclasses import dataclass

import numpy as np

from permissible.learners import choose
from permissible.learners.constraints.paths import GroupedCriterion
from permissible.learners.trees.arrays import TreeArrays, TreeTrace, arrays_of, tree_and_trace
from permissible.learners.trees.criteria import ImpurityCriterion, TreeTask
from permissible.learners.trees.grower import Grower, most_together
from permissible.learners.trees.pruning import PruningPath, candidate_levels, held_out_surrogate, link_levels, prune
from permissible.learners.trees.rows import (
    ClassRows,
    LeafWeights,
    NodeSplit,
    NodeSums,
    OpenClassRows,
    SumNodes,
    Weighting,
)
from permissible.learners.udt.certificate import TreeCertificate, certify
from permissible.models.kinds.tree import TreeModel
from permissible.rows.keys import keys_of
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.source import Journal, OpenRows, Source
from permissible.rows.splits import Split, folds
from permissible.rows.totals import TotalsOf
from permissible.types import FloatArray
from permissible.validation import Words, refusal

MAX_CLASSES, MOST_ROWS = 65_535, 2**32


@dataclass(frozen=True, slots=True)
class Pruning:
    """The level at which a tree is pruned; None: chosen by cross-validation over `n_folds` folds."""

    level: float | None
    n_folds: int = 5
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class TreeFit:
    """A fitted tree, its trace, its certificate, and the results of cross-validation."""

    tree: TreeModel
    trace: TreeTrace
    certificate: TreeCertificate
    path: PruningPath | None


def fit_tree(source: Source, task: TreeTask, pruning: Pruning | None = None) -> TreeFit:
    """Grow a tree on all rows, prune it, and certify it."""
    if len(source.classes) > MAX_CLASSES:
        raise refusal("y", f"labels of at most {MAX_CLASSES} classes", Words(f"{len(source.classes)} classes"))
    tree, trace = grow(source, task)
    path = None
    if pruning is not None:
        levels = link_levels(tree, trace.impurity)
        if pruning.level is None:
            path = cross_validate(source, task, candidate_levels(levels), pruning)
        tree, trace = prune(tree, trace, levels, path.chosen if path is not None else pruning.level or 0.0)
    return TreeFit(tree, trace, certify(tree, trace, source), path)


def grow(source: Source, task: TreeTask, selection: Selection = ALL_ROWS) -> tuple[TreeModel, TreeTrace]:
    """Grow a tree on the selected rows: in one call if this process holds them, else from answers."""
    totals, n_classes = source.survey(TotalsOf(selection)), len(source.classes)
    weighting = Weighting.of(totals, task.limits.min_samples_leaf > 1)
    made = ImpurityCriterion if task.groups is None else GroupedCriterion
    criterion = made(source.binning, n_classes, weighting, totals.weight, task)
    rows = source.open(OpenClassRows(n_classes, weighting, selection, task.n_threads))
    try:
        parts = rows.here if task.groups is None else []
        light = not (source.weighted or selection.intervals) and source.n_rows < MOST_ROWS  # 10 bytes a row, and codes
        in_one_call = parts and (light or all(of.part.in_memory for of in parts))
        if in_one_call:
            return tree_and_trace(criterion.finder.grow([of.whole() for of in parts]), source.binning, n_classes, task)
        grown = grow_from_answers(rows, criterion, source.journal)
        return tree_and_trace(grown, source.binning, n_classes, task)
    finally:
        rows.close()


def grow_from_answers(rows: OpenRows[ClassRows], criterion: ImpurityCriterion, journal: Journal) -> TreeArrays:
    """The same growth, from the answers of parts."""

    def ask(splits: tuple[NodeSplit, ...], requested: tuple[int, ...]) -> NodeSums:
        return rows.ask(SumNodes(splits, requested))

    grower = Grower(ask, criterion, most_together(int(criterion.shape.sum())), journal)
    return arrays_of(*grower.run(), criterion)


def cross_validate(source: Source, task: TreeTask, levels: FloatArray, pruning: Pruning) -> PruningPath:
    """Choose the pruning level of least surrogate on held-out rows, the largest one among equals."""
    weighting = Weighting.of(source.survey(TotalsOf()))

    def losses(split: Split) -> tuple[FloatArray, float]:
        tree, trace = grow(source, task, split.training)
        leaves = source.survey(LeafWeights(tree, weighting, split.held_out)) * weighting.unit
        held_out = source.survey(TotalsOf(split.held_out)).weight
        return held_out_surrogate(tree, trace, leaves.astype(np.float64), levels), held_out

    splits = tuple(folds(source, pruning.n_folds, keys=keys_of(source, pruning.seed)))
    curve = choose.mean_curve(splits, losses) if splits else np.zeros(len(levels))
    return PruningPath(levels, curve, float(levels[choose.stage_of(None, curve, equals="last").stage]))
