"""A decision tree: the frozen result of UDT. It finds leaves, probabilities and scores; it does not learn or print.

Node 0 is the root; the children of a node come after it. A node's literal sends a row left when it holds. Leaf k
estimates Pr[class c] = p_k(c), the fraction of class c in the training weight that reached it, and its real prediction
is g(p_k) (mathematics.md section 6). At a pure leaf g is +-infinite for most losses: scores are therefore cut off at
the score of probability 1 - `PURE`, which only leaves of over 10^9 examples reach, so they are finite and in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from permissible.bins.literal import OTHER, Literal, Rule
from permissible.kernels._core import trees
from permissible.losses import Loss
from permissible.losses.class_impurity import class_impurity
from permissible.models.model import Compiled, Link
from permissible.table.schema import Schema
from permissible.table.table import Table
from permissible.types import BoolArray, Codes, FloatArray, IntArray

PURE = 2.0**-30
"""A pure leaf has the score of probability 1 - PURE (or PURE), where the score of probability 1 is infinite."""
_KIND = {"<=": 0, ">": 0, "missing": 1, "present": 1, "in": 2, "not in": 2}


@dataclass(frozen=True, eq=False, repr=False)
class TreeModel(Compiled):
    """A classifier made of nested tests."""

    schema: Schema  # the columns of the tests
    loss: Loss  # what turns a leaf's probability into a score (`loss.score`)
    literals: tuple[Literal | None, ...]  # the test of each node, holding for the rows that go left; None at a leaf
    left: IntArray  # the children of each node, -1 at a leaf
    right: IntArray
    weight: FloatArray  # training weight of each class, (n_nodes, n_classes)
    samples: IntArray  # training rows at each node
    # The bin of each category, for the categorical columns where it is not simply the category's position.
    code_of_category: Mapping[int, Codes] = field(default_factory=dict)
    smoothing: float = 0.0  # added to each class's weight in a leaf before fractions are computed (1 is Laplace's rule)
    # The columns that had missing values in training: text mentions missing values of these only. None: all.
    seen_missing: tuple[int, ...] | None = None
    # Of each column, the direction in which the probability of class 1 may move with it. Smoothed probabilities are
    # kept in that order; unsmoothed fractions are in order already.
    monotone: tuple[int, ...] | None = None
    joint: bool = True  # whether the impurity of several classes is one entropy of all of them where the loss has one
    # The costs of the splits, (n_classes, n_classes), in units of the mean cost of a mistake.
    costs: FloatArray | None = None

    def _size(self) -> str:
        return f"{len(self.leaves)} leaves, {self.n_classes} classes"

    @property
    def link(self) -> Link:
        """A scorecard adds up probabilities: those of the leaf."""
        return Link("probabilities")

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.left)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.weight.shape[1])

    @property
    def leaves(self) -> IntArray:
        """The nodes that are leaves, in order."""
        return np.flatnonzero(self.left < 0)

    @cached_property
    def parent(self) -> IntArray:
        """The parent of each node, -1 for the root."""
        parent = np.full(self.n_nodes, -1)
        inner = np.flatnonzero(self.left >= 0)
        parent[self.left[inner]] = inner
        parent[self.right[inner]] = inner
        return parent

    @cached_property
    def depth(self) -> IntArray:
        """The number of tests above each node."""
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        for node in np.flatnonzero(self.left >= 0):
            depth[self.left[node]] = depth[self.right[node]] = depth[node] + 1
        return depth

    @cached_property
    def node_probability(self) -> FloatArray:
        """Class probabilities of each node, shape (n_nodes, n_classes)."""
        weight = self.weight + self.smoothing
        if self.smoothing and self.monotone is not None:
            positive = self._in_order(weight, self.monotone)
            return np.column_stack([1.0 - positive, positive])
        return np.asarray(weight / weight.sum(axis=1, keepdims=True), dtype=np.float64)

    def _in_order(self, weight: FloatArray, directions: Sequence[int]) -> FloatArray:
        """The probability of class 1 at each node, in the order that the monotone constraints ask for.

        Growth accepts a test on a constrained column only where the fractions of the classes are in order. Smoothing moves
        the fraction of a small leaf further than that of a large one, so it can reverse that order. Here each test on a
        constrained column gets a middle: nodes on its lower side are kept at or below it, nodes on its upper side at or
        above it. That suffices, since two rows that differ in one constrained column only are first separated by a test
        on that column. Two leaves in the wrong order both get their pooled fraction, as in isotonic regression.
        """
        share: FloatArray = weight[:, 1] / weight.sum(axis=1)
        low, high = np.zeros(len(share)), np.ones(len(share))
        for node, literal in enumerate(self.literals):
            share[node] = min(max(share[node], low[node]), high[node])
            if literal is None:
                continue
            children = [int(self.left[node]), int(self.right[node])]
            low[children], high[children] = low[node], high[node]
            direction = directions[literal.column] if literal.test in ("<=", ">") else 0
            if direction:
                lower, upper = children if (direction > 0) == (literal.test == "<=") else children[::-1]
                middle = 0.5 * (share[lower] + share[upper])
                if share[lower] > share[upper]:
                    middle = weight[children, 1].sum() / weight[children].sum()
                high[lower] = low[upper] = min(max(middle, low[node]), high[node])
        return share

    @cached_property
    def node_score(self) -> FloatArray:
        """Finite score of each node: g(p) of the positive class, or one column per class of more than two."""
        probability = self.node_probability[:, 1] if self.n_classes == 2 else self.node_probability
        limit = self.loss.score_limit
        if not np.isfinite(limit):
            limit = float(self.loss.score(1 - PURE))
        return np.clip(np.asarray(self.loss.score(probability), dtype=np.float64), -limit, limit)

    def impurities(self, weight: FloatArray) -> FloatArray:
        """The impurity of sets of rows with these weights by class, (n, n_classes), as the splits counted it."""
        return class_impurity(self.loss, weight, joint=self.joint, costs=self.costs)

    @cached_property
    def is_pure(self) -> BoolArray:
        """Whether each node holds rows of one class only; where scores are unbounded, its score is the cut-off one."""
        return np.asarray((self.weight > 0).sum(axis=1) == 1, dtype=bool)

    def apply(self, table: Table, n_threads: int = 1) -> IntArray:
        """The leaf (node number) that each row falls into."""
        leaf = trees.find_leaves(**self._arrays, columns=list(table.columns), n_rows=table.n_rows, threads=n_threads)
        return leaf.astype(np.int64)

    def scores(self, table: Table, n_threads: int = 1) -> FloatArray:
        """The score g(p) of each row's leaf: one, or one per class where there are more than two; always finite."""
        return np.take(self.node_score, self.apply(table, n_threads), axis=0)

    def probabilities(self, table: Table, n_threads: int = 1) -> FloatArray:
        """Class probabilities of each row, those of its leaf, shape (n_rows, n_classes)."""
        return np.take(self.node_probability, self.apply(table, n_threads), axis=0)

    def path(self, node: int) -> Rule:
        """The literals on the path from the root to a node: the rule that covers exactly its rows."""
        literals: list[Literal] = []
        while node:
            above = int(self.parent[node])
            literal = self.literals[above]
            assert literal is not None  # only inner nodes are parents
            literals.append(literal if self.left[above] == node else literal.negated())
            node = above
        return tuple(reversed(literals))

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        """The tree in the form that the kernel needs."""
        column = np.full(self.n_nodes, -1, dtype=np.int32)
        threshold = np.full(self.n_nodes, np.nan)
        test = np.full(self.n_nodes, -1, dtype=np.int8)
        covered = np.zeros((self.n_nodes, 256), dtype=bool)
        for node, literal in enumerate(self.literals):
            if literal is None:
                continue
            by_code = self.schema.columns[literal.column].kind == "categorical" and literal.test not in ("<=", ">")
            column[node], test[node] = literal.column, 2 if by_code else _KIND[literal.test]
            covered[node] = literal.membership()
            threshold[node] = literal.threshold if test[node] == 0 else np.inf
        swapped = np.array([literal is not None and literal.test in (">", "missing") for literal in self.literals])
        left, right = np.where(swapped, self.right, self.left), np.where(swapped, self.left, self.right)
        covered[swapped] = ~covered[swapped]
        codes, begins = _category_codes(self.schema, self.code_of_category)
        sets = np.packbits(covered, axis=1, bitorder="little")
        links = {"left": left.astype(np.int32), "right": right.astype(np.int32), "node_column": column}
        tests = {"threshold": threshold, "test": test, "left_set": sets}
        return {**links, **tests, "code_of_category": codes, "category_begin": begins, "other": OTHER}


def _category_codes(schema: Schema, code_of_category: Mapping[int, Codes]) -> tuple[Codes, IntArray]:
    """The bins of every column's categories concatenated, and where each column's run begins."""
    runs = []
    for position, column in enumerate(schema.columns):
        known = code_of_category.get(position)
        runs.append(np.arange(len(column.categories), dtype=np.uint8) if known is None else known)
    begins = np.concatenate([[0], np.cumsum([len(run) for run in runs])]).astype(np.int64)
    return np.concatenate(runs).astype(np.uint8) if runs else np.zeros(0, dtype=np.uint8), begins
