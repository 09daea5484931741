"""Outcomes as JSON, Markdown and a picture, with the versions and the machine they were measured on."""

import importlib.metadata
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from benchmarks.row import Measured, Outcome, Row

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
                    **({"at_most": outcome.row.at_most[name]} if name in outcome.row.at_most else {}),
                }
                for name, measured in outcome.measured.items()
            },
        }
        for outcome in outcomes
    ]
    return json.dumps({"machine": machine(), "rows": rows}, indent=1)


def from_json(text: str) -> list[Outcome]:
    """Read outcomes back, to be shown again; their rows cannot be run."""
    outcomes = []
    for kept in json.loads(text)["rows"]:
        contenders = kept["contenders"].items()
        row = Row(
            kept["row"],
            dict,
            {name: one["stated"] for name, one in contenders if "stated" in one},
            kept["quality"],
            kept["threads"],
            unit=kept["unit"],
            note=kept["note"],
            at_most={name: one["at_most"] for name, one in contenders if "at_most" in one},
        )
        measured = {name: Measured(tuple(one["amounts"]), one["quality"]) for name, one in contenders}
        outcomes.append(Outcome(row, measured, kept["failure"]))
    return outcomes


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
            lines.append(
                f"| {row.name} | {row.threads} | {ours.best:.3g} {row.unit} (+{ours.spread:.0%}) "
                f"| {peer} {measured.best:.3g} {row.unit} (+{measured.spread:.0%}) "
                f"| {row.quality} {ours.quality:.4g} / {measured.quality:.4g} "
                f"| {outcome.ratio(peer):.2f}x | {row.stated(peer)} | {outcome.verdict(peer)} |"
            )
    known = ", ".join(f"{name} {value}" for name, value in machine().items())
    return "\n".join([*lines, "", f"Minimum of the interleaved repetitions, spread in brackets. Machine: {known}.", ""])


def as_picture(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw the ratios on a log scale, with a tick where the stated figure lies."""
    from matplotlib.figure import Figure

    bars = [
        (f"{o.row.name} vs {peer}", o.ratio(peer), o.row.at_least.get(peer), o.verdict(peer))
        for o in outcomes
        if not o.failure
        for peer in o.measured
        if peer != "permissible" and not peer.startswith("permissible,")
    ]
    figure = Figure(figsize=(9, 0.32 * len(bars) + 1.2), layout="constrained")
    axes = figure.subplots()
    heights = range(len(bars) - 1, -1, -1)
    colours = ["#d55e00" if verdict == "short" else "#0072b2" for *_, verdict in bars]
    axes.barh(list(heights), [ratio for _, ratio, *_ in bars], color=colours)
    for height, (_, _, stated, _) in zip(heights, bars, strict=True):
        if stated:
            axes.plot([stated, stated], [height - 0.45, height + 0.45], color="black", linewidth=2.5)
    axes.set_yticks(list(heights), [name for name, *_ in bars], fontsize=8)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("times as fast as the peer (black mark: the figure we state; orange: short of it)")
    figure.savefig(path, metadata={"Date": None})
