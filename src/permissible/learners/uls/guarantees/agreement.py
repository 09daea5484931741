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
from typing import NamedTuple

import numpy as np

from permissible.bins.literal import Rule
from permissible.learners.choose import Tried
from permissible.learners.uls.loss_rows import Opened
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import Patterns, PatternsOf
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
    """How the held-out rows of a fold are opened under a loss, and the model of each candidate after so many rounds."""

    open: Callable[[Loss], Opened]
    known: list[tuple[ULSOptions, Callable[[int], Terms]]] = field(default_factory=list)


class HeldScores(NamedTuple):
    """HeldScores-out rows by pattern: the weight of negatives and positives, the score of the final model, that of the fold's."""

    weight: FloatArray
    final: FloatArray
    fold: FloatArray


def agreed(final: Terms, loss: Loss, beside: Sequence[FoldFits], chosen: Tried[ULSOptions]) -> Agreement | None:
    """The final model beside those that the folds fitted with the chosen options; None where they are not known."""
    folds = fold_terms(beside, [chosen])
    if folds is None:
        return None
    opened = [partial(fold.open, loss) for fold in beside]
    return agreement(final, folds, [held_rows(final, one, rows) for one, rows in zip(folds, opened, strict=True)])


def fold_terms(beside: Sequence[FoldFits], kept: Sequence[Tried[ULSOptions]]) -> list[Terms] | None:
    """The model of each fold, the mean of the candidates after their rounds; None where one is not known."""
    # A run that was made again comes last.
    known = [[[of for options, of in fold.known if options == t.candidate][-1:] for t in kept] for fold in beside]
    if not known or not all(all(found) for found in known):
        return None
    return [mean_terms([of(t.stage) for (of,), t in zip(fold, kept, strict=True)]) for fold in known]


def mean_terms(models: Sequence[Terms]) -> Terms:
    """The mean of several models."""
    rules, share = dict.fromkeys(rule for _, terms in models for rule in terms), 1.0 / len(models)
    mean = {rule: share * sum(terms.get(rule, 0.0) for _, terms in models) for rule in rules}
    return share * sum(constant for constant, _ in models), mean


def agreement(final: Terms, folds: Sequence[Terms], held: Sequence[HeldScores]) -> Agreement:
    """Compare the models of the folds with the final one on the held-out rows of each."""
    shapes = [{_shape(rule) for rule in terms[1]} for terms in folds]
    own = [_shape(rule) for rule in final[1]]
    found = [sum(shape in there for shape in own) / len(own) for there in shapes] if own else [1.0]
    flips = sum(float(one.weight[(one.final >= 0) != (one.fold >= 0)].sum()) for one in held)
    total = sum(float(one.weight.sum()) for one in held)
    return Agreement(tuple(len(terms[1]) for terms in folds), float(np.mean(found)), flips / total if total else 0.0)


def _shape(rule: Rule) -> frozenset[tuple[int, str]]:
    return frozenset((literal.column, literal.test) for literal in rule)


def held_rows(final: Terms, fold: Terms, opened: Callable[[], Opened]) -> HeldScores:
    """The held-out rows of a fold under two models."""
    held = opened()
    try:
        rules = tuple(dict.fromkeys((*final[1], *fold[1])))
        patterns = held.rows.ask(PatternsOf(rules, held.sizes.pattern_grid))
        weight = np.asarray(patterns.weight / held.sizes.pattern_grid)
        return HeldScores(weight, scores(final, rules, patterns), scores(fold, rules, patterns))
    finally:
        held.rows.close()


def scores(terms: Terms, rules: tuple[Rule, ...], patterns: Patterns) -> FloatArray:
    """The score of each pattern of rules, added up rule by rule, so that it is the same wherever it is computed."""
    score = np.full(len(patterns.bits), terms[0])
    for place, rule in enumerate(rules):
        if rule in terms[1]:
            score += np.where(patterns.bits[:, place] != 0, terms[1][rule], -terms[1][rule])
    return score
