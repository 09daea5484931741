"""Cost-complexity pruning of a tree by its own surrogate (the weakest links of Breiman et al., with (49) as the cost).

Pruning at node t raises the mean surrogate R by R(t) - R(T_t) and saves |leaves of T_t| - 1 leaves. The weakest link is the node
with the least increase per leaf saved; that ratio is its *level*. Prune it, and continue until only the root is left. The tree
pruned at level x keeps the nodes whose own level, and those of all nodes above, exceed x. The level can be chosen by
cross-validation of the held-out surrogate, with probabilities smoothed by Laplace's rule so that it is finite.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from permissible.learners.trees.arrays import TreeTrace, surrogate_of
from permissible.models.kinds.tree import PURE, TreeModel
from permissible.types import BoolArray, FloatArray, IntArray


def link_levels(tree: TreeModel, impurity: FloatArray) -> FloatArray:
    """The level at which each inner node is pruned; infinity at a leaf."""
    cost = impurity / tree.weight[0].sum()
    below, leaves = _subtrees(tree, cost)
    level = np.full(tree.n_nodes, np.inf)
    heap = [(_link(cost, below, leaves, node), node) for node in np.flatnonzero(tree.left >= 0).tolist()]
    heapq.heapify(heap)
    reached = 0.0
    while heap:
        link, node = heapq.heappop(heap)
        if np.isfinite(level[node]) or link != _link(cost, below, leaves, node):
            continue  # already pruned, or outdated: a newer entry follows
        reached = max(reached, link)
        for inner in _uncut(tree, level, node):
            level[inner] = reached
        saved, dearer = leaves[node] - 1, cost[node] - below[node]
        while node >= 0:
            leaves[node] -= saved
            below[node] += dearer
            if not np.isfinite(level[node]):
                heapq.heappush(heap, (_link(cost, below, leaves, node), node))
            node = int(tree.parent[node])
    return level


def _subtrees(tree: TreeModel, cost: FloatArray) -> tuple[FloatArray, IntArray]:
    """Cost and number of the leaves below each node."""
    below, leaves = np.where(tree.left < 0, cost, 0.0), (tree.left < 0).astype(np.int64)
    for node in range(tree.n_nodes - 1, 0, -1):
        below[tree.parent[node]] += below[node]
        leaves[tree.parent[node]] += leaves[node]
    return below, leaves


def _link(cost: FloatArray, below: FloatArray, leaves: IntArray, node: int) -> float:
    return float((cost[node] - below[node]) / max(int(leaves[node]) - 1, 1))


def _uncut(tree: TreeModel, level: FloatArray, node: int) -> Iterator[int]:
    """The inner nodes from `node` down that are not pruned yet."""
    stack = [node]
    while stack:
        inner = stack.pop()
        if tree.left[inner] >= 0 and not np.isfinite(level[inner]):
            yield inner
            stack += [int(tree.left[inner]), int(tree.right[inner])]


def prune(tree: TreeModel, trace: TreeTrace, level: FloatArray, at: float) -> tuple[TreeModel, TreeTrace]:
    """The tree pruned at every node of a level up to `at`, and its trace: the remaining splits in the same order."""
    cut = (tree.left >= 0) & (level <= at)
    kept = np.ones(tree.n_nodes, dtype=bool)
    for node in range(1, tree.n_nodes):
        parent = tree.parent[node]
        kept[node] = kept[parent] and not cut[parent]
    number = np.cumsum(kept) - 1
    inner = kept & ~cut & (tree.left >= 0)
    old = np.flatnonzero(kept)
    model = replace(
        tree,
        literals=tuple(tree.literals[node] if inner[node] else None for node in old),
        left=np.where(inner[old], number[tree.left[old]], -1),
        right=np.where(inner[old], number[tree.right[old]], -1),
        weight=tree.weight[old],
        samples=tree.samples[old],
    )
    order = trace.split_order[inner[trace.split_order]]
    surrogate = surrogate_of(trace.impurity, order, tree.left, tree.right)
    stopped = trace.stopped if len(old) == tree.n_nodes else "pruned"
    impurity = trace.impurity[old]
    return model, replace(trace, split_order=number[order], surrogate=surrogate, impurity=impurity, stopped=stopped)


@dataclass(frozen=True, slots=True)
class PruningPath:
    """The candidate levels, and the mean held-out surrogate at each."""

    levels: FloatArray
    surrogate: FloatArray
    chosen: float


def candidate_levels(level: FloatArray) -> FloatArray:
    """Levels to choose among: geometric means of neighbouring ones, as in CART, and the last.

    A tree pruned at such a mean is the same for all levels between the two.
    """
    ends = np.unique(np.concatenate([[0.0], level[np.isfinite(level)]]))
    return np.concatenate([np.sqrt(ends[:-1] * ends[1:]), ends[-1:]])


def held_out_surrogate(tree: TreeModel, trace: TreeTrace, leaves: FloatArray, candidates: FloatArray) -> FloatArray:
    """The held-out surrogate (of a tree grown for costs the cost) at each candidate level.

    `leaves` holds the held-out class weights at each leaf.
    """
    level = link_levels(tree, trace.impurity)
    smooth = replace(tree, smoothing=1.0)
    weight = leaves.copy()
    for node in range(tree.n_nodes - 1, 0, -1):
        weight[tree.parent[node]] += weight[node]
    return np.asarray(_ends(tree, level, candidates) @ _held_out_cost(tree, weight, smooth), dtype=np.float64)


def _held_out_cost(tree: TreeModel, weight: FloatArray, smooth: TreeModel) -> FloatArray:
    """What held-out rows cost at each node: what they would be charged there, else the surrogate of its scores."""
    if tree.costs is not None:
        decided = (smooth.node_probability @ tree.costs).argmin(axis=1)
        return np.asarray((weight * tree.costs[:, decided].T).sum(axis=1))
    if tree.joint and tree.n_classes > 2 and tree.loss.joint_entropy:
        return np.asarray(-(weight * np.log2(np.maximum(smooth.node_probability, PURE))).sum(axis=1))
    # Smoothing does not change a pure leaf of weight 10^16 in double precision, but its score must be finite.
    score = np.asarray(tree.loss.score(np.clip(smooth.node_probability, PURE, 1 - PURE)))
    right, wrong = np.asarray(tree.loss.value(score)), np.asarray(tree.loss.value(-score))
    if tree.n_classes == 2:
        return np.asarray(weight[:, 1] * right[:, 1] + weight[:, 0] * wrong[:, 1])
    return np.asarray((weight * right + (weight.sum(axis=1, keepdims=True) - weight) * wrong).sum(axis=1))


def _ends(tree: TreeModel, level: FloatArray, candidates: FloatArray) -> BoolArray:
    """Whether each node is a leaf of the tree pruned at each candidate, (candidates, nodes)."""
    above = np.full(tree.n_nodes, np.inf)  # the least level among the nodes above: the node exists below that level
    for node in range(1, tree.n_nodes):
        above[node] = min(above[tree.parent[node]], level[tree.parent[node]])
    return np.asarray((candidates[:, None] < above) & ((tree.left < 0) | (level <= candidates[:, None])))
