"""The figures of [B] on losses of several classes, and [T] Figure 5: supports, binary losses, loss surfaces, a linearised tree.

Each function draws on given axes or makes its own, and returns them; matplotlib is imported when first needed.
"""

from typing import Any

import numpy as np

from permissible.losses import GLL, LS, MulticlassLoss, get, get_multiclass, hinge
from permissible.models.kinds.tree import TreeModel
from permissible.models.kinds.tree_rules import linearised
from permissible.report.displays.axes import axes_or_new
from permissible.types import FloatArray
from permissible.validation import Words, refusal

SENSITIVE = [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
"""C_12 = 1 and C_13 = 2, as in [B] Figure 3c and Figure 1 of its appendix."""


def _scores_of_plane(reach: float = 4.0, count: int = 81) -> tuple[FloatArray, FloatArray, FloatArray]:
    """S_1 and S_2 on a grid, and the scores (n, 3) with S_3 = -S_1 - S_2."""
    line = np.linspace(-reach, reach, count)
    first, second = np.meshgrid(line, line)
    return first, second, np.column_stack([first.ravel(), second.ravel(), -(first + second).ravel()])


def supports_figure(ax: Any = None) -> Any:
    """Draw the supports of three classes in the plane of scores that sum to 0 ([B] Figure 1).

    Examples
    --------
    >>> from papers.figures import multiclass
    >>> len(multiclass.supports_figure().collections) > 0
    True
    """
    axes = axes_or_new(ax)
    first, second, scores = _scores_of_plane()
    axes.contourf(first, second, scores.argmax(axis=1).reshape(first.shape), levels=[-0.5, 0.5, 1.5, 2.5], alpha=0.35)
    t = np.array([0.0, 4.0])
    for ends in ((t, t), (t / 2, -t), (-t, t / 2)):  # S_1 = S_2, S_1 = S_3, S_2 = S_3, the third below
        axes.plot(*ends, color="tab:blue")
    for words, place in (("$S_1$", (2.5, -0.8)), ("$S_2$", (-0.8, 2.5)), ("$S_3$", (-2.5, -2.5))):
        axes.text(*place, words)
    axes.plot(0, 0, "k.")
    axes.set(xlabel="score of class 1", ylabel="score of class 2", xlim=(-4, 4), ylim=(-4, 4))
    return axes


def binary_losses_figure(ax: Any = None) -> Any:
    """Draw the common binary losses over f, S = (f, -f): all are below their value at 0 where f > 0 ([B] Figure 2).

    Examples
    --------
    >>> from papers.figures import multiclass
    >>> len(multiclass.binary_losses_figure().lines) > 3
    True
    """
    axes, f = axes_or_new(ax), np.linspace(-2, 2, 201)
    axes.plot(f, hinge().value(f), label="hinge")
    axes.plot(f, np.log(2) * np.asarray(get("logistic").value(f)), label="logistic")
    axes.plot(f, get("exponential").value(f), label="exponential")
    axes.plot(f, 2 * np.exp(-2 * f), label="exponential, cost 2")
    axes.axvline(0, color="0.7", linewidth=1)
    axes.set(xlabel="f", ylabel="loss of an example of class 1", ylim=(0, 8))
    axes.legend()
    return axes


def surface_figure(
    loss: str | MulticlassLoss = "gll", cost: Any = None, point: tuple[float, float] | None = None, ax: Any = None
) -> Any:
    """Draw L(C, 1, S) - L(C, 1, 0) of an example of class 1 over the scores of classes 1 and 2 ([B] Figure 3, appendix Figure 1).

    The black line is where a right answer begins, the red one where the loss is that of a guess: a loss that is not
    guess-averse has red inside the support of class 1. `point` marks scores such as G = [3, 2, -5].

    Examples
    --------
    >>> from papers.figures import multiclass
    >>> len(multiclass.surface_figure("ls", point=(3, 2)).collections) > 0
    True
    """
    axes = axes_or_new(ax)
    first, second, scores = _scores_of_plane()
    made, label = get_multiclass(loss), np.zeros(len(scores), dtype=np.int64)
    zero = float(np.asarray(made.value(np.zeros((1, 3)), [0], cost))[0])
    height = (np.asarray(made.value(scores, label, cost)) - zero).reshape(first.shape)
    filled = axes.contourf(first, second, np.clip(height, -4, 12), levels=12)
    axes.contour(first, second, height, levels=[0.0], colors="red")
    ordered = np.sort(scores[:, 1:], axis=1)[:, -1]
    axes.contour(first, second, (scores[:, 0] - ordered).reshape(first.shape), levels=[0.0], colors="black")
    if point is not None:
        axes.plot(*point, "w*", markersize=10)
    axes.set(xlabel="score of class 1", ylabel="score of class 2", title=made.name)
    axes.figure.colorbar(filled, ax=axes)
    return axes


def guess_aversion_figure(axes: Any = None) -> Any:
    """Draw the three panels of [B] Figure 3: L_s and GLL without costs, GLL with C_12 = 1 and C_13 = 2.

    Examples
    --------
    >>> from papers.figures import multiclass
    >>> len(multiclass.guess_aversion_figure())
    3
    """
    if axes is None:
        from matplotlib import pyplot

        axes = pyplot.subplots(1, 3, figsize=(13, 3.6), layout="constrained")[1]
    panels: tuple[tuple[MulticlassLoss, Any, tuple[float, float] | None], ...] = (
        (LS(), None, (3.0, 2.0)),
        (GLL(), None, None),
        (GLL(), SENSITIVE, None),
    )
    for ax, (loss, cost, point) in zip(axes, panels, strict=True):
        surface_figure(loss, cost, point, ax)
    return axes


def linearised_figure(tree: TreeModel, ax: Any = None) -> Any:
    """Draw a tree with its leaf scores beside the linearised one, whose values add up along a path ([T] Figure 5).

    Examples
    --------
    >>> import permissible as pm
    >>> from papers.figures import multiclass
    >>> model = pm.UDTClassifier(max_leaf_nodes=3).fit([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, [0, 1, 1, 1] * 3).model_
    >>> len(multiclass.linearised_figure(model).texts) > 4
    True
    """
    if tree.n_classes != 2:
        raise refusal("tree", "of two classes", Words(f"{tree.n_classes} classes"))
    axes = axes_or_new(ax)
    place = _places(tree)
    values = linearised(tree).coefficients
    for shift, linear in ((0.0, False), (max(x for x, _ in place.values()) + 1.5, True)):
        for node, (x, y) in place.items():
            for child in (int(tree.left[node]), int(tree.right[node])):
                if child >= 0:
                    axes.plot([x + shift, place[child][0] + shift], [y, place[child][1]], color="0.6", zorder=1)
            literal = tree.literals[node]
            words = (
                f"{values[node]:+.2f}" if linear else ("" if literal is not None else f"{tree.node_score[node]:+.2f}")
            )
            if literal is not None:
                words = f"{tree.schema.columns[literal.column].name}\n{words}".strip()
            box = {"boxstyle": "square" if literal is None else "circle", "facecolor": "white", "edgecolor": "0.3"}
            axes.text(x + shift, y, words, ha="center", va="center", bbox=box, zorder=2, clip_on=True)
    axes.margins(0.15)
    axes.set_axis_off()
    return axes


def _places(tree: TreeModel) -> dict[int, tuple[float, float]]:
    """Leaves side by side, a node over the middle of its children."""
    found: dict[int, tuple[float, float]] = {}
    order = [node for node in range(tree.n_nodes) if tree.left[node] < 0]
    order.sort(key=lambda node: [literal.column for literal in tree.path(node)])
    for number, node in enumerate(order):
        found[node] = (float(number), -float(tree.depth[node]))
    for node in reversed(range(tree.n_nodes)):
        if node not in found:
            below = [found[int(child)][0] for child in (tree.left[node], tree.right[node])]
            found[node] = (sum(below) / 2, -float(tree.depth[node]))
    return found
