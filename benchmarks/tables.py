"""Outcomes as JSON, Markdown and a picture, with the versions and the machine they were measured on."""

import importlib.metadata
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from benchmarks.row import Outcome

PACKAGES = ("permissible", "scikit-learn", "lightgbm", "xgboost", "imodels", "interpret-core", "numpy", "scipy")


def machine() -> dict[str, str]:
    """Describe the machine and the versions, without naming a host."""
    known: dict[str, str] = {
        "python": platform.python_version(),
        "system": platform.system(),
        "cores": str(os.cpu_count()),
    }
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        known["processor"] = next(
            (line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")),
            "?",
        )
    for package in PACKAGES:
        try:
            known[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            known[package] = "not installed"
    return known


def as_json(outcomes: Sequence[Outcome]) -> str:
    """Everything measured, for machines."""
    rows = [
        {
            "row": outcome.row.name,
            "unit": outcome.row.unit,
            "threads": outcome.row.threads,
            "quality": outcome.row.quality,
            "note": outcome.row.note,
            "failure": outcome.failure,
            "contenders": {
                name: {
                    "amounts": list(measured.amounts),
                    "quality": measured.quality,
                    **(
                        {}
                        if name == "permissible"
                        else {"ratio": outcome.ratio(name), "verdict": outcome.verdict(name)}
                    ),
                    **({"stated": outcome.row.at_least[name]} if name in outcome.row.at_least else {}),
                }
                for name, measured in outcome.measured.items()
            },
        }
        for outcome in outcomes
    ]
    return json.dumps({"machine": machine(), "rows": rows}, indent=1)


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """One line per row and peer: times with spread, quality reached, ratio, the stated figure, pass or short."""
    lines = [
        "| work | threads | permissible | peer | quality ours / peer | ratio | stated | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        row = outcome.row
        if outcome.failure:
            lines.append(f"| {row.name} | {row.threads} | | | | | | failed: {outcome.failure} |")
            continue
        ours = outcome.measured["permissible"]
        for peer, measured in outcome.measured.items():
            if peer == "permissible":
                continue
            stated = f"{row.at_least[peer]:g}x" if peer in row.at_least else ""
            lines.append(
                f"| {row.name} | {row.threads} | {ours.best:.3g} {row.unit} (+{ours.spread:.0%}) "
                f"| {peer} {measured.best:.3g} {row.unit} (+{measured.spread:.0%}) "
                f"| {row.quality} {ours.quality:.4g} / {measured.quality:.4g} "
                f"| {outcome.ratio(peer):.2f}x | {stated} | {outcome.verdict(peer)} |"
            )
    known = ", ".join(f"{name} {value}" for name, value in machine().items())
    return "\n".join([*lines, "", f"Minimum of the interleaved repetitions, spread in brackets. Machine: {known}.", ""])


def as_picture(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw the ratios on a log scale, with a tick where the stated figure lies."""
    from matplotlib.figure import Figure

    bars = [
        (f"{o.row.name} vs {peer}", o.ratio(peer), o.row.at_least.get(peer))
        for o in outcomes
        if not o.failure
        for peer in o.measured
        if peer != "permissible"
    ]
    figure = Figure(figsize=(9, 0.32 * len(bars) + 1.2), layout="constrained")
    axes = figure.subplots()
    heights = range(len(bars) - 1, -1, -1)
    axes.barh(list(heights), [ratio for _, ratio, _ in bars], color="#0072b2")
    for height, (_, _, stated) in zip(heights, bars, strict=True):
        if stated:
            axes.plot([stated, stated], [height - 0.45, height + 0.45], color="#d55e00", linewidth=2.5)
    axes.set_yticks(list(heights), [name for name, _, _ in bars], fontsize=8)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("times as fast as the peer (orange: the figure we state)")
    figure.savefig(path, metadata={"Date": None})
