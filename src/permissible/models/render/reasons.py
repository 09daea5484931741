"""Reasons written out: columns of an SQL query, and a function of the Python export.

A rule opposes or supports the positive class by its full effect, so the reasons are in the order of the rules: the reasons
of a row are the first k of those that apply.
"""

from permissible.models.card.reasons import answers
from permissible.models.card.scorecard import Scorecard
from permissible.models.render.dialects import Dialect
from permissible.models.render.python import rule_python
from permissible.models.render.sql import rule_sql
from permissible.validation import refusal

MOST_RULES = 40
"""Rules whose reasons fit into one query: its length grows with their square."""


def reasons_sql(card: Scorecard, k: int, favourable: bool, target: Dialect) -> str:
    """At most k reasons for (or against) the positive class as one text, each with a semicolon after it."""
    known = answers(card)
    if len(known) > MOST_RULES:
        raise refusal("reasons", f"0 for a model of more than {MOST_RULES} rules", k, "fit a shorter model")
    applies, texts = list[str](), list[str]()
    for answer in known:
        condition = rule_sql(answer.rule, card, target)
        yes, no = (1, 0) if answer.better == favourable else (0, 1)
        applies.append(f"CASE WHEN {condition} THEN {yes} ELSE {no} END")
    for place, answer in enumerate(known):
        words = target.value(answer.wording(favourable) + "; ")
        earlier = " + ".join(applies[:place]) or "0"
        texts.append(f"CASE WHEN {applies[place]} = 1 AND {earlier} < {k} THEN {words} ELSE '' END")
    return "\n    || ".join(texts) or "''"


def reasons_python(card: Scorecard, positive: object) -> list[str]:
    """The function `reasons(row, k)`: the principal reasons for the decision of a row."""
    lines = ["", "", "def reasons(row, k=4):"]
    lines += ['    """At most k reasons for the decision of a row, the heaviest first."""']
    lines += [f"    wins = decide(row) == {positive!r}", "    found = []"]
    for answer in answers(card):
        lines += [f"    holds = bool({rule_python(answer.rule, card)})", f"    if (holds == {answer.better}) == wins:"]
        lines += [f"        found.append({answer.words[0]!r} if holds else {answer.words[1]!r})"]
    return [*lines, "    return found[:k]"]
