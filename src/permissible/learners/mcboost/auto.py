"""learner="auto": affine terms, rules, trees, or affine terms with trees, chosen by cross-validation.

Every family is fitted without costs by the logistic loss, whose scores give a posterior. Costs enter only through the
decision of least expected cost, so one fit serves every cost matrix. The scores of the held-out rows are kept at
several numbers of rounds, with one temperature each. The candidate with the least cross-validated cost wins;
differences smaller than their standard error are decided by the log-loss. It is then refitted on all rows. Folds are
made by row content; if each class is one duplicated row there are none, and all rows are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from permissible.bins.hashing import Hashes
from permissible.kernels._core import sums
from permissible.learners.choose import choose
from permissible.learners.mcboost.certificate import certificate_of
from permissible.learners.mcboost.fit import Boosting, Fitted, Settings, terms_of
from permissible.learners.mcboost.loop import Report, Trace
from permissible.learners.mcboost.monitor import HeldOutOpening, StagedScores
from permissible.learners.mcboost.problem import CostTask, smallest_margin
from permissible.learners.mcboost.rounds import Terms
from permissible.learners.mcboost.rows import RowView, saturated_rows
from permissible.learners.mcboost.temperature import fitted_exponent, log_loss_limbs
from permissible.learners.mcboost.trees import Growth
from permissible.models.kinds.additive import AdditiveModel, posterior
from permissible.rows.selection import ALL_ROWS
from permissible.rows.source import Source
from permissible.rows.splits import LAST_HASH, ContentsOf, DistinctHashes, Split, folds
from permissible.types import BoolArray, FloatArray, IntArray

AVERAGED_SEEDS, FEW_ROWS, MANY_ROWS = 3, 5000, 50_000
"""Up to FEW_ROWS distinct rows (weight 2 is the row twice) the chosen trees are averaged over AVERAGED_SEEDS seeds."""
BLENDS = (0.25, 0.5, 0.75)
"""Fractions of the affine terms in a blend with trees."""


def families_of(settings: Settings) -> dict[str, tuple[Settings, tuple[int, ...]]]:
    """The settings of each family, and the numbers of rounds at which it is evaluated."""
    n = settings.n_rounds
    steps = tuple(sorted({max(1, round(n * share)) for share in (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0)}))
    growing = tuple(sorted({max(1, round(n * share)) for share in (0.3, 0.6, 1.0, 1.5, 2.0, 3.0)}))
    tree = Growth(max_leaf_nodes=31, min_leaf_weight=1.0, l2=0.1, random_tests=True).in_unit(settings.unit)
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
    """A blend of families at given rounds, its temperature, and its cross-validated results."""

    parts: tuple[tuple[str, int, float], ...]
    exponent: float
    cost: float
    paid: FloatArray
    log_loss: float

    @property
    def name(self) -> str:
        """Its name in the certificate: ``0.5 linear (100) + 0.5 tree (200)``."""
        return " + ".join(
            f"{family} ({rounds} rounds)" if share == 1.0 else f"{share:g} {family} ({rounds} rounds)"
            for family, rounds, share in self.parts
        )


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The held-out rows, in the order of the parts: their costs, classes and weights."""

    task: CostTask
    target: IntArray
    weight: FloatArray
    unit: float

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return _sum(self.weight)

    def candidate(self, parts: tuple[tuple[str, int, float], ...], scores: FloatArray) -> Candidate:
        """Find the temperature of some scores, and the cost of their decisions."""
        target, weight = self.target, self.weight
        exponent = fitted_exponent("gll", lambda at: log_loss_limbs(at, scores, target, weight), self.unit)
        rows = np.arange(len(scores))
        log_loss = logsumexp(exponent * scores, axis=1) - exponent * scores[rows, target]
        decided = (posterior(scores, exponent) @ self.task.mean_costs(target, weight)).argmin(axis=1)
        paid = self.task.cost_rows(target)[rows, decided]
        total = self.total
        return Candidate(parts, exponent, _sum(weight * paid) / total, paid, _sum(weight * log_loss) / total)


Paths = dict[str, dict[int, FloatArray]]
"""Held-out scores by family and number of rounds."""


def fit_auto(source: Source, task: CostTask, settings: Settings, report: Report | None = None) -> Fitted:
    """Choose by cross-validation, then fit the choice on every row."""
    blind = CostTask("gll", 1.0 - np.eye(task.n_classes))
    families = families_of(settings)
    n_distinct = len(source.survey(DistinctHashes(LAST_HASH)))
    splits = folds(source, 5 if n_distinct <= FEW_ROWS else 3)
    splits = splits[:1] if n_distinct > MANY_ROWS else splits or (Split(ALL_ROWS, ALL_ROWS),)
    paths = {name: _out_of_fold(Boosting(source, blind, of), splits, rounds) for name, (of, rounds) in families.items()}
    compared = _compared(source, task, splits, settings.unit)
    chosen = _choose([*_candidates(paths, compared)], compared)
    components, scores, trace = [], np.zeros((0, 0)), Trace()
    for name, rounds, fraction in chosen.parts:
        n_bags = max(settings.n_bags, AVERAGED_SEEDS) if name == "tree" and n_distinct <= FEW_ROWS else 1
        boosting = Boosting(source, blind, replace(families[name][0], n_rounds=rounds, n_bags=n_bags))
        run = boosting.averaged(report=report)
        trace, component = run.trace, run.component.scaled(fraction)
        components.append(component)
        added = _scores(source, boosting.view(ALL_ROWS), (terms_of(component),), (1,))[0]
        scores = scores + added if scores.size else added
    model = AdditiveModel(
        source.binning.schema, "gll", np.zeros(task.n_classes), tuple(components), chosen.exponent, True
    )
    saturated = saturated_rows(scores, chosen.exponent) / len(scores)
    margin = smallest_margin(_contents(source)[1], scores)
    certificate = certificate_of(margin, trace, share=saturated)
    certificate = replace(certificate, chosen=chosen.name, cv_cost=chosen.cost, cv_log_loss=chosen.log_loss)
    return Fitted(model, trace, certificate)


def _out_of_fold(boosting: Boosting, splits: tuple[Split, ...], stages: tuple[int, ...]) -> dict[int, FloatArray]:
    """The held-out scores for each number of rounds."""
    held = _held_out(boosting.source, splits)
    found = {rounds: np.full((boosting.source.n_rows, boosting.task.n_classes), np.nan) for rounds in stages}
    longest = replace(boosting, settings=replace(boosting.settings, n_rounds=max(stages)))
    for split, rows in zip(splits, held, strict=True):
        view = boosting.view(split.training)
        rounds = tuple(made.terms for made in longest.run(view, boosting.settings.seed).rounds)
        scores = _scores(boosting.source, replace(view, selection=split.held_out), rounds, stages)
        for stage, at in zip(stages, scores, strict=True):
            found[stage][rows] = at
    compared = np.any(held, axis=0)
    return {rounds: scores[compared] for rounds, scores in found.items()}


def _scores(source: Source, view: RowView, rounds: tuple[Terms, ...], stages: tuple[int, ...]) -> FloatArray:
    """The scores of the rows of a view after each of the numbers of rounds, (stages, n, M)."""
    rows = source.open(HeldOutOpening(view))
    try:
        return np.concatenate([*rows.ask(StagedScores(rounds, stages)).values()], axis=1)
    finally:
        rows.close()


def _contents(source: Source) -> tuple[Hashes, IntArray, FloatArray]:
    """Hashes, classes and weights of all rows, in the order of the parts."""
    hashes, targets, weights = zip(*source.survey(ContentsOf()).values(), strict=True)
    weight = np.concatenate(weights) if source.weighted else np.ones(source.n_rows)
    return np.concatenate(hashes), np.concatenate(targets), weight


def _held_out(source: Source, splits: tuple[Split, ...]) -> list[BoolArray]:
    """The held-out rows of each split."""
    hashes, target, _ = _contents(source)
    masks = [split.held_out.mask(hashes, target) for split in splits]
    return [np.ones(len(target), dtype=bool) if mask is None else mask for mask in masks]


def _compared(source: Source, task: CostTask, splits: tuple[Split, ...], unit: float) -> Compared:
    """The rows that are held out by one of the splits."""
    _, target, weight = _contents(source)
    rows: BoolArray = np.any(_held_out(source, splits), axis=0)
    return Compared(task.take(rows), target[rows], weight[rows], unit)


def _candidates(paths: Paths, compared: Compared) -> Iterator[Candidate]:
    """Every family at every number of rounds; then the best affine terms with the best trees, in several blends."""
    single = {
        name: [compared.candidate(((name, rounds, 1.0),), scores) for rounds, scores in path.items()]
        for name, path in paths.items()
    }
    for candidates in single.values():
        yield from candidates
    best = choose([*single], lambda name: np.array([candidate.log_loss for candidate in single[name]]))
    rounds = {tried.candidate: [*paths[tried.candidate]][tried.stage] for tried in best.tried}
    affine, trees = (paths[name][rounds[name]] for name in ("linear", "tree"))
    for fraction in BLENDS:
        parts = ("linear", rounds["linear"], fraction), ("tree", rounds["tree"], 1 - fraction)
        yield compared.candidate(parts, fraction * affine + (1 - fraction) * trees)


def _choose(candidates: list[Candidate], compared: Compared) -> Candidate:
    """Least log-loss among the candidates within one standard error (of the paired difference) of the least cost.

    A row of weight 2 is two rows: the standard error is that of as many rows as the weights sum to, where `unit` is one
    row.
    """
    cheapest = min(candidates, key=lambda candidate: candidate.cost)
    weight, total = compared.weight, compared.total
    near = []
    for candidate in candidates:
        difference = candidate.paid - cheapest.paid
        mean = _sum(weight * difference) / total
        variance = _sum(weight * (difference - mean) ** 2) / total
        if mean <= np.sqrt(variance * compared.unit / total):
            near.append(candidate)
    return min(near, key=lambda candidate: candidate.log_loss)


def _sum(terms: FloatArray) -> float:
    """The exact sum, rounded once, so row order does not matter."""
    return float(sums.exact_sum(np.ascontiguousarray(terms)))
