"""A tree as indented text: one line per test, and at each leaf the label, its probability, its score and its support."""

from collections.abc import Sequence

import numpy as np

from permissible.bins.describe import describe, number
from permissible.bins.literal import Literal, Rule
from permissible.models.kinds.tree import TreeModel


def literal_words(tree: TreeModel, literal: Literal) -> str:
    """A test of the tree in words."""
    seen = tree.seen_missing is None or literal.column in tree.seen_missing
    return describe(literal, tree.schema, tree.code_of_category.get(literal.column), has_missing=seen)


def rule_words(tree: TreeModel, rule: Rule) -> str:
    """A rule over the tree's columns in words; an "or missing" among other tests is bracketed."""
    parts = [literal_words(tree, literal) for literal in rule]
    if len(parts) > 1:
        parts = [f"({part})" if part.endswith(" or missing") else part for part in parts]
    return " and ".join(parts) or "always"


def tree_text(tree: TreeModel, classes: Sequence[object]) -> str:
    """The tree as text.

    A score followed by `*` is cut off: the leaf is pure and its score infinite in theory.
    """
    lines: list[str] = []
    stack: list[tuple[int, str, str]] = [(0, "", "")]
    while stack:
        node, indent, lead = stack.pop()
        literal = tree.literals[node]
        if literal is None:
            lines.append(f"{indent}{lead}{leaf_words(tree, node, classes)}")
            continue
        words = [literal_words(tree, side) for side in (literal, literal.negated())]
        if lead:
            lines.append(f"{indent}{lead}")
            indent += "  "
        for child, text in zip((tree.right[node], tree.left[node]), reversed(words), strict=True):
            stack.append((int(child), indent, f"if {text}: "))
    if tree.n_classes == 2 and any(tree.is_pure[tree.leaves]) and not np.isfinite(tree.loss.score_limit):
        lines.append("(* a pure leaf: its score is infinite in theory and cut off here)")
    return "\n".join(line.rstrip() for line in lines)


def leaf_words(tree: TreeModel, node: int, classes: Sequence[object]) -> str:
    """What a leaf says."""
    probability = tree.node_probability[node]
    weight = number(round(float(tree.weight[node].sum()), 6))
    if tree.n_classes > 2:
        best = int(np.argmax(probability))
        return f"{classes[best]} (probability {probability[best]:.3f}; {weight} examples)"
    star = "*" if tree.is_pure[node] and not np.isfinite(tree.loss.score_limit) else ""
    label = classes[int(probability[1] >= 0.5)]
    score = f"{tree.node_score[node]:+.3f}{star}"
    return f"{label} (Pr[{classes[1]}] = {probability[1]:.3f}, score {score}; {weight} examples)"
