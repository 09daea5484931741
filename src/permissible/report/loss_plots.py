"""Pictures of losses: any loss, weight, link or phi (`papers/figures/losses.py` has the figures of the papers).

Each function draws on given axes or makes its own, and returns them; matplotlib is imported when first needed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from permissible.losses import Loss, get
from permissible.report.displays.axes import Axes, axes_or_new
from permissible.types import ArrayLike, FloatArray

Losses = str | Loss | Sequence[str | Loss]
SIZE = {"figsize": (5.5, 3.6), "layout": "constrained"}
FOUR: tuple[str | Loss, ...] = ("mu", "matsushita", "logistic", "squared")  # (20)-(23) of [T]


def plot_loss(losses: Losses = FOUR, margins: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the loss of a margin, above the 0/1 loss that it bounds.

    Parameters
    ----------
    losses : name, loss, or a sequence of them
        What to draw.
    margins : array, optional
        Where; by default [-2, 2].
    ax : matplotlib axes, optional
        Drawn on when given.

    Examples
    --------
    >>> from permissible.report import loss_plots
    >>> len(loss_plots.plot_loss().lines) > 0
    True
    """
    x = np.linspace(-2, 2, 401) if margins is None else np.asarray(margins, dtype=np.float64)
    axes = _curves(losses, x, lambda loss: loss.value(x), "margin", "loss", ax)
    axes.step(x, (x <= 0).astype(float), color="0.6", linewidth=1, label="0/1 loss", where="mid")
    axes.legend()
    return axes


def plot_weight(losses: Losses = FOUR, margins: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the weight of an example as its margin grows.

    Examples
    --------
    >>> plot_weight("logistic").get_ylabel()
    'weight'
    """
    x = np.linspace(-3, 3, 401) if margins is None else np.asarray(margins, dtype=np.float64)
    return _curves(losses, x, lambda loss: loss.weight(x), "margin", "weight", ax)


def plot_probability(losses: Losses = FOUR, scores: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the probability of a score.

    Examples
    --------
    >>> plot_probability("logistic").get_xlabel()
    'score'
    """
    x = np.linspace(-4, 4, 401) if scores is None else np.asarray(scores, dtype=np.float64)
    return _curves(losses, x, lambda loss: loss.probability(x), "score", "probability", ax)


def plot_link(losses: Losses = FOUR, probabilities: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the score of a probability, the gradient of -phi.

    Examples
    --------
    >>> plot_link("logistic").get_xlabel()
    'probability'
    """
    p = np.linspace(0.01, 0.99, 393) if probabilities is None else np.asarray(probabilities, dtype=np.float64)
    return _curves(losses, p, lambda loss: loss.score(p), "probability", "score", ax)


def plot_phi(losses: Losses = FOUR, ax: Axes | None = None) -> Axes:
    """Draw the permissible functions themselves.

    Examples
    --------
    >>> plot_phi("logistic").get_ylabel()
    'phi'
    """
    p = np.linspace(0, 1, 401)
    return _curves(losses, p, lambda loss: loss.phi(p), "probability", "phi", ax)


def _all(losses: Losses) -> list[Any]:
    several = [losses] if isinstance(losses, str) or not isinstance(losses, Sequence) else losses
    return [get(loss) for loss in several]


def _curves(
    losses: Losses, x: FloatArray, values: Callable[[Any], ArrayLike], across: str, up: str, ax: Axes | None
) -> Axes:
    axes = axes_or_new(ax, **SIZE)
    for loss in _all(losses):
        label = loss.name + "".join(f", {key}={value:.3g}" for key, value in loss.params.items())
        axes.plot(x, values(loss), label=label)
    axes.set(xlabel=across, ylabel=up)
    axes.legend()
    return axes
