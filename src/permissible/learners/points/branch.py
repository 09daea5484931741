"""The best points of all on given rules, by branch and bound; in a time that is kept.

The rules are taken in the order of their real coefficients, the largest first. Level by level the points of one more rule are
fixed at 0..M in every card that is still open, and a card is closed when its lower bound (relaxation.py) is not below the loss
of the best card known. What is open after the last level is fitted exactly. When the time is up the least bound of the open
cards is what is proved.
"""

import time
from dataclasses import dataclass

import numpy as np

from permissible.learners.points.relaxation import Relaxation
from permissible.learners.points.rounding import BETTER, PointsProblem, Rounded, best_of, improved
from permissible.types import IntArray

MAX_RULES, MAX_POINTS = 10, 5
BATCH = 256
"""Cards whose bounds are found together, at most: fewer where the time left is short."""


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The best card found, a lower bound for all cards on the rules, and the number of cards that were bounded."""

    card: Rounded
    bound: float
    nodes: int

    @property
    def proved(self) -> bool:
        """Whether no card is better."""
        return self.bound >= self.card.value * BETTER


class _Clock:
    """Keeps a time limit: batches shrink so that the last one ends in time."""

    def __init__(self, seconds: float) -> None:
        self._end, self._limit = time.monotonic() + seconds, seconds
        self._cost = 1e-3

    @property
    def batch(self) -> int:
        """The number of cards to take next; 0 when the time is up."""
        left = self._end - time.monotonic()
        if left <= 0.03 * self._limit:
            return 0
        return max(1, min(BATCH, int(min(left, 0.02 * self._limit) / self._cost)))

    def spent(self, seconds: float, cards: int) -> None:
        """Learn what a card costs."""
        self._cost = max(0.5 * self._cost, seconds / cards)


def best_points(problem: PointsProblem, card: Rounded, seconds: float) -> Optimum:
    """The best points on the rules of a card, within a time limit in seconds."""
    clock, n_rules = _Clock(seconds), problem.n_rules
    if not n_rules:
        return Optimum(card, card.value, 0)
    order = np.argsort(-card.points, kind="stable").tolist()
    relaxation = Relaxation(problem, order)
    start = np.append(card.offset, card.unit * card.points[order])
    open_cards: IntArray = np.zeros((1, 0), dtype=np.int64)
    bounds = relaxation.bounds(open_cards, start)
    least, nodes = float(bounds[0]), 1
    values = np.arange(problem.max_points + 1)
    for level in range(n_rules):
        nearest = np.argsort(bounds, kind="stable")
        open_cards, bounds = open_cards[nearest], bounds[nearest]
        parents = np.repeat(np.arange(len(open_cards)), len(values))
        children = np.column_stack((open_cards[parents], np.tile(values, len(open_cards))))
        found = np.full(len(children), -np.inf)
        done = 0
        while done < len(children):
            size = clock.batch
            if not size:
                left = np.append(found[:done][found[:done] < card.value], bounds[parents[done]])
                return Optimum(card, max(least, min(float(left.min()), card.value)), nodes)
            part, begun = slice(done, done + size), time.monotonic()
            if level + 1 < n_rules:
                found[part] = np.maximum(relaxation.bounds(children[part], start), bounds[parents[part]])
            else:
                card = _leaves(problem, children[part], order, card)
                found[part] = np.inf
            clock.spent(time.monotonic() - begun, len(children[part]))
            done, nodes = min(done + size, len(children)), nodes + len(children[part])
        kept = found < card.value * BETTER
        open_cards, bounds = children[kept], found[kept]
        if not len(open_cards):
            break
    return Optimum(card, card.value, nodes)


def _leaves(problem: PointsProblem, children: IntArray, order: list[int], card: Rounded) -> Rounded:
    """The best of finished cards and the one known."""
    vectors = np.zeros_like(children)
    vectors[:, order] = children
    vectors = vectors[vectors.any(axis=1)]
    if not len(vectors):
        return card
    best = best_of(problem, vectors, (card.offset, card.unit))
    return improved(problem, best) if best.value < card.value * BETTER else card
