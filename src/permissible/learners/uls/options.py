"""The settings of a fit of rules. Data only; the estimator has resolved every "auto"."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from permissible.learners.choose import Tried
from permissible.learners.constraints.rules import Constraints

Stop: TypeAlias = Literal["rounds", "no edge", "separable", "time", "callback", "held out"]
STOPS: tuple[Stop, ...] = ("rounds", "no edge", "separable", "time", "callback", "held out")


@dataclass(frozen=True, slots=True)
class ULSOptions:
    """How rules are boosted."""

    n_rounds: int = 100  # at most
    max_literals: int = 2  # of a rule, at most
    fit_intercept: bool = True  # refit the constant with each rule, so that a rule has a value inside and one outside
    learning_rate: float = 1.0  # factor on each step; 1 is the exact minimiser
    l2: float = 0.0  # each value v of a step adds l2 v^2 / 2 to the sum of b F
    beam: int = 1  # columns whose best literal starts a rule
    scheme: int = 1  # coefficients refitted in a round: 1 is classic, 0 all so far (corrective), between them a block
    search_fraction: float = 1.0  # of the rows used by the search of a round
    tolerance: float = 1e-10  # stop when the best rule would lower the surrogate by less than this fraction
    seed: int = 0
    max_seconds: float = 0.0  # 0 is no limit
    intervals: bool = False  # whether an ordered column may stand twice in a rule, once for each bound
    patience: int = 0  # stop after this many rounds without a new least held-out loss; 0 is never
    # What a rule is chosen by: "newton" (search.py), or "exact" and "impurity" (criteria/), which need +-1 rules.
    criterion: str = "newton"
    constraints: Constraints | None = None  # what the rules and the signs of their coefficients must obey
    # Whether the trace tells what is left to gain at the end; a card, which exchanges its rules, has no use for it.
    edges: bool = True
    noise: float = 0.0  # variance by which the search varies the gain of a literal, in units of its own error


def described(tried: Tried[ULSOptions]) -> dict[str, object]:
    """A candidate with what held-out rows said of it, as the estimator shows it."""
    return {
        "max_literals": tried.candidate.max_literals,
        "learning_rate": tried.candidate.learning_rate,
        "l2_regularization": tried.candidate.l2,
        "n_rounds": tried.stage,
        "validation": tried.loss,
        "curve": tried.curve,
    }
