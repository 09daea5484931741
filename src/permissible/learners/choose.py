"""Choose among candidates by their loss on held-out rows, for all learners.

A candidate is fitted on the training rows of each split, and its loss on the held-out rows is known after each of its
stages: rounds of boosting, levels of pruning, values of a penalty. The stage and the candidate of least mean loss over
the splits are chosen. `choose` compares mean curves that are known: a later candidate must be better by the fraction
`least_gain`, since less counts as a tie and ties go to the earlier, simpler one.

`race` makes the curves, the first folds together and then fold by fold, and measures a tie by the folds themselves: the
losses of a candidate differ between folds, and the mean has the standard error of these differences. Candidates within
a tenth of it of the best are tied, and the simplest of them is chosen, at the minimum of its own mean curve. A
candidate that was clearly worse on each of the first folds is not fitted on the others. Curves may end early, when the
loss has not improved for long; they go on with their last value.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

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
    """The chosen candidate with its stage, and everything that was tried."""

    chosen: Tried[Candidate]
    tried: tuple[Tried[Candidate], ...]


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
    """One split: the mean held-out loss of a candidate (and what else `run` gives) at each stage; the held-out weight."""

    losses: Callable[..., FloatArray]
    weight: float


Runs: TypeAlias = Sequence[tuple[Fold[Candidate], Candidate]]


def one_by_one(runs: Runs[Candidate]) -> list[FloatArray]:
    """The curve of each run."""
    return [fold.losses(candidate) for fold, candidate in runs]


@dataclass(slots=True, eq=False)
class _Runner(Generic[Candidate]):
    """A candidate and its curves so far."""

    candidate: Candidate
    curves: list[FloatArray]

    def table(self) -> FloatArray:
        """The curves, one per row; a shorter one goes on with its last value."""
        length = max(len(curve) for curve in self.curves)
        return np.array([np.append(curve, np.full(length - len(curve), curve[-1])) for curve in self.curves])


def race(
    folds: Sequence[Fold[Candidate]],
    candidates: Sequence[Candidate],
    *,
    first_stage: int = 0,
    run: Callable[[Runs[Candidate]], list[FloatArray]] = one_by_one,
) -> Choice[Candidate]:
    """Fit the candidates, simplest first, on the folds and choose by the mean of their curves.

    The first folds are one call of `run`, which may make their fits at the same time, then one fold follows the other.
    """
    runners, running = [_Runner(candidate, []) for candidate in candidates], list(range(len(candidates)))
    weights: list[float] = []
    for together in (folds[:FIRST_FOLDS], *([fold] for fold in folds[FIRST_FOLDS:])):
        curves = iter(run([(fold, candidates[place]) for fold in together for place in running]))
        for fold in together:
            for place in running:
                runners[place].curves.append(next(curves))
            weights.append(fold.weight)
        if len(weights) >= FIRST_FOLDS:
            running = _in_the_race(runners, running, np.array(weights), first_stage)
    tried = [_mean(runner, np.array(weights), first_stage) for runner in runners]
    best = min((tried[place] for place in running), key=lambda one: one.loss)
    tie = TIED * _standard_error(runners[tried.index(best)], best.stage)
    chosen = next(tried[place] for place in running if not tried[place].loss > best.loss + tie)
    return Choice(chosen, tuple(tried))


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
