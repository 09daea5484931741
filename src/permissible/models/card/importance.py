"""The importance of each column, from the model alone; `permissible.evaluation.importance` measures it on rows."""

import numpy as np

from permissible.models.card.scorecard import KernelTerm, PointsTerm, Scorecard, SlopeTerm, TreeTerm, reach
from permissible.models.kinds.tree import TreeModel
from permissible.types import FloatArray


def tree_importances(tree: TreeModel) -> FloatArray:
    """The decrease of the surrogate by the splits on each column, normalised to sum to 1."""
    surrogate = tree.impurities(tree.weight)
    found = np.zeros(len(tree.schema.columns))
    for node, literal in enumerate(tree.literals):
        if literal is not None:
            left, right = tree.left[node], tree.right[node]
            found[literal.column] += max(surrogate[node] - surrogate[left] - surrogate[right], 0.0)
    return _normalised(found)


def card_importances(card: Scorecard) -> FloatArray | None:
    """How much the terms change the scores, summed by column and normalised to sum to 1; None for a kernel.

    A rule counts half of the distance between the two values it adds, divided among the columns of its literals; so
    does each leaf of a tree. A literal gets twice as much as the next one, since a rule is grown literal by literal,
    the best one first. A slope counts its size for one unit of its column.
    """
    found = np.zeros(len(card.schema.columns))
    for term in card.terms:
        if isinstance(term, KernelTerm):
            return None
        if isinstance(term, SlopeTerm):
            found[term.column] += reach(term)
            continue
        for leaf in term.leaves() if isinstance(term, TreeTerm | PointsTerm) else [term]:
            parts = 0.5 ** np.arange(len(leaf.rule))
            for literal, part in zip(leaf.rule, parts / parts.sum(), strict=True):
                found[literal.column] += reach(leaf) * part
    return _normalised(found)


def _normalised(found: FloatArray) -> FloatArray:
    return found / found.sum() if found.sum() > 0 else found
