"""Drawing: one look for all figures, saved as SVG and PNG, the same bytes each time. Each function draws one kind of figure."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from permissible.types import AnyArray

COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#edae49", "#6a4c93", "#5c5c5c")


def canvas(columns: int = 1, rows: int = 1, width: float = 4.2, height: float = 3.4) -> tuple[Any, Any]:
    """Make a figure with a grid of axes, without a display and without touching pyplot's state."""
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(width * columns, height * rows))
    axes = figure.subplots(rows, columns, squeeze=False)
    for one in axes.ravel():
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, path: Path) -> None:
    """Save as path.svg and path.png."""
    matplotlib = importlib.import_module("matplotlib")
    with matplotlib.rc_context({"svg.hashsalt": "permissible", "svg.fonttype": "none"}):
        figure.tight_layout()
        figure.savefig(path.with_name(path.name + ".svg"), metadata={"Date": None})
        figure.savefig(path.with_name(path.name + ".png"), dpi=120)


def ranked_bars(title: str, names: Sequence[str], means: AnyArray, ranks: AnyArray, wins: AnyArray) -> Any:
    """Draw [N] Figure 3: methods by increasing mean error, the number beaten above each bar, average ranks as a line."""
    figure, axes = canvas(width=8.0, height=3.6)
    bars = axes[0, 0]
    order = np.argsort(means, kind="stable")
    place = np.arange(len(names))
    bars.bar(place, means[order], color=COLOURS[0], width=0.6)
    bars.set_xticks(place, [names[i] for i in order], fontsize=8)
    bars.set_ylabel("mean error")
    bars.set_ylim(0, float(np.max(means)) * 1.2)
    for x, i in zip(place, order, strict=True):
        bars.text(
            x, means[i] * 1.01, f"{means[i]:.4f}\nbeats {wins[i]}", ha="center", va="bottom", fontsize=7, style="italic"
        )
    line = bars.twinx()
    line.plot(place, ranks[order], color=COLOURS[1], marker="|", markersize=14, linestyle="none", markeredgewidth=2)
    line.set_ylim(0, len(names))
    line.set_ylabel("average rank", color=COLOURS[1])
    line.spines["top"].set_visible(False)
    bars.set_title(title, fontsize=10)
    return figure


Panel = tuple[str, str, str, AnyArray, AnyArray, float, float]
"""A scatter plot with a line: title, x label, y label, x, y, slope, intercept."""


def scatter_regression(panels: Sequence[Panel]) -> Any:
    """Draw [T] Figure 7: one scatter plot a panel, with y = x."""
    figure, axes = canvas(len(panels))
    for one, (title, x_label, y_label, x, y, slope, intercept) in zip(axes[0], panels, strict=True):
        end = float(max(np.max(x), np.max(y))) * 1.05 + 1e-9
        one.plot([0, end], [0, end], color="#5c5c5c", linewidth=1)
        one.plot([0, end], [intercept, slope * end + intercept], color=COLOURS[1], linestyle=":", linewidth=1.5)
        one.scatter(x, y, s=14, color=COLOURS[0])
        one.set(title=title, xlabel=x_label, ylabel=y_label, xlim=(0, end), ylim=(0, end))
    return figure


def cumulative_margins(panels: Sequence[tuple[str, Mapping[str, AnyArray]]]) -> Any:
    """Draw [T] Figure 8: the share of examples whose margin is at most theta, one curve a method."""
    figure, axes = canvas(len(panels))
    for one, (title, curves) in zip(axes[0], panels, strict=True):
        for (name, margins), colour, style in zip(
            curves.items(), COLOURS, ("-", "-", "--", ":", "-", "-"), strict=False
        ):
            ordered = np.sort(margins)
            one.step(
                ordered, np.arange(1, ordered.size + 1) / ordered.size, where="post", label=name, color=colour, ls=style
            )
        one.axvline(0.0, color="#5c5c5c", linewidth=0.8)
        one.set(title=title, xlabel="margin", ylabel="share of examples", xlim=(-1, 1), ylim=(0, 1))
        one.legend(frameon=False, fontsize=7)
    return figure


def lines_with_errors(
    panels: Sequence[tuple[str, Mapping[str, tuple[AnyArray, AnyArray, AnyArray]], float | None]],
    x_label: str,
    y_label: str,
) -> Any:
    """Draw [K] Figures 6B and 7B: value and standard error against x for each method, and a floor such as the Bayes risk."""
    figure, axes = canvas(len(panels))
    for one, (title, curves, floor) in zip(axes[0], panels, strict=True):
        for number, (name, (x, y, error)) in enumerate(curves.items()):
            # Side by side where errors would hide each other; lines without errors stay where their x is.
            shift = 0.12 * (number - (len(curves) - 1) / 2) if np.any(error) else 0.0
            bars = error if np.any(error) else None
            style = {"color": COLOURS[number % 6], "marker": "o", "markersize": 4, "capsize": 2, "lw": 1}
            one.errorbar(np.arange(len(x)) + shift, y, bars, label=name, **style)
            one.set_xticks(range(len(x)), [str(value) for value in x])
        if floor is not None:
            one.axhline(floor, color="black", linewidth=1, label="Bayes")
        one.set(title=title, xlabel=x_label, ylabel=y_label)
        one.legend(frameon=False, fontsize=7)
    return figure


def bars_with_errors(title: str, names: Sequence[str], means: AnyArray, errors: AnyArray, y_label: str) -> Any:
    """Draw [B] Figure 4: one bar a method with its standard error."""
    figure, axes = canvas(width=6.5)
    place = np.arange(len(names))
    axes[0, 0].bar(place, means, yerr=errors, color=COLOURS[0], capsize=3, width=0.6)
    axes[0, 0].set_xticks(place, names, rotation=30, ha="right", fontsize=8)
    axes[0, 0].set(title=title, ylabel=y_label)
    return figure


def simulation_sample(
    title: str, rows: AnyArray, label: AnyArray, turned: AnyArray, cuts: Sequence[float], half_width: float
) -> Any:
    """Draw [K] Figures 6A and 7A: a sample in the plane and the lines where p(x) jumps."""
    figure, axes = canvas()
    one = axes[0, 0]
    for code, colour, name in ((1, "#e07a1f", "positive"), (0, "#2e933c", "negative")):
        one.scatter(*rows[label == code].T, s=3, color=colour, label=name)
    for cut in cuts:
        ends = np.array([[cut, -1.0], [cut, 1.0]]) @ turned.T
        one.plot(*ends.T, color="black", linewidth=1.2)
    one.set(title=title, xlim=(-1.05 * half_width, 1.05 * half_width), ylim=(-1.05 * half_width, 1.05 * half_width))
    one.set_aspect("equal")
    one.legend(frameon=False, fontsize=7)
    return figure


def risk_group_figure(
    components: AnyArray,
    region: AnyArray,
    group: AnyArray,
    score: AnyArray,
    deltas: Sequence[float],
    groups: Sequence[str],
    regions: Sequence[str],
) -> Any:
    """Draw [K] Figure 8: components of the trained groups coloured by region, and the density of the score by outcome."""
    gaussian_kde = importlib.import_module("scipy.stats").gaussian_kde
    figure, axes = canvas(2, width=4.8)
    plane, density = axes[0]
    shades = ("#2e933c", "#a3c14a", "#edae49", "#d1495b")
    trained = (group == 0) | (group == len(groups) - 1)
    for code, name in enumerate(regions):
        own = trained & (region == code)
        plane.scatter(*components[own].T, s=10, color=shades[code], label=name)
    plane.set(title="trained groups, by estimated region", xlabel="first component", ylabel="second component")
    plane.legend(frameon=False, fontsize=7)
    place = np.linspace(float(np.min(score)), float(np.max(score)), 300)
    for code, name in enumerate(groups):
        density.plot(place, gaussian_kde(score[group == code])(place), color=shades[code], label=f"outcome {name}")
    for delta in deltas:
        density.axvline(delta, color="#5c5c5c", linewidth=0.8)
    density.set(title="density of the score, by outcome", xlabel="f(x)", ylabel="density")
    density.legend(frameon=False, fontsize=7)
    return figure
