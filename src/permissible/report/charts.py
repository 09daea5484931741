"""The charts of the page, drawn by plotly from a `Summary`. Blue and orange throughout, which colour-blind readers tell apart."""

from html import escape
from typing import Any

from permissible.report.summary import Summary

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#6b7280"
_FONT = {"family": "system-ui, sans-serif", "size": 13, "color": "#1f2933"}


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
    """A user's text for a title, a tick or a hover label: plotly reads tags and links there, and entities as characters."""
    return escape(given, quote=False)


def _layout(x: str, y: str, **more: Any) -> dict[str, Any]:
    axis = {"gridcolor": "#e3e7ed", "zeroline": False, "linecolor": "#9aa5b1", "automargin": True}
    return {
        "font": _FONT, "paper_bgcolor": "white", "plot_bgcolor": "white", "height": 330, "showlegend": False,
        "margin": {"l": 55, "r": 15, "t": 10, "b": 45}, "xaxis": {**axis, "title": {"text": x}, **more.pop("xaxis", {})},
        "yaxis": {**axis, "title": {"text": y}, **more.pop("yaxis", {})}, **more,
    }  # fmt: skip


def _reliability(summary: Summary, go: Any) -> Any:
    bins = summary.reliability
    about = f"P({plain_text(summary.classes[1])})" if len(summary.classes) == 2 else "P(the likeliest class)"
    happened = {
        "type": "data", "symmetric": False, "array": [b.high - b.happened for b in bins],
        "arrayminus": [b.happened - b.low for b in bins], "color": BLUE, "thickness": 1,
    }  # fmt: skip
    return go.Figure(
        [
            go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"color": GREY, "dash": "dot"}, hoverinfo="skip"),
            go.Scatter(
                x=[b.predicted for b in bins], y=[b.happened for b in bins], error_y=happened, mode="markers",
                marker={"color": BLUE, "size": 9}, customdata=[b.count for b in bins],
                hovertemplate="predicted %{x:.3f}<br>happened %{y:.3f}<br>%{customdata:.0f} rows<extra></extra>",
            ),
        ],
        _layout(f"predicted {about}", "share that happened", xaxis={"range": [-0.02, 1.02]}, yaxis={"range": [-0.02, 1.02]}),
    )  # fmt: skip


def _margins(summary: Summary, go: Any) -> Any:
    grid, share = summary.margins
    return go.Figure(
        [
            go.Scatter(
                x=grid, y=share, mode="lines", line={"color": BLUE, "width": 2.5}, fill="tozeroy",
                fillcolor="rgba(0,114,178,.12)",
                hovertemplate="%{y:.1%} of the rows have a margin of at most %{x:.2f}<extra></extra>",
            )
        ],
        _layout(
            "margin", "share of rows up to it", yaxis={"range": [0, 1.02]},
            shapes=[{"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "line": {"color": ORANGE, "dash": "dot"}}],
        ),
    )  # fmt: skip


def _coverage(summary: Summary, go: Any) -> Any:
    coverage, risk = summary.coverage
    trace = go.Scatter(
        x=coverage, y=risk, mode="lines", line={"color": BLUE, "width": 2.5},
        hovertemplate="deciding the surest %{x:.0%}: error %{y:.3f}<extra></extra>",
    )  # fmt: skip
    return go.Figure([trace], _layout("share of rows decided", "error among them", yaxis={"rangemode": "tozero"}))


def _bars(items: Any, what: str, go: Any) -> Any:
    shown = list(items)[:20][::-1]
    names = [item.name if len(item.name) <= 30 else item.name[:28] + " …" for item in shown]
    trace = go.Bar(
        x=[item.value for item in shown], y=list(range(len(shown))), orientation="h", marker={"color": BLUE},
        customdata=[plain_text(item.name) for item in shown],
        hovertemplate="%{customdata}: %{x:.4g}<extra></extra>",
    )  # fmt: skip
    ticks = {
        "tickmode": "array",
        "tickvals": list(range(len(shown))),
        "ticktext": [plain_text(name) for name in names],
    }
    return go.Figure([trace], _layout(what, "", yaxis=ticks) | {"height": 70 + 24 * len(shown)})


def _history(summary: Summary, go: Any) -> Any:
    styles = {
        "surrogate": (BLUE, "solid"),
        "validation": (ORANGE, "dash"),
        "train_error": (GREY, "dot"),
        "cost": (GREY, "dot"),
    }
    names = {
        "surrogate": "surrogate loss",
        "validation": "validation loss",
        "train_error": "training error",
        "cost": "cost",
    }
    traces = [
        go.Scatter(
            x=list(range(1, len(values) + 1)), y=values, mode="lines", name=names[key],
            line={"color": styles[key][0], "dash": styles[key][1], "width": 2},
        )
        for key, values in summary.history.items()
    ]  # fmt: skip
    legend = {"orientation": "h", "y": 1.12, "x": 0}
    return go.Figure(
        traces, _layout("round", "", yaxis={"rangemode": "tozero"}) | {"showlegend": True, "legend": legend}
    )
