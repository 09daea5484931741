"""What is doubtful about a fit, in plain words and with the figure: the one place where that is decided, for every learner.

Five things are looked for. A *surrogate that rises*: every exact step lowers it, so a rise is a defect of the fit (where rounds
see a sample of the rows, or refits are penalised, only an end above the start counts). A *coefficient that explodes*: a step had
no finite minimiser and was cut at a cap, or one term alone moves the score to where a double cannot tell the probability from
1. *Probabilities that saturate*: a quarter of the training rows or more are given exactly 0 or 1 (all of them, where the loss
itself ends at a finite score). A fit that *stopped early*: its time was up, or its gap is above the tolerance. A fit that is *not
converged*: the last refit of some coefficient ended away from its optimum. The verdicts are part of the certificate; the
estimators warn of the same ones, once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from permissible.learners.uls.trace import Trace
from permissible.losses import Loss
from permissible.types import AnyArray, FloatArray, Matrix

Kind: TypeAlias = Literal[
    "surrogate rises", "coefficient explodes", "probabilities saturate", "stopped early", "not converged"
]

LAST_DIGIT = 2.0**-53
"""A probability nearer to 1 than this is 1 in double precision."""
MANY = 0.25
"""Share of the training rows at 0 or 1 from which probabilities count as saturated."""
RISE = 1e-9
"""A rise in one round by more than this share of the first surrogate is no rounding."""
LOOK = 5_000
"""Rows that are looked at, evenly spaced, where every row would cost a pass of its own."""
GLANCE = 1_000
"""Rows that suffice for the spread of a column, fewer (but 20) where that would be more than `GLANCED` cells."""
GLANCED = 200_000


@dataclass(frozen=True, slots=True)
class Doubt:
    """One thing that is doubtful about a fit.

    Attributes
    ----------
    kind : {"surrogate rises", "coefficient explodes", "probabilities saturate", "stopped early", "not converged"}
    figure : float
        The rise, the largest coefficient (or the steps that were cut), the share of rows, the rounds (or the gap), the gradient.
    words : str
        The same in a sentence, with a remedy.
    """

    kind: Kind
    figure: float
    words: str

    def __str__(self) -> str:
        return self.words


Doubts: TypeAlias = tuple[Doubt, ...]


def of_rules(
    trace: Trace,
    loss: Loss,
    intercept: float,
    effects: FloatArray,
    exact: bool,
    score: Callable[[], FloatArray] | None,
    name: Callable[[int], str] = "term {}".format,
) -> Doubts:
    """Doubts about boosted rules or columns.

    Parameters
    ----------
    trace : Trace
    loss : Loss
    intercept : float
    effects : array
        What each term moves the score by.
    exact : bool
        Whether every round had to lower the surrogate.
    score : callable or None
        Gives the scores of the training rows; asked only where the terms could saturate.
    name : callable
        What to call the term at a position.
    """
    reach, ends = (
        certain_score(loss),
        bool(np.isfinite(getattr(loss, "score_limit", np.inf))),
    )  # there one rule may well decide for good
    largest = float(np.abs(effects).max(initial=0.0))
    share = 0.0
    objective = trace.evidence.get("objective")
    # Rules move no score by more than the sum of their coefficients; effects of columns are spreads, which bound no row.
    farthest = abs(intercept) + float(np.abs(effects).sum()) if objective is None else np.inf
    if score is not None and farthest >= reach:
        share = float(np.mean(np.abs(score()) >= reach))
    values = np.array([step.surrogate for step in trace.rounds]) if objective is None else np.asarray(objective)
    same = np.array(
        [one.loss == other.loss for one, other in zip(trace.rounds, trace.rounds[1:], strict=False)], dtype=bool
    )
    same &= ~np.array(trace.evidence.get("shrunk", [False] * len(trace.rounds))[1:], dtype=bool)
    earlier = trace.evidence.get("earlier", 0)  # rounds of a fit that this one went on from, perhaps on other rows
    start = float(values[earlier - 1]) if earlier else trace.start_surrogate
    if 0 < earlier < len(values) and not same[earlier - 1]:
        start = float(values[earlier])
    return _found(
        rising(start, values[earlier:], exact, same[earlier:]),
        _endless(trace, intercept, effects, name)
        or _separated(
            trace.stop == "separable", largest, np.inf if ends else reach, terms=trace.evidence.get("features", "rules")
        ),
        saturating(share, ends, "set l2 > 0"),
        _out_of_time(trace),
        _unconverged(float(max(trace.evidence.get("unconverged", ()), default=0.0))),
    )


def of_rounds(start: float, surrogate: Sequence[float], exact: bool, cut: int, share: float) -> Doubts:
    """Doubts about rounds of multiclass boosting that fell short of an optimum in `cut` steps; `share` of the rows saturate.

    A step is also cut where an outlying value of a column would move its row's score too far; that is no sign that the optimum
    is infinite, so such steps count only where the scores separate the classes.
    """
    explosion = None
    if cut:
        steps = "1 step was" if cut == 1 else f"{cut} steps were"
        explosion = Doubt(
            "coefficient explodes", float(cut),
            f"The terms separate the classes, so the loss has no finite minimiser: {steps} cut at a cap; fewer rounds, "
            "early_stopping, or learner='tree' with l2 > 0 give finite coefficients.",
        )  # fmt: skip
    return _found(
        rising(start, np.asarray(surrogate, dtype=np.float64), exact),
        explosion,
        saturating(share, False, "use fewer rounds or early_stopping"),
    )


def of_boosted_trees(
    surrogate: FloatArray, loss: Loss, stop: str, largest: float, scores: Callable[[], FloatArray]
) -> Doubts:
    """Doubts about boosted trees: `surrogate` before the first tree and after each, the `largest` value of a leaf."""
    reach, ends = certain_score(loss), bool(np.isfinite(getattr(loss, "score_limit", np.inf)))
    n_trees = len(surrogate) - 1
    share = float(np.mean(np.abs(scores()) >= reach)) if largest * max(n_trees, 1) >= reach else 0.0
    return _found(
        rising(float(surrogate[0]), surrogate[1:], True),
        _separated(stop == "separable", largest, np.inf if ends else reach, terms="trees"),
        saturating(share, ends, "set l2 > 0"),
        _time_was_up(n_trees, float(surrogate[-1])) if stop == "time" else None,
    )


def of_tree(surrogate: FloatArray) -> Doubts:
    """Doubts about a tree: only a rise. A pure leaf says 0 or 1 by definition; the certificate counts such rows."""
    return _found(rising(float(surrogate[0]), surrogate[1:], True))


def of_boundary(loss: Loss, effects: FloatArray, share: float, gap: float, tol: float, short: str | None) -> Doubts:
    """Doubts about a boundary classifier; `share` of the rows saturate, `short` says why it ended above the tolerance."""
    reach, ends = certain_score(loss), bool(np.isfinite(getattr(loss, "score_limit", np.inf)))
    stopped = None
    if short is not None:
        stopped = Doubt(
            "stopped early", gap,
            f"BoundaryClassifier stopped at a relative gap of {gap:.1e}, above tol={tol:g}: {short}.",
        )  # fmt: skip
    return _found(
        _separated(False, float(np.abs(effects).max(initial=0.0)), np.inf if ends else reach, "raise alpha"),
        saturating(share, ends, "raise alpha"),
        stopped,
    )


def shortfall(converged: bool, n_iter: int, max_iter: int) -> str | None:
    """Why a fit ended above its tolerance, with the remedy; None where it did not."""
    if converged:
        return None
    if n_iter >= max_iter:
        return f"it used up its {n_iter} iterations; raise max_iter or tol"
    return f"after {n_iter} iterations rounding hides any further decrease, so more of them would not help; raise tol, or alpha"


def saturated(loss: Loss, score: FloatArray) -> float:
    """The share of scores at which the probability is 0 or 1 to the last digit."""
    return float(np.mean(np.abs(score) >= certain_score(loss)))


def rising(start: float, values: FloatArray, exact: bool, comparable: AnyArray | None = None) -> Doubt | None:
    """A surrogate that rises in some round, or (not `exact`) ends above its start."""
    path = np.append(start, values)
    unit = max(abs(start), np.finfo(np.float64).tiny)
    steps = np.diff(path)
    if (
        comparable is not None and len(comparable) == len(steps) - 1
    ):  # rounds of different losses, or shrunk, say nothing together
        steps = np.where(np.append(True, comparable), steps, 0.0)
    if exact:
        worst = int(np.argmax(steps)) if len(steps) else 0
        rise = float(steps[worst]) / unit if len(steps) else 0.0
        where = f"in round {worst + 1}"
    else:
        rise = float(path[-1] - path[0]) / unit
        where = "from the start to the end"
    if not rise > RISE:
        return None
    return Doubt(
        "surrogate rises", rise,
        f"The surrogate rose by {rise:.2g} of its first value {where}, though each step is to lower it; lower learning_rate.",
    )  # fmt: skip


def saturating(share: float, ends: bool, remedy: str) -> Doubt | None:
    """Rows whose probability is exactly 0 or 1; a loss that `ends` at a finite score gives them to ordinary rows too."""
    if share < (1.0 if ends else MANY):
        return None
    return Doubt(
        "probabilities saturate", share,
        f"The probabilities of {100 * share:.3g} % of the training rows are 0 or 1 to the last digit, so they rank no further "
        f"and should not be read as certainties; {remedy}.",
    )  # fmt: skip


def certain_score(loss: Loss) -> float:
    """The score from which a double no longer tells the probability from 1."""
    limit = float(getattr(loss, "score_limit", np.inf))
    if np.isfinite(limit) or not hasattr(loss, "score"):  # tangents of one's own know no score
        return limit
    return float(np.asarray(loss.score(np.array([1.0 - LAST_DIGIT])))[0])


def spread(X: Matrix) -> FloatArray:
    """The standard deviation of each column, over at most `LOOK` rows (sparse) or `GLANCE` (dense: there every cell counts)."""
    if hasattr(X, "multiply"):
        rows: Any = looked_at(X, LOOK)
        share = np.full(rows.shape[0], 1.0 / max(rows.shape[0], 1))
        mean = np.asarray(rows.T @ share, dtype=np.float64)
        square = np.asarray(rows.power(2).T @ share, dtype=np.float64)
        return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
    count = max(20, min(GLANCE, GLANCED // max(X.shape[1], 1)))
    values = np.asarray(looked_at(X, count), dtype=np.float64)
    unit = np.abs(values).max(axis=0, initial=0.0)
    unit = np.where(unit > 0, unit, 1.0)  # squares of 1e300 would leave the range
    return np.asarray(unit * np.std(values / unit, axis=0))


def looked_at(X: Any, count: int) -> Any:
    """At most `count` rows, evenly spaced."""
    return X[:: -(-X.shape[0] // count)] if X.shape[0] > count else X


def _separated(
    separable: bool, largest: float, reach: float, remedy: str = "set l2 > 0", terms: str = "rules"
) -> Doubt | None:
    if separable:
        return Doubt(
            "coefficient explodes", largest,
            f"The {terms} separate the classes, so the loss has no finite minimiser: the fit stopped at a cap on the "
            f"coefficients (the largest is {largest:.3g}); set l2 > 0 for a finite one.",
        )  # fmt: skip
    if not largest >= reach:
        return None
    return Doubt(
        "coefficient explodes", largest,
        f"One term alone moves the score by {largest:.3g}; beyond {reach:.3g} a probability is 1 to the last digit; {remedy}.",
    )  # fmt: skip


def _endless(trace: Trace, intercept: float, effects: FloatArray, name: Callable[[int], str]) -> Doubt | None:
    """Terms along which the surrogate falls for ever although the classes are not separated."""
    endless = trace.endless()
    if not endless or trace.stop == "separable":
        return None
    named = ", ".join("the constant" if place < 0 else name(place) for place in endless)
    largest = max(abs(intercept if place < 0 else float(effects[place])) for place in endless)
    return Doubt(
        "coefficient explodes", largest,
        f"The surrogate falls for ever along {named}, so there is no finite minimiser: the fit kept a finite coefficient there "
        f"(moving the score by {largest:.3g}) and went on with the other terms; set l2 > 0 for a finite minimiser.",
    )  # fmt: skip


def _unconverged(residual: float) -> Doubt | None:
    if not residual > 0:
        return None
    return Doubt(
        "not converged", residual,
        f"A refit of the coefficients did not converge: a derivative of {residual:.2g} of its largest possible size is "
        "left, so the surrogate is not at its minimum over these terms; set l2 > 0 or choose a smoother loss.",
    )  # fmt: skip


def _out_of_time(trace: Trace) -> Doubt | None:
    if trace.stop != "time":
        return None
    rounds = len(trace.rounds)
    return _time_was_up(rounds, trace.rounds[-1].surrogate if rounds else trace.start_surrogate)


def _time_was_up(rounds: int, surrogate: float) -> Doubt:
    said = (
        f"The fit stopped after {rounds} round{'' if rounds == 1 else 's'} because its time was up, at a mean surrogate of "
        f"{surrogate:.4g}; raise max_time or lower n_rules."
    )
    return Doubt("stopped early", float(rounds), said)


def _found(*doubts: Doubt | None) -> Doubts:
    return tuple(doubt for doubt in doubts if doubt is not None)
