"""The principal reasons for a decision: the rules that lowered the score of a row compared with their best values.

A rule adds one of two values, so against the better one a row has lost either nothing or their difference. Reasons against the
positive class are the rules where the row has the smaller value, the largest difference first; reasons for it are the others.
What all reasons of a row lost adds up to the difference between its score and the sum of the best values of the rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from permissible.bins.describe import rule_words
from permissible.bins.literal import Rule
from permissible.models.card.explanation import plain_terms
from permissible.models.card.scorecard import PointsTerm, RuleTerm, Scorecard, holds
from permissible.table.table import Table
from permissible.validation import Words, refusal


@dataclass(frozen=True, slots=True)
class Reason:
    """A rule in words with its answer, the score lost by it (or won, of a positive decision), and the points of a card."""

    words: str
    score: float
    points: int | None = None

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why a row was decided as it was.

    Attributes
    ----------
    decision : label
        None where no decision is taken.
    favourable : bool
        Whether the reasons support the positive class: they are what the row gained compared with the worst value of each rule.
    score, reference : float
        The score, and that of the best (worst) value of every rule; the reasons and `rest` add up to their difference.
    reasons : tuple of Reason
        The largest first.
    rest : float
        The score lost (won) by the reasons that are not listed.

    Examples
    --------
    >>> import numpy as np, permissible as pm
    >>> card = pm.ULSClassifier.points(n_rules=1).fit({"age": np.arange(20.0, 60.0)}, np.arange(40) > 25)
    >>> print(card.reasons({"age": [30.0]})[0])
    False:
      not: age > 45.5
    """

    decision: object
    favourable: bool
    score: float
    reference: float
    reasons: tuple[Reason, ...]
    rest: float

    def __str__(self) -> str:
        return "\n".join([f"{self.decision}:", *(f"  {reason}" for reason in self.reasons)])


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """A rule: how much it changes the score, its words where it holds and where it does not, and which of both is favourable."""

    rule: Rule
    size: float
    points: int | None
    words: tuple[str, str]
    better: bool

    def wording(self, favourable: bool) -> str:
        """The words of the answer that supports (or opposes) the positive class."""
        return self.words[0] if self.better == favourable else self.words[1]


def rule_terms(card: Scorecard) -> list[RuleTerm]:
    """The rules of a model of two classes whose score is a sum of rules; another model is refused."""
    terms = plain_terms(card)
    rules = [term for term in terms if isinstance(term, RuleTerm)]
    if card.n_scores != 1 or len(rules) < len(terms):
        expected = "a model of two classes whose score is a sum of rules"
        raise refusal("estimator", expected, Words("another one"), "use `explain`, which every model has")
    return rules


def answers(card: Scorecard) -> list[RuleAnswer]:
    """The rules of a card of one score, the heaviest first; equal ones are merged."""
    points, merged = _points(card), dict[Rule, float]()
    for term in rule_terms(card):
        merged[term.rule] = merged.get(term.rule, 0.0) + term.holds[0] - term.fails[0]
    found = []
    for rule, effect in merged.items():
        if effect != 0.0 and rule:
            text = rule_words(rule, card)
            found.append(RuleAnswer(rule, abs(effect), points.get(rule), (text, f"not: {text}"), effect > 0))
    return sorted(found, key=lambda answer: -answer.size)


def _points(card: Scorecard) -> dict[Rule, int]:
    cards = [term for term in card.terms if isinstance(term, PointsTerm)]
    return {rule: points for term in cards for rule, points in zip(term.rules, term.points, strict=True)}


def reasons_of(
    card: Scorecard,
    table: Table,
    scores: Sequence[float],
    decisions: Sequence[object],
    favourable: Sequence[bool],
    k: int,
) -> list[Reasons]:
    """At most k reasons for each row, given its score, its decision and whether that is favourable."""
    known = answers(card)
    held = np.array([holds(answer.rule, card, table) for answer in known]).reshape(len(known), table.n_rows)
    good = held == np.array([answer.better for answer in known], dtype=bool)[:, None]
    found = []
    for row, (score, decision, wins) in enumerate(zip(scores, decisions, favourable, strict=True)):
        listed_answers = [answer for answer, better in zip(known, good[:, row].tolist(), strict=True) if better == wins]
        listed = tuple(Reason(answer.wording(wins), answer.size, answer.points) for answer in listed_answers[:k])
        total, rest = sum(answer.size for answer in listed_answers), sum(answer.size for answer in listed_answers[k:])
        found.append(Reasons(decision, wins, score, score - total if wins else score + total, listed, rest))
    return found
