"""UDT: a decision tree for any permissible phi ([T] section 4.2; mathematics.md section 6).

The surrogate of a tree is sum over its leaves of W_k (phi(p_k) - a) / b. Growth is best-first: among all leaves and all tests
take the one that lowers it most,

    A = (1/b) [sum_c W_c phi(p_c) - W_k phi(p_k)] <= 0                                                    (49)

as long as A < 0. With two classes phi_B is the criterion of CART, phi_Q the information gain of C4.5, phi_M the criterion of
Kearns and Mansour. With more classes phi is summed over the classes, each one against the rest: for phi_B that is still Gini's
index, for phi_Q it is not Shannon's entropy. Ties: the older leaf, then the first column, then missing values right, then the
lower threshold; gains that differ by rounding only (1e-12 of the gain, 1e-14 of the node's weight) are ties, such a gain is 0.
A test on a column of categories is "in a set": the categories are ordered by the probability of a class and cut there, which
is optimal for two classes and any concave phi; with more classes each of the 8 most frequent ones gives an order to try.
Rows that a test never saw the like of (a category, a missing value) follow the heavier side.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from permissible.bins.binning import BinnedTable, Binning
from permissible.bins.layout import layout_of
from permissible.bins.literal import OTHER, Literal, Test
from permissible.kernels._core import sums, trees
from permissible.losses import Loss
from permissible.models.kinds.tree import TreeModel
from permissible.types import AnyArray, Codes, FloatArray, IntArray
from permissible.validation import Words, refusal

_KERNEL_PHIS = ("logistic", "matsushita", "squared", "power", "logcosh", "user")  # enum Phi of cpp/losses/impurity.hpp
MAX_CLASSES = 65_535


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """When growth stops. None: no limit.

    `min_samples_leaf` counts rows, or examples when every weight is an integer (so that weight 2 is the row twice);
    `min_weight_fraction_leaf` is a share of the total weight; `min_gain` a decrease of the mean surrogate.
    """

    max_leaves: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    min_gain: float = 0.0


@dataclass(frozen=True, slots=True)
class TreeTrace:
    """How the tree grew: the node split at each step and the surrogate (a sum over examples) before and after each one."""

    split_order: IntArray
    surrogate: FloatArray
    impurity: FloatArray
    leaf_of_row: IntArray
    stopped: str


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
    """Grow a tree on binned rows.

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

    Returns
    -------
    model : TreeModel
    trace : TreeTrace
    """
    limits = limits or TreeLimits()
    if n_classes > MAX_CLASSES:
        raise refusal("y", f"labels of at most {MAX_CLASSES} classes", Words(f"{n_classes} classes"))
    phi, parameter, function = compiled_impurity(loss)
    integers, unit, counts = quantise(weight)
    total = float(binned.n_rows) if weight is None else sums.exact_sum(np.ascontiguousarray(weight, dtype=np.float64))
    layout = layout_of(binned.binning)
    codes, categorical = layout.n_codes, layout.categorical
    grown = (trees.grow_counts if counts else trees.grow_weights)(
        binned.blocks,
        len(codes),
        np.ascontiguousarray(target, dtype=np.uint16),
        max(n_classes, 2),
        integers,
        unit,
        not counts and limits.min_samples_leaf > 1,
        codes,
        categorical,
        np.zeros(len(codes), dtype=np.int8) if monotone is None else np.ascontiguousarray(monotone, dtype=np.int8),
        phi,
        parameter,
        function,
        -1 if limits.max_leaves is None else limits.max_leaves,
        -1 if limits.max_depth is None else limits.max_depth,
        float(limits.min_samples_leaf),
        limits.min_weight_fraction_leaf * total,
        limits.min_gain * total,
        name_leaves,
        n_threads,
    )
    return assemble(binned.binning, loss, grown, n_classes, smoothing, limits, monotone)


def quantise(weight: FloatArray | None) -> tuple[AnyArray | None, float, bool]:
    """Weights as integers, the weight of one step, and whether they are counts of examples.

    Integer weights stay themselves. Others go to the power-of-two grid on which their sum keeps 61 bits; it depends on the
    largest weight and the number of rows only, not on their order.
    """
    if weight is None:
        return None, 1.0, True
    largest = float(np.max(weight, initial=0.0))
    if largest * len(weight) < 2**31 and np.array_equal(weight, np.rint(weight)):
        return weight.astype(np.int32), 1.0, True
    _, exponent = np.frexp(largest * len(weight))
    grid = float(np.ldexp(1.0, 61 - int(exponent)))
    integers = np.rint(weight * grid).astype(np.int64)
    return np.maximum(integers, weight > 0), 1.0 / grid, False


def compiled_impurity(loss: Loss) -> tuple[int, float, Any]:
    """How the kernel gets phi: the number of a compiled functor and its parameter, or the user's function."""
    functor = loss.impurity_functor
    if functor is None:
        return len(_KERNEL_PHIS) - 1, 0.0, lambda p: np.ascontiguousarray(loss.impurity(p), dtype=np.float64)
    return _KERNEL_PHIS.index(functor.name), functor.parameter, None


def assemble(
    binning: Binning,
    loss: Any,
    grown: dict[str, AnyArray],
    n_classes: int,
    smoothing: float,
    limits: TreeLimits,
    monotone: AnyArray | None = None,
) -> tuple[TreeModel, TreeTrace]:
    """Model and trace from the arrays of a grown tree, wherever it grew."""
    model = _model(binning, loss, grown, n_classes, smoothing)
    if monotone is not None:
        model = replace(model, monotone=tuple(int(direction) for direction in monotone))
    return model, _trace(grown, limits)


def _model(binning: Binning, loss: Any, grown: dict[str, AnyArray], n_classes: int, smoothing: float) -> TreeModel:
    schema = binning.schema
    codes: dict[int, Codes] = {
        position: binning.columns[position].code_of_category
        for position, column in enumerate(schema.columns)
        if column.kind == "categorical"
    }
    return TreeModel(
        schema=schema,
        loss=loss,
        literals=_literals(binning, grown),
        left=grown["left"].astype(np.int64),
        right=grown["right"].astype(np.int64),
        weight=grown["weight"][:, : max(n_classes, 1)],
        samples=grown["samples"],
        code_of_category=codes,
        smoothing=smoothing,
        seen_missing=tuple(j for j, bins in enumerate(binning.columns) if bins.has_missing),
    )


def _literals(binning: Binning, grown: dict[str, AnyArray]) -> tuple[Literal | None, ...]:
    literals: list[Literal | None] = [None] * len(grown["left"])
    inner = np.flatnonzero(grown["left"] >= 0)
    sets = np.unpackbits(grown["left_set"][inner], axis=1, bitorder="little").astype(bool)
    columns, tests, codes = (grown[name].tolist() for name in ("column", "test", "code"))
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
            if not named:  # the one side has missing values only
                test = "present" if others_left else "missing"
            literals[node] = Literal(column, test, codes=named, missing=missing)
    return tuple(literals)


def _trace(grown: dict[str, AnyArray], limits: TreeLimits) -> TreeTrace:
    impurity = grown["impurity"]
    order = grown["split_order"].astype(np.int64)
    left, right = grown["left"][order], grown["right"][order]
    steps = impurity[left] + impurity[right] - impurity[order]
    n_leaves = len(order) + 1
    if limits.max_leaves is not None and n_leaves >= limits.max_leaves:
        stopped = "max_leaves"
    elif not np.any(impurity[grown["left"] < 0] > 0):
        stopped = "pure"
    else:
        stopped = "no gain"
    return TreeTrace(
        split_order=order,
        surrogate=impurity[0] + np.concatenate([[0.0], np.cumsum(steps)]),
        impurity=impurity,
        leaf_of_row=grown["leaf_of_row"].astype(np.int64),
        stopped=stopped,
    )
