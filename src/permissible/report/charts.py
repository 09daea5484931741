"""The charts of the page, drawn by plotly from a `Summary`, in colour-blind safe colours."""

from html import escape
from typing import Any

from permissible.report.summary import Summary

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#6b7280"
_STYLE = {
    "font": {"family": "system-ui, sans-serif", "size": 13, "color": "#1f2933"},
    "paper_bgcolor": "white",
    "plot_bgcolor": "white",
    "height": 330,
    "showlegend": False,
    "margin": {"l": 55, "r": 15, "t": 10, "b": 45},
}
_AXIS = {"gridcolor": "#e3e7ed", "zeroline": False, "linecolor": "#9aa5b1", "automargin": True}
_LINES = {
    "surrogate": ("surrogate loss", BLUE, "solid"),
    "validation": ("validation loss", ORANGE, "dash"),
    "train_error": ("training error", GREY, "dot"),
    "cost": ("cost", GREY, "dot"),
}


def charts(summary: Summary) -> dict[str, dict[str, Any]]:
    """The figures by name, as JSON for plotly.js."""
    import plotly.graph_objects as go

    drawn = {
        "reliability": _reliability(summary, go),
        "margins": _margins(summary, go),
        "coverage": _coverage(summary, go),
    }
    if summary.columns:
        drawn["columns"] = _bars(summary.columns, "rise of the log-loss", go)
    if len(summary.terms) > 1:
        drawn["terms"] = _bars(summary.terms[:20], "moves the score by", go)
    if any(len(values) > 1 for values in summary.history.values()):
        drawn["history"] = _history(summary, go)
    return {name: _plain(figure) for name, figure in drawn.items()}


def _plain(figure: Any) -> dict[str, Any]:
    import json

    loaded: dict[str, Any] = json.loads(figure.to_json())
    loaded["layout"].pop("template", None)  # the colours are given; the template would only add to the page
    return loaded


def plain_text(given: str) -> str:
    """A user's text for a title, a tick or a hover label, where plotly interprets tags, links and entities."""
    return escape(given, quote=False)


def _layout(x: str, y: str, **more: Any) -> dict[str, Any]:
    axes = {
        name: {**_AXIS, "title": {"text": title}, **more.pop(name, {})} for name, title in (("xaxis", x), ("yaxis", y))
    }
    return {**_STYLE, **axes, **more}


def _reliability(summary: Summary, go: Any) -> Any:
    bins = summary.reliability
    about = f"P({plain_text(summary.classes[1])})" if len(summary.classes) == 2 else "P(the likeliest class)"
    predicted, happened = [b.predicted for b in bins], [b.happened for b in bins]
    upper, lower = [b.high - b.happened for b in bins], [b.happened - b.low for b in bins]
    interval = {"type": "data", "symmetric": False, "array": upper, "arrayminus": lower, "color": BLUE, "thickness": 1}
    points = go.Scatter(x=predicted, y=happened, error_y=interval, mode="markers", marker={"color": BLUE, "size": 9})
    points.customdata = [b.count for b in bins]
    points.hovertemplate = "predicted %{x:.3f}<br>happened %{y:.3f}<br>%{customdata:.0f} rows<extra></extra>"
    diagonal = go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": GREY, "dash": "dot"}, hoverinfo="skip")
    whole = {"range": [-0.02, 1.02]}
    return go.Figure([diagonal, points], _layout(f"predicted {about}", "share that happened", xaxis=whole, yaxis=whole))


def _margins(summary: Summary, go: Any) -> Any:
    grid, share = summary.margins
    curve = go.Scatter(x=grid, y=share, mode="lines", line={"color": BLUE, "width": 2.5}, fill="tozeroy")
    curve.fillcolor = "rgba(0,114,178,.12)"
    curve.hovertemplate = "%{y:.1%} of the rows have a margin of at most %{x:.2f}<extra></extra>"
    zero = {"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "line": {"color": ORANGE, "dash": "dot"}}
    return go.Figure([curve], _layout("margin", "share of rows up to it", yaxis={"range": [0, 1.02]}, shapes=[zero]))


def _coverage(summary: Summary, go: Any) -> Any:
    coverage, risk = summary.coverage
    curve = go.Scatter(x=coverage, y=risk, mode="lines", line={"color": BLUE, "width": 2.5})
    curve.hovertemplate = "deciding the surest %{x:.0%}: error %{y:.3f}<extra></extra>"
    return go.Figure([curve], _layout("share of rows decided", "error among them", yaxis={"rangemode": "tozero"}))


def _bars(items: Any, what: str, go: Any) -> Any:
    shown = list(items)[:20][::-1]
    names = [item.name if len(item.name) <= 30 else item.name[:28] + " …" for item in shown]
    places = list(range(len(shown)))
    bars = go.Bar(x=[item.value for item in shown], y=places, orientation="h", marker={"color": BLUE})
    bars.customdata = [plain_text(item.name) for item in shown]
    bars.hovertemplate = "%{customdata}: %{x:.4g}<extra></extra>"
    ticks = {"tickmode": "array", "tickvals": places, "ticktext": [plain_text(name) for name in names]}
    return go.Figure([bars], _layout(what, "", yaxis=ticks, height=70 + 24 * len(shown)))


def _history(summary: Summary, go: Any) -> Any:
    curves = []
    for key, values in summary.history.items():
        name, colour, dash = _LINES[key]
        line = {"color": colour, "dash": dash, "width": 2}
        curves.append(go.Scatter(x=list(range(1, len(values) + 1)), y=values, mode="lines", name=name, line=line))
    legend = {"orientation": "h", "y": 1.12, "x": 0}
    layout = _layout("round", "", yaxis={"rangemode": "tozero"}, showlegend=True, legend=legend)
    return go.Figure(curves, layout)
