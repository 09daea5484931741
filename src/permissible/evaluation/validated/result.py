"""The result of `pm.validate`: tables as plain columns, and their renderings as a frame, as text and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from permissible.evaluation.intervals import Resampling
from permissible.evaluation.net_benefit import Columns
from permissible.evaluation.subgroups import AT_THRESHOLD
from permissible.types import FloatArray
from permissible.validation import one_of

WORDS = {
    "observed": "observed rate",
    "predicted": "mean predicted probability",
    "o_e": "observed / expected (1 is right)",
    "intercept": "calibration intercept (0 is right)",
    "slope": "calibration slope (1 is right)",
    "auc": "area under the ROC curve",
    "brier": "Brier score (0 is perfect)",
    "miscalibration": "of which miscalibration",
    "discrimination": "less discrimination",
    "uncertainty": "plus uncertainty",
    "flagged": "share flagged",
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
    "net_benefit": "net benefit",
}


@dataclass(frozen=True, slots=True)
class Section:
    """A table in words."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """The performance of estimators for a decision, on rows that they were not fitted on.

    Parameters
    ----------
    about : str
        Rows and method.
    classes : tuple of str
    decision : str
    models : tuple of str
    how : Resampling
        Level, resamples and seed of the intervals.
    tables : dict of dict of columns
        ``decision``, ``calibration``, and for two classes ``net_benefit`` and ``thresholds``; ``subgroups`` and ``difference``
        (paired, of the first model minus each other) where asked for. The first column is the model.
    proba : dict of arrays
        The probabilities that were judged, by model; their columns are `classes`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import permissible as pm
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = pm.validate(pm.UDTClassifier(max_leaf_nodes=4), X, y, cv=2, decision=pm.Weighted(0.2), n_bootstrap=0)
    >>> sorted(found.tables), len(found.proba)
    (['calibration', 'decision', 'net_benefit', 'thresholds'], 1)
    """

    about: str
    classes: tuple[str, ...]
    decision: str
    models: tuple[str, ...]
    how: Resampling
    tables: dict[str, Columns]
    proba: dict[str, FloatArray] = field(repr=False)

    def to_frame(self, table: str | None = None) -> Any:
        """Return a pandas data frame: one table with its columns, or all figures below each other.

        The latter has the columns ``table``, ``model``, ``measure``, ``at`` (threshold, strategy or group), ``value``, ``low``
        and ``high``.
        """
        import pandas as pd

        if table is not None:
            return pd.DataFrame(self.tables[one_of("table", table, tuple(self.tables))])
        return pd.DataFrame([line for name, columns in self.tables.items() for line in _long(name, columns)])

    def sections(self) -> list[Section]:
        """Return the tables in words, those of the decision first."""
        return sections_of(self.tables)

    @property
    def heading(self) -> str:
        """What was judged, in one sentence."""
        level = f"{100 * self.how.level:g} % intervals" if self.how.n_bootstrap else "no intervals"
        return f"{self.about}; classes {', '.join(self.classes)}; {self.decision}; {level}."

    def to_text(self) -> str:
        """Return the tables as text."""
        return "\n\n".join([self.heading, *(_as_text(section) for section in self.sections())]) + "\n"

    def to_html(self) -> str:
        """Return the tables as an HTML fragment without scripts or styles; `_repr_html_` for notebooks is the same."""
        return f"<p>{escape(self.heading)}</p>" + "".join(_as_html(section) for section in self.sections())

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.to_text()


def sections_of(tables: dict[str, Columns]) -> list[Section]:
    """Return tables, whose first column is the model, in words."""
    makers = {
        "decision": _decision,
        "difference": _difference,
        "thresholds": _thresholds,
        "calibration": _calibration,
        "subgroups": _subgroups,
    }
    return [make(tables[name]) for name, make in makers.items() if name in tables]


# -- tables in words --------------------------------------------------------------------------------------------------


def figure(value: float, low: float, high: float, digits: int = 3) -> str:
    """Return a figure with its interval: "0.812 (0.790 to 0.834)"; "-" where it is not defined."""
    if np.isnan(value):
        return "-"
    ends = "" if np.isnan(low) else f" ({low:.{digits}f} to {high:.{digits}f})"
    return f"{value:.{digits}f}{ends}"


def _lines(table: Columns) -> list[dict[str, Any]]:
    return [dict(zip(table, line, strict=True)) for line in zip(*table.values(), strict=True)]


def _ended(line: dict[str, Any], name: str, digits: int = 3) -> str:
    return figure(line[name], line[f"{name}_low"], line[f"{name}_high"], digits)


def _decision(table: Columns) -> Section:
    rows = []
    for line in _lines(table):
        saved = "" if line["strategy"] == "model" else _ended(line, "saving", 4)
        rows.append((line["model"], line["strategy"], _ended(line, "cost", 4), saved))
    header = ("model", "strategy", "mean cost per row", "saved by the model")
    return Section("What the decision costs, compared with the same action for every row", header, tuple(rows))


def _difference(table: Columns) -> Section:
    rows = [
        (line["model"], WORDS.get(line["measure"], line["measure"]),
         "" if np.isnan(line["threshold"]) else f"{line['threshold']:g}",
         figure(line["difference"], line["low"], line["high"], 4))
        for line in _lines(table)
    ]  # fmt: skip
    title = "Paired differences: more net benefit is better, less cost is better"
    return Section(title, ("difference", "of", "at threshold", "value"), tuple(rows))


def _thresholds(table: Columns) -> Section:
    rows = [
        (line["model"], f"{line['threshold']:g}", *(_ended(line, name) for name in AT_THRESHOLD))
        for line in _lines(table)
    ]
    header = ("model", "threshold", *(WORDS.get(name, name) for name in AT_THRESHOLD))
    return Section("What happens at each threshold", header, tuple(rows))


def _calibration(table: Columns) -> Section:
    by_class = "class" in table
    rows = [
        (line["model"], *([line["class"]] if by_class else []), WORDS.get(line["measure"], line["measure"]),
         figure(line["value"], line["low"], line["high"]))
        for line in _lines(table)
    ]  # fmt: skip
    header = ("model", *(["class"] if by_class else []), "measure", "value")
    return Section("How far the probabilities can be trusted", header, tuple(rows))


def _subgroups(table: Columns) -> Section:
    rows = [
        (line["model"], line["column"], line["group"] + (" (small)" if line["small"] else ""),
         f"{line['events']:g} of {line['rows']:g}", WORDS.get(line["measure"], line["measure"]),
         figure(line["value"], line["low"], line["high"]), _ended(line, "difference"), "yes" if line["differs"] else "")
        for line in _lines(table)
    ]  # fmt: skip
    header = ("model", "column", "group", "positive rows", "measure", "value", "difference from the rest", "differs")
    return Section("Groups of rows (intervals of differences hold for all comparisons at once)", header, tuple(rows))


def _long(name: str, table: Columns) -> list[dict[str, Any]]:
    found = []
    for line in _lines(table):
        place = ("threshold", "strategy", "group", "class")
        at = next((line[key] for key in place if key in line), None)
        about = {"table": name, "model": line["model"], "at": f"{line['column']}: {at}" if "column" in line else at}
        if name == "difference":
            line = {**line, "value": line["difference"]}
        if "measure" in line:
            found.append({**about, **{key: line[key] for key in ("measure", "value", "low", "high")}})
        else:
            names = [key for key in line if f"{key}_low" in line]
            found += [
                {**about, "measure": key, "value": line[key], "low": line[f"{key}_low"], "high": line[f"{key}_high"]}
                for key in names
            ]
    return found


# -- text and HTML ----------------------------------------------------------------------------------------------------


def _as_text(section: Section) -> str:
    widths = [max(map(len, column)) for column in zip(section.header, *section.rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()

    return "\n".join(
        [section.title, line(section.header), line(["-" * width for width in widths]), *map(line, section.rows)]
    )


def _as_html(section: Section) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in section.header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in section.rows)
    return (
        f"<table><caption>{escape(section.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
