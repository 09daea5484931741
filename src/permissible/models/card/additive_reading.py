"""An additive model as a person reads it: its terms with what each adds to every class, and why a row got its scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from permissible.models.card.evaluate import adds, words
from permissible.models.card.scorecard import RuleTerm, Scorecard, Term, TreeTerm
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class AdditiveExplanation:
    """One row: where the scores start, what each term adds to each class, dearest first, and where that leads.

    `steps` holds (words, what it adds to each class); the order is by what a term did to the gap between the class that was
    chosen and the one that came second. `cost` is the expected cost of each class under the posterior.
    """

    classes: tuple[Any, ...]
    start: tuple[float, ...]
    steps: tuple[tuple[str, tuple[float, ...]], ...]
    scores: tuple[float, ...]
    probability: tuple[float, ...]
    cost: tuple[float, ...]

    def __str__(self) -> str:
        width = max(9, *(len(str(label)) for label in self.classes))

        def line(values: tuple[float, ...], text: str) -> str:
            return " ".join(f"{value:+.3f}".rjust(width) for value in values) + f"  {text}"

        head = " ".join(str(label).rjust(width) for label in self.classes)
        body = [line(values, text) for text, values in self.steps]
        tail = [line(self.scores, "score"), line(self.probability, "probability"), line(self.cost, "expected cost")]
        return "\n".join([head, line(self.start, "at the start"), *body, *tail])


def plain_terms(card: Scorecard) -> list[Term]:
    """The terms with every tree written as its leaves."""
    found: list[Term] = []
    for term in card.terms:
        found.extend(term.leaves() if isinstance(term, TreeTerm) else [term])
    return found


def terms_table(card: Scorecard, classes: AnyArray, costs: FloatArray) -> dict[str, list[Any]]:
    """Terms as columns: words, what each adds to every class (times the attribute for a slope), and `cost`.

    `cost` says how much a term matters where mistakes are dear: the mean over pairs of classes of what it adds to the one against
    the other, each pair weighted by the cost of confusing them. Equal terms of several rounds are added up; dearest first.
    """
    found: dict[str, FloatArray] = {}
    for term in plain_terms(card):
        for text, values in _effects(term, card):
            found[text] = found.get(text, 0.0) + values
    pair_costs = (costs + costs.T) / 2
    weights = pair_costs / pair_costs.sum()
    importance = {
        text: float((weights * np.abs(values[:, None] - values[None, :])).sum()) for text, values in found.items()
    }
    order = sorted(found, key=lambda text: -importance[text])
    table: dict[str, list[Any]] = {"term": order}
    for k, label in enumerate(classes.tolist()):
        table[f"score of {label}"] = [float(found[text][k]) for text in order]
    table["cost"] = [importance[text] for text in order]
    return table


def _effects(term: Term, card: Scorecard) -> list[tuple[str, FloatArray]]:
    if isinstance(term, RuleTerm):
        return [(words(term, card), np.array(term.holds) - np.array(term.fails))]
    slope = getattr(term, "slope", None)
    return [] if slope is None else [(words(term, card), np.array(slope))]


def explain_rows(
    card: Scorecard, table: Table, classes: AnyArray, probability: FloatArray, costs: FloatArray, n_steps: int = 10
) -> list[AdditiveExplanation]:
    """One explanation a row, with the terms that moved the decision most; the others are summed up in one step."""
    terms = plain_terms(card)
    texts = [words(term, card) for term in terms]
    added = (
        np.stack([adds(term, card, table) for term in terms]) if terms else np.zeros((0, table.n_rows, len(classes)))
    )
    start = np.array(card.intercept)
    expected = probability @ costs
    found = []
    for row in range(table.n_rows):
        scores = start + added[:, row].sum(axis=0)
        first, second = np.argsort(expected[row], kind="stable")[:2]
        merged: dict[str, FloatArray] = {}
        for text, values in zip(texts, added[:, row], strict=True):
            if values.any():
                merged[text] = merged.get(text, 0.0) + values
        order = sorted(merged, key=lambda text: -abs(merged[text][first] - merged[text][second]))
        steps = [(text, tuple(merged[text].tolist())) for text in order[:n_steps]]
        if len(order) > n_steps:
            rest = np.sum([merged[text] for text in order[n_steps:]], axis=0)
            steps.append((f"{len(order) - n_steps} other terms", tuple(rest.tolist())))
        numbers = (start, scores, probability[row], expected[row])
        begin, end, posterior, cost = (tuple(values.tolist()) for values in numbers)
        found.append(AdditiveExplanation(tuple(classes.tolist()), begin, tuple(steps), end, posterior, cost))
    return found
