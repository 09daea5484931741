"""Choose among candidates by their loss on held-out rows, for all learners.

A candidate is fitted on the training rows of each split, and its loss on the held-out rows is known after each of its
stages: rounds of boosting, levels of pruning, values of a penalty. The stage and the candidate of least mean loss over
the splits are chosen. `choose` compares mean curves that are known: a later candidate must be better by the fraction
`least_gain`, since less counts as a tie and ties go to the earlier, simpler one.

`race` makes the curves, the first folds together and then fold by fold, and measures a tie by the folds themselves: the
losses of a candidate differ between folds, and the mean has the standard error of these differences. Candidates within
a tenth of it of the best are tied, and the simplest of them is chosen, at the minimum of its own mean curve. A
candidate that was clearly worse on each of the first folds is not fitted on the others. Candidates that differ from the
best by at most one standard error of this difference, fold by fold, are kept beside it, for a learner that averages.

A run may end early, when its held-out loss has not improved for long. The others go on, and beyond its end the mean is not
known: to go on with the last value would hide how much worse that fold becomes. So where the least mean lies beyond the
end of a curve, that run is made again up to there. Only a run that has nothing left to fit goes on with its last value.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from permissible.rows.source import Outcome, Source
from permissible.rows.splits import Split
from permissible.types import FloatArray

Candidate = TypeVar("Candidate")
TIE = 1e-12
"""Stages whose losses differ by less than this fraction are equal."""
TIED = 0.1
"""Losses that differ by less than this fraction of the standard error are equal."""
FIRST_FOLDS = 3
"""After this many folds a candidate may be dropped,"""
HOPELESS = 0.02
"""if it is worse than the best on each of them, and by this fraction on average."""


@dataclass(frozen=True, slots=True, eq=False)
class Tried(Generic[Candidate]):
    """One candidate, its mean held-out loss at each stage, and the stage of least loss."""

    candidate: Candidate
    curve: FloatArray
    stage: int

    @property
    def loss(self) -> float:
        """The least mean loss."""
        return float(self.curve[self.stage])


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Generic[Candidate]):
    """The chosen candidate with its stage, everything that was tried, and what is as good as the best of them."""

    chosen: Tried[Candidate]
    tried: tuple[Tried[Candidate], ...]
    kept: tuple[Tried[Candidate], ...] = ()


def choose(
    candidates: Iterable[Candidate],
    curve: Callable[[Candidate], FloatArray],
    *,
    least_gain: float = 0.0,
    equals: Literal["first", "last"] = "first",
    first_stage: int = 0,
) -> Choice[Candidate]:
    """Evaluate all candidates and take the best; ties go to the first or the last stage, from `first_stage` on."""
    tried = [stage_of(candidate, curve(candidate), equals, first_stage) for candidate in candidates]
    best = tried[0]
    for other in tried[1:]:
        if other.loss < best.loss * (1 - least_gain):
            best = other
    return Choice(best, tuple(tried))


def stage_of(
    candidate: Candidate, curve: FloatArray, equals: Literal["first", "last"] = "first", first_stage: int = 0
) -> Tried[Candidate]:
    """The stage of least loss."""
    begin = min(first_stage, len(curve) - 1)
    if equals == "first":
        return Tried(candidate, curve, begin + int(np.argmin(curve[begin:])))
    least = float(curve[begin:].min())
    return Tried(candidate, curve, begin + int(np.flatnonzero(curve[begin:] <= least + TIE * abs(least))[-1]))


def mean_curve(splits: Sequence[Split], losses: Callable[[Split], tuple[FloatArray, float]]) -> FloatArray:
    """The mean over splits; `losses` gives the sum of held-out losses at each stage, and the held-out weight."""
    total, weight = np.zeros(0), 0.0
    for position, split in enumerate(splits):
        curve, held = losses(split)
        total, weight = (curve if position == 0 else total + curve), weight + held
    return np.asarray(total / weight)


class Fold(NamedTuple, Generic[Candidate]):
    """One split: the mean held-out loss of a candidate at each stage; the held-out weight.

    `losses` gets the candidate, a stage, and what else `run` gives. With the stage 0 the curve may end early; otherwise it
    reaches this stage unless the fit ends before.
    """

    losses: Callable[..., FloatArray]
    weight: float


Runs: TypeAlias = Sequence[tuple[Fold[Candidate], Candidate, int]]
"""Folds, candidates, and the stages that their curves must reach."""


@dataclass(slots=True, eq=False)
class _Runner(Generic[Candidate]):
    """A candidate and its curves so far."""

    candidate: Candidate
    curves: list[FloatArray]
    asked: list[int]

    def complete(
        self, folds: Sequence[Fold[Candidate]], last: int, run: Callable[[Runs[Candidate]], list[FloatArray]]
    ) -> bool:
        """Make the runs again that ended before a stage; whether there were any."""
        short = [k for k, curve in enumerate(self.curves) if len(curve) <= last and self.asked[k] < last]
        for k, longer in zip(short, run([(folds[k], self.candidate, last) for k in short]), strict=True):
            self.curves[k], self.asked[k] = max(self.curves[k], longer, key=len), last
        return bool(short)

    def table(self) -> FloatArray:
        """The curves, one per row; for now a shorter one goes on with its last value."""
        length = max(len(curve) for curve in self.curves)
        return np.array([np.append(curve, np.full(length - len(curve), curve[-1])) for curve in self.curves])


class Sure(Generic[Candidate]):
    """The rounds that a candidate is sure to get, told while its only run goes on, so that its last fit may follow.

    A later least loss only adds to them. There are none until the candidate has won, and the fit needs more than `least`.
    """

    def __init__(self, weight: float, to_beat: float, least: int, most: int) -> None:
        self._weight, self._to_beat, self._best, self._least, self._most = weight, to_beat, to_beat, least, most
        self._rounds, self._ended = 0, False

    def told(self, n_rounds: int, loss: Callable[[], float]) -> Iterator[int]:
        """The numbers of the rounds of the run; after each of them the held-out loss is asked for."""
        for number in range(n_rounds):
            yield number
            mean = self._weight * loss() / self._weight  # as the mean curve has it
            if mean < self._best:
                self._best, self._rounds = mean, number + 1

    def rounds(self, turn: Callable[[], None]) -> Iterator[int]:
        """The numbers of the rounds of the last fit, as they become sure; `turn` lets the run go on."""
        for number in itertools.count():
            while number >= self._rounds and not self._ended:
                turn()
            if number >= self._rounds:
                return
            yield number

    def follow(
        self, source: Source, run: Callable[[Source], Tried[Candidate]], fit: Callable[[Source, int], Outcome]
    ) -> tuple[Tried[Candidate], Outcome | None]:
        """The run and, beside it or after it, the last fit, which gets the most rounds it may need; None without one."""

        def tried(rows: Source) -> None:
            found.append(run(rows))
            self._rounds, self._ended = found[0].stage if found[0].loss < self._to_beat else 0, True

        def last(rows: Source) -> Outcome | None:
            while self._rounds <= self._least and not self._ended:
                rows.turn()
            most = self._rounds if self._ended else self._most
            return fit(rows, most) if self._rounds > self._least else None

        found = list[Tried[Candidate]]()
        fits: dict[str, Callable[[Source], Outcome | None]] = {"run": tried, "fit": last}
        outcome = source.each(fits)[1]
        return found[0], outcome


def race(
    folds: Sequence[Fold[Candidate]],
    candidates: Sequence[Candidate],
    *,
    run: Callable[[Runs[Candidate]], list[FloatArray]],
    first_stage: int = 0,
) -> Choice[Candidate]:
    """Fit the candidates, simplest first, on the folds and choose by the mean of their curves.

    The first folds are one call of `run`, which may make their fits at the same time, then one fold follows the other.
    """
    runners, running = [_Runner(candidate, [], []) for candidate in candidates], list(range(len(candidates)))
    weights: list[float] = []
    for together in (folds[:FIRST_FOLDS], *([fold] for fold in folds[FIRST_FOLDS:])):
        curves = iter(run([(fold, candidates[place], 0) for fold in together for place in running]))
        for fold in together:
            for place in running:
                runners[place].curves.append(next(curves))
                runners[place].asked.append(0)
            weights.append(fold.weight)
        if len(weights) >= FIRST_FOLDS:
            running = _in_the_race(runners, running, np.array(weights), first_stage)
    for place in running:
        while runners[place].complete(folds, _mean(runners[place], np.array(weights), first_stage).stage, run):
            pass  # at most once for each stage, since a curve reaches what was asked for
    tried = [_mean(runner, np.array(weights), first_stage) for runner in runners]
    best = min((tried[place] for place in running), key=lambda one: one.loss)
    tie = TIED * _standard_error(runners[tried.index(best)], best.stage)
    chosen = next(tried[place] for place in running if not tried[place].loss > best.loss + tie)
    kept = tuple(tried[place] for place in running if _as_good(runners, tried, place, tried.index(best)))
    return Choice(chosen, tuple(tried), kept)


def _as_good(runners: Sequence[_Runner[Candidate]], tried: Sequence[Tried[Candidate]], place: int, best: int) -> bool:
    """Whether the mean difference from the best is at most its standard error; of one fold only the best itself is."""
    own, least = (runners[k].table()[:, tried[k].stage] for k in (place, best))
    if place == best or len(own) < 2:
        return place == best
    return float(tried[place].loss - tried[best].loss) <= float(np.std(own - least, ddof=1)) / math.sqrt(len(own))


def _mean(runner: _Runner[Candidate], weights: FloatArray, first_stage: int) -> Tried[Candidate]:
    """The mean curve over the folds that a candidate saw."""
    table, own = runner.table(), weights[: len(runner.curves)]
    return stage_of(runner.candidate, np.asarray(own @ table / own.sum()), first_stage=first_stage)


def _in_the_race(
    runners: Sequence[_Runner[Candidate]], running: Sequence[int], weights: FloatArray, first_stage: int
) -> list[int]:
    """The candidates that may still win."""
    found = {place: _mean(runners[place], weights, first_stage) for place in running}
    best = min(running, key=lambda place: found[place].loss)
    least = runners[best].table()[:, found[best].stage]
    kept = []
    for place in running:
        own = runners[place].table()[:, found[place].stage]
        worse = bool((own > least).all()) and found[place].loss > (1 + HOPELESS) * found[best].loss
        if not worse:
            kept.append(place)
    return kept


def _standard_error(runner: _Runner[Candidate], stage: int) -> float:
    """The standard error of the mean loss at a stage, from its spread over the folds; 0 for one fold."""
    at_stage = runner.table()[:, stage]
    if len(at_stage) < 2:
        return 0.0
    return float(np.std(at_stage, ddof=1)) / math.sqrt(len(at_stage))
