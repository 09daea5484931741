"""Pictures of losses: any loss, weight, link or phi, and the figures of the papers as one-liners.

Each function draws on given axes or makes its own, and returns them; matplotlib is imported when first needed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from permissible.losses import Loss, PermissibleLoss, PiecewiseLinear, get
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

    Returns
    -------
    matplotlib axes

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


def divergence_figure(loss: str | PermissibleLoss = "matsushita", ax: Axes | None = None) -> Axes:
    """Figure 1 of [T]: the loss D(y || p) of a probability, for either class (Lemma 1).

    Examples
    --------
    >>> len(divergence_figure("logistic").get_lines())
    2
    """
    made, p = get(loss), np.linspace(0.005, 0.995, 399)
    axes = axes_or_new(ax, **SIZE)
    for label, style in ((0, "-"), (1, "--")):
        axes.plot(p, made.bregman(label, p), style, label=f"y = {label}")
    axes.set(xlabel="predicted probability", ylabel="loss", title=f"D(y || p), {made.name}")
    axes.legend()
    return axes


def conjugates_figure(losses: Losses = FOUR, ax: Axes | None = None) -> Axes:
    """Figure 1 of [N], 2a of [T]: G*(-x) in bold, between its asymptotes a and a - x.

    Examples
    --------
    >>> conjugates_figure(["logistic"]).get_ylabel()
    'G*(-x)'
    """
    x = np.linspace(-2, 2, 401)
    axes = _curves(losses, x, lambda loss: loss.conjugate(-x), "x", "G*(-x)", ax)
    for line, loss in zip(list(axes.get_lines()), _all(losses), strict=True):
        line.set_linewidth(2.5)
        axes.plot(x[x >= 0], np.full((x >= 0).sum(), loss.a), ":", color=line.get_color(), linewidth=1)
        axes.plot(x[x <= 0], loss.a - x[x <= 0], ":", color=line.get_color(), linewidth=1)
    return axes


def links_figure(ax: Axes | None = None) -> Axes:
    """Figure 2b of [T]: the links of (20)-(23) and of log-cosh, whose scores are bounded.

    Examples
    --------
    >>> links_figure().get_xlabel()
    'probability'
    """
    axes = plot_link((*FOUR, get("logcosh", zeta=-20.0)), ax=ax)
    axes.set_ylim(-3, 3)
    return axes


def legendre_figure(loss: str | Loss = "logistic", p: float = 0.3, x: float = 1.5, ax: Axes | None = None) -> Axes:
    """Figure 2 of [N], 3 of [T]: the Legendre dual x <> p; map p to g(p), add x, map back to a probability.

    Examples
    --------
    >>> legendre_figure().get_xlabel()
    'probability'
    """
    made = get(loss)
    axes = plot_link(made, ax=ax)
    start = float(np.asarray(made.score(p)))
    stop = start + x
    updated = float(np.asarray(made.probability(stop)))
    axes.plot([p, p, updated, updated], [axes.get_ylim()[0], start, stop, axes.get_ylim()[0]], "o:", color="0.4")
    axes.annotate("p", (p, start), textcoords="offset points", xytext=(-12, 4))
    axes.annotate("x <> p", (updated, stop), textcoords="offset points", xytext=(6, -10))
    axes.set_title(f"adding {x:g} to the score of p = {p:g}")
    return axes


def surrogates_figure(
    boundary_sets: Sequence[Sequence[float]] = ((0.5,), (0.3, 0.7), (0.2, 0.4, 0.6)), ax: Sequence[Axes] | None = None
) -> Any:
    """Figure 4 of [K]: piecewise-linear surrogates of one, two and three boundaries; dotted where decisions change.

    Examples
    --------
    >>> from permissible.report import loss_plots
    >>> len(loss_plots.surrogates_figure())
    3
    """
    import matplotlib.pyplot as plt

    size = (4 * len(boundary_sets), 3.2)
    drawn = plt.subplots(1, len(boundary_sets), figsize=size, sharey=True)[1] if ax is None else ax
    for axes, boundaries in zip(np.atleast_1d(np.asarray(drawn, dtype=object)), boundary_sets, strict=True):
        _pieces(PiecewiseLinear(tuple(boundaries)), axes)
        axes.set_title("boundaries " + ", ".join(f"{pi:g}" for pi in boundaries))
    return drawn


def tangents_figure(
    boundaries: Sequence[float] = (0.2, 0.4, 0.6), base: str | PermissibleLoss = "logistic", ax: Axes | None = None
) -> Axes:
    """Figure 5 of [K]: the surrogate as tangents of its smooth base at the scores of the boundaries.

    Examples
    --------
    >>> tangents_figure().get_xlabel()
    'score'
    """
    surrogate, loss = PiecewiseLinear(tuple(boundaries), base), get(base)
    axes = _pieces(surrogate, axes_or_new(ax, **SIZE))
    f = np.linspace(-4, 4, 401)
    b = float(np.asarray(loss.b))
    axes.plot(f, b * np.asarray(loss.value(f)), color="0.5", linewidth=1, label=f"{loss.name} loss")
    axes.plot(f, b * np.asarray(loss.value(-f)), color="0.5", linewidth=1, linestyle="--")
    axes.plot(surrogate.deltas, surrogate.value(1, surrogate.deltas), "k.")
    axes.plot(surrogate.deltas, surrogate.value(0, surrogate.deltas), "k.")
    axes.legend()
    return axes


def _pieces(surrogate: PiecewiseLinear, axes: Axes) -> Axes:
    f = np.linspace(-4, 4, 401)
    axes.plot(f, surrogate.value(1, f), label="positives")
    axes.plot(f, surrogate.value(0, f), "--", label="negatives")
    for delta in surrogate.deltas:
        axes.axvline(delta, color="0.7", linestyle=":", linewidth=1)
    axes.set(xlabel="score", ylabel="loss")
    axes.legend()
    return axes


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
