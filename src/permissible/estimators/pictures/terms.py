"""A picture of an additive model: a bar for each rule or column, as long as the difference it makes to the score."""

from typing import TYPE_CHECKING, Any

import numpy as np

from permissible.models.card.explanation import card_importances, effects
from permissible.models.card.scorecard import KernelTerm, Scorecard, TreeTerm, words
from permissible.types import FloatArray
from permissible.validation import Words, refusal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEGATIVE, POSITIVE = "#d8731a", "#2673bf"  # colour-blind safe
WIDEST = 60
"""Characters of a rule beside its bar."""


def plot_terms(card: Scorecard, classes: list[object], ax: "Axes | None" = None, n_terms: int = 15) -> Any:
    """Draw what the largest terms add to the score; boosted trees are drawn by the importance of their columns.

    At most `n_terms` bars are drawn, and a line says how many others there are. Scores of several classes have a panel each,
    or, on given axes, those of the last class are drawn.
    """
    if any(isinstance(term, TreeTerm) for term in card.terms):
        found = card_importances(card)
        if found is not None:
            labels = [column.name for column in card.schema.columns]
            return _bars(_axes(ax, n_terms, 1)[0], labels, found, n_terms, "importance of the column")
    if kernel := [words(term, card) for term in card.terms if isinstance(term, KernelTerm)]:
        remedy = "draw how each column matters with sklearn.inspection.PartialDependenceDisplay"
        raise refusal("model", "made of rules, columns or trees to be drawn", Words(kernel[0]), remedy)
    named = effects(card)
    labels, sizes = [*named], np.array([*named.values()]).reshape(len(named), card.n_scores)
    if card.n_scores == 1:
        return _bars(_axes(ax, n_terms, 1)[0], labels, sizes[:, 0], n_terms, f"adds to the score of {classes[-1]}")
    panels = _axes(ax, n_terms, card.n_scores)
    shown = classes if len(panels) == card.n_scores else classes[-1:]
    for panel, label in zip(panels, shown, strict=True):
        _bars(panel, labels, sizes[:, classes.index(label)], n_terms, f"adds to the score of {label}")
    return panels[0] if len(panels) == 1 else panels


def _axes(ax: "Axes | None", n_terms: int, n_panels: int) -> "list[Axes]":
    if ax is not None:
        return [ax]
    from matplotlib import pyplot

    size = 8.0, n_panels * (0.28 * n_terms + 1)
    return [*pyplot.subplots(n_panels, 1, figsize=size, layout="constrained", squeeze=False)[1][:, 0]]


def _bars(ax: "Axes", labels: list[str], effects: FloatArray, n_terms: int, title: str) -> "Axes":
    order = np.argsort(-np.abs(effects), kind="stable")
    order = order[effects[order] != 0]
    shown = order[:n_terms][::-1]
    colours = [POSITIVE if effects[k] > 0 else NEGATIVE for k in shown]
    texts = [text if len(text) <= WIDEST else text[: WIDEST - 3] + "..." for text in (labels[k] for k in shown)]
    ax.barh(texts, effects[shown], color=colours)
    more = len(order) - len(shown)
    ax.set_xlabel(title + (f" ({more} smaller ones are not shown)" if more > 0 else ""))
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
