"""Cost-complexity pruning of a tree by its own surrogate (the weakest links of Breiman et al., with (49) as the cost).

Cutting the tree off below node t costs R(t) - R(T_t), R being the mean surrogate, and saves |leaves of T_t| - 1 leaves. The
weakest link is the node that costs least per leaf saved; that cost is its *level*. Cut it, and go on until only the root is
left: the tree pruned at level x keeps the nodes whose own level, and those of all above them, exceed x. The level can be chosen
by cross-validation: the surrogate of held-out rows, with probabilities smoothed by Laplace's rule so that it is finite.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from permissible.learners.trees.arrays import TreeTrace, surrogate_of
from permissible.models.kinds.tree import PURE, TreeModel
from permissible.types import FloatArray, IntArray


def link_levels(tree: TreeModel, impurity: FloatArray) -> FloatArray:
    """The level at which each inner node is cut; infinity at a leaf."""
    cost = impurity / tree.weight[0].sum()
    below, leaves = _subtrees(tree, cost)
    level = np.full(tree.n_nodes, np.inf)
    heap = [(_link(cost, below, leaves, node), node) for node in np.flatnonzero(tree.left >= 0).tolist()]
    heapq.heapify(heap)
    reached = 0.0
    while heap:
        link, node = heapq.heappop(heap)
        if np.isfinite(level[node]) or link != _link(cost, below, leaves, node):
            continue  # already cut, or something below it was cut since: a newer entry follows
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
    """The inner nodes from `node` down that are not cut yet."""
    stack = [node]
    while stack:
        inner = stack.pop()
        if tree.left[inner] >= 0 and not np.isfinite(level[inner]):
            yield inner
            stack += [int(tree.left[inner]), int(tree.right[inner])]


def prune(tree: TreeModel, trace: TreeTrace, level: FloatArray, at: float) -> tuple[TreeModel, TreeTrace]:
    """The tree cut at every node of a level up to `at`, and its trace: the same splits in the same order, without those cut."""
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
    """What cross-validation saw: the candidate levels, and the mean surrogate of the held-out rows at each."""

    levels: FloatArray
    surrogate: FloatArray
    chosen: float


def candidate_levels(level: FloatArray) -> FloatArray:
    """Levels to choose among: geometric means of neighbouring ones, as in CART, and the last.

    A tree pruned at such a mean stands for all levels between the two.
    """
    ends = np.unique(np.concatenate([[0.0], level[np.isfinite(level)]]))
    return np.concatenate([np.sqrt(ends[:-1] * ends[1:]), ends[-1:]])


def held_out_surrogate(tree: TreeModel, trace: TreeTrace, leaves: FloatArray, candidates: FloatArray) -> FloatArray:
    """The surrogate of held-out rows, whose class weights at each leaf are `leaves`, at each candidate level."""
    level = link_levels(tree, trace.impurity)
    smooth = replace(tree, smoothing=1.0)
    weight = leaves.copy()
    for node in range(tree.n_nodes - 1, 0, -1):
        weight[tree.parent[node]] += weight[node]
    # One row of each class more makes no difference to a pure leaf of weight 10^16: its score must be finite all the same.
    score = np.asarray(tree.loss.score(np.clip(smooth.node_probability, PURE, 1 - PURE)))
    right, wrong = np.asarray(tree.loss.value(score)), np.asarray(tree.loss.value(-score))
    if tree.n_classes == 2:
        cost = weight[:, 1] * right[:, 1] + weight[:, 0] * wrong[:, 1]
    else:
        cost = (weight * right + (weight.sum(axis=1, keepdims=True) - weight) * wrong).sum(axis=1)
    above = np.full(tree.n_nodes, np.inf)  # the least level among the nodes above: below it the node is still there
    for node in range(1, tree.n_nodes):
        above[node] = min(above[tree.parent[node]], level[tree.parent[node]])
    is_end = (candidates[:, None] < above) & ((tree.left < 0) | (level <= candidates[:, None]))
    return np.asarray(is_end @ cost, dtype=np.float64)
