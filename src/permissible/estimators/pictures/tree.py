"""A picture of a tree: tests in boxes, leaves with label, probability and support, coloured by probability."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from permissible.bins.describe import literal_words
from permissible.models.kinds.tree import TreeModel
from permissible.models.kinds.tree_rules import leaves_in_order
from permissible.validation import refusal_type

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from permissible.estimators.exports import FittedClassifier

NEGATIVE, EVEN, POSITIVE = (0.85, 0.45, 0.10), (0.97, 0.97, 0.97), (0.15, 0.45, 0.75)  # colour-blind safe


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """The position of a node, its text, and its confidence (-1 negative, 0 even, +1 positive)."""

    node: int
    parent: int
    x: float
    y: float
    words: str
    edge: str
    sureness: float
    is_leaf: bool


def predicted_at_nodes(estimator: "FittedClassifier") -> list[object]:
    """The label that `predict` gives at each node of a fitted tree, by the costs where it was fitted with some."""
    tree = estimator.model_
    assert isinstance(tree, TreeModel)
    places = estimator._predicting().decide(tree.node_probability)
    return list(np.asarray(estimator.classes_)[places].tolist())


def tree_layout(tree: TreeModel, classes: list[object], predicted: list[object]) -> tuple[DrawnNode, ...]:
    """Place the nodes: leaves side by side, a parent above the middle of its children. Plain data, for any drawing."""
    place = {leaf: float(k) for k, leaf in enumerate(leaves_in_order(tree))}
    for node in range(tree.n_nodes - 1, -1, -1):
        if node not in place:
            place[node] = 0.5 * (place[int(tree.left[node])] + place[int(tree.right[node])])
    drawn = []
    for node, literal in enumerate(tree.literals):
        parent = int(tree.parent[node])
        edge = "" if parent < 0 else ("yes" if tree.left[parent] == node else "no")
        words = _leaf_words(tree, node, classes, predicted[node]) if literal is None else literal_words(literal, tree)
        drawn.append(
            DrawnNode(
                node, parent, place[node], -float(tree.depth[node]), words, edge, _sureness(tree, node), literal is None
            )
        )
    return tuple(drawn)


def plot_tree(estimator: "FittedClassifier", ax: "Axes | None" = None, *, font_size: float = 8.0) -> "Axes":
    """Draw the tree of a fitted `UDTClassifier`, and return the axes.

    Parameters
    ----------
    estimator : UDTClassifier
    ax : matplotlib Axes, optional
        Where to draw; a new figure of fitting size unless given.
    font_size : float

    Examples
    --------
    >>> import permissible as pm
    >>> from permissible.estimators.pictures.tree import plot_tree
    >>> from sklearn.datasets import load_iris
    >>> tree = pm.UDTClassifier(max_leaf_nodes=3).fit(*load_iris(return_X_y=True))
    >>> len(plot_tree(tree).texts)
    9
    """
    tree = getattr(estimator, "model_", None)
    if not isinstance(tree, TreeModel):
        expected = "a fitted UDTClassifier"
        raise refusal_type("estimator", expected, estimator, "draw other models with their method plot()")
    drawn = tree_layout(tree, estimator.classes_.tolist(), predicted_at_nodes(estimator))
    if ax is None:
        ax = _axes(len(tree.leaves), int(tree.depth.max()))
    centred: dict[str, Any] = {"ha": "center", "va": "center"}
    for item in drawn:
        if item.parent >= 0:
            above = drawn[item.parent]
            ax.plot([above.x, item.x], [above.y, item.y], color="0.6", linewidth=1, zorder=1)
            middle = 0.5 * (above.x + item.x), 0.5 * (above.y + item.y)
            plain = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
            ax.text(*middle, item.edge, fontsize=0.8 * font_size, color="0.3", bbox=plain, **centred)
    for item in drawn:
        box = {
            "boxstyle": "round,pad=0.35" if item.is_leaf else "square,pad=0.35",
            "facecolor": _colour(item.sureness) if item.is_leaf else "white",
            "edgecolor": "0.3",
        }
        colour = "white" if item.is_leaf and abs(item.sureness) > 0.6 else "black"
        ax.text(item.x, item.y, item.words, fontsize=font_size, zorder=2, bbox=box, color=colour, **centred)
    ax.set_axis_off()
    ax.set_xlim(-0.7, max(item.x for item in drawn) + 0.7)
    ax.set_ylim(min(item.y for item in drawn) - 0.5, 0.5)
    return ax


def _axes(n_leaves: int, depth: int) -> "Axes":
    from matplotlib.figure import Figure

    return Figure(figsize=(1.6 * n_leaves + 1, 1.1 * depth + 1.2), layout="constrained").subplots()


def _leaf_words(tree: TreeModel, node: int, classes: list[object], label: object) -> str:
    shown = 1 if tree.n_classes == 2 else classes.index(label)
    said = f"Pr[{classes[1]}]" if tree.n_classes == 2 else "Pr"
    said += f" = {tree.node_probability[node][shown]:.2f}"
    return f"{label}\n{said}\n{tree.weight[node].sum():g} examples"


def _sureness(tree: TreeModel, node: int) -> float:
    probability = tree.node_probability[node]
    if tree.n_classes == 2:
        return float(2 * probability[1] - 1)
    even = 1 / tree.n_classes
    return float((probability.max() - even) / (1 - even))


def _colour(sureness: float) -> tuple[float, ...]:
    towards = np.array(POSITIVE if sureness >= 0 else NEGATIVE)
    mixed = (1 - abs(sureness)) * np.array(EVEN) + abs(sureness) * towards
    return tuple(mixed.tolist())
