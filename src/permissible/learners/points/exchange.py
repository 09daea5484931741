"""Exchange of rules: a card without one of its rules, and the rule that serves it best in that place.

For each rule in turn, the rows get the scores of the card without it, and a search of ULS under the resulting weights names
candidates. With the total of the other rules and the candidate's answer known, every number of points of the candidate is a
shift of a table of totals, so all of them are fitted together (lines.py). The best card replaces the old one if its loss is
lower; its points are improved again. It ends when no rule can be exchanged and no points changed.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from permissible.bins.literal import Rule
from permissible.learners.points.cells import RuleCells
from permissible.learners.points.lines import fit_lines
from permissible.learners.points.rounding import PointsProblem, Rounded, best_of, improved
from permissible.learners.uls.boost import LoopTask
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import PatternsOf, Terms
from permissible.learners.uls.search import Extended, RuleSearch, negated
from permissible.learners.uls.step import FitRows
from permissible.types import AnyArray, FloatArray

LEAST_GAIN = 1e-4
"""A rule is exchanged if that lowers the loss by this fraction."""
MAX_SWEEPS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """What an exchange needs: the rows of the fit, how rules are searched (l2 in the units of the rows), and the task."""

    rows: FitRows
    task: LoopTask
    options: ULSOptions
    layout: AnyArray


class Held(NamedTuple):
    """The rules of a card, its cells and its points."""

    rules: list[Rule]
    problem: PointsProblem
    card: Rounded


def exchanged(exchange: Exchange, held: Held) -> tuple[Held, bool]:
    """The card after all exchanges that help, and whether it ended because none was left."""
    for _ in range(MAX_SWEEPS):
        changed = False
        for place in range(len(held.rules)):
            better = _instead(exchange, held, place)
            if better is not None:
                held, changed = better, True
        if not changed:
            return held, True
    return held, False


def _instead(exchange: Exchange, held: Held, place: int) -> Held | None:
    """The card with another rule at a place, if its loss is lower."""
    problem = held.problem
    points = held.card.points.copy()
    points[place] = 0
    rest = best_of(problem, points[None, :], (held.card.offset, held.card.unit))
    candidates = _candidates(exchange, held, rest)
    if not candidates:
        return None
    others = [rule for other, rule in enumerate(held.rules) if other != place]
    grid = problem.cells.grid
    patterns = exchange.rows.rows.ask(PatternsOf((*others, *candidates), grid))
    cells = RuleCells(patterns.bits, patterns.weight, grid)
    kept = np.delete(points, place)
    tables = _tables(cells, kept, problem.max_points)
    squares = float((kept**2).sum()) + np.tile(np.arange(1, problem.max_points + 1) ** 2.0, len(candidates))
    start = np.tile(np.array([held.card.offset, held.card.unit]), (len(tables), 1))
    lines = fit_lines(tables, 0.5 * problem.l2 * squares, problem.surrogate, start)
    value = np.where(lines.unit > 0, lines.value, np.inf)
    best = int(value.argmin())
    if not value[best] < held.card.value * (1.0 - LEAST_GAIN):
        return None
    number, added = best // problem.max_points, best % problem.max_points + 1
    chosen = cells.of([*range(place), len(others) + number, *range(place, len(others))])
    problem = replace(problem, cells=chosen)
    card = Rounded(
        np.insert(kept, place, added), float(lines.offset[best]), float(lines.unit[best]), float(value[best])
    )
    rules = [*others[:place], candidates[number], *others[place:]]
    return Held(rules, problem, improved(problem, card))


def _candidates(exchange: Exchange, held: Held, rest: Rounded) -> list[Rule]:
    """Rules that raise the score of the positive class, given the weights of the rest of a card."""
    rows, unit = exchange.rows, rest.unit
    half = [0.5 * unit * int(points) for points in rest.points]
    rows.reset(Terms(rest.offset + sum(half), tuple(held.rules), tuple(half)))
    if rows.faded:
        return []
    binning, request = exchange.task.binning, rows.request(True)
    about = (rows.rows, binning, exchange.layout, exchange.options, request, rows.state.curvature)
    search = RuleSearch(*about, rows.histogram(request))
    found: list[Rule] = []
    for candidate in search.candidates(exchange.options.beam):
        rule = _positive(candidate, search, binning.columns[candidate.rule[0].column].has_missing)
        if rule is not None and rule not in held.rules:
            found.append(rule)
    return found


def _positive(candidate: Extended, search: RuleSearch, has_missing: bool) -> Rule | None:
    """A rule of positive coefficient: the candidate, or its negation if it is a single literal."""
    c = search.criterion
    inside = candidate.weight_in * (c.total_curvature - candidate.curvature_in)
    outside = (c.total_weight - candidate.weight_in) * candidate.curvature_in
    if inside > outside:
        return candidate.rule
    return (negated(candidate.rule[0], has_missing),) if len(candidate.rule) == 1 else None


def _tables(cells: RuleCells, points: AnyArray, max_points: int) -> FloatArray:
    """Weights at each total for each candidate, the last columns of the cells, and each number of its points from 1 on."""
    n_others = len(points)
    total = cells.bits[:, :n_others].astype(np.int64) @ points
    most = int(points.sum())
    n_candidates = cells.bits.shape[1] - n_others
    place = total[:, None] + (most + 1) * cells.bits[:, n_others:].astype(np.int64)
    place += 2 * (most + 1) * np.arange(n_candidates)
    found = np.zeros((n_candidates, max_points, most + max_points + 1, 2))
    for label in (0, 1):
        weight = np.broadcast_to(cells.weight[:, label, None].astype(np.float64), place.shape)
        sums = np.bincount(place.ravel(), weight.ravel(), minlength=2 * (most + 1) * n_candidates)
        fails, holds = sums.reshape(n_candidates, 2, most + 1).transpose(1, 0, 2)
        for added in range(1, max_points + 1):
            found[:, added - 1, : most + 1, label] += fails
            found[:, added - 1, added : most + 1 + added, label] += holds
    return found.reshape(n_candidates * max_points, most + max_points + 1, 2) / cells.grid
