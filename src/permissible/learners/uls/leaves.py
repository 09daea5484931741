"""Boosting on trees: the two algorithms of [T] together. ULS takes the leaves of a small UDT tree as its features.

In each turn a tree is grown on the current weights of the examples, by the impurity of the same phi; each of its leaves is then
one round of ULS with T_j = {indicator of the leaf}: the exact step (35), which for disjoint leaves is a problem in one number
each. From H = 0 and without shrinkage the first tree is UDT's own and its steps are g(p_leaf) (50). A leaf is a rule: at most
`max_literals` tests deep, and a tree makes at most that many tests, so it has at most `max_literals` + 1 leaves.

Sums over rows are sums of integers on a power-of-two grid, exact in float64, so the order of the rows does not matter, and
weight 2 is the row twice.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.learners.trees.compiled import grow_tree
from permissible.learners.trees.criteria import TreeLimits
from permissible.learners.trees.rows import descend
from permissible.learners.uls.boost import OnRound
from permissible.learners.uls.options import Stop, ULSOptions
from permissible.learners.uls.rows import Examples
from permissible.learners.uls.trace import Round, Trace
from permissible.models.kinds.tree import PURE, TreeModel
from permissible.models.kinds.tree_rules import simplified
from permissible.types import FloatArray, IntArray

NEWTON_STEPS = 100
GROWTH_BITS = 50
"""Boosting weights that a tree is grown on sum to less than 2^50 steps of their grid, which its own grid of 61 bits holds."""


def boost_trees(
    examples: Examples,
    loss: Any,
    options: ULSOptions,
    *,
    validation: Examples | None = None,
    n_threads: int = 1,
    watch: OnRound | None = None,
) -> Trace:
    """Boost the leaves of trees; one round a leaf. `watch` is told before each tree how many rounds there are."""
    train, held = Scored.start(examples, loss, options), None
    if validation is not None:
        held = Scored(validation, loss, np.full(len(validation.positive), train.constant), train.constant)
    begun = time.monotonic()
    first = train.surrogate(), train.error(), float("nan") if held is None else held.surrogate()
    rounds: list[Round] = []
    stop: Stop = "rounds"
    while len(rounds) < options.n_rounds:
        if watch is not None and not watch(len(rounds)):
            stop = "callback"
            break
        if options.max_seconds and time.monotonic() - begun > options.max_seconds:
            stop = "time"
            break
        tree, leaf = _grow(train, options, n_threads)
        if tree.n_nodes == 1:
            stop = "no edge"
            break
        step = options.learning_rate * leaf_steps(train, leaf, tree.n_nodes, options.l2)
        rounds += _rounds(train, held, tree, leaf, step, options.n_rounds - len(rounds))
        if rounds[-1].surrogate < options.tolerance:  # nothing is left to gain
            stop = "no edge" if np.isfinite(loss.score_limit) else "separable"
            break
    return Trace(
        constant=train.constant, rounds=tuple(rounds), stop=stop, start_surrogate=first[0], start_error=first[1],
        start_validation=first[2], total_weight=examples.total,
    )  # fmt: skip


@dataclass(slots=True)
class Scored:
    """Examples with their scores so far."""

    examples: Examples
    loss: Any
    score: FloatArray
    constant: float

    @classmethod
    def start(cls, examples: Examples, loss: Any, options: ULSOptions) -> "Scored":
        """Score of every example before the first round: the constant of least surrogate, or 0."""
        constant = 0.0
        if options.fit_intercept:
            rows, root = len(examples.positive), np.zeros(len(examples.positive), dtype=np.int64)
            share = exact_sums(root, examples.positive.astype(np.float64), 1, examples)[0]
            constant = float(loss.score(share / exact_sums(root, np.ones(rows), 1, examples)[0]))
        return cls(examples, loss, np.full(len(examples.positive), constant), constant)

    @property
    def sign(self) -> FloatArray:
        """+1 for a positive example, -1 for a negative one."""
        return np.where(self.examples.positive, 1.0, -1.0)

    def losses(self) -> FloatArray:
        """F of each example over F(0)."""
        return np.asarray(self.loss.value(self.sign * self.score)) / float(self.loss.value(0.0))

    def wrong(self) -> FloatArray:
        """1 for each misclassified example; a score of 0 says positive."""
        return np.asarray((self.score >= 0) != self.examples.positive, dtype=np.float64)

    def weight(self) -> FloatArray:
        """The boosting weight of each example, without its sample weight."""
        return np.asarray(self.loss.weight(self.sign * self.score))

    def by_leaf(self, leaf: IntArray, terms: FloatArray, n_nodes: int) -> FloatArray:
        """Exact sums of terms times the sample weights, over the rows of each node."""
        return exact_sums(leaf, terms, n_nodes, self.examples)

    def surrogate(self) -> float:
        """Mean surrogate."""
        return self._mean(self.losses())

    def error(self) -> float:
        """Weighted share of wrong labels."""
        return self._mean(self.wrong())

    def _mean(self, terms: FloatArray) -> float:
        at_root = np.zeros(len(terms), dtype=np.int64)
        return float(self.by_leaf(at_root, terms, 1)[0]) / self.examples.total


def exact_sums(group: IntArray, terms: FloatArray, size: int, examples: Examples) -> FloatArray:
    """Sums of terms times sample weights by group, without error: each on a grid on which all sums stay below 2^53.

    Where sample weights are copies of a row, a term goes to the grid before it is multiplied: weight 2 is the row twice.
    """
    weighted, grid = on_grid(terms, examples, 52)
    return np.asarray(np.bincount(group, weighted, size) / grid, dtype=np.float64)


def on_grid(terms: FloatArray, examples: Examples, bits: int) -> tuple[FloatArray, float]:
    """Terms times sample weights as whole numbers of 1 / grid, a power of two; their sums stay below 2^bits."""
    copies = examples.weight if examples.weight is not None and examples.integer_weights else None
    if examples.weight is not None and copies is None:
        terms = terms * examples.weight
    largest = float(np.max(np.abs(terms), initial=0.0))
    rows = float(len(terms)) if copies is None else float(copies.sum())
    grid = float(np.ldexp(1.0, bits - int(np.frexp(largest * rows)[1])))
    whole = np.rint(terms * grid)
    return whole if copies is None else whole * copies, grid


def _grow(train: Scored, options: ULSOptions, n_threads: int) -> tuple[TreeModel, IntArray]:
    """A small tree on the current weights, and the leaf of each row."""
    limits = TreeLimits(max_leaf_nodes=options.max_literals + 1, max_depth=options.max_literals)
    binned, target = train.examples.binned, train.examples.positive.astype(np.int64)
    whole, grid = on_grid(train.weight(), train.examples, GROWTH_BITS)
    tree, trace = grow_tree(binned, target, 2, train.loss, whole / grid, limits, name_leaves=True, n_threads=n_threads)
    weightless = trace.leaf_of_row < 0
    if not weightless.any():
        return tree, trace.leaf_of_row
    return tree, np.where(weightless, descend(tree, binned), trace.leaf_of_row)


def leaf_steps(train: Scored, leaf: IntArray, n_nodes: int, l2: float) -> FloatArray:
    """The exact step of each leaf: sum over its rows of y w(y (H + d)) = l2 d; Newton, kept inside a bracket by bisection.

    Where no finite step exists (a pure leaf without l2) it ends at the score of a pure leaf of a tree.
    """
    limit = train.loss.score_limit
    limit = float(train.loss.score(1 - PURE)) if not np.isfinite(limit) else float(limit)
    reach = limit + float(np.max(np.abs(train.score), initial=0.0))
    low, high = np.full(n_nodes, -reach), np.full(n_nodes, reach)
    step = np.zeros(n_nodes)
    sign = train.sign
    for _ in range(NEWTON_STEPS):
        margin = sign * (train.score + step[leaf])
        slope = train.by_leaf(leaf, sign * np.asarray(train.loss.weight(margin)), n_nodes) - l2 * step
        curve = train.by_leaf(leaf, np.asarray(train.loss.curvature(margin)), n_nodes) + l2
        low, high = np.where(slope > 0, step, low), np.where(slope < 0, step, high)
        newton = step + slope / np.where(curve > 0, curve, np.inf)
        inside = (newton > low) & (newton < high) & (curve > 0)
        after = np.where(slope == 0, step, np.where(inside, newton, 0.5 * (low + high)))
        moved = np.abs(after - step)
        step = after
        if np.all(moved <= 1e-12 * (1 + np.abs(step))):
            break
    return step


def _rounds(
    train: Scored, held: Scored | None, tree: TreeModel, leaf: IntArray, step: FloatArray, most: int
) -> list[Round]:
    """One round for each leaf, that of the largest decrease first; the scores are moved."""
    n, total = tree.n_nodes, train.examples.total
    sums = [train.by_leaf(leaf, terms, n) for terms in (train.losses(), train.wrong(), np.abs(train.weight()))]
    edges = np.abs(train.by_leaf(leaf, train.sign * train.weight(), n))
    before = train.score.copy()
    train.score = before + step[leaf]
    after = [train.by_leaf(leaf, terms, n) for terms in (train.losses(), train.wrong(), np.abs(train.weight()))]
    held_leaf, held_sums = None, (np.zeros(n), np.zeros(n))
    if held is not None:
        held_leaf = descend(tree, held.examples.binned)
        unmoved = held.by_leaf(held_leaf, held.losses(), n)
        held.score = held.score + step[held_leaf]
        held_sums = unmoved, held.by_leaf(held_leaf, held.losses(), n)
    order = tree.leaves[np.argsort(after[0][tree.leaves] - sums[0][tree.leaves], kind="stable")]
    loss, wrong, weight = (float(part.sum()) for part in sums)
    held_loss = float(held_sums[0].sum())
    rounds = []
    for node in order[:most].tolist():
        edge, z = edges[node] / weight if weight > 0 else 0.0, weight
        loss += float(after[0][node] - sums[0][node])
        wrong += float(after[1][node] - sums[1][node])
        weight += float(after[2][node] - sums[2][node])
        held_loss += float(held_sums[1][node] - held_sums[0][node])
        rounds.append(
            Round(
                rule=simplified(tree.path(node)), value_in=float(step[node]), value_out=0.0, edge=float(edge), weight=z,
                surrogate=max(loss, 0.0) / total, train_error=max(wrong, 0.0) / total, loss=train.loss.name,
                validation=float("nan") if held is None else held_loss / held.examples.total,
            )
        )  # fmt: skip
    return rounds
