"""A point card from fitted rules: orient, round, exchange, certify.

The rules and their real coefficients come from the corrective scheme of ULS (uls/fit.py). Here a rule with a negative
coefficient is negated, so that no points are negative; the coefficients are rounded (rounding.py); then
rules are exchanged (exchange.py) until no single change of a rule or of its points lowers the loss.
"""

from dataclasses import dataclass, replace

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.layout import layout_of
from permissible.bins.literal import Rule
from permissible.learners.points.branch import MAX_POINTS, MAX_RULES, best_points
from permissible.learners.points.cells import RuleCells
from permissible.learners.points.exchange import Exchange, Held, exchanged
from permissible.learners.points.rounding import BETTER, PointsProblem, Rounded, rounded, without_factor
from permissible.learners.uls.boost import LoopTask
from permissible.learners.uls.fit import FittedRules
from permissible.learners.uls.loss_rows import Opened, open_rows
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.refit import refit
from permissible.learners.uls.rows import PatternsOf, Terms
from permissible.learners.uls.search import negated
from permissible.learners.uls.step import FitRows
from permissible.rows.source import Source
from permissible.types import FloatArray


@dataclass(frozen=True, slots=True)
class CardOptions:
    """How the rules were searched, the largest number of points of a rule, and the number of threads.

    `seconds` are for the search of the best points; without any it is not made.
    """

    rules: ULSOptions
    max_points: int
    n_threads: int = 1
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class FittedCard:
    """Rules with points, the cells of the rules, the factor from the units of the rows to scores, and the certificate.

    Losses are means of F with the penalty; `bound` is a lower bound for any points on these rules, found with the best real
    coefficients or by branch and bound (`searched`), and `optimal` whether it is reached. A card may be `too_large` for it.
    """

    rules: tuple[Rule, ...]
    card: Rounded
    problem: PointsProblem
    scale: float
    loss: float
    real_loss: float
    bound: float
    stopped: str
    searched: bool = False
    optimal: bool = False
    too_large: bool = False


def oriented(
    rules: list[Rule], cells: RuleCells, theta: FloatArray, binning: Binning
) -> tuple[list[Rule], RuleCells, FloatArray]:
    """Rules whose coefficients are not negative; a conjunction cannot be negated, so its negative coefficient becomes 0."""
    flips = np.array([c < 0 and len(rule) == 1 for rule, c in zip(rules, theta[1:].tolist(), strict=True)], dtype=bool)
    turned = [
        (negated(rule[0], binning.columns[rule[0].column].has_missing),) if flip else rule
        for rule, flip in zip(rules, flips.tolist(), strict=True)
    ]
    coefficients = np.where(flips, -theta[1:], np.maximum(theta[1:], 0.0))
    return turned, cells.flipped(flips), np.append(theta[0], coefficients)


def fit_card(source: Source, label: int, fitted: FittedRules, options: CardOptions) -> FittedCard:
    """Turn the rules that were fitted for one label against the rest into a card: round their coefficients to points."""
    task = LoopTask.of(fitted.loss, source.binning)
    opened = open_rows(source, label, fitted.loss, True, n_threads=options.n_threads)
    try:
        return _fit(opened, fitted, task, options)
    finally:
        opened.rows.close()


def _fit(opened: Opened, fitted: FittedRules, task: LoopTask, options: CardOptions) -> FittedCard:
    constant, terms = fitted.trace.terms()
    grid, l2 = opened.sizes.pattern_grid, options.rules.l2 * task.scale
    rules = list(terms)
    patterns = opened.rows.ask(PatternsOf(tuple(rules), grid))
    theta = np.array([constant, *terms.values()]) / task.scale
    rules, cells, theta = oriented(rules, RuleCells(patterns.bits, patterns.weight, grid), theta, task.binning)
    problem = PointsProblem(cells, task.surrogate, l2, options.max_points)
    card = rounded(problem, 2.0 * theta[1:], float(theta[0] - theta[1:].sum()))
    if fitted.trace.stop in ("callback", "time"):
        return _certified(Held(rules, problem, card), task, fitted.trace.stop)
    rows = FitRows.start(opened, task.surrogate, Terms())
    layout = layout_of(task.binning).by_column
    exchange = Exchange(rows, task, replace(options.rules, l2=l2, search_fraction=1.0), layout)
    held, ended = exchanged(exchange, Held(rules, problem, card))
    found = _certified(held, task, "no single change helps" if ended else "sweeps")
    small = len(found.rules) <= MAX_RULES and options.max_points <= MAX_POINTS
    if options.seconds > 0 and small:
        return _searched(found, options.seconds, task)
    return replace(found, too_large=options.seconds > 0)


def _certified(held: Held, task: LoopTask, stopped: str) -> FittedCard:
    """The card without rules of 0 points, its loss, and that of the best real coefficients, rounded once more."""
    kept = np.flatnonzero(held.card.points).tolist()
    cells = held.problem.cells.of(kept)
    problem = replace(held.problem, cells=cells)
    n_terms, unit = len(kept) + 1, task.unit * cells.total
    free = np.ones(n_terms, dtype=bool)
    real = refit(cells.patterns, cells.grid, problem.surrogate, np.zeros(n_terms), free, problem.l2).theta
    card = replace(held.card, points=held.card.points[kept])
    again = rounded(problem, 2.0 * np.maximum(real[1:], 0.0), float(real[0] - real[1:].sum()))
    if again.value < card.value * BETTER and again.points.all():
        card = again
    card, real_loss = without_factor(card), min(real_value(problem, real), card.value) / unit
    chosen = tuple(held.rules[place] for place in kept)
    return FittedCard(chosen, card, problem, task.scale, card.value / unit, real_loss, real_loss, stopped)


def _searched(found: FittedCard, seconds: float, task: LoopTask) -> FittedCard:
    """The card with the best points that branch and bound finds in its time."""
    best = best_points(found.problem, found.card, seconds)
    unit = task.unit * found.problem.cells.total
    card = best.card if best.card.value < found.card.value * BETTER else found.card
    again = _certified(Held(list(found.rules), found.problem, card), task, "best points" if best.proved else "time")
    bound = max(min(best.bound / unit, again.loss), again.real_loss)
    return replace(again, bound=bound, searched=True, optimal=best.proved)


def real_value(problem: PointsProblem, theta: FloatArray) -> float:
    """The loss of real coefficients (constant, +-1 rules), with the penalty."""
    signs = np.column_stack((np.ones(len(problem.cells.bits)), 2.0 * problem.cells.bits - 1.0))
    score = signs @ theta
    weight = problem.cells.weight / problem.cells.grid
    lost = weight[:, 1] * problem.surrogate.at(score)[:, 0] + weight[:, 0] * problem.surrogate.at(-score)[:, 0]
    return float(lost.sum()) + problem.l2 * float((theta[1:] ** 2).sum())
