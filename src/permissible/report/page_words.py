"""The values of the page's template: every number and every sentence of a `Summary` as text."""

from itertools import groupby

import numpy as np

from permissible.evaluation.net_benefit import Columns
from permissible.evaluation.validated.result import WORDS
from permissible.models.card.scorecard import KernelTerm, SlopeTerm
from permissible.report.answer import UNIT, Strategy
from permissible.report.checklist import COMPARED, checklist, counts_in_words
from permissible.report.comparison import Rival, verdict
from permissible.report.summary import RuleRow, Summary, classes_in_words

MAX_RULES = 60
MAX_COLUMNS = 6
MAX_DESCRIBED = 200

_KINDS = {
    "ULSClassifier": "A list of weighted rules",
    "UDTClassifier": "A decision tree",
    "BoundaryClassifier": "A large-margin score with probability boundaries",
    "MCBoostClassifier": "A boosted score for each class",
}


def model_words(summary: Summary) -> dict[str, object]:
    """The model in words."""
    card = summary.card
    linear = any(isinstance(term, SlopeTerm) for term in card.terms)
    binary = len(summary.model_classes) == 2
    if card.n_scores == 1:
        adds = f"The score is the sum below; the larger it is, the more probable is {summary.model_classes[1]}. " + (
            "Each column adds its value times the number shown."
            if linear
            else "A rule that does not hold subtracts instead."
        )
    elif summary.tree:
        adds = "The same tree as rules, of which exactly one holds for a row."
    else:
        adds = "Each class has a score; the class with the largest score is the most probable."
    heaviest = max((row.weight for row in summary.rules), default=1.0) or 1.0
    shown = summary.rules[:MAX_RULES]
    return {
        "kind": "A point card" if summary.sheets else _KINDS.get(summary.estimator, summary.estimator),
        "classes_in_words": classes_in_words(summary.classes),
        "n_folds": len(getattr(summary.folds[0], "values", ())) if summary.folds else 0,
        "how_it_adds": adds,
        "rules_caption": "The heaviest first" if not summary.tree else "The leaves",
        "share_head": f"actual {summary.classes[1]}" if binary else "most frequent class",
        "any_support": any(row.support is not None for row in shown),
        "adds_heads": _adds_heads(summary),
        "intercept_words": _adds_words(summary, tuple(summary.intercept)),
        "rule_rows": [_row(row, summary, heaviest) for row in shown],
        "more_rules": max(0, len(summary.rules) - len(shown)),
        "only_kernel": bool(card.terms) and all(isinstance(term, KernelTerm) for term in card.terms),
    }


def _row(row: RuleRow, summary: Summary, heaviest: float) -> dict[str, object]:
    if row.shares is None:
        share = ""
    elif len(summary.model_classes) == 2:
        share = f"{100 * row.shares[summary.model_classes.index(summary.classes[1])]:.1f} %"
    else:
        best = max(range(len(row.shares)), key=lambda k: (row.shares or ())[k])
        share = f"{summary.model_classes[best]} {100 * row.shares[best]:.0f} %"
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
        return [f"P({name})" for name in summary.model_classes]
    if summary.card.n_scores == 1:
        return ["adds"]
    return (
        [f"adds to {name}" for name in summary.model_classes]
        if len(summary.model_classes) <= MAX_COLUMNS
        else ["adds most to"]
    )


def _adds_words(summary: Summary, adds: tuple[float, ...]) -> list[str]:
    """What a term adds, in the columns of the table: a number for each score, or of many the largest."""
    if summary.tree:
        return [f"{value:.3f}" for value in adds]
    if len(adds) <= MAX_COLUMNS:
        return [f"{value:+.4g}" if value else "" for value in adds]
    best = max(range(len(adds)), key=lambda k: abs(adds[k]))
    return [f"{summary.model_classes[best]} {adds[best]:+.3g}"]


# -- the answer -------------------------------------------------------------------------------------------------------


def answer_words(summary: Summary) -> dict[str, object]:
    """Strategies and comparisons."""
    dearest = max(line.cost for line in summary.answer.strategies) or 1.0
    return {
        "unit": UNIT,
        "counts_in_words": counts_in_words(summary),
        "strategies": [_strategy(line, dearest) for line in summary.answer.strategies],
        "rivals": [_rival_words(summary, one) for one in summary.rivals],
    }


def _strategy(line: Strategy, dearest: float) -> dict[str, object]:
    first = line.name == "the model"
    return {
        "name": line.name,
        "exact": repr(line.cost),
        "cost": _thousand(line.cost, dearest),
        "width": round(100 * line.cost / dearest),
        "ends": f"{_thousand(line.low, dearest)} to {_thousand(line.high, dearest)}",
        "saved": "" if first else _thousand(line.saving, dearest),
        "saved_ends": ""
        if first
        else f"{_thousand(line.saving_low, dearest)} to {_thousand(line.saving_high, dearest)}",
    }


def _thousand(cost: float, dearest: float) -> str:
    """The cost of so many rows, with a digit after the point where all costs are small."""
    return f"{UNIT * cost:,.{0 if UNIT * dearest >= 100 else 1}f}"


def _rival_words(summary: Summary, one: Rival) -> dict[str, object]:
    _, low, high = one.saving
    lines = [("mean cost per row", f"{summary.answer.strategies[0].cost:.4f}", f"{one.cost:.4f}")]
    for mine, theirs in zip(_calibration(summary.tables), _calibration(one.tables), strict=True):
        lines.append((mine[0], f"{mine[1]} ({mine[2]})", f"{theirs[1]} ({theirs[2]})"))
    return {
        "name": one.name,
        "verdict": verdict(summary.name, one, UNIT),
        "tone": "good" if low > 0 else "bad" if high < 0 else "shrug",
        "figures": lines,
        "differences": [] if one.difference is None else _differences(one.difference),
    }


def _differences(table: Columns) -> list[tuple[str, str, str, bool]]:
    return [
        (f"{100 * t:g} %", f"{value:+.4f}", f"{low:+.4f} to {high:+.4f}", bool(low > 0 or high < 0))
        for t, value, low, high in zip(*table.values(), strict=True)
    ]


# -- trust ------------------------------------------------------------------------------------------------------------

BY_CLASS = ("observed", "predicted", "o_e", "auc", "brier")
SUBGROUP_HEADS = {
    "o_e": "observed / expected (1 is right)",
    "auc": "area under the ROC curve",
    "sensitivity": "sensitivity (flagged, of actual {yes})",
    "specificity": "specificity (not flagged, of actual {no})",
    "net_benefit": "net benefit of a row",
}


def trust_words(summary: Summary) -> dict[str, object]:
    """Calibration, subgroups and the description of the rows."""
    rows = summary.n_rows
    described = [
        {"name": c.name, "kind": c.kind, "used": c.used, "usual": c.usual,
         "missing": f"{c.missing:,} of {rows:,} ({100 * c.missing / rows:.1f} %)" if c.missing else "none"}
        for c in sorted(summary.described, key=lambda c: not c.used)[:MAX_DESCRIBED]
    ]  # fmt: skip
    named = {"yes": summary.classes[-1], "no": summary.classes[0]}
    return {
        "calibration": _calibration(summary.tables),
        "subgroups": _subgroups(summary.tables.get("subgroups")),
        "subgroup_heads": [
            f"actual {named['yes']}, of rows",
            *(text.format(**named) for text in SUBGROUP_HEADS.values()),
        ],
        "described": described,
        "statement": dict(summary.certificate).get("statement", ""),
    }


def _calibration(tables: dict[str, Columns]) -> list[tuple[str, str, str, str]]:
    """The lines of the table of calibration: words, value, interval, key."""
    table = tables["calibration"]
    shown = set(BY_CLASS) if "class" in table else set(table["measure"])
    classes = [f"{name}: " for name in table["class"]] if "class" in table else [""] * len(table["measure"])
    return [
        (name + WORDS[key], f"{value:.3f}", "not defined" if np.isnan(low) else f"{low:.3f} to {high:.3f}", key)
        for name, key, value, low, high in zip(
            classes, table["measure"], table["value"], table["low"], table["high"], strict=True
        )
        if key in shown
    ]


def _subgroups(table: Columns | None) -> list[tuple[str, list[dict[str, object]]]]:
    if table is None:
        return []
    lines = [dict(zip(table, line, strict=True)) for line in zip(*table.values(), strict=True)]
    found = []
    for column, of_column in groupby(lines, key=lambda line: line["column"]):
        groups = []
        for name, of_group in groupby(of_column, key=lambda line: line["group"]):
            measures = {line["measure"]: line for line in of_group}
            first = next(iter(measures.values()))
            apart = [
                WORDS.get(key, key).split(" (")[0]
                for key in COMPARED
                if measures[key]["differs"] and not first["small"]
            ]
            cells = [_value_and_ends(measures[key]) for key in SUBGROUP_HEADS]
            remark = "too small to judge" if first["small"] else f"differs in {', '.join(apart)}" if apart else ""
            share = f"{100 * first['events'] / first['rows']:.1f} %"
            counted = (share, f"{first['events']:,.6g} of {first['rows']:,.6g}")
            groups.append({"group": name, "cells": [counted, *cells], "remark": remark, "differs": bool(apart)})
        found.append((column, groups))
    return found


def _value_and_ends(line: dict[str, float]) -> tuple[str, str]:
    if np.isnan(line["value"]):
        return "-", ""
    return f"{line['value']:.3f}", "" if np.isnan(line["low"]) else f"{line['low']:.3f} to {line['high']:.3f}"


def checklist_words(summary: Summary, version: str) -> dict[str, object]:
    """The items of the checklist."""
    items = checklist(summary, version)
    return {"checklist": items, "n_answered": sum(bool(item.answer) for item in items)}
