"""The charts of the page as plain data: axes with words and units, and series that `charts.js` draws as SVG."""

from collections.abc import Mapping, Sequence

from permissible.evaluation.curves import Importance
from permissible.report.summary import Summary

_LINES = {
    "surrogate": ("what was minimised", "blue", ""),
    "validation": ("on held-out rows", "orange", "6 4"),
    "train_error": ("error on training rows", "grey", "2 3"),
    "cost": ("cost", "grey", "2 3"),
}
MAX_BARS = 20
MAX_POINTS = 400


def charts(summary: Summary) -> dict[str, dict[str, object]]:
    """The charts by name."""
    drawn = {"reliability": _reliability(summary), "coverage": _coverage(summary), "margins": _margins(summary)}
    if summary.columns:
        drawn["columns"] = _bars(summary.columns, "increase of the log-loss when its values are shuffled")
    if len(summary.terms) > 1:
        drawn["terms"] = _bars(summary.terms, "standard deviation of its contribution to the score")
    if any(len(values) > 1 for values in summary.history.values()):
        drawn["history"] = _history(summary)
    return drawn


def _chart(x: str, y: str, series: Sequence[Mapping[str, object]], **more: object) -> dict[str, object]:
    return {"x": x, "y": y, "series": list(series), **more}


def _reliability(summary: Summary) -> dict[str, object]:
    bins = summary.reliability
    about = (
        f"probability of {summary.classes[1]}"
        if len(summary.classes) == 2
        else "probability of the most probable class"
    )
    points = {
        "kind": "dots",
        "x": [b.predicted for b in bins],
        "y": [b.happened for b in bins],
        "low": [b.low for b in bins],
        "high": [b.high for b in bins],
        "name": "rows",
        "labels": [f"{b.count:,.0f} rows" for b in bins],
        "notes": [
            f"predicted {b.predicted:.3f}, happened {b.happened:.3f} ({b.low:.3f} to {b.high:.3f}), {b.count:,.0f} rows"
            for b in bins
        ],
    }
    right = {
        "kind": "line",
        "x": [0, 1],
        "y": [0, 1],
        "colour": "grey",
        "dash": "2 4",
        "name": "as predicted",
        "aside": True,
    }
    return _chart(f"predicted {about}", "observed rate", [right, points], xlim=[0, 1], ylim=[0, 1])


def _coverage(summary: Summary) -> dict[str, object]:
    coverage, risk = summary.coverage
    curve = {"kind": "line", "x": coverage, "y": risk, "name": "error"}
    return _chart(
        "share of rows decided, the most confident first", "share of errors among them", [curve], xlim=[0, 1], bottom=0
    )


def _margins(summary: Summary) -> dict[str, object]:
    grid, share = summary.margins
    curve = {"kind": "line", "x": grid, "y": share, "name": "share of rows", "area": True}
    zero = {"kind": "line", "x": [0, 0], "y": [0, 1], "colour": "orange", "dash": "2 4", "name": "", "aside": True}
    axis = "probability of the true class minus the best other"
    return _chart(axis, "share of rows up to it", [curve, zero], xlim=[-1, 1], ylim=[0, 1])


def _bars(items: Sequence[Importance], what: str) -> dict[str, object]:
    shown = list(items)[:MAX_BARS]
    bars = {"kind": "bars", "x": [item.value for item in shown], "labels": [item.name for item in shown], "name": ""}
    return _chart(what, "", [bars], height=60 + 24 * len(shown))


def _history(summary: Summary) -> dict[str, object]:
    series = []
    for key, values in summary.history.items():
        name, colour, dash = _LINES[key]
        step = max(1, -(-len(values) // MAX_POINTS))
        kept = sorted({*range(0, len(values), step), len(values) - 1})
        points = {"x": [k + 1 for k in kept], "y": [values[k] for k in kept]}
        series.append({"kind": "line", **points, "name": name, "colour": colour, "dash": dash})
    return _chart("round", "mean over rows", series, bottom=0, legend=True, whole=True)
