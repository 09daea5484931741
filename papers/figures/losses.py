"""Figures 1 and 2 of [N], 1 to 3 of [T], 4 and 5 of [K]: divergences, conjugates, links, Legendre duals and surrogates of losses.

Each function draws on given axes or makes its own, and returns them; matplotlib is imported when first needed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from permissible.losses import Loss, PermissibleLoss, PiecewiseLinear, get
from permissible.report.displays.axes import Axes, axes_or_new
from permissible.report.loss_plots import FOUR, SIZE, plot_link


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


def conjugates_figure(losses: Sequence[str | Loss] = FOUR, ax: Axes | None = None) -> Axes:
    """Figure 1 of [N], 2a of [T]: G*(-x) in bold, between its asymptotes a and a - x.

    Examples
    --------
    >>> conjugates_figure(["logistic"]).get_ylabel()
    'G*(-x)'
    """
    x = np.linspace(-2, 2, 401)
    axes = axes_or_new(ax, **SIZE)
    for loss in map(get, losses):
        label = loss.name + "".join(f", {key}={value:.3g}" for key, value in loss.params.items())
        (line,) = axes.plot(x, loss.conjugate(-x), label=label, linewidth=2.5)
        axes.plot(x[x >= 0], np.full((x >= 0).sum(), loss.a), ":", color=line.get_color(), linewidth=1)
        axes.plot(x[x <= 0], loss.a - x[x <= 0], ":", color=line.get_color(), linewidth=1)
    axes.set(xlabel="x", ylabel="G*(-x)")
    axes.legend()
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
    >>> len(surrogates_figure())
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
