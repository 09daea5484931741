"""Why a row got its score: the tests it passed and what each of them added (the linearised tree along one path)."""

from dataclasses import dataclass

from permissible.models.kinds.tree import TreeModel
from permissible.models.render.tree_text import literal_words
from permissible.table.table import Table


@dataclass(frozen=True, slots=True)
class TreeExplanation:
    """One row: the score of the root, the tests that hold with what each adds, and where that leads.

    With more than two classes scores are those of the predicted class against the rest.
    """

    leaf: int
    start: float
    steps: tuple[tuple[str, float], ...]
    score: float
    probability: tuple[float, ...]

    def __str__(self) -> str:
        lines = [f"{self.start:+.3f}  at the start"]
        lines += [f"{added:+.3f}  {words}" for words, added in self.steps]
        return "\n".join([*lines, f"{self.score:+.3f}  score"])


def explain_leaf(tree: TreeModel, leaf: int) -> TreeExplanation:
    """The explanation that all rows of a leaf share."""
    probability = tree.node_probability[leaf]
    scores = tree.node_score if tree.n_classes == 2 else tree.node_score[:, int(probability.argmax())]
    steps, node = [], leaf
    for literal in reversed(tree.path(leaf)):
        above = int(tree.parent[node])
        steps.append((literal_words(tree, literal), float(scores[node] - scores[above])))
        node = above
    return TreeExplanation(
        leaf, float(scores[0]), tuple(reversed(steps)), float(scores[leaf]), tuple(probability.tolist())
    )


def explain_rows(tree: TreeModel, table: Table, n_threads: int = 1) -> list[TreeExplanation]:
    """One explanation a row; rows of one leaf share it."""
    leaves = tree.apply(table, n_threads).tolist()
    known = {leaf: explain_leaf(tree, leaf) for leaf in set(leaves)}
    return [known[leaf] for leaf in leaves]
