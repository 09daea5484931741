"""`pm.report`: a `Summary` as one self-contained HTML page that opens without a network. Jinja escapes every value."""

import json
import os
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from permissible.models.files.atomic import write
from permissible.models.files.strict_json import number
from permissible.report.page_words import answer_words, checklist_words, model_words, trust_words
from permissible.report.summary import Summary, summarise
from permissible.types import ArrayLike


def report(
    estimator: object,
    X: object,
    y: ArrayLike,
    path: str | os.PathLike[str] = "report.html",
    *,
    sample_weight: ArrayLike | None = None,
    title: str | None = None,
    decision: object = None,
    folds: Sequence[object] = (),
    proba: ArrayLike | None = None,
    subgroups: object = None,
    pos_label: object = None,
    stability: object = None,
) -> str:
    """Write a page about a fitted estimator on rows whose classes are known, and return its path.

    Parameters
    ----------
    estimator : fitted estimator of permissible, or a sequence of them
        The first is described in full; the others are compared with it on the same rows.
    X, y : rows and labels
        Preferably rows that the estimator was not fitted on.
    path : str or path-like
    sample_weight : array, optional
    title : str, optional
    decision : Decision or array of costs, optional
        What it costs is the answer of the page, and its controls start there; by default the decision of the estimator.
    folds : sequence, optional
        Cross-validated figures, each with name, mean and spread.
    proba : array of shape (n_rows, n_classes), optional
        Probabilities to be judged in place of the estimator's own, such as those of fits that have not seen a row.
    subgroups : mapping from name to column, or names of columns of X, optional
        Groups of rows to look at (two classes); by default truth values and columns of few categories.
    pos_label : label, optional
        The class that is flagged, of two: sensitivity, net benefit, and the thresholds of a given `pm.Weighted` are about
        it. By default the second in sorted order: "healthy" where the other is "disease".
    stability : Stability, optional
        What ``ULSClassifier.stability(X, y)`` returned: which rules, labels and probabilities survive resampling.

    Examples
    --------
    >>> import tempfile, numpy as np, permissible as pm
    >>> X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) > 25
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pm.report(pm.UDTClassifier(max_leaf_nodes=2).fit(X, y), X, y, f"{folder}/report.html")
    >>> page.endswith("report.html")
    True
    """
    summary = summarise(
        estimator,
        X,
        y,
        sample_weight=sample_weight,
        title=title,
        decision=decision,
        folds=folds,
        proba=proba,
        subgroups=subgroups,
        pos_label=pos_label,
    )
    write(path, page(summary, stability))
    return os.fspath(path)


write_report = report


def page(summary: Summary, stability: object = None) -> str:
    """The page, with what survives resampling where that is given."""
    import jinja2
    from markupsafe import Markup

    from permissible import __version__
    from permissible.report.charts import charts
    from permissible.report.drawing import tree_drawing

    drawn = charts(summary)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(_asset("page.html.j2"))
    explorer = {**summary.explorer, "name": summary.name, "others": [one.data for one in summary.rivals]}
    data = {"explorer": explorer, "whatif": summary.whatif, "charts": drawn}
    return template.render(
        s=summary,
        stability=stability,
        version=__version__,
        css=Markup(_asset("page.css")),
        model_js=Markup(_asset("model.js")),
        charts_js=Markup(_asset("charts.js")),
        page_js=Markup(_asset("page.js")),
        data=Markup(embedded(data)),
        charts=drawn,
        figure=lambda name, heading, caption: Markup(_figure(name, heading, caption, drawn)),
        tree_drawing=Markup(tree_drawing(summary.tree, summary.card, summary.model_classes)) if summary.tree else "",
        **model_words(summary),
        **answer_words(summary),
        **trust_words(summary),
        **checklist_words(summary, __version__),
    )


def embedded(data: object) -> str:
    """JSON inside a script element: nothing in it can end the element or start a comment."""
    text = json.dumps(_finite(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(data: object) -> object:
    if isinstance(data, Mapping):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple | np.ndarray):
        return [_finite(value) for value in (data.tolist() if isinstance(data, np.ndarray) else data)]
    return number(data) if isinstance(data, float) else data


def _asset(name: str) -> str:
    return resources.files("permissible.report").joinpath("assets", name).read_text(encoding="utf-8")


def _figure(name: str, heading: str, caption: str, drawn: dict[str, Any]) -> str:
    """A chart with its heading, its caption, and its numbers as a table for screen readers."""
    from markupsafe import escape

    chart = drawn[name]
    rows = "".join(
        f"<tr><td>{escape(label)}</td><td class='n'>{escape(x)}</td><td class='n'>{escape(y)}</td></tr>"
        for label, x, y in _numbers(chart)
    )
    heads = "".join(f"<th scope='col'>{escape(text)}</th>" for text in ("", chart["x"], chart["y"]))
    height = int(chart.get("height", 300))
    about = f'role="img" aria-label="{escape(heading)}: {escape(caption)}"'
    return (
        f'<figure aria-labelledby="h-{name}"><h4 id="h-{name}">{escape(heading)}</h4>'
        f'<div class="chart" id="chart-{name}" style="min-height:{height}px" {about}></div>'
        f"<figcaption>{escape(caption)}</figcaption><details><summary>The numbers</summary><div class='scroll' tabindex='0'>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></details></figure>"
    )


def _numbers(chart: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The points of a chart as rows: what, x, y."""
    found = []
    for series in chart["series"]:
        if series.get("aside"):
            continue
        names = series.get("labels") or [series["name"]] * len(series["x"])
        heights = [f"{y:.4g}" for y in series["y"]] if "y" in series else [""] * len(series["x"])
        found += [(name, f"{x:.4g}", y) for name, x, y in zip(names, series["x"], heights, strict=True)]
    return found
