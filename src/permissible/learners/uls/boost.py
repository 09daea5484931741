"""ULS, the loop to be read: Algorithm 1 of [N] and [T] with rules found on the way (mathematics.md sections 4 and 5).

In each round the examples weigh w = weight(margin); a rule is grown that promises the largest decrease of the surrogate; its
leverage solves (35), so that the rule has edge 0 under the next weights; margins move. The corrective scheme then solves (35)
for all rules so far, a block for some of them. The rows answer with integer sums (uls/rows.py) and may be anywhere: in memory,
on disk, on workers. For built-in losses in memory the compiled loop (uls/compiled.py) takes the same steps, bit for bit.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.layout import layout_of
from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.uls.leverage import Field, Leverage
from permissible.learners.uls.loss_rows import pattern_grid
from permissible.learners.uls.options import Stop, ULSOptions
from permissible.learners.uls.refit import Refit, refit
from permissible.learners.uls.rows import HistogramRequest, Rows, Terms
from permissible.learners.uls.search import GrownRule, Growth, literal_sums, single_literals
from permissible.learners.uls.trace import Round, Trace
from permissible.losses.surrogate import Surrogate
from permissible.types import AnyArray, BoolArray, FloatArray

Watch = Callable[[int], bool]
GRADIENT_WORK = 2e7
"""Up to so many rows times rules the gradient is computed at the end of a fit."""
Recall = Callable[[Callable[[], Any]], Any]
"""Makes a choice, or takes it from a fit that was interrupted (distributed/protocol/journal.py)."""


def _made(choose: Callable[[], Any]) -> Any:
    return choose()


@dataclass(slots=True)
class Fit:
    """A fit in progress: the rows (and those held out), the model so far, the rounds."""

    rows: Field
    held: Field | None
    binning: Binning
    layout: AnyArray
    options: ULSOptions
    loss_name: str
    scale: float
    recall: Recall = _made
    first_round: int = 0
    constant: float = 0.0
    rules: list[Rule] = field(default_factory=list)
    theta: FloatArray = field(default_factory=lambda: np.zeros(1))
    rounds: list[Round] = field(default_factory=list)
    endless: list[int] = field(default_factory=list)
    short: FloatArray = field(default_factory=lambda: np.zeros(1))

    @property
    def cost(self) -> float:
        """A coefficient c costs this times c^2 / 2 where coefficients are refitted; a classic step pays for itself alone."""
        return 0.0 if self.options.scheme == 1 else 2.0 * self.options.l2


def boost(
    rows: Rows, surrogate: Surrogate, binning: Binning, loss_name: str, options: ULSOptions, *,
    held: Rows | None = None, scale: float = 1.0, start: Terms | None = None, told: Mapping[str, Any] | None = None,
    first_round: int = 0, watch: Watch | None = None, recall: Recall = _made,
) -> Trace:  # fmt: skip
    """Boost rules over rows that answer the protocol of uls/rows.py.

    Parameters
    ----------
    rows, held : Rows
        The rows to fit, and those that only judge.
    surrogate : Surrogate
        The loss, in the units of the rows' states.
    scale : float
        Values of the model are this times those of the rows (losses.entropy.Functor).
    start : Terms, optional
        A model to go on from, in the units of the rows; it stays as it is in the classic scheme.
    told : mapping, optional
        The evidence of the fit that `start` comes from, where it saw the same rows.
    """
    terms = start or Terms()
    fit = Fit(
        Field.start(rows, surrogate, terms), None if held is None else Field.start(held, surrogate, terms), binning,
        layout_of(binning).by_column, options, loss_name, scale, recall, first_round,
    )  # fmt: skip
    if start is None and options.fit_intercept:
        _fit_constant(fit)
    else:
        fit.rules, fit.theta = list(terms.rules), np.array([terms.constant, *terms.coefficients])
        fit.short = np.zeros(len(fit.theta))
        if told and "unconverged" in told:  # its coefficients were refitted too
            fit.endless, fit.short = [place + 1 for place in told["endless"]], np.array(told["unconverged"])
    now = fit.rows.now
    start_surrogate, start_error = now.surrogate, now.error
    start_validation = float("nan") if fit.held is None else fit.held.now.surrogate
    stop = _rounds(fit, watch)
    unit = float(surrogate.at(np.zeros(1))[0, 0])
    total = fit.rows.facts.total_weight
    judged = float("nan") if fit.held is None else unit * fit.held.facts.total_weight
    means = [replace(r, surrogate=r.surrogate / (unit * total), train_error=r.train_error / total,
                     validation=r.validation / judged) for r in fit.rounds]  # fmt: skip
    return Trace(
        scale * fit.constant, tuple(means), stop, start_surrogate / (unit * total), start_error / total,
        start_validation / judged, total, *((np.nan, np.nan) if stop == "callback" else _left_to_gain(fit)),
        {} if options.scheme == 1 else _refit_evidence(fit),
    )  # fmt: skip


def _refit_evidence(fit: Fit) -> dict[str, Any]:
    """Positions of the rules without a finite coefficient (-1: the constant), and what refits left of the gradient.

    Of the constant and each coefficient: how far from its minimum the last refit of it ended; 0 where that converged.
    """
    return {"endless": tuple(position - 1 for position in fit.endless), "unconverged": tuple(fit.short.tolist())}


def _rounds(fit: Fit, watch: Watch | None) -> Stop:
    """Algorithm 1: weights, rule, leverage, update; why it ended."""
    options, begun = fit.options, time.monotonic()
    unit = float(fit.rows.surrogate.at(np.zeros(1))[0, 0]) * fit.rows.facts.total_weight
    for number in range(options.n_rules):
        if watch is not None and not watch(number):
            return "callback"
        if options.max_seconds and time.monotonic() - begun > options.max_seconds:
            return "time"
        if fit.rows.now.surrogate <= options.tolerance * unit:  # nothing is left to gain
            return "no edge" if fit.rows.surrogate.attained else "separable"
        seed = options.seed + fit.first_round + number
        grown: GrownRule | None = fit.recall(lambda: grow(fit, seed))  # noqa: B023 (called at once)
        if grown is None or not grown.decrease > options.tolerance * fit.rows.now.surrogate:
            return "no edge"
        separable = _step(fit, grown) if options.scheme == 1 else _refit_step(fit, grown)
        if separable:
            return "separable"
    return "rounds"


def _fit_constant(fit: Fit) -> None:
    """T_0 = {constant}: the score that is best before any rule."""
    fit.constant = fit.rows.leverage((), True, 0.0, 0.0, 0.0).value_in
    fit.theta = np.array([fit.constant])
    fit.rows.apply((), fit.constant, 0.0)
    if fit.held is not None:
        fit.held.apply((), fit.constant, 0.0)


def grow(fit: Fit, seed: int) -> GrownRule | None:
    """The rule of this round, from histograms of the current weights."""
    rows, options = fit.rows, fit.options
    request = _request(fit, options.search_fraction, seed)
    growth = Growth(rows.rows, rows.facts.n_rows, fit.binning, fit.layout, options, request, rows.now.curvature)
    # Refitted rules are at their optimum, with l2 they keep an edge that no step can use; those without a finite one stay.
    endless = {fit.rules[position - 1] for position in fit.endless if position > 0}
    return growth.best(excluded=set(fit.rules) if options.scheme == 0 else endless)


def _request(fit: Fit, share: float = 1.0, seed: int = 0) -> HistogramRequest:
    rows = fit.rows
    weight, curvature, _ = rows.surrogate.bounds(rows.now.low_state, rows.now.high_state, 0.0)
    sample, units = rows.facts.largest_sample, rows.facts.units
    grids = kernels.histogram_grids(weight * sample, curvature * sample, units, fit.options.fit_intercept)
    return HistogramRequest(*grids, share, seed)


def _left_to_gain(fit: Fit) -> tuple[float, float]:
    """The largest edge of a single literal under the last weights, and the norm of the gradient over the rules found.

    Where coefficients are refitted both count what the penalty takes from a rule of the model.
    """
    request, rows = _request(fit), fit.rows
    if rows.faded:
        return 0.0, 0.0
    sums = np.ascontiguousarray(rows.rows.histogram((), request)[:, :1])
    total, unit = int(sums[0, 0].sum()), 1.0 / request.weight_grid
    everything = float(total) / request.weight_grid
    coefficients = dict(zip(fit.rules, fit.theta[1:].tolist(), strict=True)) if fit.options.scheme != 1 else {}
    refitted = sorted({rule[0].column for rule in coefficients if len(rule) == 1})
    found = kernels.best_literals(fit.layout, sums, False, 0.0, unit, 1.0, total, 1, False, refitted)
    largest = math.sqrt(2.0 * max((decrease for decrease, *_ in found), default=0.0))
    for column in refitted:
        others = single_literals(column, fit.layout, fit.binning, list(coefficients))
        inside = literal_sums(others, sums[column, 0]) / request.weight_grid
        largest = max(largest, float(np.abs(2.0 * inside - everything).max(initial=0.0)))
    squares = everything * everything if fit.options.fit_intercept else 0.0
    rules = list(coefficients or dict.fromkeys(step.rule for step in fit.rounds))
    if float(rows.facts.n_rows) * len(rules) > GRADIENT_WORK:
        squares = float("nan")
    else:
        for rule, weight_in in zip(rules, _weights_in(rows.rows, rules, request), strict=True):
            slope = 2.0 * float(weight_in) / request.weight_grid - everything
            slope -= fit.cost * coefficients.get(rule, 0.0)
            largest = max(largest, abs(slope) if len(rule) == 1 and coefficients else 0.0)
            squares += slope * slope
    return largest / rows.now.weight, math.sqrt(squares) / rows.now.weight


def _weights_in(rows: Rows, rules: list[Rule], request: HistogramRequest) -> list[int]:
    """The integer sums of y w over the rows that each rule covers; rows elsewhere are asked about many rules at once."""
    ask = getattr(rows, "weights_in", None)
    if ask is None:
        return [int(rows.histogram(rule, request)[0, 0].sum()) for rule in rules]
    return [int(weight) for weight in ask(tuple(rules), request)] if rules else []


def leverage(fit: Fit, grown: GrownRule) -> Leverage:
    """Exact values of the rule, inside and outside; without a constant one value for both."""
    rows, options, share = fit.rows, fit.options, fit.options.search_fraction
    l2 = options.l2
    if options.fit_intercept:
        out, curved = grown.weight_all - grown.weight_in, grown.curvature_all - grown.curvature_in
        start_in = grown.weight_in / (grown.curvature_in + share * l2 + 1e-300)
        return rows.leverage(grown.rule, True, l2, start_in, out / (curved + share * l2 + 1e-300))
    guess = (2.0 * grown.weight_in - grown.weight_all) / (share * (rows.now.curvature + 2.0 * l2) + 1e-300)
    return rows.leverage(grown.rule, False, l2, guess, -guess)


def _step(fit: Fit, grown: GrownRule) -> bool:
    """The classic scheme: one coefficient (and the constant). True when the rule separates the classes.

    Where only one side is pure its value is bounded by the cap, and the rounds go on: its rows have hardly any weight then.
    """
    step: Leverage = fit.recall(lambda: leverage(fit, grown))
    rate = fit.options.learning_rate
    value_in, value_out = rate * step.value_in, rate * step.value_out
    before = fit.rows.now.weight
    for part in (fit.rows, fit.held):
        if part is not None:
            part.apply(grown.rule, value_in, value_out)
    fit.rules.append(grown.rule)
    fit.theta = np.append(fit.theta, 0.5 * (value_in - value_out))
    fit.theta[0] += 0.5 * (value_in + value_out)
    now, options = fit.rows.now, fit.options
    unbounded = options.fit_intercept and not options.l2 > 0 and not fit.rows.surrogate.attained
    endless = unbounded and fit.rows.pure_sides > 0
    covered = now.covered, now.covered_positive
    _record(fit, grown, before, covered, value_in, value_out, step.passes, endless=endless)
    return step.capped and (not options.fit_intercept or fit.rows.pure_sides == 2)


def _refit_step(fit: Fit, grown: GrownRule) -> bool:
    """The corrective scheme: (35) for all rules so far, or for a block of them. True when the rules separate the classes.

    A rule without a finite coefficient that leaves errors is no reason to stop: the others go on.
    """
    before, options = fit.rows.now.weight, fit.options
    known = grown.rule in fit.rules
    if not known:
        fit.rules.append(grown.rule)
        fit.theta, fit.short = np.append(fit.theta, 0.0), np.append(fit.short, 0.0)
    free = np.zeros(len(fit.theta), dtype=bool)
    free[0] = options.fit_intercept
    n_rules, number = len(fit.rules), fit.first_round + len(fit.rounds)
    size = n_rules if options.scheme == 0 else min(options.scheme, n_rules)
    newest = fit.rules.index(grown.rule)
    free[1 + (newest + np.arange(size) * (1 if number % 2 else -1)) % n_rules] = True
    found, covered = fit.recall(lambda: _refitted(fit, free, newest))
    fit.theta = found.theta
    fit.endless.extend(position for position in found.endless if position not in fit.endless)
    fit.short[free] = 0.0 if found.converged else found.residual
    terms = Terms(float(fit.theta[0]), tuple(fit.rules), tuple(fit.theta[1:].tolist()))
    for part in (fit.rows, fit.held):
        if part is not None:
            part.reset(terms)
    _record(fit, grown, before, covered, refitted=True)
    return bool(fit.endless) and fit.rows.now.error <= 0.0


def _refitted(fit: Fit, free: BoolArray, newest: int) -> tuple[Refit, tuple[float, float]]:
    """(35) for the free coefficients, over the patterns of the rules so far; also what the newest rule covers."""
    grid = pattern_grid(fit.rows.facts)
    patterns = fit.rows.rows.patterns(tuple(fit.rules), grid)
    found = refit(patterns, grid, fit.rows.surrogate, fit.theta, free, fit.options.l2)
    inside = patterns.weight[patterns.bits[:, newest] == 1].sum(axis=0) / grid
    return found, (float(inside.sum()), float(inside[1]))


def _record(
    fit: Fit, grown: GrownRule, weight: float, covered: tuple[float, float], value_in: float = 0.0, value_out: float = 0.0,
    passes: int = 0, refitted: bool = False, endless: bool = False,
) -> None:  # fmt: skip
    edge = abs(2.0 * grown.weight_in - grown.weight_all) / fit.options.search_fraction / weight
    now, scale = fit.rows.now, fit.scale
    fit.rounds.append(
        Round(
            grown.rule, scale * value_in, scale * value_out, edge, weight, now.surrogate, now.error, fit.loss_name,
            float("nan") if fit.held is None else fit.held.now.surrogate, passes,
            covered[0] / fit.rows.facts.total_weight, covered[1] / covered[0] if covered[0] else math.nan,
            tuple((scale * fit.theta[1:]).tolist()) if refitted else None,
            float(scale * fit.theta[0]) if refitted else None, endless,
        )
    )  # fmt: skip
