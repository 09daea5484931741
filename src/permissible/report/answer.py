"""The first section of a report: the cost of the decision, what it saves compared with a constant action, and a conclusion."""

from collections.abc import Sequence
from dataclasses import dataclass

from permissible.decisions import Boundaries, CostMatrix, Decision, Hard, Reject, Soft, Weighted
from permissible.evaluation.net_benefit import Columns

UNIT = 1000
"""Costs are reported per this many rows."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to treat the rows: what it costs, and what the model saves against it."""

    name: str
    cost: float
    low: float
    high: float
    saving: float
    saving_low: float
    saving_high: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The costs in words, the strategies (the model first, then the cheapest), and the verdict."""

    costs: str
    strategies: tuple[Strategy, ...]
    verdict: str
    tone: str


def answer(table: Columns, decision: Decision, classes: Sequence[str]) -> Answer:
    """Describe the table of `metrics.decision_benefit`."""
    names = ("cost", "cost_low", "cost_high", "saving", "saving_low", "saving_high")
    strategies = tuple(
        Strategy(_named(name, classes), *map(float, figures))
        for name, *figures in zip(table["strategy"], *(table[key] for key in names), strict=True)
    )
    best = strategies[1]
    model, other = (f"{UNIT * one.cost:,.0f}" for one in (strategies[0], best))
    saved = f"{UNIT * abs(best.saving):,.0f}"
    ends = f"95 % interval {UNIT * best.saving_low:,.0f} to {UNIT * best.saving_high:,.0f}"
    told = f"In {UNIT:,} such rows, the model costs {model}; {best.name}, the best constant decision, costs {other}."
    if best.saving_low > 0:
        return Answer(
            costs_in_words(decision, classes), strategies, f"{told} The model saves {saved} ({ends}).", "good"
        )
    if best.saving_high < 0:
        text = f"{told} The model costs {saved} more ({ends}): at these costs it should not be used."
        return Answer(costs_in_words(decision, classes), strategies, text, "bad")
    text = (
        f"{told} The difference of {saved} ({ends}) may be chance: at these costs the model is not shown to be useful."
    )
    return Answer(costs_in_words(decision, classes), strategies, text, "shrug")


def _named(strategy: str, classes: Sequence[str]) -> str:
    if strategy == "model":
        return "the model"
    if strategy == ("always leave to a person" if "refer" in classes else "always refer"):
        return "always leaving the row to a person"
    return f"always predicting {strategy.removeprefix('always ')}" if strategy.startswith("always ") else strategy


def costs_in_words(decision: Decision, classes: Sequence[str]) -> str:
    """What mistakes cost under a decision.

    >>> import permissible as pm
    >>> costs_in_words(pm.Reject(0.2), ["well", "ill"])
    'Every mistake costs 1, and referring a row to a person costs 0.2.'
    """
    if isinstance(decision, Hard):
        return "Every mistake costs 1."
    if isinstance(decision, Reject):
        return f"Every mistake costs 1, and referring a row to a person costs {decision.cost:g}."
    if isinstance(decision, Weighted):
        return _two(2 * decision.pi, 2 * (1 - decision.pi), classes)
    if isinstance(decision, CostMatrix):
        reject = "" if decision.reject_cost is None else " A row may be referred to a person, at a cost."
        if len(classes) == 2:
            return _two(float(decision.matrix[0, 1]), float(decision.matrix[1, 0]), classes) + reject
        least = float(decision.matrix[decision.matrix > 0].min())
        return f"Mistakes cost between {least:g} and {float(decision.matrix.max()):g}, by class.{reject}"
    if isinstance(decision, Boundaries):
        cuts = ", ".join(f"{100 * cut:g} %" for cut in decision.boundaries)
        cost = "the cost of a wrong group grows with its distance from the right one"
        return f"Rows are assigned to risk groups, with boundaries at {cuts}; {cost}."
    if isinstance(decision, Soft):
        return "The probability itself is used; its cost is its squared distance to the outcome."
    return f"Costs are those of {decision!r}."


def _two(false_alarm: float, miss: float, classes: Sequence[str]) -> str:
    no, yes = (f"“{name}”" for name in classes)
    return f"Predicting {yes} for a row that is {no} costs {false_alarm:g}; predicting {no} for one that is {yes} costs {miss:g}."
