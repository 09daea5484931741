"""The growth of grower.py in one call of the compiled core, for rows in memory."""

from permissible.bins.binning import BinnedTable
from permissible.learners.trees.arrays import TreeTrace, tree_and_trace
from permissible.learners.trees.criteria import ImpurityCriterion, TreeLimits, TreeTask
from permissible.learners.trees.rows import ClassRows, OpenClassRows, Weighting
from permissible.losses import Loss
from permissible.models.kinds.tree import TreeModel
from permissible.rows.part import MemoryPart
from permissible.rows.totals import Totals
from permissible.types import AnyArray, FloatArray


def grow_tree(
    binned: BinnedTable,
    target: AnyArray,
    n_classes: int,
    loss: Loss,
    weight: FloatArray | None = None,
    limits: TreeLimits | None = None,
    *,
    monotone: AnyArray | None = None,
    smoothing: float = 0.0,
    joint: bool = True,
    name_leaves: bool = False,
    n_threads: int = 1,
) -> tuple[TreeModel, TreeTrace]:
    """Grow a tree on binned rows in memory.

    `target` holds class codes; rows of weight 0 are ignored. `monotone` is -1, 0 or 1 for each column: the direction in
    which the probability of class 1 may move with it; `joint` as in `TreeTask`. With `name_leaves` the trace has the
    leaf of each row.
    """
    task = TreeTask(loss, limits or TreeLimits(), monotone, smoothing, n_threads, joint)
    totals = Totals.of(weight, binned.n_rows)
    weighting = Weighting.of(totals, task.limits.min_samples_leaf > 1)
    rows = ClassRows(MemoryPart(binned, target, weight), OpenClassRows(n_classes, weighting, n_threads=n_threads))
    criterion = ImpurityCriterion(binned.binning, n_classes, weighting, totals.weight, task)
    arrays = criterion.finder.grow([rows.whole()], name_leaves)
    return tree_and_trace(arrays, binned.binning, n_classes, task)
