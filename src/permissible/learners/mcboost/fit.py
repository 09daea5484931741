"""From rows to a model: a run on training rows for the number of rounds and the temperature, then a run on all rows."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from permissible.bins.binning import BinnedTable
from permissible.learners.mcboost.affine import AffineLearner, affine_component
from permissible.learners.mcboost.certificate import BoostCertificate, certificate_of
from permissible.learners.mcboost.loop import Limits, Report, Steps, Trace, boost, mean_trace
from permissible.learners.mcboost.monitor import AddRound, HeldOutMonitor, HeldOutOpening
from permissible.learners.mcboost.problem import CostTask
from permissible.learners.mcboost.rounds import Round, Sampling, Terms
from permissible.learners.mcboost.rows import (
    BoostRows,
    RowView,
    SaturatedRows,
    SmallestMargin,
    TrainingOpening,
)
from permissible.learners.mcboost.standardise import standardise
from permissible.learners.mcboost.steps import AffineChoices, AskedSteps, CompiledSteps, TreeChoices
from permissible.learners.mcboost.temperature import exponent_of, fitted_exponent
from permissible.learners.mcboost.trees import Growth, TreeLearner
from permissible.models.kinds.additive import AdditiveModel, Component
from permissible.models.kinds.affine import AffineTerms
from permissible.models.kinds.forest import Forest
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.source import OpenRows, Source
from permissible.rows.splits import Split, hold_out
from permissible.rows.totals import TotalsOf

LEARNERS = ("linear", "linear-full", "rule", "tree", "auto")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a fit; `permissible.MCBoostClassifier` documents each.

    `unit` is the weight of one row of weight 1 in the problem; it differs from 1 if extreme weights were rescaled.
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
    def affine(self) -> bool:
        """Whether affine terms are learned."""
        return self.learner in ("linear", "linear-full")

    @property
    def every_row_counts(self) -> bool:
        """Whether each round sees every row, so that it must lower the surrogate."""
        return self.row_share >= 1.0 and self.n_bags == 1

    def in_unit(self, scale: float) -> "Settings":
        """The same settings with all weights multiplied by a power of two."""
        return self if scale == 1.0 else replace(self, growth=self.growth.in_unit(scale), unit=scale)

    def holds_out(self, task: CostTask) -> bool:
        """Whether rows are held out: to stop early, or to fit the temperature of a loss without a theoretical one."""
        return self.early_stopping is not None or (self.calibrate and exponent_of(task) is None)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A model, its trace and its certificate."""

    model: AdditiveModel
    trace: Trace
    certificate: BoostCertificate


class Run(NamedTuple):
    """The result of a run: terms, trace, least margin and, for affine terms, the fraction of saturated rows."""

    rounds: list[Round]
    component: Component
    trace: Trace
    margin: float
    saturated: float | None


def fit(
    source: Source, task: CostTask, settings: Settings, start: AdditiveModel | None = None, report: Report | None = None
) -> Fitted:
    """Fit an additive model; with `start`, continue from that model (its rounds are kept)."""
    exponent, validation = exponent_of(task), list[float]()
    calibrated = exponent is None and settings.calibrate
    boosting = Boosting(source, task, settings, start)
    split = (
        hold_out(source, fraction=settings.validation_fraction, keep_rare=True) if settings.holds_out(task) else None
    )
    if split is not None:
        n_rounds, measures, found = boosting.fit_held_out(split, calibrated)
        exponent = found if calibrated else exponent
        if settings.early_stopping is not None:
            boosting, validation = replace(boosting, settings=replace(settings, n_rounds=n_rounds)), measures
    run = boosting.averaged(exponent or 1.0, report)
    run.trace.validation = validation
    component = run.component if start is None else start.parts[0].joined(run.component)
    prior = np.zeros(task.n_classes) if start is None else start.prior
    model = AdditiveModel(source.binning.schema, task.loss, prior, (component,), exponent or 1.0, calibrated)
    return Fitted(model, run.trace, certificate_of(run.margin, run.trace, settings.every_row_counts, run.saturated))


@dataclass(frozen=True, slots=True, eq=False)
class Boosting:
    """Runs of rounds on some or all rows of a source."""

    source: Source
    task: CostTask
    settings: Settings
    start: AdditiveModel | None = None

    def view(self, selection: Selection) -> RowView:
        """The view of the selected rows for a fit."""
        standardised = None
        if self.settings.affine:
            first = None if self.start is None else self.start.parts[0]
            attributes = first.attributes if isinstance(first, AffineTerms) else None
            standardised = standardise(self.source, selection, attributes)
        return RowView(self.task, selection, standardised, self.start)

    def run(
        self,
        view: RowView,
        seed: int,
        *,
        monitor: HeldOutMonitor | None = None,
        report: Report | None = None,
        exponent: float = 1.0,
    ) -> Run:
        """Run the rounds on the rows of a view."""
        settings, totals = self.settings, self.source.survey(TotalsOf(view.selection))
        sampling = Sampling(settings.row_share, settings.column_share, seed)
        rows = self.source.open(TrainingOpening(view, sampling, settings.n_threads))
        first_round = 0 if self.start is None else self.start.n_rounds
        limits = Limits(settings.n_rounds, settings.tol, first_round, sampling.sees_all)
        try:
            steps = self._steps(rows, view, totals.n_rows, sampling)
            rounds, trace = boost(steps, self.task.loss, totals.weight, limits, monitor, report)
            saturated = rows.ask(SaturatedRows(exponent)) / totals.n_rows if settings.affine else None
            return Run(rounds, self._component(view, rounds), trace, rows.ask(SmallestMargin()), saturated)
        finally:
            rows.close()

    def _steps(self, rows: OpenRows[BoostRows], view: RowView, n_rows: int, sampling: Sampling) -> Steps:
        """Compiled rounds if all rows are in the memory of this process, else rounds from answers."""
        only, settings, n_classes = rows.only, self.settings, self.task.n_classes
        if only is not None and only.part.in_memory:
            return _compiled(only, settings, sampling)
        coordinates = [-1] if settings.descent == "gradient" else list(range(n_classes - 1))
        rest = coordinates, settings.learning_rate, self.source.journal
        if view.standardised is None:
            trees = TreeChoices(rows, n_rows, self.source.binning, n_classes, settings.growth, sampling)
            return AskedSteps(rows, trees, *rest)
        terms = AffineChoices(rows, n_rows, view.standardised, n_classes, settings.learning_rate, sampling)
        return AskedSteps(rows, terms, *rest)

    def _component(self, view: RowView, rounds: list[Round]) -> Component:
        """The rounds as one component of a model."""
        if view.standardised is not None:
            terms = [made.terms for made in rounds if isinstance(made.terms, tuple)]
            return affine_component(view.standardised.attributes, self.task.n_classes, terms)
        trees = [made.terms for made in rounds if not isinstance(made.terms, tuple)]
        return Forest.of(self.source.binning, self.task.n_classes, trees)

    def averaged(self, exponent: float = 1.0, report: Report | None = None) -> Run:
        """Run the rounds on all rows, once or for each bag; several runs are averaged."""
        settings, view = self.settings, self.view(ALL_ROWS)
        seeds = range(settings.seed, settings.seed + (1 if self.start is not None else settings.n_bags))
        runs = [self.run(view, seed, report=report, exponent=exponent) for seed in seeds]
        if len(runs) == 1:
            return runs[0]
        component = runs[0].component.scaled(1 / len(runs))
        for other in runs[1:]:
            component = component.joined(other.component.scaled(1 / len(runs)), same_rounds=True)
        rows = self.source.open(HeldOutOpening(view))
        try:
            rows.ask(AddRound(terms_of(component)))
            saturated = rows.ask(SaturatedRows(exponent)) / self.source.n_rows if settings.affine else None
            trace = mean_trace([run.trace for run in runs])
            return Run([], component, trace, rows.ask(SmallestMargin()), saturated)
        finally:
            rows.close()

    def fit_held_out(self, split: Split, calibrated: bool) -> tuple[int, list[float], float | None]:
        """Fit the training rows and monitor the held-out rows: number of rounds, measures, and the fitted exponent."""
        settings, view = self.settings, self.view(split.training)
        rows = self.source.open(HeldOutOpening(replace(view, selection=split.held_out)))
        total = self.source.survey(TotalsOf(split.held_out)).weight
        patience = None if settings.early_stopping is None else settings.patience
        monitor = HeldOutMonitor(rows, settings.early_stopping or "surrogate", total, patience)
        try:
            self.run(view, settings.seed, monitor=monitor)
            exponent = fitted_exponent(self.task.loss, monitor.log_loss, settings.unit) if calibrated else None
        finally:
            rows.close()
        return monitor.best_round, monitor.measures, exponent


def _compiled(rows: BoostRows, settings: Settings, sampling: Sampling) -> CompiledSteps:
    """Compiled rounds on rows in one part."""
    selected, state = rows.open()
    view, part = rows.opening.rows, rows.part
    sampling = replace(sampling, hashes=selected.hashes if sampling.row_share < 1.0 else None)
    n_classes, descent, rate = view.task.n_classes, settings.descent, settings.learning_rate
    if view.standardised is not None:
        full = settings.learner == "linear-full"
        learner = AffineLearner(view.standardised, selected.values, n_classes, descent, full, rate, sampling)
        return CompiledSteps(state, learner)
    binned = BinnedTable(part.binned().binning, selected.blocks, state.rows)
    return CompiledSteps(state, TreeLearner(binned, n_classes, settings.growth, descent, rate, sampling))


def terms_of(component: Component) -> Terms:
    """All terms of a component as those of one round."""
    if isinstance(component, Forest):
        return dict(component.arrays)
    assert isinstance(component, AffineTerms)
    return component.coordinate, component.attribute, component.slope, component.level
