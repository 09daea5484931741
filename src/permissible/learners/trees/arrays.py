"""A grown tree as arrays, and as a `TreeModel` with its trace."""

from dataclasses import dataclass

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.literal import OTHER, Literal, Test
from permissible.kernels._core import trees
from permissible.learners.trees.criteria import ImpurityCriterion, TreeTask
from permissible.learners.trees.grower import TreeNode
from permissible.models.kinds.tree import TreeModel
from permissible.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class TreeArrays:
    """The nodes of a tree in the order in which they were made, as `trees.Tree` has them.

    `test` is 0 for a threshold, 1 for "is missing", 2 for categories and -1 at a leaf; a set bit of `left_set` goes left.
    """

    left: AnyArray
    right: AnyArray
    column: AnyArray
    code: AnyArray
    test: AnyArray
    left_set: AnyArray
    weight: FloatArray
    impurity: FloatArray
    samples: IntArray
    split_order: AnyArray


@dataclass(frozen=True, slots=True)
class TreeTrace:
    """The trace of growth: the node split at each step, and the surrogate (a sum over examples) before and after."""

    split_order: IntArray
    surrogate: FloatArray
    impurity: FloatArray
    stopped: str


def arrays_of(nodes: list[TreeNode], made: list[TreeNode], criterion: ImpurityCriterion) -> TreeArrays:
    """The arrays of a tree grown from answers: its nodes, and those that were split, in order."""
    n = len(nodes)
    left, right, column, code, test = (np.full(n, -1) for _ in range(5))
    left_set = np.zeros((n, 32), dtype=np.uint8)
    for number, node in enumerate(made):
        split, place = node.split, node.place
        assert split is not None
        left[place], right[place] = 2 * number + 1, 2 * number + 2
        column[place], test[place], code[place], left_set[place] = split.column, split.test, split.code, split.left_set
    weight = np.array([node.totals[: criterion.classes] for node in nodes]) * criterion.weighting.unit
    impurity = criterion.finder.impurities(np.ascontiguousarray(weight.T, dtype=np.float64))
    samples, order = np.array([node.rows for node in nodes]), np.array([node.place for node in made], int)
    return TreeArrays(left, right, column, code, test, left_set, weight, impurity, samples, order)


def tree_and_trace(
    arrays: TreeArrays | trees.Tree, binning: Binning, n_classes: int, task: TreeTask
) -> tuple[TreeModel, TreeTrace]:
    """Model and trace."""
    columns = enumerate(zip(binning.schema.columns, binning.columns, strict=True))
    model = TreeModel(
        schema=binning.schema,
        loss=task.loss,
        literals=_literals(binning, arrays),
        left=arrays.left.astype(np.int64),
        right=arrays.right.astype(np.int64),
        weight=arrays.weight[:, : max(n_classes, 1)],
        samples=arrays.samples,
        code_of_category={j: bins.code_of_category for j, (column, bins) in columns if column.kind == "categorical"},
        smoothing=task.smoothing,
        seen_missing=tuple(j for j, bins in enumerate(binning.columns) if bins.has_missing),
        monotone=None if task.monotone is None else tuple(int(direction) for direction in task.monotone),
        joint=task.joint,
        costs=task.costs,
    )
    return model, _trace(arrays, task.limits.max_leaf_nodes)


def _literals(binning: Binning, arrays: TreeArrays | trees.Tree) -> tuple[Literal | None, ...]:
    literals: list[Literal | None] = [None] * len(arrays.left)
    inner = np.flatnonzero(arrays.left >= 0)
    sets = np.unpackbits(arrays.left_set[inner], axis=1, bitorder="little").astype(bool)
    columns, tests, codes = arrays.column.tolist(), arrays.test.tolist(), arrays.code.tolist()
    for node, goes_left in zip(inner.tolist(), sets, strict=True):
        column, missing = columns[node], bool(goes_left[255])
        if tests[node] == 0:
            threshold = float(binning.columns[column].thresholds[codes[node]])
            literals[node] = Literal(column, "<=", threshold, (codes[node],), missing)
        elif tests[node] == 1:
            literals[node] = Literal(column, "present", missing=missing)
        else:
            known = np.unique(binning.columns[column].code_of_category)
            others_left = bool(goes_left[OTHER])
            named = tuple(int(code) for code in known if goes_left[code] != others_left)
            test: Test = "not in" if others_left else "in"
            if not named:  # one side has only missing values
                test = "present" if others_left else "missing"
            literals[node] = Literal(column, test, codes=named, missing=missing)
    return tuple(literals)


def _trace(arrays: TreeArrays | trees.Tree, max_leaf_nodes: int | None) -> TreeTrace:
    impurity, order = arrays.impurity, arrays.split_order.astype(np.int64)
    if max_leaf_nodes is not None and len(order) + 1 >= max_leaf_nodes:
        stopped = "max_leaf_nodes"
    elif not np.any(impurity[arrays.left < 0] > 0):
        stopped = "pure"
    else:
        stopped = "no gain"
    surrogate = surrogate_of(impurity, order, arrays.left, arrays.right)
    return TreeTrace(order, surrogate, impurity, stopped)


def surrogate_of(impurity: FloatArray, order: IntArray, left: AnyArray, right: AnyArray) -> FloatArray:
    """The surrogate before the first split and after each one."""
    steps = impurity[left[order]] + impurity[right[order]] - impurity[order]
    return np.asarray(impurity[0] + np.concatenate([[0.0], np.cumsum(steps)]))
