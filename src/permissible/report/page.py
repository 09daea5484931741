"""`pm.report`: a `Summary` as one self-contained HTML page that opens without a network. Jinja escapes every value."""

import json
import os
from collections.abc import Sequence
from html import unescape
from importlib import resources
from typing import Any

from permissible.decisions import Decision
from permissible.models.card.scorecard import KernelTerm, SlopeTerm
from permissible.models.files.atomic import write
from permissible.report.summary import RuleRow, Summary, classes_in_words, summarise

MAX_RULES = 60
MAX_COLUMNS = 6


def report(
    estimator: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str] = "report.html",
    *,
    sample_weight: Any = None,
    title: str | None = None,
    decision: Decision | None = None,
    folds: Sequence[Any] = (),
) -> str:
    """Write a page about a fitted estimator on rows whose classes are known.

    Parameters
    ----------
    estimator : fitted estimator of permissible
    X, y : rows and labels
        Preferably rows that the estimator was not fitted on.
    path : str or path-like
    sample_weight : array, optional
    title : str, optional
    decision : Decision, optional
        Its cost is shown, and the decision explorer starts from it.
    folds : sequence, optional
        Cross-validated figures, each with name, mean and spread.

    Returns
    -------
    str
        The path.

    Examples
    --------
    >>> import tempfile, numpy as np, permissible as pm
    >>> X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) > 25
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pm.report(pm.UDTClassifier(max_leaf_nodes=2).fit(X, y), X, y, f"{folder}/report.html")
    >>> page.endswith("report.html")
    True
    """
    summary = summarise(estimator, X, y, sample_weight=sample_weight, title=title, decision=decision, folds=folds)
    write(path, page(summary))
    return os.fspath(path)


write_report = report


def page(summary: Summary) -> str:
    """The page."""
    import jinja2
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    from permissible import __version__
    from permissible.report.charts import charts
    from permissible.report.drawing import tree_drawing

    drawn = charts(summary)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(_asset("page.html.j2"))
    data = {"explorer": summary.explorer, "whatif": summary.whatif, "charts": drawn}
    return template.render(
        s=summary,
        version=__version__,
        css=Markup(_asset("page.css")),
        plotly=Markup(get_plotlyjs()),
        model_js=Markup(_asset("model.js")),
        page_js=Markup(_asset("page.js")),
        data=Markup(embedded(data)),
        charts=drawn,
        figure=lambda name, heading, caption: Markup(_figure(name, heading, caption, drawn)),
        tree_drawing=Markup(tree_drawing(summary.tree, summary.card, summary.classes)) if summary.tree else "",
        **_words(summary),
    )


def embedded(data: Any) -> str:
    """JSON inside a script element: nothing in it can end the element or start a comment."""
    text = json.dumps(_finite(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and (data != data or data in (float("inf"), float("-inf"))):
        return {True: "nan"}.get(data != data, "inf" if data > 0 else "-inf")
    return data


def _asset(name: str) -> str:
    return resources.files("permissible.report").joinpath("assets", name).read_text(encoding="utf-8")


def _figure(name: str, heading: str, caption: str, drawn: dict[str, Any]) -> str:
    """A chart with its heading, its caption, and its numbers as a table for screen readers."""
    from markupsafe import escape

    rows = "".join(
        f"<tr><td>{escape(label)}</td><td class='n'>{escape(x)}</td><td class='n'>{escape(y)}</td></tr>"
        for label, x, y in _numbers(drawn[name])
    )
    height = int(drawn[name]["layout"].get("height", 330))
    about = f'role="img" aria-label="{escape(heading)}: {escape(caption)}"'
    return (
        f'<figure aria-labelledby="h-{name}"><h3 id="h-{name}">{escape(heading)}</h3>'
        f'<div class="chart" id="chart-{name}" style="min-height:{height}px" {about}></div>'
        f"<figcaption>{escape(caption)}</figcaption><details><summary>The numbers</summary><div class='scroll' tabindex='0'>"
        f"<table><tbody>{rows}</tbody></table></div></details></figure>"
    )


def _numbers(figure: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The points of a chart as rows: what, x, y."""
    found = []
    for trace in figure["data"]:
        if trace.get("hoverinfo") == "skip":
            continue
        names = trace.get("customdata") if trace["type"] == "bar" else None
        for place, (x, y) in enumerate(zip(trace["x"], trace["y"], strict=True)):
            label = unescape(str(names[place])) if names else str(trace.get("name") or "")
            found.append((label, f"{x:.4g}", "" if names else f"{y:.4g}"))
    return found


# -- text -------------------------------------------------------------------------------------------------------------

_KINDS = {
    "ULSClassifier": "A list of weighted rules",
    "UDTClassifier": "A decision tree",
    "BoundaryClassifier": "A large-margin score with probability boundaries",
    "MCBoostClassifier": "A boosted score for each class",
}


def _words(summary: Summary) -> dict[str, Any]:
    card = summary.card
    linear = any(isinstance(term, SlopeTerm) for term in card.terms)
    binary = len(summary.classes) == 2
    if card.n_scores == 1:
        adds = f"The score is the sum below; the larger it is, the likelier {summary.classes[1]}. " + (
            "Each column adds its value times the number shown."
            if linear
            else "A rule that does not hold subtracts instead."
        )
    elif summary.tree:
        adds = "The same tree as rules, of which exactly one holds for a row."
    else:
        adds = "Each class has a score; the class of the largest is the likeliest."
    heaviest = max((row.weight for row in summary.rules), default=1.0) or 1.0
    shown = summary.rules[:MAX_RULES]
    return {
        "kind": _KINDS.get(summary.estimator, summary.estimator),
        "classes_in_words": classes_in_words(summary.classes),
        "n_folds": len(getattr(summary.folds[0], "values", ())) if summary.folds else 0,
        "how_it_adds": adds,
        "rules_caption": "The heaviest first" if not summary.tree else "The leaves",
        "share_head": f"truly {summary.classes[1]} there" if binary else "mostly, there",
        "any_support": any(row.support is not None for row in shown),
        "adds_heads": _adds_heads(summary),
        "intercept_words": _adds_words(summary, tuple(summary.intercept)),
        "rule_rows": [_row(row, summary, heaviest) for row in shown],
        "more_rules": max(0, len(summary.rules) - len(shown)),
        "only_kernel": bool(card.terms) and all(isinstance(term, KernelTerm) for term in card.terms),
    }


def _row(row: RuleRow, summary: Summary, heaviest: float) -> dict[str, Any]:
    if row.shares is None:
        share = ""
    elif len(summary.classes) == 2:
        share = f"{100 * row.shares[1]:.1f} %"
    else:
        best = max(range(len(row.shares)), key=lambda k: (row.shares or ())[k])
        share = f"{summary.classes[best]} {100 * row.shares[best]:.0f} %"
    largest = max(row.adds, key=abs, default=0.0)
    return {
        "words": row.words,
        "adds": _adds_words(summary, row.adds),
        "side": "for" if largest >= 0 else "against",
        "width": round(110 * row.weight / heaviest),
        "support": "" if row.support is None else f"{100 * row.support:.1f} %",
        "share": share,
    }


def _adds_heads(summary: Summary) -> list[str]:
    if summary.tree:
        return [f"P({name})" for name in summary.classes]
    if summary.card.n_scores == 1:
        return ["adds"]
    return [f"adds to {name}" for name in summary.classes] if len(summary.classes) <= MAX_COLUMNS else ["adds most to"]


def _adds_words(summary: Summary, adds: tuple[float, ...]) -> list[str]:
    """What a term adds, in the columns of the table: a number for each score, or of many the largest."""
    if summary.tree:
        return [f"{value:.3f}" for value in adds]
    if len(adds) <= MAX_COLUMNS:
        return [f"{value:+.4g}" if value else "" for value in adds]
    best = max(range(len(adds)), key=lambda k: abs(adds[k]))
    return [f"{summary.classes[best]} {adds[best]:+.3g}"]
