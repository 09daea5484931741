"""What is doubtful about a fit: a sentence with a figure, for every learner.

Five things are checked. A *surrogate that rises*: every exact step lowers it, so a rise is a defect of the fit (if
rounds see a sample of the rows, or refits are penalised, only an end above the start counts). A *coefficient that
explodes*: a step had no finite minimiser and was cut at a cap, or one term alone moves the score so far that the
probability rounds to 1. *Probabilities that saturate*: at least a quarter of the training rows have probability exactly
0 or 1 (all of them, if the loss gives 0 or 1 at finite scores). A fit that *stopped early*: by its time limit, or with
a gap above the tolerance. A fit that is *not converged*: the last refit of some coefficient ended away from its
optimum. Doubts are part of the certificate, and the estimators warn about each once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from permissible.learners.uls.trace import Trace
from permissible.losses import Loss
from permissible.types import AnyArray, FloatArray, Matrix

Kind: TypeAlias = Literal[
    "surrogate rises", "coefficient explodes", "probabilities saturate", "stopped early", "not converged"
]

LAST_DIGIT = 2.0**-53
"""A probability closer to 1 than this is 1 in double precision."""
MANY = 0.25
"""Fraction of the training rows at 0 or 1 from which probabilities count as saturated."""
RISE = 1e-9
"""A rise in one round by more than this fraction of the first surrogate is not rounding."""
SAMPLE_ROWS = 5_000
"""Rows of an evenly spaced sample, used where all rows would be expensive."""
SPREAD_ROWS = 1_000
"""Rows used for the standard deviation of a column; fewer (at least 20) beyond `SPREAD_CELLS` cells."""
SPREAD_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class Doubt:
    """One thing that is doubtful about a fit.

    Attributes
    ----------
    kind : {"surrogate rises", "coefficient explodes", "probabilities saturate", "stopped early", "not converged"}
    figure : float
        The rise, the largest coefficient (or the number of cut steps), the fraction of rows, the rounds (or the gap),
        the gradient.
    words : str
        A sentence with the figure and a remedy.
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

    `effects` is the change of the score by each term, `exact` whether every round had to lower the surrogate. `score` returns the
    scores of the training rows and is called only if the terms could saturate; `name` names the term at a position.
    """
    reach, ends = (certain_score(loss), bool(np.isfinite(loss.score_limit)))  # for such a loss one rule may saturate
    largest = float(np.abs(effects).max(initial=0.0))
    share = 0.0
    objective = trace.evidence.get("objective")
    # The coefficients of rules bound the score; effects of columns are standard deviations and bound nothing.
    farthest = abs(intercept) + float(np.abs(effects).sum()) if objective is None else np.inf
    if score is not None and farthest >= reach:
        share = float(np.mean(np.abs(score()) >= reach))
    values = np.array([step.surrogate for step in trace.rounds]) if objective is None else np.asarray(objective)
    same = np.array(
        [one.loss == other.loss for one, other in zip(trace.rounds, trace.rounds[1:], strict=False)], dtype=bool
    )
    same &= ~np.array(trace.evidence.get("shrunk", [False] * len(trace.rounds))[1:], dtype=bool)
    earlier = trace.evidence.get("earlier", 0)  # rounds of the fit that this one continued, perhaps on other rows
    start = float(values[earlier - 1]) if earlier else trace.start_surrogate
    if 0 < earlier < len(values) and not same[earlier - 1]:
        start = float(values[earlier])
    return _found(
        rising(start, values[earlier:], exact, same[earlier:]),
        _endless(trace, intercept, effects, name)
        or _separated(
            trace.stop == "separable",
            largest,
            np.inf if ends else reach,
            terms="columns" if trace.evidence.get("learner") == "column" else "rules",
        ),
        saturating(share, ends, "set l2_regularization > 0"),
        _out_of_time(trace),
        _unconverged(float(max(trace.evidence.get("unconverged", ()), default=0.0))),
    )


def of_rounds(start: float, surrogate: Sequence[float], exact: bool, cut: int, share: float) -> Doubts:
    """Doubts about multiclass boosting with `cut` capped steps, where the fraction `share` of the rows saturates.

    A step is also cut if an outlier would move its row's score too far. This does not show that there is no finite
    minimiser, so such steps count only if the scores separate the classes.
    """
    explosion = None
    if cut:
        steps = "1 step was" if cut == 1 else f"{cut} steps were"
        explosion = Doubt(
            "coefficient explodes",
            float(cut),
            f"The terms separate the classes, so the loss has no finite minimiser: {steps} cut at a cap; fewer rounds, "
            "early_stopping, or learner='tree' with l2_regularization > 0 give finite coefficients.",
        )
    return _found(
        rising(start, np.asarray(surrogate, dtype=np.float64), exact),
        explosion,
        saturating(share, False, "use fewer rounds or early_stopping"),
    )


def of_boosted_trees(
    surrogate: FloatArray, loss: Loss, stop: str, largest: float, scores: Callable[[], FloatArray]
) -> Doubts:
    """Doubts about boosted trees: `surrogate` before the first tree and after each, the `largest` value of a leaf."""
    reach, ends = certain_score(loss), bool(np.isfinite(loss.score_limit))
    n_trees = len(surrogate) - 1
    share = float(np.mean(np.abs(scores()) >= reach)) if largest * max(n_trees, 1) >= reach else 0.0
    return _found(
        rising(float(surrogate[0]), surrogate[1:], True),
        _separated(stop == "separable", largest, np.inf if ends else reach, terms="trees"),
        saturating(share, ends, "set l2_regularization > 0"),
        _time_limit(n_trees, float(surrogate[-1])) if stop == "time" else None,
    )


def of_tree(surrogate: FloatArray) -> Doubts:
    """Doubts about a tree: only a rise. Pure leaves have probability 0 or 1; the certificate counts their rows."""
    return _found(rising(float(surrogate[0]), surrogate[1:], True))


def of_boundary(loss: Loss, effects: FloatArray, share: float, gap: float, tol: float, short: str | None) -> Doubts:
    """Doubts about a boundary classifier: `share` is the fraction of saturated rows, `short` why it stopped early."""
    reach, ends = certain_score(loss), bool(np.isfinite(loss.score_limit))
    stopped = None
    if short is not None:
        stopped = Doubt(
            "stopped early",
            gap,
            f"BoundaryClassifier stopped at a relative gap of {gap:.1e}, above tol={tol:g}: {short}.",
        )
    return _found(
        _separated(False, float(np.abs(effects).max(initial=0.0)), np.inf if ends else reach, "raise alpha"),
        saturating(share, ends, "raise alpha"),
        stopped,
    )


def shortfall(converged: bool, n_iter: int, max_iter: int) -> str | None:
    """Why a fit ended above its tolerance, with the remedy; None if it converged."""
    if converged:
        return None
    if n_iter >= max_iter:
        return f"it used up its {n_iter} iterations; raise max_iter or tol"
    return f"after {n_iter} iterations rounding hides any further decrease, so more would not help; raise tol, or alpha"


def saturated(loss: Loss, score: FloatArray) -> float:
    """The fraction of scores whose probability is 0 or 1 in double precision."""
    return float(np.mean(np.abs(score) >= certain_score(loss)))


def rising(start: float, values: FloatArray, exact: bool, comparable: AnyArray | None = None) -> Doubt | None:
    """A surrogate that rises in some round or, if not `exact`, ends above its start."""
    path = np.append(start, values)
    unit = max(abs(start), np.finfo(np.float64).tiny)
    steps = np.diff(path)
    if comparable is not None and len(comparable) == len(steps) - 1:  # not rounds of different or rescaled losses
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
        "surrogate rises",
        rise,
        f"The surrogate rose by {rise:.2g} of its first value {where}, although each step should lower it; lower learning_rate.",
    )


def saturating(share: float, ends: bool, remedy: str) -> Doubt | None:
    """Rows whose probability is exactly 0 or 1, which is normal for some rows if the loss `ends` at a finite score."""
    if share < (1.0 if ends else MANY):
        return None
    return Doubt(
        "probabilities saturate",
        share,
        f"The probabilities of {100 * share:.3g} % of the training rows round to 0 or 1, so they cannot "
        f"rank these rows and should not be read as certainties; {remedy}.",
    )


def certain_score(loss: Loss) -> float:
    """The score from which the probability is 1 in double precision."""
    if np.isfinite(loss.score_limit):
        return loss.score_limit
    return float(np.asarray(loss.score(np.array([1.0 - LAST_DIGIT])))[0])


def spread(X: Matrix) -> FloatArray:
    """The standard deviation of each column, over at most `SAMPLE_ROWS` rows (sparse) or `SPREAD_ROWS` rows (dense)."""
    if hasattr(X, "multiply"):
        rows: Matrix = evenly_spaced(X, SAMPLE_ROWS)
        share = np.full(rows.shape[0], 1.0 / max(rows.shape[0], 1))
        mean = np.asarray(rows.T @ share, dtype=np.float64)
        square = np.asarray(rows.power(2).T @ share, dtype=np.float64)
        return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
    count = max(20, min(SPREAD_ROWS, SPREAD_CELLS // max(X.shape[1], 1)))
    values = np.asarray(evenly_spaced(X, count), dtype=np.float64)
    unit = np.abs(values).max(axis=0, initial=0.0)
    unit = np.where(unit > 0, unit, 1.0)  # squares of 1e300 would overflow
    return np.asarray(unit * np.std(values / unit, axis=0))


def evenly_spaced(X: Matrix, count: int) -> Matrix:
    """At most `count` rows, evenly spaced."""
    return X[:: -(-X.shape[0] // count)] if X.shape[0] > count else X


def _separated(
    separable: bool, largest: float, reach: float, remedy: str = "set l2_regularization > 0", terms: str = "rules"
) -> Doubt | None:
    if separable:
        return Doubt(
            "coefficient explodes",
            largest,
            f"The {terms} separate the classes, so the loss has no finite minimiser: the fit stopped at a cap on the "
            f"coefficients (the largest is {largest:.3g}); set l2_regularization > 0 for a finite one.",
        )
    if not largest >= reach:
        return None
    return Doubt(
        "coefficient explodes",
        largest,
        f"One term alone moves the score by {largest:.3g}; beyond {reach:.3g} a probability rounds to 1; {remedy}.",
    )


def _endless(trace: Trace, intercept: float, effects: FloatArray, name: Callable[[int], str]) -> Doubt | None:
    """Terms without a finite minimiser although the classes are not separated."""
    endless = trace.endless()
    if not endless or trace.stop == "separable":
        return None
    named = ", ".join("the constant" if place < 0 else name(place) for place in endless)
    largest = max(abs(intercept if place < 0 else float(effects[place])) for place in endless)
    return Doubt(
        "coefficient explodes",
        largest,
        f"The surrogate decreases without bound along {named}, so there is no finite minimiser: the fit kept a "
        f"finite coefficient there (moving the score by {largest:.3g}) and continued with the other terms; set "
        "l2_regularization > 0.",
    )


def _unconverged(residual: float) -> Doubt | None:
    if not residual > 0:
        return None
    return Doubt(
        "not converged",
        residual,
        f"A refit of the coefficients did not converge: a derivative of {residual:.2g} of its largest possible size is "
        "left, so the surrogate is not at its minimum over these terms; set l2_regularization > 0 or choose a smoother loss.",
    )


def _out_of_time(trace: Trace) -> Doubt | None:
    if trace.stop != "time":
        return None
    rounds = len(trace.rounds)
    return _time_limit(rounds, trace.rounds[-1].surrogate if rounds else trace.start_surrogate)


def _time_limit(rounds: int, surrogate: float) -> Doubt:
    said = (
        f"The fit stopped after {rounds} round{'' if rounds == 1 else 's'} because it reached the time limit, at a mean "
        f"surrogate of {surrogate:.4g}; raise max_time or lower n_rounds."
    )
    return Doubt("stopped early", float(rounds), said)


def _found(*doubts: Doubt | None) -> Doubts:
    return tuple(doubt for doubt in doubts if doubt is not None)
