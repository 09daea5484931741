"""Figures 1 to 3 of [K]: the problems between hard and soft classification, and the loss (7) by which each is judged.

Each function draws its panels on given axes or makes its own, and returns them; matplotlib is imported when first needed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from permissible.decisions import Boundaries
from permissible.losses import PermissibleLoss, get
from permissible.types import FloatArray

PROBLEMS: tuple[tuple[float, ...] | None, ...] = ((0.5,), (0.2, 0.4, 0.6), None)
"""Hard classification, one between, and soft classification: all boundaries at once."""
SLOPE = np.array([1.2, 0.8])
"""Log-odds of the positive class in Figure 1, whose populations are two normal ones: the paper prints no numbers."""


def regions_figure(problems: Sequence[Sequence[float] | None] = PROBLEMS, seed: int = 0, ax: Any = None) -> Any:
    """Figure 1 of [K]: 100 observations of two classes and the best regions of each problem.

    The classes are normal with unit variance and means that differ by `SLOPE`, so that p(x) = 1 / (1 + exp(-SLOPE x)) is known
    and the regions shown are the true ones.

    Examples
    --------
    >>> from papers.figures import boundaries
    >>> len(boundaries.regions_figure())
    3
    """
    rng = np.random.default_rng(seed)
    positive = np.arange(100) < 50
    X = rng.normal(size=(100, 2)) + np.where(positive, 0.5, -0.5)[:, None] * SLOPE
    side = np.linspace(-3.5, 3.5, 201)
    p = _probability(np.stack(np.meshgrid(side, side), axis=-1))
    panels = _panels(problems, ax)
    for axes, boundaries in zip(np.atleast_1d(panels), problems, strict=True):
        if boundaries is None:
            axes.pcolormesh(side, side, p, cmap="RdBu_r", vmin=0, vmax=1, alpha=0.6, shading="nearest", rasterized=True)
        else:
            levels = [0.0, *boundaries, 1.0]
            axes.contourf(side, side, p, levels=levels, cmap="RdBu_r", vmin=0, vmax=1, alpha=0.6)
            axes.contour(side, side, p, levels=list(boundaries), colors="k", linewidths=1)
        axes.plot(*X[positive].T, "+", color="#8a1c2b", label="positives")
        axes.plot(*X[~positive].T, "o", color="#154d7a", markersize=3, label="negatives")
        axes.set(title=_title(boundaries), xlabel="first column", ylabel="second column")
    np.atleast_1d(panels)[0].legend(fontsize=8)
    return panels


def theoretical_losses_figure(problems: Sequence[Sequence[float] | None] = PROBLEMS, ax: Any = None) -> Any:
    """Figure 2 of [K]: the loss (7) of a positive and of a negative, over the probability that a rule gives.

    Soft classification is the limit of equally spaced boundaries, (1 - g)^2 and g^2.

    Examples
    --------
    >>> from papers.figures import boundaries
    >>> len(boundaries.theoretical_losses_figure())
    3
    """
    g = np.linspace(0, 1, 1001)
    panels = _panels(problems, ax)
    for axes, boundaries in zip(np.atleast_1d(panels), problems, strict=True):
        for label, style in ((1, "-"), (0, "--")):
            axes.plot(g, _loss(boundaries, label, g), style, label="positive" if label else "negative")
        axes.set(title=_title(boundaries), xlabel="g(x)", ylabel="loss (7)")
        axes.set_xticks([0, *(() if boundaries is None else boundaries), 1])
        axes.legend(fontsize=8)
    return panels


def margin_losses_figure(
    problems: Sequence[Sequence[float] | None] = PROBLEMS, loss: str | PermissibleLoss = "logistic", ax: Any = None
) -> Any:
    """Figure 3 of [K]: the same loss over the margin y f, (9), with delta the scores of a permissible loss.

    Examples
    --------
    >>> from papers.figures import boundaries
    >>> len(boundaries.margin_losses_figure())
    3
    """
    made = get(loss)
    z = np.linspace(-3, 3, 1201)
    panels = _panels(problems, ax)
    for axes, boundaries in zip(np.atleast_1d(panels), problems, strict=True):
        for label, style in ((1, "-"), (0, "--")):
            score = z if label else -z
            p = np.asarray(made.probability(score))
            if boundaries is not None:  # compare scores with delta, not rounded probabilities with pi
                edges = np.array([0.0, *boundaries, 1.0])
                region = np.searchsorted(np.asarray(made.score(np.array(boundaries))), score, side="left")
                p = (edges[region] + edges[region + 1]) / 2
            axes.plot(z, _loss(boundaries, label, p), style, label="positive" if label else "negative")
        axes.set(title=_title(boundaries), xlabel="margin y f(x)", ylabel="loss (9)")
        axes.legend(fontsize=8)
    return panels


def _loss(boundaries: Sequence[float] | None, label: int, g: FloatArray) -> FloatArray:
    """(7) of one class over the probability g; its limit for all boundaries."""
    if boundaries is None:
        return (label - g) ** 2
    return np.asarray(Boundaries(tuple(boundaries)).loss(np.full(len(g), label), g))


def _probability(X: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-(X @ SLOPE))))


def _title(boundaries: Sequence[float] | None) -> str:
    return "all of (0, 1)" if boundaries is None else ", ".join(f"{pi:g}" for pi in boundaries)


def _panels(problems: Sequence[Any], ax: Any) -> Any:
    import matplotlib.pyplot as plt

    if ax is not None:
        return ax
    return plt.subplots(1, len(problems), figsize=(4 * len(problems), 3.4), layout="constrained")[1]
