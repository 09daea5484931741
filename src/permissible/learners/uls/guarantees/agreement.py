"""How stable the choice by folds was: the models of the folds beside the final one.

Each fold fitted the chosen candidate on its own training rows, so the choice has already made as many models on other rows of
the same kind. What they say, without a further fit: how many rules each has, how many of the final rules each holds, on the
same columns in the same directions, and on which share of its held-out weight its label differs from that of the final model.

The labels are those of patterns (uls/rows.py): the rules of both models together divide the held-out rows, and rows that the
same rules cover have the same two scores. So rows in memory, on disk and on workers answer alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from permissible.bins.literal import Rule
from permissible.learners.choose import Tried
from permissible.learners.uls.loss_rows import Opened
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import PatternsOf
from permissible.learners.uls.trace import Trace
from permissible.losses import Loss
from permissible.types import FloatArray

Terms = tuple[float, dict[Rule, float]]
"""Intercept, and the coefficient of each rule."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the models of the folds have in common with the final one.

    Attributes
    ----------
    n_rules : tuple of int
        Rules of the model of each fold.
    found : float
        The share of the final rules that a fold holds too, on the same columns in the same directions; mean of the folds.
    flipped : float
        The share of the held-out weight on which the label of a fold's model differs from the final one's.
    """

    n_rules: tuple[int, ...]
    found: float
    flipped: float

    def __str__(self) -> str:
        """One sentence."""
        least, most, n = min(self.n_rules), max(self.n_rules), len(self.n_rules)
        size = f"{least}" if least == most else f"{least} to {most}"
        return (
            f"The models of the {n} folds have {size} rules, hold {self.found:.0%} of the final ones (on the same columns in "
            f"the same directions), and give another label to {self.flipped:.1%} of the rows that they did not see."
        )


@dataclass(frozen=True, slots=True, eq=False)
class FoldFits:
    """How the held-out rows of a fold are opened under a loss, and the candidates fitted on its training rows."""

    open: Callable[[Loss], Opened]
    known: list[tuple[ULSOptions, Trace]] = field(default_factory=list)


def agreed(final: Terms, loss: Loss, beside: Sequence[FoldFits], chosen: Tried[ULSOptions]) -> Agreement | None:
    """The final model beside those that the folds fitted with the chosen options; None where they are not known."""
    known = [[trace for options, trace in fold.known if options == chosen.candidate] for fold in beside]
    if not known or not all(known):
        return None
    longest = [traces[-1].terms(chosen.stage) for traces in known]  # a run that was made again comes last
    return agreement(final, longest, [partial(fold.open, loss) for fold in beside])


def agreement(final: Terms, folds: Sequence[Terms], opened: Sequence[Callable[[], Opened]]) -> Agreement:
    """Compare the models of the folds with the final one; `opened` opens the held-out rows of each."""
    shapes = [{_shape(rule) for rule in terms[1]} for terms in folds]
    own = [_shape(rule) for rule in final[1]]
    found = [sum(shape in there for shape in own) / len(own) for there in shapes] if own else [1.0]
    weights = [_weights(final, fold, rows) for fold, rows in zip(folds, opened, strict=True)]
    flipped, total = np.sum(weights, axis=0).tolist()
    return Agreement(tuple(len(terms[1]) for terms in folds), float(np.mean(found)), flipped / total if total else 0.0)


def _shape(rule: Rule) -> frozenset[tuple[int, str]]:
    return frozenset((literal.column, literal.test) for literal in rule)


def _weights(final: Terms, fold: Terms, opened: Callable[[], Opened]) -> tuple[float, float]:
    """The held-out weight on which two models give different labels, and all of it."""
    held = opened()
    try:
        rules = tuple(dict.fromkeys((*final[1], *fold[1])))
        patterns = held.rows.ask(PatternsOf(rules, held.sizes.pattern_grid))
        signs: FloatArray = 2.0 * patterns.bits.astype(np.float64) - 1.0
        first, second = (_scores(terms, rules, signs) for terms in (final, fold))
        weight = patterns.weight.sum(axis=1) / held.sizes.pattern_grid
        return float(weight[(first >= 0) != (second >= 0)].sum()), float(weight.sum())
    finally:
        held.rows.close()


def _scores(terms: Terms, rules: tuple[Rule, ...], signs: FloatArray) -> FloatArray:
    score = np.full(len(signs), terms[0])
    for place, rule in enumerate(rules):
        if rule in terms[1]:
            score += terms[1][rule] * signs[:, place]
    return score
