"""Choose among candidates by their loss on held-out rows, for all learners.

A candidate is fitted on the training rows of each split, and its loss on the held-out rows is known after each of its
stages: rounds of boosting, levels of pruning, values of a penalty. The stage and the candidate of least mean loss over
the splits are chosen. A later candidate must be better by the fraction `least_gain`: less counts as a tie, and ties go
to the earlier, simpler one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np

from permissible.rows.splits import Split
from permissible.types import FloatArray

Candidate = TypeVar("Candidate")
TIE = 1e-12
"""Stages whose losses differ by less than this fraction are equal."""


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
