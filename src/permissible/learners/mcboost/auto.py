"""learner="auto": affine terms, rules, trees, or affine terms with trees, chosen by cross-validation.

Every family is fitted without costs by the logistic loss, whose scores are a posterior; costs enter through the decision of least
expected cost, so that one fit serves every cost matrix. Each family's scores of the rows left out are kept at several numbers of
rounds, with one temperature each; the candidate with the least cross-validated cost wins, where differences that are smaller
than their own standard error are settled by the log-loss. It is then refitted on every row. Folds go by the content of the rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from permissible.bins import row_hashes
from permissible.kernels._core import sums
from permissible.learners.mcboost.certificate import certificate_of
from permissible.learners.mcboost.fit import (
    Fitted,
    Report,
    Settings,
    grow,
    make_learner,
    saturated_rows,
    smallest_margin,
)
from permissible.learners.mcboost.loop import Trace, boost
from permissible.learners.mcboost.monitor import rows_of
from permissible.learners.mcboost.problem import Problem
from permissible.learners.mcboost.temperature import fitted_exponent, misfit_limbs
from permissible.learners.mcboost.trees import Growth
from permissible.models.kinds.additive import AdditiveModel, posterior
from permissible.table.table import Table
from permissible.types import BoolArray, FloatArray, IntArray

BAGS, FEW_ROWS, MANY_ROWS = 3, 5000, 50_000
"""On few rows the chosen trees are grown from several seeds and averaged; on many the seeds agree anyway. Different rows are
counted, so that a row of weight 2 is the row twice here too."""
SHARES = (0.25, 0.5, 0.75)
"""Shares of the affine terms in a blend with trees."""


def families(settings: Settings) -> dict[str, tuple[Settings, tuple[int, ...]]]:
    """The settings of each family, and the numbers of rounds at which it is looked at."""
    n = settings.n_rounds
    steps = tuple(sorted({max(1, round(n * share)) for share in (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0)}))
    growing = tuple(sorted({max(1, round(n * share)) for share in (0.3, 0.6, 1.0, 1.5, 2.0, 3.0)}))
    tree = Growth(max_leaves=31, min_leaf_weight=1.0, l2=0.1, random_tests=True).in_unit(settings.unit)
    rule = Growth(max_literals=3, min_leaf_weight=2.0, l2=1.0).in_unit(settings.unit)
    common = replace(settings, early_stopping=None, calibrate=False)
    boosted = replace(common, descent="gradient", column_share=0.5, n_bags=1)
    return {
        "linear": (replace(common, learner="linear", learning_rate=1.0, row_share=1.0, column_share=1.0), steps),
        "rule": (replace(boosted, learner="rule", growth=rule, learning_rate=0.1, row_share=1.0), growing),
        "tree": (replace(boosted, learner="tree", growth=tree, learning_rate=0.05, row_share=0.7), growing),
    }


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A blend of families at given rounds, its temperature, and what cross-validation says of it."""

    parts: tuple[tuple[str, int, float], ...]
    exponent: float
    cost: float
    paid: FloatArray
    log_loss: float

    @property
    def name(self) -> str:
        """How it is called in the certificate: ``0.5 linear (100) + 0.5 tree (200)``."""
        return " + ".join(
            f"{family} ({rounds} rounds)" if share == 1.0 else f"{share:g} {family} ({rounds} rounds)"
            for family, rounds, share in self.parts
        )


def fit_auto(table: Table, problem: Problem, settings: Settings, report: Report | None = None) -> Fitted:
    """Choose by cross-validation, then fit the choice on every row."""
    n_classes = problem.n_classes
    blind = Problem(problem.target, 1.0 - np.eye(n_classes), problem.weight, "gll")
    options = families(settings)
    paths = {name: _out_of_fold(table, blind, *option) for name, option in options.items()}
    seen = next(iter(paths["linear"].values()))[0]  # of every family: the folds are the same
    chosen = _choose(list(_candidates(paths, problem, settings.unit)), problem.weight[seen], settings.unit)
    few = len(np.unique(row_hashes(table, settings.seed))) <= FEW_ROWS
    parts, scores, trace = [], np.zeros((table.n_rows, n_classes)), Trace()
    for name, rounds, share in chosen.parts:
        n_bags = max(settings.n_bags, BAGS) if name == "tree" and few else 1
        family = replace(options[name][0], n_rounds=rounds, n_bags=n_bags)
        part, trace, final = grow(table, blind, family, None, report)
        parts.append(part.scaled(share))
        scores += share * final
    model = AdditiveModel(table.schema, "gll", np.zeros(n_classes), tuple(parts), chosen.exponent, True)
    saturated = saturated_rows(scores, chosen.exponent) / len(scores)
    certificate = certificate_of(smallest_margin(blind.target, scores), trace, share=saturated)
    evidence = {"chosen": chosen.name, "cv_cost": chosen.cost, "cv_log_loss": chosen.log_loss}
    certificate = replace(certificate, **evidence)  # type: ignore[arg-type]
    return Fitted(model, trace, certificate)


def folds_of(table: Table, target: IntArray, seed: int) -> list[BoolArray]:
    """Masks of the rows left out: five folds, fewer for many rows; by content, and each class spread evenly."""
    number = row_hashes(table, seed)
    n_different = len(np.unique(number))
    count = 5 if n_different <= FEW_ROWS else 3
    fold = np.empty(table.n_rows, dtype=np.int64)
    contents = {cls: np.unique(number[target == cls]) for cls in np.unique(target)}
    # Each class begins at another fold, in an order of their contents: which class comes first does not matter.
    for first, cls in enumerate(sorted(contents, key=lambda cls: contents[cls].tobytes())):
        members = np.flatnonzero(target == cls)
        place = np.searchsorted(contents[cls], number[members])  # equal rows share a place, hence a fold
        fold[members] = (place + first) % count
    masks = [fold == k for k in range(count)]
    return masks[:1] if n_different > MANY_ROWS else masks


def _out_of_fold(
    table: Table, problem: Problem, settings: Settings, checkpoints: tuple[int, ...]
) -> dict[int, tuple[BoolArray, FloatArray]]:
    """For each number of rounds: the rows that were left out once, and their scores by the models that had not seen them."""
    found = {rounds: np.full((table.n_rows, problem.n_classes), np.nan) for rounds in checkpoints}
    for outside in folds_of(table, problem.target, settings.seed):
        if not outside.any() or outside.all():
            continue
        learner = make_learner(rows_of(table, ~outside), problem.take(~outside), settings)
        rounds, _, _ = boost(
            problem.take(~outside), learner, max(checkpoints), tol=settings.tol, n_threads=settings.n_threads
        )
        watched = learner.watch(rows_of(table, outside))
        scores = np.zeros((int(outside.sum()), problem.n_classes))
        for number in range(max(checkpoints)):
            if number < len(rounds):
                scores = scores + learner.scores(rounds[number], watched)
            if number + 1 in found:
                found[number + 1][outside] = scores
    return {rounds: (~np.isnan(scores[:, 0]), scores) for rounds, scores in found.items()}


def _candidates(paths: dict[str, Any], problem: Problem, unit: float) -> Iterator[Candidate]:
    """Every family at every number of rounds; then the best affine terms with the best trees, in several shares."""
    best: dict[str, tuple[float, int]] = {}
    for name, path in paths.items():
        for rounds, (seen, scores) in path.items():
            candidate = _judge(((name, rounds, 1.0),), scores, seen, problem, unit)
            if candidate.log_loss < best.get(name, (np.inf, 0))[0]:
                best[name] = (candidate.log_loss, rounds)
            yield candidate
    linear, tree = best["linear"][1], best["tree"][1]
    for share in SHARES:
        seen, first = paths["linear"][linear]
        blended = share * first + (1 - share) * paths["tree"][tree][1]
        yield _judge((("linear", linear, share), ("tree", tree, 1 - share)), blended, seen, problem, unit)


def _judge(
    parts: tuple[tuple[str, int, float], ...], scores: FloatArray, seen: BoolArray, problem: Problem, unit: float
) -> Candidate:
    part = problem.take(seen)
    scores = scores[seen]
    exponent = fitted_exponent("gll", lambda at: misfit_limbs(at, scores, part.target, part.weight), unit)
    rows = np.arange(len(scores))
    log_loss = logsumexp(exponent * scores, axis=1) - exponent * scores[rows, part.target]
    costs = part.cost_rows()
    matrix = part.mean_costs()
    decided = (posterior(scores, exponent) @ matrix).argmin(axis=1)
    paid = costs[rows, decided]
    total = part.total_weight
    return Candidate(parts, exponent, _sum(part.weight * paid) / total, paid, _sum(part.weight * log_loss) / total)


def _choose(candidates: list[Candidate], weight: FloatArray, unit: float) -> Candidate:
    """Least cost; among those that are not clearly dearer (one standard error of the paired difference), least log-loss.

    `weight` is that of the rows that were left out once. A row of weight 2 is two rows: the standard error is that of as many
    rows as the weights sum to, where `unit` is one row.
    """
    cheapest = min(candidates, key=lambda candidate: candidate.cost)
    total = _sum(weight)
    near = []
    for candidate in candidates:
        difference = candidate.paid - cheapest.paid
        mean = _sum(weight * difference) / total
        variance = _sum(weight * (difference - mean) ** 2) / total
        if mean <= np.sqrt(variance * unit / total):
            near.append(candidate)
    return min(near, key=lambda candidate: candidate.log_loss)


def _sum(terms: FloatArray) -> float:
    """The exact sum, rounded once: no order of the rows shows."""
    return float(sums.exact_sum(np.ascontiguousarray(terms)))
