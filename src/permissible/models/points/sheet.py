"""The printed card: conditions with their points, and a table from totals to risk. Plain data, and its renderings.

With `points_to_double_odds` the points are those of credit scoring: a total of `base_points` has odds of `base_odds` to one, and
each further `points_to_double_odds` double them (up to the rounding of a point of the card to a whole number),

    scaled = base_points + (log odds - ln base_odds) * points_to_double_odds / ln 2,

which is linear in the total where the score is proportional to the log odds, as with the logistic loss.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from permissible.bins.describe import number, rule_words
from permissible.models.card.actions import Actions
from permissible.models.kinds.rules import passes
from permissible.models.points.model import PointsModel
from permissible.types import AnyArray
from permissible.validation import refusal

_STYLE = """<style>
.permissible-card{font:14px/1.35 system-ui,sans-serif;color:#15181d;background:#fff;border:1.5px solid #15181d;border-radius:8px;
padding:.9em 1.2em;margin:0 0 1em;max-width:44rem;break-inside:avoid}
.permissible-card h4{font-size:1.15em;margin:0}
.permissible-card p{margin:.15em 0 .6em;color:#4a5260}
.permissible-card table{border-collapse:collapse;width:100%;margin:0 0 .9em}
.permissible-card th,.permissible-card td{padding:4px 8px;text-align:left;border-bottom:1px solid #d5d9e0;vertical-align:bottom}
.permissible-card .n{text-align:right;font-variant-numeric:tabular-nums}
.permissible-card .box{width:4.5em;border:1px solid #8a93a3}
.permissible-card .sum td{font-weight:600}
</style>"""
HOW = "Add up the points of the conditions that hold."


COARSE = 0.05
"""Largest relative error of a scaled point that is rounded to a whole number."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """The points of credit scoring: what a point is worth."""

    points_to_double_odds: float
    base_points: float = 600.0
    base_odds: float = 50.0

    def of(self, model: PointsModel) -> tuple[int, int]:
        """Points of a total of 0 and of each point of the card, whole numbers; refused where odds are not linear in the total."""
        probability = np.array([0.01, 0.2, 0.6, 0.9])
        factor = np.asarray(model.loss.score(probability)) / np.log(probability / (1 - probability))
        if not np.allclose(factor, factor[0], rtol=1e-6):
            expected = "None for a loss whose score is not proportional to the log odds"
            raise refusal("points_to_double_odds", expected, self.points_to_double_odds, "fit with loss='logistic'")
        unit = self.points_to_double_odds / math.log(2.0)
        start = self.base_points + unit * (model.offset / float(factor[0]) - math.log(self.base_odds))
        exact = unit * model.unit / float(factor[0])
        if abs(round(exact) - exact) > COARSE * exact:
            least = math.ceil(self.points_to_double_odds * 0.5 / COARSE / exact)
            expected = f"at least {least} for this card, so that whole numbers of points are true to {COARSE:.0%}"
            raise refusal("points_to_double_odds", expected, self.points_to_double_odds)
        return round(start), round(exact)


@dataclass(frozen=True, slots=True)
class CardLine:
    """A condition and the points it gives."""

    condition: str
    points: int


@dataclass(frozen=True, slots=True)
class TotalLine:
    """A total, the probability of the positive class, the training cases with it and the positives among them, the decision.

    `words` are those for the decision: a class, "refer", or the name of a risk group.
    """

    total: int
    probability: float
    cases: float
    positives: float
    decision: object = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class PointSheet:
    """A printed card.

    Attributes
    ----------
    positive : str
        The class whose probability the totals give.
    start : int
        Points that everybody has: 0 but for scaled cards.
    lines : tuple of CardLine
    totals : tuple of TotalLine
        Every total that a row can have.
    decided : bool
        Whether the totals have a decision.

    Examples
    --------
    >>> import numpy as np, permissible as pm
    >>> X = {"age": np.arange(20.0, 60.0)}
    >>> card = pm.ULSClassifier.points(n_rules=1).fit(X, np.arange(40) > 25).card()
    >>> [(line.condition, line.points) for line in card.lines]
    [('age > 45.5', 1)]
    """

    positive: str
    start: int
    lines: tuple[CardLine, ...]
    totals: tuple[TotalLine, ...]
    decided: bool = False

    def to_text(self) -> str:
        """The card as text."""
        width = max([len(text) for text, _ in self.rows] + [10])
        rows = [f"Points for {self.positive}"]
        rows += [f"  {text.ljust(width)}  {points:4d}" for text, points in self.rows]
        rows += [f"  {'total'.ljust(width)}  ____", ""]
        heads, cells = self.heads, [self.cells(line) for line in self.totals]
        widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
        for row in (heads, *cells):
            numbers = [cell.rjust(size) for cell, size in zip(row[:3], widths, strict=False)]
            rows.append("  ".join([*numbers, *row[3:]]))
        return "\n".join(rows)

    def to_html(self) -> str:
        """The card as HTML, to be printed: two tables, with a box for the points of each condition and for the total."""
        box = '<td class="box"></td>'
        first = "".join(
            f'<tr><td>{escape(text)}</td><td class="n">{points}</td>{box}</tr>' for text, points in self.rows
        )
        heads = "".join(f"<th{_aligned(place)}>{escape(head)}</th>" for place, head in enumerate(self.heads))
        rows = "".join(
            "<tr>"
            + "".join(f"<td{_aligned(place)}>{escape(cell)}</td>" for place, cell in enumerate(self.cells(line)))
            + "</tr>"
            for line in self.totals
        )
        return (
            f'{_STYLE}<div class="permissible-card"><h4>Points for {escape(self.positive)}</h4><p>{HOW}</p><table><thead><tr>'
            '<th scope="col">condition</th><th scope="col" class="n">points</th><th scope="col">yours</th></tr></thead>'
            f'<tbody>{first}<tr class="sum"><td>total</td><td></td>{box}</tr></tbody></table>'
            f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def to_excel(self, path: str | os.PathLike[str]) -> None:
        """Write the card as an Excel workbook, in which one answers the conditions and reads the risk (needs openpyxl)."""
        from permissible.models.points.excel import workbook

        Path(path).write_bytes(workbook([self]))

    @property
    def rows(self) -> list[tuple[str, int]]:
        """The conditions with their points, after what everybody has."""
        everybody = [("for everybody", self.start)] if self.start else []
        return everybody + [(line.condition, line.points) for line in self.lines]

    @property
    def heads(self) -> list[str]:
        """The heads of the table of totals."""
        heads = ["total", f"probability of {self.positive}", f"{self.positive}, of cases"]
        return [*heads, "decision"] if self.decided else heads

    def cells(self, line: TotalLine) -> list[str]:
        """A total in words."""
        positives, cases = (number(round(count, 6)) for count in (line.positives, line.cases))
        shown = [str(line.total), f"{100 * line.probability:.1f}%", f"{positives} of {cases}"]
        return [*shown, line.words] if self.decided else shown


def _aligned(place: int) -> str:
    return ' class="n"' if place < 3 else ""


def sheet(
    model: PointsModel,
    classes: Sequence[object],
    actions: Actions | None = None,
    scaling: Scaling | None = None,
    words: Sequence[str] = (),
) -> PointSheet:
    """The printed card of a model; `actions` decide by its probabilities, and `words` has one for each."""
    start, factor = (0, 1) if scaling is None else scaling.of(model)
    totals = np.array(sorted(reachable(model)))
    scores = model.score_of(totals)
    proba = model.link.probabilities(scores)
    decisions: list[tuple[object, str]] = [(None, "")] * len(totals)
    if actions is not None:
        places = actions.places_of(scores, model.link).tolist()
        decisions = [(actions.labels[place], words[place]) for place in places]
    values = zip(totals.tolist(), proba[:, 1].tolist(), decisions, strict=True)
    rules = zip(model.rules, model.points.tolist(), strict=True)
    lines = [CardLine(rule_words(rule, model), factor * points) for rule, points in rules]
    lines.sort(key=lambda line: (-line.points, line.condition))
    return PointSheet(
        str(classes[-1]),
        start,
        tuple(lines),
        tuple(
            TotalLine(start + factor * total, share, *_cases(model, total), *decision)
            for total, share, decision in values
        ),
        actions is not None,
    )


def reachable(model: PointsModel) -> set[int]:
    """The totals that a row can have; of rules of several literals every sum of points.

    Conditions on one column exclude or imply each other, so of each column the totals of its cells count.
    """
    found = {0}
    pairs = list(zip(model.rules, model.points.tolist(), strict=True))
    if any(len(rule) != 1 for rule in model.rules):
        for _, points in pairs:
            found |= {total + points for total in found}
        return found
    for column in dict.fromkeys(rule[0].column for rule in model.rules):
        own = [(rule[0], points) for rule, points in pairs if rule[0].column == column]
        values = _values(model, column, [literal.threshold for literal, _ in own])
        codes = model.code_of_category.get(column)
        sums = sum(points * passes(literal, values, codes).astype(np.int64) for literal, points in own)
        found = {total + more for total in found for more in set(np.asarray(sums).tolist())}
    return found


def _values(model: PointsModel, column: int, thresholds: list[float]) -> AnyArray:
    """A value of each cell of a column: every category and an unseen one, or each threshold and one above all; and missing."""
    missing = model.seen_missing is None or column in model.seen_missing
    if model.schema.columns[column].kind == "categorical":
        return np.arange(-2, len(model.schema.columns[column].categories), dtype=np.int32)
    ends = [end for end in thresholds if math.isfinite(end)]
    return np.array([*ends, math.inf, *([math.nan] if missing else [])])


def _cases(model: PointsModel, total: int) -> tuple[float, float]:
    negatives, positives = model.cases[total].tolist() if total < len(model.cases) else (math.nan, math.nan)
    return negatives + positives, positives
