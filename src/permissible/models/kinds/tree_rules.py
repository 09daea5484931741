"""A tree as rules, and as a linear separator ([T] Theorem 3): two other forms of the same model.

*Disjoint rules*: each leaf is the conjunction of the tests above it, simplified per column. Exactly one rule covers a
row. *Linearised tree* (LDT): give every node t the feature h_t = 1 on the rows that pass through it and 0 on the
others, with the coefficient g(p_root) at the root and g(p_t) - g(p_parent) below; then H(x) = sum_t alpha_t h_t(x) is
the score of x's leaf (50).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from permissible.bins.describe import rule_words
from permissible.bins.literal import MISSING, Literal, Rule
from permissible.models.kinds.rules import passes
from permissible.models.kinds.tree import TreeModel
from permissible.table.table import Table
from permissible.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class LeafRule:
    """One leaf: the rule that covers its rows, what it predicts, and its support.

    `score` is finite also at a pure leaf, where `pure` means that it is the cut-off one; with more than two classes
    there is a score per class. `support` is the training weight, `samples` the number of training rows.
    """

    node: int
    rule: Rule
    words: str
    probability: tuple[float, ...]
    score: tuple[float, ...]
    support: float
    samples: int
    pure: bool


def leaf_rules(tree: TreeModel) -> tuple[LeafRule, ...]:
    """The disjoint rules of a tree, from its leftmost leaf to its rightmost."""
    rules = []
    for node in leaves_in_order(tree):
        rule = simplified(tree.path(node))
        rules.append(
            LeafRule(
                node=node,
                rule=rule,
                words=rule_words(rule, tree),
                probability=tuple(tree.node_probability[node].tolist()),
                score=tuple(np.atleast_1d(tree.node_score[node]).tolist()),
                support=float(tree.weight[node].sum()),
                samples=int(tree.samples[node]),
                pure=bool(tree.is_pure[node]),
            )
        )
    return tuple(rules)


def leaves_in_order(tree: TreeModel) -> list[int]:
    """The leaves from left to right."""
    found, stack = [], [0]
    while stack:
        node = stack.pop()
        if tree.left[node] < 0:
            found.append(node)
        else:
            stack += [int(tree.right[node]), int(tree.left[node])]
    return found


def simplified(rule: Rule) -> Rule:
    """The same rule with at most one set, one lower and one upper bound per column, in the order of first mention."""
    literals: list[Literal] = []
    for column in dict.fromkeys(literal.column for literal in rule):
        literals += _merged([literal for literal in rule if literal.column == column])
    return tuple(literals)


def _merged(literals: list[Literal]) -> Iterable[Literal]:
    missing = all(literal.missing for literal in literals)
    bounds = [literal for literal in literals if literal.test in ("<=", ">")]
    sets = [literal for literal in literals if literal.test in ("in", "not in")]
    if missing and any(literal.test == "missing" for literal in literals):
        return [next(literal for literal in literals if literal.test == "missing")]
    if sets:
        return [_intersection(literals, missing)]
    if not bounds:
        return literals[:1]
    upper = [literal for literal in bounds if literal.test == "<="]
    lower = [literal for literal in bounds if literal.test == ">"]
    kept = [max(lower, key=lambda literal: literal.threshold)] if lower else []
    kept += [min(upper, key=lambda literal: literal.threshold)] if upper else []
    return [replace(literal, missing=missing) for literal in kept]


def _intersection(literals: list[Literal], missing: bool) -> Literal:
    covered = np.logical_and.reduce([literal.membership() for literal in literals])
    named = {code for literal in literals for code in literal.codes}
    inside = tuple(sorted(code for code in named if covered[code]))
    if any(literal.test == "in" for literal in literals):
        return Literal(literals[0].column, "in", codes=inside, missing=missing)
    outside = tuple(sorted(code for code in named if not covered[code] and code != MISSING))
    return Literal(literals[0].column, "not in", codes=outside, missing=missing)


@dataclass(frozen=True, slots=True)
class LinearisedTree:
    """The separator H(x) = sum_t alpha_t h_t(x) over the indicators of a tree's nodes (LDT)."""

    tree: TreeModel
    nodes: IntArray
    coefficients: FloatArray

    def features(self, table: Table) -> BoolArray:
        """The indicators h_t, shape (n_rows, n_nodes): whether each row passes through each node."""
        through = np.ones((table.n_rows, self.tree.n_nodes), dtype=bool)
        for node, literal in enumerate(self.tree.literals):
            if literal is not None:
                codes = self.tree.code_of_category.get(literal.column)
                left = passes(literal, table.columns[literal.column], codes)
                through[:, self.tree.left[node]] = through[:, node] & left
                through[:, self.tree.right[node]] = through[:, node] & ~left
        return through

    def score(self, table: Table) -> FloatArray:
        """H of each row."""
        return self.features(table).astype(np.float64) @ self.coefficients


def linearised(tree: TreeModel) -> LinearisedTree:
    """The linearised tree: root g(p_root), child g(p_child) - g(p_parent)."""
    scores = tree.node_score
    above = np.where((tree.parent >= 0).reshape(-1, *[1] * (scores.ndim - 1)), scores[tree.parent], 0.0)
    return LinearisedTree(tree, np.arange(tree.n_nodes), scores - above)
