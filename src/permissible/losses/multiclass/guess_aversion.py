"""Guess-aversion as a property that can be checked: a right answer must cost less than a guess ([B] section 3, Definition 3).

A loss is guess-averse when L(C, z, S) < L(C, z, A) for every cost matrix C, true class z, score vector S whose
largest entry is S_z alone, and constant vector A. The check searches for a counterexample over costs (insensitive, symmetric,
asymmetric, sparse), classes and scores on many scales, next to the boundary too; finding none is evidence, finding one is proof.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from permissible.losses.multiclass.losses import MulticlassLoss, get_multiclass
from permissible.types import FloatArray
from permissible.validation.numbers import whole_number

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A right answer that costs at least as much as a guess.

    Examples
    --------
    >>> from permissible import losses
    >>> found = losses.is_guess_averse("ls", 3).counterexample
    >>> found.value >= found.guess
    True
    """

    cost: FloatArray
    label: int
    scores: FloatArray
    value: float
    guess: float

    def __str__(self) -> str:
        scores = np.array2string(self.scores, precision=3)
        return f"scores {scores} decide for the true class {self.label} at loss {self.value:.4g}, a guess has {self.guess:.4g}"


@dataclass(frozen=True, eq=False)
class Verdict(Generic[Found]):
    """The result of a search for a counterexample; true when none was found."""

    holds: bool
    trials: int
    counterexample: Found | None = None

    def __bool__(self) -> bool:
        return self.holds


class GuessAversion(Verdict[Counterexample]):
    """The verdict; true when no counterexample was found.

    Examples
    --------
    >>> from permissible import losses
    >>> bool(losses.is_guess_averse("gll", 3)), bool(losses.is_guess_averse("lt", 3))
    (True, False)
    """


def is_guess_averse(loss: str | MulticlassLoss, n_classes: int, n_trials: int = 2000, seed: int = 0) -> GuessAversion:
    """Search for a score vector that decides rightly and yet costs as much as a guess; true when none was found.

    Parameters
    ----------
    loss : multiclass loss or its name
        Anything with ``value(scores, y, cost)``.
    n_classes : int
        Number of classes, at least 2.
    n_trials : int
        Score vectors tried for each cost matrix and class.
    seed : int
        Seed of the search; the same verdict comes for the same seed.

    Examples
    --------
    >>> from permissible import losses
    >>> bool(losses.is_guess_averse("gll", 3))
    True
    >>> print(losses.is_guess_averse("ls", 3, n_trials=500).counterexample is None)
    False
    """
    whole_number("n_classes", n_classes, 2)
    made = get_multiclass(loss)
    rng = np.random.default_rng(seed)
    tried = 0
    worst: Counterexample | None = None
    for cost in trial_costs(n_classes, rng):
        for label in range(n_classes):
            scores = right_answers(n_classes, label, n_trials, rng)
            y = np.full(len(scores), label)
            values = np.asarray(made.value(scores, y, cost))
            guess = float(np.asarray(made.value(np.zeros((1, n_classes)), y[:1], cost))[0])
            tried += len(scores)
            # Compared to a relative 1e-12, so that rounding at scores next to 0 does not pass for a counterexample.
            gap = values - guess * (1 + 1e-12)
            place = int(gap.argmax())
            if gap[place] >= 0 and (worst is None or gap[place] > worst.value - worst.guess):
                worst = Counterexample(cost, label, scores[place], float(values[place]), guess)
    return GuessAversion(worst is None, tried, worst)


def trial_costs(m: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Costs to try: insensitive, symmetric, asymmetric, of many sizes, sparse."""
    off = 1.0 - np.eye(m)
    yield off
    for _ in range(3):
        drawn = rng.uniform(1, 10, (m, m))
        yield off * (drawn + drawn.T)
        yield off * drawn
        yield off * np.exp(rng.normal(0, 2, (m, m)))
        sparse = off * drawn * (rng.random((m, m)) < 0.5)
        sparse[np.arange(m), (np.arange(m) + 1) % m] = 1.0  # no empty row
        yield sparse


def right_answers(m: int, label: int, n: int, rng: np.random.Generator) -> FloatArray:
    """Scores that sum to zero and are largest at `label`, from differences of 1e-3 to some tens."""
    scale = 10 ** rng.uniform(-3, 1.3, (n, 1))
    below = rng.exponential(1.0, (n, m)) * np.where(rng.random((n, m)) < 0.3, 1e-2, 1.0)
    below[:, label] = 0.0
    scores = -scale * below
    return np.asarray(scores - scores.mean(axis=1, keepdims=True))
