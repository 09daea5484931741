"""MCBoost over parts, with affine terms, rules or trees: rows in blocks on disk or on workers. Same model, bit for bit.

What `learners/mcboost/fit.py` does with a table is done here with questions: hold rows out and find the number of rounds and the
temperature, then boost on all rows.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from permissible.distributed.asked import Asked, surveyed
from permissible.distributed.mcboost_rows import BoostSettings, Share
from permissible.kernels._core import sums
from permissible.learners.mcboost.certificate import certificate_of
from permissible.learners.mcboost.fit import Fitted, Report, Settings, averaged
from permissible.learners.mcboost.loop import Trace, mean_trace, run_rounds
from permissible.learners.mcboost.monitor import Watch
from permissible.learners.mcboost.problem import Problem
from permissible.learners.mcboost.rounds import Learner, Round, Sampling
from permissible.learners.mcboost.standardise import Space, Spread, attributes_from
from permissible.learners.mcboost.steps import Choices, LinearChoices, Next, PartedRounds, Standing, TreeChoices
from permissible.learners.mcboost.temperature import exponent_of, fitted_exponent
from permissible.models.kinds.additive import AdditiveModel
from permissible.rows.source import Source
from permissible.types import FloatArray, IntArray


class AskedRows:
    """All parts as the rows that the learner asks."""

    def __init__(self, remote: Asked) -> None:
        self._remote = remote

    def begin(self, following: Next) -> Standing:
        """Begin at score zero."""
        answer: Standing = self._remote.ask("begin", following)
        return answer

    def cells(self, *question: Any) -> tuple[IntArray, IntArray]:
        """Cells of nodes of a tree."""
        answer: tuple[IntArray, IntArray] = self._remote.ask("cells", *question)
        return answer

    def packed_cells(self, *question: Any) -> IntArray:
        """Packed cells of all rows."""
        answer: IntArray = self._remote.ask("packed_cells", *question)
        return answer

    def packed_sums(self, *question: Any) -> IntArray:
        """Exact sums of the sides of a stump."""
        answer: IntArray = self._remote.ask("packed_sums", *question)
        return answer

    def affine(self, *question: Any) -> IntArray:
        """Sums of all attributes."""
        answer: IntArray = self._remote.ask("affine", *question)
        return answer

    def slopes(self, *question: Any) -> IntArray:
        """Exact slopes along a tree or term."""
        answer: IntArray = self._remote.ask("slopes", *question)
        return answer

    def take(self, *question: Any) -> Standing:
        """Take a step."""
        answer: Standing = self._remote.ask("take", *question)
        return answer


@dataclass(slots=True, eq=False)
class JudgedElsewhere(Watch):
    """Held-out rows in parts."""

    remote: Asked = field(kw_only=True)
    measure: str = field(kw_only=True)
    total: float = field(kw_only=True)
    improved: bool = False

    def judge(self, learner: Learner, made: Round) -> float:
        """The mean surrogate, or cost of the largest scores, after a round."""
        limbs = self.remote.ask("judge", made.terms, self.improved)
        self.improved = False
        surrogate, cost, _ = sums.exact_values(np.ascontiguousarray(limbs))
        return float((cost if self.measure == "cost" else surrogate) / self.total)

    def keep(self) -> None:
        """The parts are told with the next question that these scores were the best."""
        self.improved = True

    def misfit(self, best: bool, exponent: float) -> IntArray:
        """The exact sum of the log-losses of the held-out rows at an exponent, after the best round or the last."""
        answer: IntArray = self.remote.ask("misfit", best and not self.improved, exponent)
        return answer


class Run(NamedTuple):
    """What rounds made: a part of a model, their trace, the least margin, and (of affine terms) the share of rows at 0 or 1."""

    part: Any
    trace: Trace
    margin: float
    saturated: float | None


@dataclass(frozen=True, slots=True, eq=False)
class BoostFit:
    """A fit to be made on parts."""

    data: Source
    costs: FloatArray
    loss: str
    settings: Settings

    def run(self, report: Report | None = None) -> Fitted:
        """Rehearse where rounds or temperature are to be found, then fit on all rows."""
        settings, n_rounds = self.settings, self.settings.n_rounds
        blank = Problem(np.zeros(0, dtype=np.int64), self.costs, np.zeros(0), self.loss)
        exponent = exponent_of(blank)
        calibrated = exponent is None and settings.calibrate
        measures: list[float] = []
        if settings.early_stopping is not None or calibrated:
            rehearsed = self._rehearse(calibrated)
            if rehearsed is not None:
                n_rounds, measures, found = rehearsed
                exponent = exponent if found is None else found
        exponent = exponent or 1.0
        runs = [
            self._boosted(None, settings.seed + bag, n_rounds, report=report, exponent=exponent)
            for bag in range(settings.n_bags)
        ]
        part, trace, smallest, saturated = runs[0] if len(runs) == 1 else self._averaged(runs)
        if measures and settings.early_stopping is not None:
            trace.validation = measures
        prior = np.zeros(len(self.costs))
        schema = self.data.binning.schema
        model = AdditiveModel(schema, self.loss, prior, (part,), exponent, calibrated)
        return Fitted(model, trace, certificate_of(smallest, trace, settings.every_row_counts, saturated))

    def _boosted(
        self, share: Share | None, seed: int, n_rounds: int, *, watch: Watch | None = None,
        report: Report | None = None, exponent: float = 1.0, space: Space | None = None,
    ) -> Run:  # fmt: skip
        """Run the rounds."""
        settings, data = self.settings, self.data
        sampling = Sampling(settings.row_share, settings.column_share, seed)
        space = self._space(share) if space is None else space
        opening = BoostSettings(self.costs, self.loss, share, sampling, settings.n_threads, space)
        n_rows, total = self._size(share)
        remote = Asked(data, "mcboost", opening)
        rows, n_classes, rate = AskedRows(remote), len(self.costs), settings.learning_rate
        choices: Choices
        if space is None:
            choices = TreeChoices(rows, n_rows, data.binning, n_classes, settings.growth, sampling)
        else:
            choices = LinearChoices(rows, n_rows, space, n_classes, rate, sampling)
        learner = PartedRounds(rows, choices, n_classes, settings.descent, rate, sampling, data.journal.recall)
        try:
            rounds, trace = run_rounds(
                learner, total, self.loss, learner, n_rounds, watch=watch, tol=settings.tol, report=report
            )
            saturated = None if space is None else int(remote.ask("saturated", exponent)) / n_rows
            return Run(learner.part(rounds), trace, float(remote.ask("margin")), saturated)
        finally:
            remote.close()

    def _averaged(self, runs: list[Run]) -> Run:
        """The mean of several runs."""
        part = averaged([run.part for run in runs])
        opening = BoostSettings(self.costs, self.loss)
        remote = Asked(self.data, "mcboost judge", opening)
        try:
            remote.ask("judge", dict(part.arrays), False)
            return Run(part, mean_trace([run.trace for run in runs]), float(remote.ask("margin")), None)
        finally:
            remote.close()

    def _space(self, share: Share | None) -> Space | None:
        """The space of affine terms of some rows, where such terms are learned."""
        if self.settings.learner != "linear":
            return None
        data = self.data
        means: list[IntArray] = surveyed(data, "attribute_means", share)
        attributes = attributes_from(data.binning.schema, sum(means[1:], means[0]))
        return Space.around(attributes, Spread.merged(surveyed(data, "attribute_spread", attributes, share)))

    def _size(self, share: Share | None) -> tuple[int, float]:
        """Number and exact weight of some rows."""
        found = surveyed(self.data, "share_sizes", share)
        limbs = np.ascontiguousarray(sum((limbs for _, limbs in found[1:]), found[0][1]))
        return sum(n_rows for n_rows, _ in found), sums.exact_values(limbs)[0]

    def _rehearse(self, calibrated: bool) -> tuple[int, list[float], float | None] | None:
        """Fit part of the rows and watch the others: the number of rounds, the measures, the exponent that suits the others."""
        settings, bounds = self.settings, self._bounds()
        if bounds is None:
            return None
        stopping = settings.early_stopping is not None
        held, kept = Share("held", bounds), Share("kept", bounds)
        space = self._space(kept)
        # terms of a model are on the attributes' own scale
        unscaled = None if space is None else replace(space, scale=np.ones(len(space.scale)))
        opening = BoostSettings(self.costs, self.loss, held, space=unscaled)
        remote = Asked(self.data, "mcboost judge", opening)
        watch = JudgedElsewhere(
            settings.patience if stopping else None, remote=remote, measure=settings.early_stopping or "surrogate",
            total=self._size(held)[1],
        )  # fmt: skip
        try:
            self._boosted(kept, settings.seed, settings.n_rounds, watch=watch, space=space)
            exponent = None
            if calibrated:
                exponent = fitted_exponent(self.loss, lambda at: watch.misfit(stopping, at))
        finally:
            remote.close()
        return watch.best_round if stopping else settings.n_rounds, watch.measures, exponent

    def _bounds(self) -> tuple[float, ...] | None:
        """Below which number the rows of each class are held out; None when that would be none of the rows, or all."""
        fraction = self.settings.validation_fraction
        facts = np.array(surveyed(self.data, "shares", fraction, len(self.costs)))  # (parts, classes, 3)
        members, held, largest = facts[..., 0].sum(axis=0), facts[..., 1].sum(axis=0), facts[..., 2].max(axis=0)
        below = np.where(held == members, largest, fraction)
        bounds = tuple(below.tolist())
        n_held, _ = self._size(Share("held", bounds))
        return None if n_held in (0, int(members.sum())) else bounds
