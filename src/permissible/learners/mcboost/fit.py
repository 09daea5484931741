"""From rows to a model: the held-out run that sets the number of rounds and the temperature, then the run on every row."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from permissible.bins import Binning, encode, find_bins
from permissible.learners.doubts import LAST_DIGIT
from permissible.learners.mcboost.certificate import BoostCertificate, certificate_of
from permissible.learners.mcboost.linear import LinearLearner
from permissible.learners.mcboost.loop import Trace, boost, mean_trace
from permissible.learners.mcboost.monitor import HeldOut, held_out_rows, rows_of
from permissible.learners.mcboost.problem import Problem
from permissible.learners.mcboost.rounds import Learner, Sampling
from permissible.learners.mcboost.temperature import exponent_of, fitted_exponent, misfit_limbs
from permissible.learners.mcboost.trees import Growth, TreeLearner
from permissible.models.kinds.additive import AdditiveModel, Part
from permissible.table.table import Table
from permissible.types import FloatArray, IntArray

LEARNERS = ("linear", "linear-full", "rule", "tree", "auto")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything but the data: see `permissible.MCBoostClassifier` for the meaning of each.

    `unit` is what one row of weight 1 weighs in the problem: other than 1 where weights of an extreme size were rescaled.
    """

    learner: str = "linear"
    descent: str = "coordinate"
    n_rounds: int = 100
    learning_rate: float = 1.0
    row_share: float = 1.0
    column_share: float = 1.0
    growth: Growth = field(default_factory=Growth)
    n_bags: int = 1
    max_bins: int = 255
    early_stopping: str | None = None
    patience: int = 10
    validation_fraction: float = 0.2
    calibrate: bool = True
    tol: float = 1e-10
    seed: int = 0
    bin_seed: int = 0
    n_threads: int = 1
    unit: float = 1.0

    @property
    def every_row_counts(self) -> bool:
        """Whether each round sees every row, so that it has to lower the surrogate."""
        return self.row_share >= 1.0 and self.n_bags == 1

    def in_unit(self, scale: float) -> "Settings":
        """The same where all weights are multiplied by a power of two."""
        return self if scale == 1.0 else replace(self, growth=self.growth.in_unit(scale), unit=scale)

    def holds_out(self, problem: Problem) -> bool:
        """Whether rows are held out: to stop, or to find the temperature of a loss to which theory gives none."""
        return self.early_stopping is not None or (self.calibrate and exponent_of(problem) is None)

    def for_rounds(self, n_rounds: int) -> "Settings":
        """The same settings with another number of rounds."""
        return replace(self, n_rounds=n_rounds)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A model, what happened on the way, and how far the fit is from its optimum."""

    model: AdditiveModel
    trace: Trace
    certificate: BoostCertificate


Report = Callable[[int, Trace], None]


def make_learner(
    table: Table, problem: Problem, settings: Settings, like: Any = None, binning: Binning | None = None
) -> Learner:
    """The base learner of a training table; with `like`, a part of a model, on that part's attributes or bins."""
    sampling = Sampling.of(table, settings.row_share, settings.column_share, settings.seed)
    if settings.learner in ("rule", "tree"):
        if like is not None:
            binning = like.binning
        elif binning is None:
            binning = bins_of(table, problem, settings)
        binned = encode(binning, table, settings.n_threads)
        return TreeLearner(
            binned, problem.n_classes, settings.growth, settings.descent, settings.learning_rate, sampling
        )
    return LinearLearner.of(
        table, problem.weight, problem.n_classes, descent=settings.descent, full=settings.learner == "linear-full",
        rate=settings.learning_rate, sampling=sampling, attributes=None if like is None else like.attributes,
    )  # fmt: skip


def bins_of(table: Table, problem: Problem, settings: Settings) -> Binning:
    """The bins of a training table; the rows that judge a fit share them, as they do where rows lie in parts."""
    return find_bins(table, settings.max_bins, settings.bin_seed, problem.weight)


def fit(
    table: Table,
    problem: Problem,
    settings: Settings,
    start: AdditiveModel | None = None,
    report: Report | None = None,
) -> Fitted:
    """Fit an additive model; with `start`, go on from that model (its rounds are kept)."""
    exponent = exponent_of(problem)
    calibrated = exponent is None and settings.calibrate
    n_rounds, held_out = settings.n_rounds, None
    binning = bins_of(table, problem, settings) if start is None and settings.learner in ("rule", "tree") else None
    if settings.early_stopping is not None or calibrated:
        n_rounds, held_out = _rehearse(table, problem, settings, start, binning)
        if calibrated and held_out is not None:
            judged = held_out.best_scores, held_out.problem.target, held_out.problem.weight
            exponent = fitted_exponent(problem.loss, lambda exponent: misfit_limbs(exponent, *judged), settings.unit)
    part, trace, final = grow(table, problem, replace(settings, n_rounds=n_rounds), start, report, binning)
    if held_out is not None and settings.early_stopping is not None:
        trace.validation = held_out.measures
    prior = np.zeros(problem.n_classes) if start is None else start.prior
    model = AdditiveModel(table.schema, problem.loss, prior, (part,), exponent or 1.0, calibrated)
    affine = settings.learner in ("linear", "linear-full")
    share = saturated_rows(final, model.exponent) / len(final) if affine else None
    return Fitted(
        model, trace, certificate_of(smallest_margin(problem.target, final), trace, settings.every_row_counts, share)
    )


def grow(
    table: Table,
    problem: Problem,
    settings: Settings,
    start: AdditiveModel | None,
    report: Report | None,
    binning: Binning | None = None,
) -> tuple[Part, Trace, FloatArray]:
    """Run the rounds, once or for each bag; the part of all rounds, old and new, the (mean) trace, the final scores."""
    if start is not None:
        old: Any = start.parts[0]
        learner = make_learner(table, problem, settings, like=old)
        rounds, trace, final = boost(
            problem, learner, settings.n_rounds, scores=start.scores(table), tol=settings.tol, report=report,
            first_round=old.n_rounds, n_threads=settings.n_threads,
        )  # fmt: skip
        return old.joined(learner.part(rounds)), trace, final
    bags = []
    for bag in range(settings.n_bags):
        learner = make_learner(table, problem, replace(settings, seed=settings.seed + bag), binning=binning)
        rounds, trace, final = boost(
            problem, learner, settings.n_rounds, tol=settings.tol, n_threads=settings.n_threads, report=report
        )
        bags.append((learner.part(rounds), trace, final))
    if len(bags) == 1:
        return bags[0]
    part = averaged([part for part, _, _ in bags])
    return part, mean_trace([trace for _, trace, _ in bags]), part.scores(table)


def averaged(parts: list[Any]) -> Any:
    """The mean of several runs as one part."""
    part = parts[0].scaled(1 / len(parts))
    for other in parts[1:]:
        part = part.joined(other.scaled(1 / len(parts)), same_rounds=True)
    return part


def _rehearse(
    table: Table, problem: Problem, settings: Settings, start: AdditiveModel | None, binning: Binning | None
) -> tuple[int, HeldOut | None]:
    """Run on part of the rows and watch the others: the best number of rounds, and the held-out rows at that point."""
    outside = held_out_rows(table, problem.target, settings.validation_fraction, settings.seed)
    if not outside.any() or outside.all():
        return settings.n_rounds, None
    inner_table, inner = rows_of(table, ~outside), problem.take(~outside)
    outer_table, outer = rows_of(table, outside), problem.take(outside)
    learner = make_learner(inner_table, inner, settings, None if start is None else start.parts[0], binning)
    zero = np.zeros((outer_table.n_rows, problem.n_classes))
    stopping = settings.early_stopping is not None
    held_out = HeldOut(
        settings.patience if stopping else None,
        problem=outer,
        watched=learner.watch(outer_table),
        scores=zero if start is None else start.scores(outer_table),
        measure=settings.early_stopping or "surrogate",
    )
    boost(
        inner, learner, settings.n_rounds, scores=None if start is None else start.scores(inner_table),
        held_out=held_out, tol=settings.tol, first_round=0 if start is None else start.n_rounds,
        n_threads=settings.n_threads,
    )  # fmt: skip
    if not stopping:
        held_out.best_scores = held_out.scores
    return (held_out.best_round if stopping else settings.n_rounds), held_out


def smallest_margin(target: IntArray, scores: FloatArray) -> float:
    """The least margin (9) of the rows: the score of a row's class minus the largest other one."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[rows, target] = -np.inf
    return float(np.min(scores[rows, target] - others.max(axis=1), initial=np.inf))


def saturated_rows(scores: FloatArray, exponent: float) -> int:
    """The number of rows whose posterior, softmax(exponent * S), is 0 or 1 to the last digit."""
    second, first = np.partition(scores, -2, axis=1)[:, -2:].T
    return int(np.sum(exponent * (first - second) >= -np.log(LAST_DIGIT)))
