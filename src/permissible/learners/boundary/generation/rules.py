"""Rules for K boundaries: column generation over conjunctions of tests ([K] section 4.2: stumps; longer rules, leaves of trees).

    min_{b, l}  (1/W) sum_i c_i phi_{y_i}(y_i f(x_i)) + alpha sum_j |l_j|,    f = b + sum_j l_j h_j,    h_j = +-1

The class of [K] bounds sum |l_j| by B; each alpha is one B, and the penalised form has a certificate without a search for it.
A round solves for all coefficients of the rules found (totally corrective), asks for the rules whose edge under the dual
point exceeds alpha, and adds them. When there is none, the fit is optimal over all rules that the search can see. A `Search` gets
the dual point as an integer per row, their unit, and how many rules to return: `edges` builds rules test by test, `leaves`
takes those of a tree.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.bins.literal import Rule
from permissible.learners.boundary.generation.edges import mask_of, violated
from permissible.learners.boundary.generation.groups import Groups
from permissible.learners.boundary.generation.master import Master, MasterSolution, solve_master
from permissible.learners.boundary.segments import Segments
from permissible.types import BoolArray, FloatArray

Search: TypeAlias = Callable[[FloatArray, float, int], list[tuple[float, Rule]]]
BATCH = 8
"""A round adds one rule, and one more for each multiple of this number found: the first ones are chosen one at a time."""
LOOSE = 0.1
"""A round is solved to this fraction of the gap over the class that the round before left."""


@dataclass(frozen=True, slots=True)
class TermOptions:
    """The penalty, the largest number of rules, whether there is an intercept, and the relative gap to reach."""

    alpha: float
    n_rounds: int
    fit_intercept: bool
    tol: float


@dataclass(frozen=True, slots=True)
class TermRound:
    """A round: terms so far, objective and its lower bound over them, lower bound and largest edge over the class."""

    n_terms: int
    objective: float
    dual_objective: float
    class_dual_objective: float
    largest_edge: float


@dataclass(frozen=True, slots=True, eq=False)
class FittedTerms:
    """The rules with a coefficient other than 0, the intercept, the rounds, and how the fit ended.

    `support` has for each rule the share of the weight that it covers and the share of positives in it. `class_lower` is the
    best lower bound over the class of any round; `short` says that a problem could not be solved to its tolerance.
    """

    rules: tuple[Rule, ...]
    coef: FloatArray
    intercept: float
    support: tuple[tuple[float, float], ...]
    rounds: tuple[TermRound, ...]
    n_terms: int
    objective: float
    class_lower: float
    stopped: str
    score: FloatArray


def generate_rules(
    binned: BinnedTable,
    positive: BoolArray,
    weight: FloatArray,
    segments: Segments,
    options: TermOptions,
    search: Search,
) -> FittedTerms:
    """Fit rules to rows in memory."""
    groups, rules, rounds = Groups.of(positive, weight, outside=-1.0), list[Rule](), list[TermRound]()
    tol, lower, within = options.tol / 16, -np.inf, 1.0
    while True:
        problem = groups.problem(segments, options.alpha, options.fit_intercept)
        left, stopped = options.n_rounds - len(rules), ""
        solution = solve_master(problem, tol if left == 0 else max(tol, LOOSE * within))
        found = search(*groups.signed_integers(solution.dual), 1 + len(rules) // BATCH)
        new = violated(found, options.alpha * (1 + tol), rules)
        if not new and solution.relative_gap > tol and left:  # solved loosely: look again at the optimum
            solution = solve_master(problem, tol)
            found = search(*groups.signed_integers(solution.dual), 1 + len(rules) // BATCH)
            new = violated(found, options.alpha * (1 + tol), rules)
        edge = max(found[0][0] if found else 0.0, problem.largest_edge(solution.dual))
        lower = max(lower, problem.dual_value(solution.dual, edge))
        within = (solution.objective - lower) / solution.objective if solution.objective > 0 else 0.0
        if within <= options.tol:  # the scaled dual point, whose edges are at most alpha, is as good
            edge = min(edge, options.alpha)
        bounds = solution.dual_objective, lower, edge
        rounds.append(TermRound(len(rules), solution.objective, *bounds))
        if not new or within <= options.tol:
            stopped = "optimal"
        elif not left:
            stopped = "rounds"
        if stopped:
            break
        covered = {_sides(mask): (rule, mask) for rule in reversed(new[:left]) for mask in [mask_of(binned, rule)]}
        added = [*covered.values()][::-1]
        rules += [rule for rule, _ in added]
        groups = groups.with_terms([mask for _, mask in added])
    return _finished(groups, problem, solution, rules, rounds, lower, options, stopped)


def _sides(mask: BoolArray) -> bytes:
    """The same for a rule and for its negation: the two sides into which it divides the rows."""
    return np.packbits(mask ^ mask[0]).tobytes()


def _finished(
    groups: Groups,
    problem: Master,
    solution: MasterSolution,
    rules: list[Rule],
    rounds: list[TermRound],
    lower: float,
    options: TermOptions,
    stopped: str,
) -> FittedTerms:
    """Leave out rules whose coefficients are 0 up to the tolerance, and describe the others."""
    kept = _worth_keeping(solution.coef, options.tol * solution.objective / 2)
    coef = np.where(kept, solution.coef, 0.0)
    objective = problem.objective(coef, solution.intercept)
    if objective - rounds[-1].dual_objective > options.tol * objective:
        stopped = "rounding"
    sizes = groups.covers[kept] @ np.column_stack([groups.size, groups.size * groups.positive])
    support = tuple((float(size / groups.total), float(own / size)) for size, own in sizes)
    score = problem.score(coef, solution.intercept)[groups.of_row]
    chosen = tuple(rule for rule, keep in zip(rules, kept.tolist(), strict=True) if keep)
    return FittedTerms(
        chosen, coef[kept], solution.intercept, support, tuple(rounds), len(rules), objective, lower, stopped, score
    )


def _worth_keeping(coef: FloatArray, allowed: float) -> BoolArray:
    """All but the smallest coefficients, whose sum of sizes is at most `allowed`: no slope of the loss exceeds 1."""
    order = np.argsort(np.abs(coef), kind="stable")
    kept = np.ones(len(coef), dtype=bool)
    kept[order[np.cumsum(np.abs(coef)[order]) <= allowed]] = False
    return kept
