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
from permissible.learners.trees.compiled import grow_tree
from permissible.learners.trees.criteria import TreeLimits
from permissible.models.kinds.tree import TreeModel
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
    limits = TreeLimits(max_leaf_nodes=max_leaf_nodes)
    tree, _ = grow_tree(binned, (values > 0).astype(np.int64), 2, losses.get("squared"), grown, limits)
    whole = float(values.sum())
    found = [(abs(2.0 * float(values[mask_of(binned, rule)].sum()) - whole) * unit, rule) for rule in leaf_rules(tree)]
    return sorted(found, key=lambda one: -one[0])


def leaf_rules(tree: TreeModel) -> list[Rule]:
    """The path to each leaf, in the order of the nodes; none where the tree is one leaf."""
    paths: dict[int, Rule] = {0: ()}
    rules: list[Rule] = []
    for node, literal in enumerate(tree.literals):
        path = paths[node]
        if literal is not None:
            paths[int(tree.left[node])] = (*path, literal)
            paths[int(tree.right[node])] = (*path, literal.negated())
        elif path:
            rules.append(path)
    return rules
