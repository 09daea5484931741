"""From rows to a model: a run on training rows for the number of rounds and the temperature, then a run on all rows."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from permissible.kernels._core import sums
from permissible.learners.mcboost.certificate import BoostCertificate, certificate_of
from permissible.learners.mcboost.linear.affine import AffineLearner, affine_component
from permissible.learners.mcboost.linear.standardise import standardise
from permissible.learners.mcboost.linear.steps import AskedSteps
from permissible.learners.mcboost.loop import CostTrace, Limits, Report, Steps, boost, mean_trace
from permissible.learners.mcboost.monitor import AddRound, HeldOut, HeldOutMonitor, HeldOutOpening, HeldOutTreesOpening
from permissible.learners.mcboost.problem import CostTask, best_constant
from permissible.learners.mcboost.rounds import CostRound, Sampling, Terms
from permissible.learners.mcboost.rows import (
    BoostRows,
    ClassCodes,
    ClassWeights,
    RowView,
    SaturatedRows,
    SmallestMargin,
    TrainingOpening,
)
from permissible.learners.mcboost.temperature import exponent_of, fitted_exponent
from permissible.learners.mcboost.tree_rows import PartTrees, TreeOpening
from permissible.learners.mcboost.tree_step import TreeRound, forest_of
from permissible.learners.mcboost.trees import Growth, TreeSteps
from permissible.models.kinds.additive import AdditiveModel, Component
from permissible.models.kinds.affine import AffineTerms
from permissible.models.kinds.forest import Forest
from permissible.rows.keys import column_numbers, keys_of
from permissible.rows.selection import ALL_ROWS, Selection
from permissible.rows.source import OpenRows, Source
from permissible.rows.splits import Split, hold_out
from permissible.rows.totals import Totals, TotalsOf
from permissible.types import FloatArray, IntArray

LEARNERS = ("linear", "linear-full", "rule", "tree", "auto")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a fit; `permissible.MCBoostClassifier` documents each.

    `unit` is the weight of one row of weight 1 in the problem; it differs from 1 if extreme weights were rescaled.
    `affine_l2` is the penalty on the moves of affine terms on single attributes; the paper has none.
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
    affine_l2: float = 0.0

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
    trace: CostTrace
    certificate: BoostCertificate


class Run(NamedTuple):
    """The result of a run: constant and terms, trace, least margin, and for affine terms the fraction of saturated rows."""

    prior: FloatArray
    component: Component
    trace: CostTrace
    margin: float
    saturated: float | None


def fit(
    source: Source, task: CostTask, settings: Settings, start: AdditiveModel | None = None, report: Report | None = None
) -> Fitted:
    """Fit an additive model; with `start`, continue from that model (its rounds are kept)."""
    exponent, validation = exponent_of(task), list[float]()
    calibrated = exponent is None and settings.calibrate
    boosting = Boosting(source, task, settings, start)
    split = None
    if settings.holds_out(task):
        keys = None if settings.affine else keys_of(source, settings.seed)  # affine terms have values, no bins
        split = hold_out(source, fraction=settings.validation_fraction, keep_rare=True, keys=keys)
    if split is not None:
        n_rounds, measures, found = boosting.fit_held_out(split, calibrated)
        exponent = found if calibrated else exponent
        if settings.early_stopping is not None:
            boosting, validation = replace(boosting, settings=replace(settings, n_rounds=n_rounds)), measures
    run = boosting.averaged(exponent or 1.0, report)
    run.trace.validation = validation
    component = run.component if start is None else start.parts[0].joined(run.component)
    prior = run.prior if start is None else start.prior
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
        if self.settings.affine:
            first = None if self.start is None else self.start.parts[0]
            attributes = first.attributes if isinstance(first, AffineTerms) else None
            return RowView(self.task, selection, standardise(self.source, selection, attributes), self.start)
        prior = best_constant(self.task, self._class_weights(selection)) if self.start is None else None
        return RowView(self.task, selection, None, self.start, prior)

    def _class_weights(self, selection: Selection) -> FloatArray:
        limbs = self.source.survey(ClassWeights(self.task.n_classes, selection))
        return np.array(sums.exact_values(np.ascontiguousarray(limbs)))

    def _class_ranks(self, selection: Selection) -> IntArray:
        """The rank of each class by its rows, whatever its name: the lighter first, then that of more usual codes."""
        n_classes, weight = self.task.n_classes, self._class_weights(selection)
        farthest = np.zeros(n_classes)
        if len(np.unique(weight)) < n_classes and self.source.binning.columns:
            limbs = self.source.survey(ClassCodes(n_classes, selection))
            codes = np.array([sums.exact_values(np.ascontiguousarray(of)) for of in limbs])
            farthest = np.abs(codes * weight.sum() - codes.sum(axis=0) * weight[:, None]).max(axis=1)
        return np.argsort(np.lexsort((farthest, weight)))

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
        first_round = 0 if self.start is None else self.start.n_rounds
        limits = Limits(settings.n_rounds, settings.tol, first_round, sampling.sees_all, self.task.made.least)
        affine, threads = view.standardised is not None, settings.n_threads
        opening: Any = TrainingOpening(view, sampling, threads)
        if not affine:
            opening = TreeOpening(view, column_numbers(self.source), threads, directions=settings.growth.directions)
        rows: OpenRows[Any] = self.source.open(opening)
        try:
            steps = (
                self._affine(rows, view, totals.n_rows, sampling)
                if affine
                else self._trees(rows, view, sampling, totals)
            )
            rounds, trace = boost(steps, self.task.loss, totals.weight, limits, monitor, report)
            saturated = rows.ask(SaturatedRows(exponent)) / totals.n_rows if affine else None
            prior = np.zeros(self.task.n_classes) if view.prior is None else view.prior
            return Run(prior, self._component(view, rounds), trace, rows.ask(SmallestMargin()), saturated)
        finally:
            rows.close()

    def _trees(self, rows: OpenRows[PartTrees], view: RowView, sampling: Sampling, totals: Totals) -> Steps:
        """Rounds of trees or rules, wherever the rows are."""
        settings, ranks = self.settings, np.arange(self.task.n_classes)
        if settings.descent == "gradient" and self.task.n_classes > 2:
            ranks = self._class_ranks(view.selection)
        first = 0 if self.start is None else self.start.n_rounds
        how = settings.growth, settings.descent, settings.learning_rate, sampling, totals.weight
        return TreeSteps(
            rows,
            self.source.binning,
            self.task,
            *how,
            self.source.journal,
            ranks,
            settings.n_threads,
            first_round=first,
        )

    def _affine(self, rows: OpenRows[BoostRows], view: RowView, n_rows: int, sampling: Sampling) -> Steps:
        """Compiled rounds if all rows are in the memory of this process, else rounds from answers."""
        only, settings, n_classes = rows.only, self.settings, self.task.n_classes
        standardised, rate = view.standardised, settings.learning_rate
        assert standardised is not None
        if only is not None and only.part.in_memory:
            selected, state = only.open()
            sampling = replace(sampling, hashes=selected.hashes if sampling.draws else None)
            how = n_classes, settings.descent, settings.learner == "linear-full", rate, sampling, settings.affine_l2
            return AffineLearner(state, standardised, selected.values, *how)
        coordinates = [-1] if settings.descent == "gradient" else list(range(n_classes - 1))
        how_asked = n_classes, coordinates, rate, sampling, self.source.journal, settings.affine_l2
        return AskedSteps(rows, n_rows, standardised, *how_asked)

    def _component(self, view: RowView, rounds: list[CostRound]) -> Component:
        """The rounds as one component of a model."""
        n_classes, terms = self.task.n_classes, [made.terms for made in rounds]
        if view.standardised is not None:
            return affine_component(
                view.standardised.attributes, n_classes, [of for of in terms if isinstance(of, tuple)]
            )
        return forest_of(self.source.binning, n_classes, [of for of in terms if isinstance(of, TreeRound)])

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
        rows: OpenRows[Any] = self.source.open(HeldOutOpening(view))
        try:
            rows.ask(AddRound(terms_of(component)))
            saturated = rows.ask(SaturatedRows(exponent)) / self.source.n_rows if settings.affine else None
            trace = mean_trace([run.trace for run in runs])
            return Run(runs[0].prior, component, trace, rows.ask(SmallestMargin()), saturated)
        finally:
            rows.close()

    def monitor(
        self, view: RowView, held_out: Selection, patience: int | None, stages: tuple[int, ...] = ()
    ) -> tuple[OpenRows[HeldOut], HeldOutMonitor]:
        """Held-out rows for a run on the rows of a view, and their measure after each round."""
        held = replace(view, selection=held_out)
        affine = view.standardised is not None
        opening = HeldOutOpening(held) if affine else HeldOutTreesOpening(held, self.settings.n_threads)
        rows: OpenRows[HeldOut] = self.source.open(opening)
        total = self.source.survey(TotalsOf(held_out)).weight
        return rows, HeldOutMonitor(rows, self.settings.early_stopping or "surrogate", total, patience, stages)

    def fit_held_out(self, split: Split, calibrated: bool) -> tuple[int, list[float], float | None]:
        """Fit the training rows and monitor the held-out rows: number of rounds, measures, and the fitted exponent."""
        settings, view = self.settings, self.view(split.training)
        patience = None if settings.early_stopping is None else settings.patience
        rows, monitor = self.monitor(view, split.held_out, patience)
        try:
            self.run(view, settings.seed, monitor=monitor)
            exponent = fitted_exponent(self.task.made.exponent, monitor.log_loss, settings.unit) if calibrated else None
        finally:
            rows.close()
        return monitor.best_round, monitor.measures, exponent


def terms_of(component: Component) -> Terms:
    """All terms of a component as those of one round."""
    if isinstance(component, Forest):
        return dict(component.arrays)
    assert isinstance(component, AffineTerms)
    return component.coordinate, component.attribute, component.slope, component.level
