"""learner="auto": affine terms, trees, small trees, or affine terms with trees, chosen by held-out rows.

Every family is fitted without costs by the logistic loss, whose scores give a posterior. Costs enter only through the
decision of least expected cost, so one fit serves every cost matrix. The scores of the held-out rows are kept at
several numbers of rounds, with one temperature each. The candidate with the least cross-validated cost wins;
differences smaller than their standard error are decided by the log-loss. It is then refitted on all rows. Folds are
made by row content; if each class is one duplicated row there are none, and all rows are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from scipy.special import logsumexp

from permissible.bins.hashing import Hashes, Keys
from permissible.kernels._core import sums
from permissible.learners.choose import choose
from permissible.learners.mcboost.certificate import certificate_of
from permissible.learners.mcboost.fit import Boosting, Fitted, Settings
from permissible.learners.mcboost.loop import CostTrace, Report
from permissible.learners.mcboost.monitor import HeldOutOpening
from permissible.learners.mcboost.problem import CostTask
from permissible.learners.mcboost.rows import RowView, SaturatedRows, SmallestMargin
from permissible.learners.mcboost.temperature import fitted_exponent, log_loss_limbs
from permissible.learners.mcboost.trees import Growth
from permissible.losses import GLL
from permissible.models.kinds.additive import AdditiveModel, posterior
from permissible.rows.keys import keys_of
from permissible.rows.selection import ALL_ROWS
from permissible.rows.source import Source
from permissible.rows.splits import LAST_HASH, ContentsOf, DistinctHashes, Split, folds, with_all_classes
from permissible.types import BoolArray, FloatArray, IntArray

FEW_ROWS, FOLDS = 1000, 5
"""Up to FEW_ROWS distinct rows all folds are held out in turn, then one alone."""
TREE_RATE, TREE_ROUNDS, PATIENCE = 0.1, 10, 40
"""Learning rate, most rounds in units of `n_rounds`, and rounds without a smaller held-out loss that end a path."""
LINEAR_WORK = 2e9
"""Most rows times attributes times coordinates times rounds of affine terms, all splits together."""
AFFINE_L2 = 1.0
"""Penalty on the moves of affine terms, in rows, as of the values of leaves: without it terms that separate a few rows move
their scores by 100, and no held-out row may tell."""
BLENDS = (0.25, 0.5, 0.75)
"""Fractions of the affine terms in a blend with trees."""


def families_of(settings: Settings, linear_work: float) -> dict[str, tuple[Settings, tuple[int, ...]]]:
    """The settings of each family, and the numbers of rounds at which it is evaluated.

    `linear_work` is that of one round of affine terms; they are tried where the work of a tenth of the rounds is allowed.
    """
    n = settings.n_rounds
    common = replace(settings, early_stopping=None, calibrate=False)
    boosted = replace(common, descent="gradient", n_bags=1, learning_rate=TREE_RATE, row_share=0.0, column_share=1.0)
    growth = Growth(max_leaf_nodes=31).in_unit(settings.unit)
    every = replace(common, learning_rate=1.0, row_share=1.0, column_share=1.0)
    linear = replace(every, learner="linear", affine_l2=AFFINE_L2 * settings.unit)
    allowed = tuple(stage for stage in _stages(n, 3 * n) if stage * linear_work <= LINEAR_WORK)
    return ({"linear": (linear, allowed)} if allowed else {}) | {
        "tree": (replace(boosted, learner="tree", growth=growth), _stages(n, TREE_ROUNDS * n)),
        "small tree": (
            replace(boosted, learner="tree", growth=replace(growth, max_leaf_nodes=6)),
            _stages(n, TREE_ROUNDS * n),
        ),
    }


def _stages(n_rounds: int, last: int) -> tuple[int, ...]:
    """Numbers of rounds, each about a seventh more than the one before."""
    stages, at = list[int](), max(n_rounds // 10, 1)
    while at < last:
        stages.append(at)
        at = max(at + 1, round(at * 1.15))
    return (*stages, last)


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
        exponent = fitted_exponent(GLL.exponent, lambda at: log_loss_limbs(at, scores, target, weight), self.unit)
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
    n_distinct = len(source.survey(DistinctHashes(LAST_HASH)))
    keys = keys_of(source, settings.seed)
    wanted = 1 if n_distinct > FEW_ROWS else FOLDS
    complete = with_all_classes(source, folds(source, FOLDS, keys=keys))
    splits = tuple(islice(complete, wanted)) or (Split(ALL_ROWS, ALL_ROWS),)
    schema = source.binning.schema
    attributes = sum(max(len(schema.columns[j].categories), 1) for j, _ in keys.columns)
    families = families_of(settings, float(n_distinct * attributes * (task.n_classes - 1) * len(splits)))
    paths = {name: _out_of_fold(Boosting(source, blind, of), splits, rounds) for name, (of, rounds) in families.items()}
    compared = _compared(source, task, splits, settings.unit)
    chosen = _choose([*_candidates(paths, compared)], compared)
    components, prior, trace = [], np.zeros(task.n_classes), CostTrace()
    for name, rounds, fraction in chosen.parts:
        n_bags = settings.n_bags if name != "linear" else 1
        boosting = Boosting(source, blind, replace(families[name][0], n_rounds=rounds, n_bags=n_bags))
        run = boosting.averaged(report=report)
        trace = run.trace
        components.append(run.component.scaled(fraction))
        prior = prior + fraction * run.prior
    model = AdditiveModel(source.binning.schema, "gll", prior, tuple(components), chosen.exponent, True)
    margin, saturated = _margins(source, blind, model)
    certificate = certificate_of(margin, trace, share=saturated)
    certificate = replace(certificate, chosen=chosen.name, cv_cost=chosen.cost, cv_log_loss=chosen.log_loss)
    return Fitted(model, trace, certificate)


def _out_of_fold(boosting: Boosting, splits: tuple[Split, ...], stages: tuple[int, ...]) -> dict[int, FloatArray]:
    """The held-out scores for each number of rounds that all splits reached."""
    held = _held_out(boosting.source, splits)
    longest = replace(boosting, settings=replace(boosting.settings, n_rounds=max(stages)))
    found: list[dict[int, FloatArray]] = []
    for split in splits:
        view = boosting.view(split.training)
        rows, monitor = longest.monitor(view, split.held_out, PATIENCE, stages)
        try:
            longest.run(view, boosting.settings.seed, monitor=monitor)
            found.append(monitor.staged if monitor.exhausted else monitor.staged_to_the_end())
        finally:
            rows.close()
    compared = np.any(held, axis=0)
    paths: dict[int, FloatArray] = {}
    for stage in sorted(set.intersection(*({*staged} for staged in found))):
        scores = np.full((boosting.source.n_rows, boosting.task.n_classes), np.nan)
        for rows_held, staged in zip(held, found, strict=True):
            scores[rows_held] = staged[stage]
        paths[stage] = scores[compared]
    return paths


def _margins(source: Source, task: CostTask, model: AdditiveModel) -> tuple[float, float]:
    """The least margin of the rows, and the fraction of saturated ones."""
    rows = source.open(HeldOutOpening(RowView(task, start=model)))
    try:
        return rows.ask(SmallestMargin()), rows.ask(SaturatedRows(model.exponent)) / source.n_rows
    finally:
        rows.close()


def _contents(source: Source, keys: Keys | None) -> tuple[Hashes, IntArray, FloatArray]:
    """Keys (or hashes), classes and weights of all rows, in the order of the parts."""
    hashes, targets, weights = zip(*source.survey(ContentsOf(keys)).values(), strict=True)
    weight = np.concatenate(weights) if source.weighted else np.ones(source.n_rows)
    return np.concatenate(hashes), np.concatenate(targets), weight


def _held_out(source: Source, splits: tuple[Split, ...]) -> list[BoolArray]:
    """The held-out rows of each split."""
    hashes, target, _ = _contents(source, splits[0].held_out.keys)
    masks = [split.held_out.mask(hashes, target) for split in splits]
    return [np.ones(len(target), dtype=bool) if mask is None else mask for mask in masks]


def _compared(source: Source, task: CostTask, splits: tuple[Split, ...], unit: float) -> Compared:
    """The rows that are held out by one of the splits."""
    _, target, weight = _contents(source, splits[0].held_out.keys)
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
    if "linear" not in paths:
        return
    rounds = {tried.candidate: [*paths[tried.candidate]][tried.stage] for tried in best.tried}
    grown = min((tried for tried in best.tried if tried.candidate != "linear"), key=lambda tried: tried.loss).candidate
    affine, trees = paths["linear"][rounds["linear"]], paths[grown][rounds[grown]]
    for fraction in BLENDS:
        parts = ("linear", rounds["linear"], fraction), (grown, rounds[grown], 1 - fraction)
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
