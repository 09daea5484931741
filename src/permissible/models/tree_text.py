"""A tree as indented text: one line per test, and at each leaf the label, its probability, its score and its support."""

from collections.abc import Sequence

import numpy as np

from permissible.models.tree import TreeModel
from permissible.models.wording import literal_words, number_words


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
        words = [literal_words(side, tree.schema, tree.code_of_category) for side in (literal, literal.negated())]
        if lead:
            lines.append(f"{indent}{lead}")
            indent += "  "
        for child, text in zip((tree.right[node], tree.left[node]), reversed(words), strict=True):
            stack.append((int(child), indent, f"if {text}: "))
    if any(tree.is_pure[tree.leaves]) and not np.isfinite(tree.loss.score_limit):
        lines.append("(* a pure leaf: its score is infinite in theory and cut off here)")
    return "\n".join(line.rstrip() for line in lines)


def leaf_words(tree: TreeModel, node: int, classes: Sequence[object]) -> str:
    """What a leaf says."""
    probability = tree.node_probability[node]
    weight = number_words(round(float(tree.weight[node].sum()), 6))
    if tree.n_classes > 2:
        best = int(np.argmax(probability))
        return f"{classes[best]} (probability {probability[best]:.3f}; {weight} examples)"
    star = "*" if tree.is_pure[node] and not np.isfinite(tree.loss.score_limit) else ""
    label = classes[int(probability[1] >= 0.5)]
    score = f"{tree.node_score[node]:+.3f}{star}"
    return f"{label} (Pr[{classes[1]}] = {probability[1]:.3f}, score {score}; {weight} examples)"
