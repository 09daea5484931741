"""The certificate and the history of UDT.

UDT is greedy: it stops where no single split lowers the surrogate, which is only a local minimum (mathematics E6; XOR
stops at the root). Globally there is a lower bound: no tree over the same bins is better than the one that gives each
distinct row its own leaf.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.learners.certificate import CertificateHead
from permissible.learners.doubts import LAST_DIGIT, of_tree
from permissible.learners.trees.arrays import TreeTrace
from permissible.models.kinds.tree import TreeModel
from permissible.rows.few import few_rows
from permissible.rows.source import Source
from permissible.types import AnyArray, FloatArray

BOUND_ROWS = 20_000
"""Up to this many rows the bound is computed; beyond, the trivial bound 0 is used."""
_REASONS = {
    "max_leaf_nodes": "growth stopped at max_leaf_nodes",
    "pure": "every leaf is pure: the surrogate is 0, the least there is",
    "pruned": "branches were cut off by cost-complexity pruning",
}


@dataclass(frozen=True, slots=True)
class TreeCertificate(CertificateHead):
    """What is proved about a tree. Surrogates are means over the weighted examples.

    Attributes
    ----------
    surrogate : float
        The mean surrogate of the tree.
    root_surrogate : float
        The mean surrogate of the root alone.
    lower_bound : float
        A lower bound on the surrogate of every tree over the same bins.
    locally_optimal : bool
        Whether no single split within the limits lowers the surrogate.
    saturated : float
        Fraction of the training weight in leaves of probability 0 or 1: pure ones, unless the tree was smoothed.

    `stopped` is "max_leaf_nodes", "pure", "no gain" or "pruned"; `gap` is the distance of `surrogate` to `lower_bound`.
    """

    surrogate: float
    root_surrogate: float
    lower_bound: float
    locally_optimal: bool
    saturated: float = 0.0


def certify(tree: TreeModel, trace: TreeTrace, source: Source) -> TreeCertificate:
    """State what is proved about a tree on its training rows; the bound is 0 for many rows."""
    total = float(tree.weight[0].sum())
    surrogate, root = float(trace.surrogate[-1]) / total, float(trace.surrogate[0]) / total
    bound = 0.0
    if trace.stopped != "pure":
        binned, target, weight = few_rows(source, BOUND_ROWS)
        if binned is not None:
            bound = min(finest_surrogate(tree, binned, target, weight) / total, surrogate)
    return TreeCertificate(
        surrogate=surrogate,
        root_surrogate=root,
        lower_bound=bound,
        locally_optimal=trace.stopped in ("no gain", "pure"),
        saturated=_saturated(tree),
        statement=_statement(trace, surrogate, bound),
        stopped=trace.stopped,
        gap=surrogate - bound,
        doubts=() if trace.stopped == "pruned" else of_tree(trace.surrogate),
    )


def _saturated(tree: TreeModel) -> float:
    """The fraction of the training weight in leaves whose probability is 0 or 1 in double precision."""
    leaves = tree.left < 0
    weight = tree.weight.sum(axis=1)[leaves]
    sure = tree.node_probability[leaves].max(axis=1) >= 1.0 - LAST_DIGIT
    return float(weight[sure].sum() / weight.sum())


def finest_surrogate(tree: TreeModel, binned: BinnedTable, target: AnyArray, weight: FloatArray | None) -> float:
    """The surrogate of the partition into rows of equal codes, a sum over examples."""
    rows = np.ascontiguousarray(binned.blocks.transpose(1, 0, 2).reshape(binned.n_rows, -1))
    _, group = np.unique(rows.view(np.dtype((np.void, rows.shape[1]))).ravel(), return_inverse=True)
    sums = np.zeros((int(group.max()) + 1, tree.n_classes))
    np.add.at(sums, (group, target), 1.0 if weight is None else weight)
    return float(tree.impurities(sums).sum())


def _statement(trace: TreeTrace, surrogate: float, bound: float) -> str:
    known = f"the surrogate is {surrogate:.6g}, and no tree over these bins has one below {bound:.6g}"
    if trace.stopped != "no gain":
        return f"Greedy growth: {_REASONS[trace.stopped]}; {known}."
    splits = len(trace.split_order)
    where = "at the root" if splits == 0 else f"after {splits} split{'s' if splits > 1 else ''}"
    words = (
        f"Growth stopped {where}: within the limits no single test lowers the surrogate. This is a local minimum of a"
    )
    words += f" greedy search, not a proof that no tree does better; {known}."
    if surrogate > bound * (1 + 1e-9) + 1e-12:
        words += (
            " Two tests together might help where one does not (as for XOR): add such a column, or use longer rules."
        )
    return words


def history_of(tree: TreeModel, trace: TreeTrace) -> Mapping[str, AnyArray]:
    """One entry per split: surrogate and training error after it, its gain, and the edge of its children before it.

    With the scores of the leaves so far, example i has weight 1 - p_k if it is positive and p_k if not; under these
    weights the edge of the indicator of a child c of k is W_c |p_c - p_k| / Z, the same for both children. Several
    classes: the largest.
    """
    total = tree.weight[0].sum()
    node_weight = tree.weight.sum(axis=1)
    share = tree.weight / node_weight[:, None]
    wrong = node_weight - tree.weight.max(axis=1)
    spread = 2 * tree.weight * (1 - share)  # each node's part of Z, per class
    order, left, right = trace.split_order, tree.left[trace.split_order], tree.right[trace.split_order]
    errors = wrong[0] + np.cumsum(wrong[left] + wrong[right] - wrong[order])
    before = spread[0] + np.cumsum(spread[left] + spread[right] - spread[order], axis=0)
    before = np.vstack([spread[:1], before[:-1]]) if len(order) else before
    edge = node_weight[left, None] * np.abs(share[left] - share[order]) / np.where(before > 0, before, 1.0)
    return {
        "surrogate": trace.surrogate[1:] / total,
        "gain": -np.diff(trace.surrogate) / total,
        "train_error": errors / total,
        "edge": edge.max(axis=1, initial=0.0),
        "loss": np.array([tree.loss.name] * len(order), dtype=object),
        "node": order,
    }
