"""The hold-out: which rows stay out of a fit so that they can judge it, and what they choose.

Rows are assigned by a hash of their content and the seed: equal rows stay together, the order of rows does not matter, weight
2 is the row twice, and every worker agrees without talking. Within each class the rows of lowest hash are held out, up to a
fifth of the class's weight; for many rows the fifth is simply of the range of the hash.

Where the same few rows come again and again (seven yes-or-no questions, thousands of answers), rows to come have been seen
already, and a hold-out of contents never met would judge another task: there the training loss itself chooses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from permissible.learners.uls.compiled import Examples
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.trace import Trace
from permissible.types import BoolArray, FloatArray

SHARE = 0.2
CLEARLY = 0.01
"""A longer rule is taken when it lowers the validation loss by this share; less counts as a tie, and ties go to the shorter."""
REPEATS = 8.0
"""Rows that come more often than this on average are judged by themselves."""
PROBED = 4096
LARGE = 100_000
Run = Callable[[Examples, ULSOptions, Examples | None], Trace]


@dataclass(frozen=True, slots=True)
class Choice:
    """What the hold-out chose: the options with the number of rounds, and the evidence per candidate."""

    options: ULSOptions
    evidence: dict[str, object]


def held_out(
    hashes: npt.NDArray[np.uint64], positive: BoolArray, weight: FloatArray | None, share: float = SHARE
) -> BoolArray | None:
    """Which rows are held out; None when no sensible split exists (a class has one different row only)."""
    bounds = held_bounds(hashes, positive, weight, share)
    held = hashes <= np.where(positive, np.uint64(bounds[1]), np.uint64(bounds[0]))
    for label in (False, True):
        kept = held[positive == label]
        if kept.all() or not kept.any():
            return None
    return held


def held_bounds(
    hashes: npt.NDArray[np.uint64], positive: BoolArray, weight: FloatArray | None, share: float = SHARE
) -> tuple[int, int]:
    """The hash up to which the rows of the negative and of the positive class are held out."""
    if len(hashes) >= LARGE:
        return large_bounds(share)
    negative_bound, positive_bound = (
        _lowest(hashes[positive == label], None if weight is None else weight[positive == label], share)
        for label in (False, True)
    )
    return negative_bound, positive_bound


def repeats(hashes: npt.NDArray[np.uint64]) -> bool:
    """Whether the same rows come again and again.

    Rows are counted, not their weights, the one place where weight 2 is not the row twice: weights may be in any unit, and
    a choice that does not change with the unit cannot also take weight 9 for nine rows.
    """
    if len(hashes) >= LARGE:
        bound = np.uint64(probe(len(hashes)))
        return few(len(np.unique(hashes[hashes <= bound])))
    return len(hashes) > REPEATS * len(np.unique(hashes))


def probe(n_rows: int) -> int:
    """The hash up to which about PROBED of so many rows lie, if they all differ."""
    return int(PROBED / n_rows * 2.0**64)


def few(n_different: int) -> bool:
    """Whether so few different rows up to the probe mean repeats."""
    return n_different * REPEATS < PROBED


def large_bounds(share: float = SHARE) -> tuple[int, int]:
    """Of many rows, simply a share of the range of the hash."""
    return int(share * 2.0**64) - 1, int(share * 2.0**64) - 1


def _lowest(hashes: npt.NDArray[np.uint64], weight: FloatArray | None, share: float) -> int:
    """The hash below which rows make up nearest to `share` of the weight, at least one; equal hashes together."""
    order = np.argsort(hashes, kind="stable")
    ranked = hashes[order]
    mass = np.cumsum(np.ones(len(order)) if weight is None else weight[order])
    ends = np.append(ranked[1:] != ranked[:-1], True)
    at = mass[ends]
    nearest = int(np.argmin(np.abs(at - share * mass[-1])))
    return int(ranked[ends][nearest])


def choose(examples: Examples, held: BoolArray, candidates: Sequence[ULSOptions], run: Run) -> Choice:
    """Fit every candidate on the kept rows, take the number of rounds and the candidate of least validation loss."""
    kept, judged = examples.take(np.flatnonzero(~held)), examples.take(np.flatnonzero(held))
    return choose_on(kept, judged, candidates, run)


def choose_on(kept: Examples, judged: Examples, candidates: Sequence[ULSOptions], run: Run) -> Choice:
    """The same with a validation set that was given."""
    share = judged.total / (kept.total + judged.total)
    return choose_by(candidates, lambda options: run(kept, options, judged), share)


def choose_by(
    candidates: Sequence[ULSOptions], run: Callable[[ULSOptions], Trace], share: float, *, by_itself: bool = False
) -> Choice:
    """The same, wherever the rows are: `run` fits a candidate on the kept rows, with the loss of the others in its trace.

    By itself: the training loss takes the place of the others'.
    """
    best: ULSOptions | None = None
    least = np.inf
    tried = []
    for options in candidates:
        trace = run(options)
        start = trace.start_surrogate if by_itself else trace.start_validation
        losses = [step.surrogate if by_itself else step.validation for step in trace.rounds]
        rounds = int(np.argmin(losses)) + 1 if losses else 0
        loss = losses[rounds - 1] if losses else start
        tried.append({
            "max_literals": options.max_literals, "learning_rate": options.learning_rate, "n_rules": rounds,
            "validation": loss, "curve": np.array([start, *losses]),
        })  # fmt: skip
        if best is None or loss < least * (1 - CLEARLY):
            best, least = replace(options, n_rules=max(rounds, 1)), loss
    assert best is not None
    return Choice(best, {"candidates": tried, "validation_share": share})
