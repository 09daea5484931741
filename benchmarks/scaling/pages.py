"""The curves as JSON, Markdown and a picture."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.scaling.exponents import LEAST_MIB, curves, exponents
from benchmarks.tables import machine

COLOURS = {"ULS": "#0072b2", "UDT": "#009e73", "Boundary": "#d55e00", "MCBoost": "#cc79a7"}
MARKS = {"ULS": "o", "UDT": "s", "Boundary": "^", "MCBoost": "D"}
Points = Sequence[Mapping[str, Any]]


def as_json(points: Points) -> str:
    """Every point and every exponent, with the machine."""
    kept = {"machine": machine(), "exponents": exponents(points), "points": list(points)}
    return json.dumps(kept, indent=1)


def as_markdown(points: Points) -> str:
    """The exponents, then a table for each size."""
    lines = [
        "## Exponents",
        "",
        "Time grows like size to the power of the exponent: 1 is linear, 0 is no growth. Least squares on log scales over the"
        f" upper half of each range; memory is above the data, from {LEAST_MIB:g} MiB on.",
        "",
        "| size | estimator | time | memory |",
        "|---|---|---:|---:|",
    ]
    for one in exponents(points):
        memory = "" if one["memory"] is None else f"{round(one['memory'], 2) + 0.0:.2f}"
        lines.append(f"| {one['axis']} | {one['estimator']} | {one['time']:.2f} | {memory} |")
    for axis in dict.fromkeys(point["axis"] for point in points):
        lines += _table(axis, {name: curve for (one, name), curve in curves(points).items() if one == axis})
    return "\n".join([*lines, ""])


def _table(axis: str, found: Mapping[str, Points]) -> list[str]:
    """Seconds, MiB and training error of every estimator against one size."""
    held = ", ".join(f"{value:,} {name}" for name, value in _held(axis, found).items())
    lines = ["", f"## {axis.capitalize()}", "", f"Held: {held}.", ""]
    lines.append(f"| {axis} | " + " | ".join(found) + " |")
    lines.append("|---:|" + "---|" * len(found))
    for size in sorted({point[axis] for curve in found.values() for point in curve}):
        cells = []
        for curve in found.values():
            point = next((point for point in curve if point[axis] == size), None)
            cells.append(f"{point['seconds']:.3g} s, {point['mib']:.0f} MiB" if point else "")
        lines.append(f"| {size:,} | " + " | ".join(cells) + " |")
    return lines


def _held(axis: str, found: Mapping[str, Points]) -> dict[str, int]:
    """The sizes that are the same in all points of an axis."""
    points = [point for curve in found.values() for point in curve]
    names = ("rows", "columns", "rounds", "literals", "classes", "boundaries", "threads")
    return {name: points[0][name] for name in names if name != axis and len({point[name] for point in points}) == 1}


def as_picture(points: Points, path: Path) -> None:
    """Time on the left, memory on the right, one line of panels for each size, log scales."""
    from matplotlib.figure import Figure

    axes = [*dict.fromkeys(point["axis"] for point in points)]
    figure = Figure(figsize=(8, 2.5 * len(axes) + 0.6), layout="constrained")
    panels = figure.subplots(len(axes), 2, squeeze=False)
    for line, axis in zip(panels, axes, strict=True):
        for panel, amount, word in zip(line, ("seconds", "mib"), ("seconds", "MiB above the data"), strict=True):
            for (one, name), curve in curves(points).items():
                if one == axis:
                    sizes = [point[axis] for point in curve]
                    amounts = [max(point[amount], 0.1 if amount == "mib" else 0) for point in curve]
                    panel.plot(sizes, amounts, MARKS[name] + "-", color=COLOURS[name], label=name, markersize=4)
            panel.set(xscale="log", yscale="log", xlabel=axis, ylabel=word)
            sizes = sorted({point[axis] for point in points if point["axis"] == axis})
            if sizes[-1] <= 100:
                panel.set_xticks(sizes, [str(size) for size in sizes])
                panel.minorticks_off()
            panel.grid(alpha=0.3)
        line[0].legend(fontsize=7, frameon=False)
    figure.savefig(path, metadata={"Date": None})
