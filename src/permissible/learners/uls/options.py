"""The settings of a fit of rules. Data only; the estimator has resolved every "auto"."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from permissible.learners.constraints.rules import Constraints

Stop: TypeAlias = Literal["rounds", "no edge", "separable", "time", "callback", "held out"]
STOPS: tuple[Stop, ...] = ("rounds", "no edge", "separable", "time", "callback", "held out")


@dataclass(frozen=True, slots=True)
class ULSOptions:
    """How rules are boosted.

    Parameters
    ----------
    n_rounds : int
        Largest number of rounds.
    max_literals : int
        Largest number of literals in a rule.
    fit_intercept : bool
        Whether the constant is refitted with each rule, so that a rule has a value inside and one outside.
    learning_rate : float
        Factor on each step; 1 is the exact minimiser.
    l2 : float
        Each value v of a step adds l2 v^2 / 2 to the sum of b F.
    beam : int
        Columns whose best literal starts a rule.
    scheme : int
        Coefficients refitted in a round: 1 is classic, 0 all so far (corrective), between them a block.
    search_fraction : float
        Fraction of the rows used by the search of a round.
    tolerance : float
        Stop when the best rule would lower the surrogate by less than this fraction.
    seed : int
    max_seconds : float
        0 is no limit.
    intervals : bool
        Whether an ordered column may stand twice in a rule, once for each bound.
    patience : int
        Stop after this many rounds without a new least held-out loss; 0 is never.
    criterion : str
        What a rule is chosen by: "newton" (search.py), or "exact" and "impurity" (criteria/), which need +-1 rules.
    constraints : Constraints or None
        What the rules and the signs of their coefficients must obey.
    edges : bool
        Whether the trace tells what is left to gain at the end; a card, which exchanges its rules, has no use for it.
    noise : float
        Variance by which the search varies the gain of a literal, in units of its own error.
    """

    n_rounds: int = 100
    max_literals: int = 2
    fit_intercept: bool = True
    learning_rate: float = 1.0
    l2: float = 0.0
    beam: int = 1
    scheme: int = 1
    search_fraction: float = 1.0
    tolerance: float = 1e-10
    seed: int = 0
    max_seconds: float = 0.0
    intervals: bool = False
    patience: int = 0
    criterion: str = "newton"
    constraints: Constraints | None = None
    edges: bool = True
    noise: float = 0.0
