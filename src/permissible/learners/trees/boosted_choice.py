"""What a hold-out chooses for boosted trees: learning rate, number of trees, leaves, and the columns that one tree may use.

Each candidate is fitted on the training rows, and its held-out loss is known after every tree. The search changes one thing at
a time and keeps what is better: trees of twice (and twice again) or half as many leaves, then half of the columns per tree. A
candidate has few trees and is dropped early where it can no longer reach the best loss. If the best one would use more trees,
it gets all of them, and where these do not suffice either, twice the rate.

Learning rate times trees is the length of the path that a fit goes: at half the rate twice as many trees go as far, and are a
little better for it. So all candidates run at a large rate, and the chosen one is refitted at a smaller one with as many more
trees as the limit allows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from permissible.learners.choose import Choice, Tried, stage_of
from permissible.learners.trees.boosted_options import BoostedOptions
from permissible.types import FloatArray

DEFAULT_RATE = 0.1
"""Where nothing is held out."""
RATE, MOST_RATE, SLOWER = 0.2, 0.4, 0.25
"""The rate of the candidates, the largest one, and the factor on it in the refit."""
LEAVES, MOST_LEAVES, FEWEST_LEAVES = 31, 255, 15
COLUMNS = 0.5
LEAST_COLUMNS = 4
"""With fewer columns a tree uses all of them."""
LEAST_GAIN, LARGER_GAIN = 0.002, 0.01
"""A later candidate is taken when it lowers the held-out loss by this fraction; one of twice as many leaves by the second."""
TRIAL_TREES = 250
"""Trees of a candidate, at most."""
NEAR_LIMIT = 0.95
"""A fit whose best number of trees is at this fraction of the limit would use more."""

Curve: TypeAlias = Callable[[BoostedOptions, Tried[BoostedOptions] | None], FloatArray]
"""Mean held-out loss before the first tree and after each; the second argument is the best so far."""


@dataclass(frozen=True, slots=True)
class Free:
    """Which options the held-out rows choose; the others are as they were given."""

    rate: bool = False
    leaves: bool = False
    columns: bool = False


GIVEN = Free()
"""Nothing is chosen but the number of trees."""


class _Search:
    """The candidates tried so far, and the best of them."""

    def __init__(self, first: BoostedOptions, curve: Curve) -> None:
        self._curve = curve
        self.best = stage_of(first, curve(first, None), first_stage=1)
        self.tried = [self.best]

    @property
    def options(self) -> BoostedOptions:
        return self.best.candidate

    def improves(self, candidate: BoostedOptions, least_gain: float = LEAST_GAIN) -> bool:
        """Try a candidate; whether it is the best now."""
        curve = self._curve(candidate, self.best)
        if len(curve) < 2:  # out of time
            return False
        found = stage_of(candidate, curve, first_stage=1)
        self.tried.append(found)
        if found.loss >= self.best.loss * (1 - least_gain):
            return False
        self.best = found
        return True

    def is_short_of_trees(self) -> bool:
        return self.best.stage >= NEAR_LIMIT * self.options.n_trees


def choose_options(first: BoostedOptions, free: Free, n_columns: int, curve: Curve) -> Choice[BoostedOptions]:
    """Search from the first candidate; the choice's candidate and stage are those of the refit."""
    columns = free.columns and n_columns >= LEAST_COLUMNS
    if free.rate:
        first = replace(first, learning_rate=RATE)
    trial = min(TRIAL_TREES, first.n_trees) if free.leaves or columns else first.n_trees
    search = _Search(replace(first, n_trees=trial), curve)
    if free.leaves:
        _choose_leaves(search)
    if columns:
        search.improves(replace(search.options, column_fraction=COLUMNS))
    if search.is_short_of_trees() and trial < first.n_trees:
        search.improves(replace(search.options, n_trees=first.n_trees), 0.0)
    while free.rate and search.is_short_of_trees() and 2 * search.options.learning_rate <= MOST_RATE:
        if not search.improves(replace(search.options, learning_rate=2 * search.options.learning_rate)):
            break
    best = replace(search.best, candidate=replace(search.options, n_trees=first.n_trees))
    return Choice(_slower(best) if free.rate else best, tuple(search.tried))


def _choose_leaves(search: _Search) -> None:
    begun = search.options.max_leaf_nodes
    while (leaves := 2 * search.options.max_leaf_nodes + 1) <= MOST_LEAVES:
        if not search.improves(replace(search.options, max_leaf_nodes=leaves), LARGER_GAIN):
            break
    if search.options.max_leaf_nodes == begun > FEWEST_LEAVES:
        search.improves(replace(search.options, max_leaf_nodes=begun // 2))


def _slower(best: Tried[BoostedOptions]) -> Tried[BoostedOptions]:
    """The refit: a smaller rate, and the trees that go as far with it within the limit."""
    options = best.candidate
    factor = min(max(SLOWER, best.stage / options.n_trees), 1.0)
    slower = replace(options, learning_rate=factor * options.learning_rate)
    return replace(best, candidate=slower, stage=min(round(best.stage / factor), options.n_trees))
