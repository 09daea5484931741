"""The growth of grower.py in one call of the compiled core, for rows that lie in one part of this process."""

from typing import Any

from permissible.bins.binning import BinnedTable
from permissible.kernels._core import trees
from permissible.learners.trees.arrays import TreeTrace, tree_and_trace
from permissible.learners.trees.criteria import ImpurityCriterion, TreeLimits, TreeTask
from permissible.learners.trees.rows import ClassRows, OpenClassRows, Weighting
from permissible.models.kinds.tree import TreeModel
from permissible.rows.part import MemoryPart
from permissible.rows.totals import Totals
from permissible.types import AnyArray, FloatArray


def grow(rows: ClassRows, criterion: ImpurityCriterion, name_leaves: bool = False) -> trees.Tree:
    """Grow a tree; `name_leaves` asks for the leaf of each row."""
    return criterion.finder.grow(rows.whole(), name_leaves)


def grow_tree(
    binned: BinnedTable,
    target: AnyArray,
    n_classes: int,
    loss: Any,
    weight: FloatArray | None = None,
    limits: TreeLimits | None = None,
    *,
    monotone: AnyArray | None = None,
    smoothing: float = 0.0,
    name_leaves: bool = False,
    n_threads: int = 1,
) -> tuple[TreeModel, TreeTrace]:
    """Grow a tree on binned rows in memory.

    Parameters
    ----------
    binned : BinnedTable
    target : array of int
        Class codes, 0 .. n_classes - 1.
    n_classes : int
    loss : Loss
        Its phi is the impurity; a loss that the compiled core does not know is called once per node through `loss.impurity`.
    weight : array of float, optional
        Non-negative; rows of weight 0 are as if they were not there.
    limits : TreeLimits, optional
    monotone : array of int, optional
        One of -1, 0, 1 per column: the direction in which the probability of class 1 may move with the column.
    smoothing : float
    name_leaves : bool
        Whether the trace says in which leaf each training row ended.
    n_threads : int
    """
    task = TreeTask(loss, limits or TreeLimits(), monotone, smoothing, n_threads)
    totals = Totals.of(weight, binned.n_rows)
    weighting = Weighting.of(totals, task.limits.min_samples_leaf > 1)
    rows = ClassRows(MemoryPart(binned, target, weight), OpenClassRows(n_classes, weighting, n_threads=n_threads))
    arrays = grow(rows, ImpurityCriterion(binned.binning, n_classes, weighting, totals.weight, task), name_leaves)
    return tree_and_trace(arrays, binned.binning, n_classes, task)
