"""MCBoost with rules and trees over parts: rows in blocks on disk or on workers. Same model as in memory, bit for bit.

What `learners/mcboost/fit.py` does with a table is done here with questions: hold rows out and find the number of rounds and the
temperature, then boost on all rows.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.distributed.mcboost_rows import BoostKind, BoostSettings, JudgeKind, Share
from permissible.distributed.parted import Parted
from permissible.distributed.session import Opening
from permissible.distributed.transport import RemoteRows
from permissible.kernels._core import sums
from permissible.learners.mcboost.boost import Trace, mean_trace, run_rounds
from permissible.learners.mcboost.fit import Fitted, Report, Settings, averaged, certificate_of
from permissible.learners.mcboost.parted import Next, PartedTrees, Standing, made
from permissible.learners.mcboost.problem import Problem
from permissible.learners.mcboost.rounds import Learner, Round, Sampling
from permissible.learners.mcboost.stopping import Watch
from permissible.learners.mcboost.temperature import exponent_of, fitted_exponent
from permissible.models.additive import AdditiveModel
from permissible.types import FloatArray, IntArray


class AskedRows:
    """All parts as the rows that the learner asks."""

    def __init__(self, remote: RemoteRows) -> None:
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

    def slopes(self, *question: Any) -> IntArray:
        """Exact slopes along a tree."""
        answer: IntArray = self._remote.ask("slopes", *question)
        return answer

    def take(self, *question: Any) -> Standing:
        """Take a step."""
        answer: Standing = self._remote.ask("take", *question)
        return answer


@dataclass(slots=True, eq=False)
class JudgedElsewhere(Watch):
    """Held-out rows in parts."""

    remote: RemoteRows = field(kw_only=True)
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

    def outcome(self, best: bool) -> tuple[FloatArray, IntArray, FloatArray]:
        """Scores (after the best round, or the last), classes and weights of the held-out rows, in the order of the parts."""
        found = sorted(self.remote.ask("outcome", best and not self.improved), key=lambda item: item[0])
        scores, target, weight = (np.concatenate(column) for column in zip(*(rows for _, rows in found), strict=True))
        return scores, target, weight


@dataclass(frozen=True, slots=True, eq=False)
class BoostFit:
    """A fit to be made on parts."""

    data: Parted
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
            rehearsed = self._rehearse()
            if rehearsed is not None:
                n_rounds, measures, outcome = rehearsed
                if calibrated:
                    exponent = fitted_exponent(self.loss, *outcome)
        runs = [self._boosted(None, settings.seed + bag, n_rounds, report=report) for bag in range(settings.n_bags)]
        part, trace, smallest = runs[0] if len(runs) == 1 else self._averaged(runs)
        if measures and settings.early_stopping is not None:
            trace.validation = measures
        prior = np.zeros(len(self.costs))
        schema = self.data.binning.schema
        model = AdditiveModel(schema, self.loss, prior, (part,), exponent or 1.0, calibrated)
        return Fitted(model, trace, certificate_of(smallest, trace, settings.every_row_counts))

    def _boosted(
        self, share: Share | None, seed: int, n_rounds: int, *, watch: Watch | None = None, report: Report | None = None
    ) -> tuple[Any, Trace, float]:
        """Run the rounds: the part of the model, the trace, and the least margin."""
        settings, data = self.settings, self.data
        sampling = Sampling(settings.row_share, settings.column_share, seed)
        opening = BoostSettings(self.costs, self.loss, share, sampling, settings.n_threads)
        n_rows, total = self._size(share)
        remote = RemoteRows(data.transport, BoostKind(), Opening("mcboost", opening))
        learner = PartedTrees(
            AskedRows(remote), n_rows, data.binning, len(self.costs), settings.growth, settings.descent,
            settings.learning_rate, sampling, made if data.journal is None else data.journal.recall,
        )  # fmt: skip
        try:
            rounds, trace = run_rounds(
                learner, total, self.loss, learner, n_rounds, watch=watch, tol=settings.tol, report=report
            )
            return learner.part(rounds), trace, float(remote.ask("margin"))
        finally:
            remote.close()

    def _averaged(self, runs: list[tuple[Any, Trace, float]]) -> tuple[Any, Trace, float]:
        """The mean of several runs, and the least margin under it."""
        part = averaged([part for part, _, _ in runs])
        opening = BoostSettings(self.costs, self.loss)
        remote = RemoteRows(self.data.transport, JudgeKind(), Opening("mcboost judge", opening))
        try:
            remote.ask("judge", dict(part.arrays), False)
            return part, mean_trace([trace for _, trace, _ in runs]), float(remote.ask("margin"))
        finally:
            remote.close()

    def _size(self, share: Share | None) -> tuple[int, float]:
        """Number and exact weight of some rows."""
        found = self.data.survey("share_sizes", share)
        limbs = np.ascontiguousarray(sum((limbs for _, limbs in found[1:]), found[0][1]))
        return sum(n_rows for n_rows, _ in found), sums.exact_values(limbs)[0]

    def _rehearse(self) -> tuple[int, list[float], tuple[FloatArray, IntArray, FloatArray]] | None:
        """Fit part of the rows and watch the others: the number of rounds, the measures, and the others at that point."""
        settings, bounds = self.settings, self._bounds()
        if bounds is None:
            return None
        stopping = settings.early_stopping is not None
        held = Share("held", bounds)
        opening = BoostSettings(self.costs, self.loss, held)
        remote = RemoteRows(self.data.transport, JudgeKind(), Opening("mcboost judge", opening))
        watch = JudgedElsewhere(
            settings.patience if stopping else None, remote=remote, measure=settings.early_stopping or "surrogate",
            total=self._size(held)[1],
        )  # fmt: skip
        try:
            self._boosted(Share("kept", bounds), settings.seed, settings.n_rounds, watch=watch)
            outcome = watch.outcome(stopping)
        finally:
            remote.close()
        return watch.best_round if stopping else settings.n_rounds, watch.measures, outcome

    def _bounds(self) -> tuple[float, ...] | None:
        """Below which number the rows of each class are held out; None when that would be none of the rows, or all."""
        fraction = self.settings.validation_fraction
        facts = np.array(self.data.survey("shares", fraction, len(self.costs)))  # (parts, classes, 3)
        members, held, largest = facts[..., 0].sum(axis=0), facts[..., 1].sum(axis=0), facts[..., 2].max(axis=0)
        below = np.where(held == members, largest, fraction)
        bounds = tuple(below.tolist())
        n_held, _ = self._size(Share("held", bounds))
        return None if n_held in (0, int(members.sum())) else bounds
