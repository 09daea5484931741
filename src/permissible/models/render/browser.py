"""A scorecard as plain data for the report's what-if panel in the browser (report/assets/model.js)."""

from dataclasses import fields
from typing import cast

import numpy as np

from permissible.bins.describe import literal_words
from permissible.bins.literal import Literal
from permissible.losses import Loss
from permissible.models.card.actions import Actions
from permissible.models.card.scorecard import (
    KernelTerm,
    PointsTerm,
    RuleTerm,
    Scorecard,
    SlopeTerm,
    Term,
    TreeTerm,
    words,
)
from permissible.models.files.strict_json import Plain, number, numbers
from permissible.models.render.formula import formula, tree_of

_GRID = 4001
_KINDS: dict[type, str] = {RuleTerm: "rule", TreeTerm: "tree", SlopeTerm: "slope", KernelTerm: "kernel"}


def plain_card(card: Scorecard) -> dict[str, Plain]:
    """The scorecard: columns, intercept, groups of terms, link."""
    columns: list[Plain] = [
        {"name": column.name, "kind": column.kind, "categories": [_value(value) for value in column.categories]}
        for column in card.schema.columns
    ]
    return {
        "columns": columns,
        "used": list(card.used_columns()),
        "intercept": numbers(card.intercept),
        "groups": [
            [
                plain_term(one, card)
                for term in group
                for one in (term.leaves() if isinstance(term, PointsTerm) else [term])
            ]
            for group in card.groups
        ],
        "link": {
            "kind": card.link.kind,
            "sharpness": number(card.link.sharpness),
            "losses": [_plain_loss(loss) for loss in card.link.losses],
        },
    }


def plain_term(term: Term, card: Scorecard) -> dict[str, Plain]:
    """A term, its words included."""
    if isinstance(term, RuleTerm):
        tests: list[Plain] = [plain_literal(literal, card) for literal in term.rule]
        entry: dict[str, Plain] = {"rule": tests, "holds": numbers(term.holds), "fails": numbers(term.fails)}
    elif isinstance(term, TreeTerm):
        nodes: list[Plain] = []
        for node, literal in enumerate(term.literals):
            if literal is None:
                nodes.append({"values": numbers(term.values[node])})
            else:
                nodes.append({"test": plain_literal(literal, card), "left": term.left[node], "right": term.right[node]})
        entry = {"nodes": nodes}
    else:
        entry = {field.name: _plain(getattr(term, field.name)) for field in fields(term)}
    return {"kind": _KINDS[type(term)], **entry, "words": words(term, card)}


def _plain(value: object) -> Plain:
    """A field of a term: a number, a name, None, or numbers nested in sequences."""
    if isinstance(value, np.ndarray | tuple):
        return [_plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return number(value) if isinstance(value, float) else cast(Plain, value)


def plain_literal(literal: Literal, card: Scorecard) -> Plain:
    """A test of one column; categories as the covered values, or all but the named ones."""
    entry: dict[str, Plain] = {"column": literal.column, "test": literal.test, "missing": literal.missing}
    if literal.test in ("<=", ">"):
        entry["threshold"] = number(literal.threshold)
    elif literal.test in ("in", "not in"):
        found = card.covered(literal)
        entry["named"], entry["others"] = [_value(value) for value in found.named], found.others
    return {**entry, "words": literal_words(literal, card)}


def _plain_loss(loss: Loss) -> Plain:
    """The formula of a loss, or a table of scores and probabilities where there is none."""
    known = formula(loss)
    if known is not None:
        return {"below": cast(Plain, tree_of(known)), "limit": number(known.limit)}
    share = np.linspace(0.0, 1.0, _GRID)[1:-1]
    scores = numbers(np.asarray(loss.score(share)).tolist())
    return {"scores": scores, "shares": numbers(share.tolist())}


def plain_actions(actions: Actions) -> Plain:
    """How `predict` decides."""
    return {
        "shape": actions.shape,
        "labels": [None if label is None else str(label) for label in actions.labels],
        "cuts": numbers(actions.cuts),
        "scoreCuts": numbers(actions.score_cuts),
        "cutGoesUp": actions.cut_goes_up,
        "byScore": actions.by_score,
        "costs": [numbers(row) for row in actions.costs],
    }


def _value(value: object) -> Plain:
    """A category as the form of the page has it: its text."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
