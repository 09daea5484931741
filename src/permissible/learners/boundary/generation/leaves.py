"""The leaves of a tree as rules: a tree grown on the dual point, each leaf the conjunction of the tests on its path.

A row of dual value t weighs c t on its class, and the tree of the squared loss maximises sum (edge of a leaf)^2 / (its weight):
leaves in which the dual point has one sign. The dual values are rounded to 15 bits for the growth, so that whole weights stay
whole; edges are then summed exactly.
"""

import numpy as np

from permissible import losses
from permissible.bins.binning import BinnedTable
from permissible.bins.literal import Rule
from permissible.learners.boundary.generation.edges import mask_of
from permissible.learners.trees.criteria import TreeLimits, TreeTask
from permissible.learners.udt.fit import grow
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.types import FloatArray

LEVELS = 2.0**15


def leaf_edges(
    binned: BinnedTable, weight: FloatArray, max_leaf_nodes: int, values: FloatArray, unit: float, count: int
) -> list[tuple[float, Rule]]:
    """The leaves of one tree, the largest edge first; all of them, whatever `count` is.

    `values` are integers, one per row, that hold its `weight`; a sum of them times `unit` is an edge.
    """
    dual = np.abs(values) / weight
    largest = float(dual.max(initial=0.0))
    if largest == 0.0:
        return []
    grown = weight * np.rint(dual * (LEVELS / largest))
    rows = MemoryPart(binned, (values > 0).astype(np.int64), grown)
    source = LocalSource((rows,), binned.binning, np.arange(2), binned.n_rows, weighted=True)
    tree, _ = grow(source, TreeTask(losses.get("squared"), TreeLimits(max_leaf_nodes)))
    whole = float(values.sum())
    rules = [tree.path(leaf) for leaf in tree.leaves.tolist() if leaf]  # none where the tree is one leaf
    found = [(abs(2.0 * float(values[mask_of(binned, rule)].sum()) - whole) * unit, rule) for rule in rules]
    return sorted(found, key=lambda one: -one[0])
