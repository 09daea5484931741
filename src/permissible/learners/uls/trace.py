"""The trace of a fit: one entry per round, enough to rebuild the model after any number of rounds. Data only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.literal import Literal, Rule, Test
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.options import Stop
from permissible.losses import Loss
from permissible.models.kinds.rules import RuleModel
from permissible.types import Codes


@dataclass(frozen=True, slots=True)
class Round:
    """One round: the rule, what it adds inside and outside, and the losses after it.

    `surrogate` (mean F), `train_error`, `validation` are after the step; `edge` is |sum y h w| / sum w of the rule before it,
    `weight` the sum of the weights before it; `support` is the fraction of sample weight that the rule covers and `positive` the
    fraction of positives in it. `refit` holds every coefficient after the round if the scheme changed more than the newest, and
    `intercept` the constant. `endless`: a side of the rule had no finite value, all its rows being of one class.
    """

    rule: Rule
    value_in: float
    value_out: float
    edge: float
    weight: float
    surrogate: float
    train_error: float
    loss: str
    validation: float = float("nan")
    passes: int = 0
    support: float = float("nan")
    positive: float = float("nan")
    refit: tuple[float, ...] | None = None
    intercept: float | None = None
    endless: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole fit: the constant fitted before the first round, the rounds, and why it stopped.

    `largest_edge` is the largest one that a rule of one literal has under the last weights; `gradient_norm` that of the
    gradient over the rules found (and the constant), both over the sum of the weights.
    """

    constant: float
    rounds: tuple[Round, ...]
    stop: Stop
    start_surrogate: float
    start_error: float
    start_validation: float = float("nan")
    total_weight: float = 1.0
    largest_edge: float = float("nan")
    gradient_norm: float = float("nan")
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def terms(self, n_rounds: int | None = None) -> tuple[float, dict[Rule, float]]:
        """Intercept and coefficient of each distinct rule after this many rounds (all if None)."""
        intercept, coefficients = self.constant, dict[Rule, float]()
        for step, rule in zip(self.rounds[:n_rounds], self._rules(n_rounds), strict=True):
            before = coefficients.setdefault(rule, 0.0)
            if step.refit is not None and step.intercept is not None:
                intercept = step.intercept
                coefficients = dict(zip(coefficients, step.refit, strict=True))
            else:
                intercept += 0.5 * (step.value_in + step.value_out)
                coefficients[rule] = before + 0.5 * (step.value_in - step.value_out)
        return intercept, coefficients

    def _rules(self, n_rounds: int | None = None) -> list[Rule]:
        """The rule of each round."""
        return [step.rule for step in self.rounds[:n_rounds]]

    def endless(self) -> list[int]:
        """Positions of the rules without a finite minimiser (-1: the constant)."""
        rules = self._rules()
        places = {rule: place for place, rule in enumerate(dict.fromkeys(rules))}
        told: tuple[int, ...] = self.evidence.get("endless", ())
        own = (places[rule] for step, rule in zip(self.rounds, rules, strict=True) if step.endless)
        return list(dict.fromkeys([*told, *own]))

    def coverage(self) -> dict[Rule, tuple[float, float]]:
        """Support and fraction of positives of each rule."""
        rules = zip(self.rounds, self._rules(), strict=True)
        return {rule: (step.support, step.positive) for step, rule in rules}

    def model(self, binning: Binning, loss: Loss, n_rounds: int | None = None) -> RuleModel:
        """The model after this many rounds; a rule found again adds to its first coefficient."""
        intercept, found = self.terms(n_rounds)
        coefficients = np.array(list(found.values()), dtype=np.float64)
        return RuleModel(binning.schema, loss, float(intercept), tuple(found), coefficients, category_bins(binning))


def category_bins(binning: Binning) -> dict[int, Codes]:
    """The bins of the categories, for the columns where they differ from the categories' positions."""
    return {
        position: column.code_of_category
        for position, column in enumerate(binning.columns)
        if len(column.code_of_category)
        and not np.array_equal(column.code_of_category, np.arange(len(column.code_of_category)))
    }


_TESTS: tuple[Test, ...] = ("<=", ">", "missing", "present", "in", "not in")


def literal_of(found: kernels.Candidate, binning: Binning) -> Literal:
    """A kernel's literal as data with its threshold or categories."""
    name = _TESTS[found.test]
    if name in ("<=", ">"):
        threshold = float(binning.columns[found.column].thresholds[found.code])
        return Literal(found.column, name, threshold, (found.code,), found.missing)
    if name in ("missing", "present"):
        return Literal(found.column, name, missing=found.missing)
    members = np.frombuffer(found.members, dtype=np.uint8)[:255].astype(bool)
    codes = np.flatnonzero(members if name == "in" else ~members)
    return Literal(found.column, name, codes=tuple(codes.tolist()), missing=found.missing)
