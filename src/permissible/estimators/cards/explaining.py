"""Reasons and recourse of a fitted classifier whose score is a sum of rules."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from permissible.estimators.classifier import actions_for, card_of, table_of
from permissible.estimators.exports import FittedClassifier
from permissible.models.card.actions import Actions
from permissible.models.card.reasons import Reasons, reasons_of, rule_terms
from permissible.models.card.recourse import Cell, Recourse, RecourseProblem, Search, problem_of
from permissible.table.schema import Column, Schema
from permissible.table.table import MISSING_CATEGORY, Table
from permissible.validation import Words, refusal
from permissible.validation.numbers import count, real_number


def reasons(estimator: FittedClassifier, X: object, k: int, decision: object) -> list[Reasons]:
    """At most k reasons for the decision of each row."""
    most, card = count("k", k), card_of(estimator)
    table = table_of(estimator, X)
    scores = np.asarray(estimator.model_.scores(table))
    rule_terms(card)
    actions, link = actions_for(estimator, decision), estimator.model_.link
    decided = [actions.labels[place] for place in actions.places_of(scores, link)]
    good = actions.labels[actions.places_of(np.array([np.inf]), link)[0]]
    favourable = [label == good for label in decided]
    return reasons_of(card, table, scores.tolist(), decided, favourable, most)


def recourse(
    estimator: FittedClassifier,
    x: object,
    decision: object,
    target: object,
    costs: Mapping[str, float] | None,
    fixed: Sequence[str],
    max_columns: int,
    max_time: float,
) -> Recourse:
    """The cheapest change of a row that changes its decision."""
    begun, card, row = time.monotonic(), card_of(estimator), table_of(estimator, x)
    if row.n_rows != 1:
        raise refusal("x", "one row", Words(f"{row.n_rows} rows"))
    known = _positions(costs or {}, card.schema, "costs")
    prices = None if costs is None else {known[name]: real_number("costs", value) for name, value in costs.items()}
    held = list(_positions([fixed] if isinstance(fixed, str) else fixed, card.schema, "fixed").values())
    problem = problem_of(card, row, prices, held, count("max_columns", max_columns))
    actions = actions_for(estimator, decision)

    def place_of(moved: Table) -> int:
        """The position of the decision of a row."""
        return int(actions.places_of(np.asarray(estimator.model_.scores(moved)), estimator.model_.link)[0])

    now = place_of(row)
    wished = _wished(actions, now, target)

    def wanted(low: float, high: float) -> bool:
        """Whether a score between the bounds may give a decision that is wanted; each decision takes an interval of scores."""
        slack = 1e-9 * max(1.0, abs(low), abs(high))
        ends = actions.places_of(np.array([low - slack, high + slack]), estimator.model_.link).tolist()
        return ends[0] != ends[1] or ends[0] in wished

    def confirm(chosen: list[Cell]) -> bool:
        return place_of(_moved(row, problem, chosen)) in wished

    search = Search(problem, wanted, confirm, begun + real_number("max_time", max_time))
    search.run()
    if search.best is None:
        return Recourse(False, {}, float("inf"), actions.labels[now], actions.labels[now], search.in_time)
    after = actions.labels[place_of(_moved(row, problem, search.best))]
    changes = {}
    for column, cell in zip(problem.columns, search.best, strict=True):
        if cell.changed:
            named = card.schema.columns[column]
            changes[named.name] = (_plain(named, row.columns[column][0]), _plain(named, cell.value))
    return Recourse(True, changes, search.cost, actions.labels[now], after, search.in_time)


def _wished(actions: Actions, now: int, target: object) -> set[int]:
    if target is None:
        return {place for place in range(len(actions.labels)) if place != now}
    if target not in actions.labels:
        raise refusal("target", f"one of the decisions {', '.join(map(repr, actions.labels))}", target)
    return {place for place, label in enumerate(actions.labels) if label == target} - {now}


def _positions(names: Iterable[str], schema: Schema, argument: str) -> dict[str, int]:
    found = {}
    for name in names:
        if name not in schema.names:
            raise refusal(argument, "names of columns", Words(f"the unknown column {name!r}"))
        found[name] = schema.names.index(name)
    return found


def _moved(row: Table, problem: RecourseProblem, chosen: list[Cell]) -> Table:
    columns = list(row.columns)
    for column, cell in zip(problem.columns, chosen, strict=True):
        columns[column] = np.array([cell.value], dtype=row.columns[column].dtype)
    return replace(row, columns=tuple(columns))


def _plain(column: Column, value: float) -> object:
    """A value as the user wrote it; None where it is missing."""
    if column.kind == "categorical":
        return None if value == MISSING_CATEGORY else column.categories[int(value)] if value >= 0 else "(unseen)"
    if np.isnan(value):
        return None
    return bool(value) if column.kind == "boolean" else float(value)
