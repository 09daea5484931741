"""The readable loop of ULS: Algorithm 1 of [N] and [T] with a rule search (mathematics.md sections 4 and 5).

In each round the examples have weights w = weight(margin). A rule with the largest predicted decrease of the surrogate is grown.
Its leverage solves (35), so that the rule has edge 0 under the next weights; then the margins are updated. The corrective scheme
also solves (35) for all rules so far, a block scheme for some of them. The rows answer with integer sums (uls/rows.py), in
memory, on disk or on workers. For compiled losses in memory uls/compiled.py takes the same steps in one call, bit for bit.
"""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from permissible.bins.binning import Binning
from permissible.bins.layout import layout_of
from permissible.bins.literal import Rule
from permissible.kernels._core import boosting as kernels
from permissible.learners.constraints.signed import refit_signed
from permissible.learners.uls.criteria.draws import noise_of
from permissible.learners.uls.criteria.search import CriterionSearch
from permissible.learners.uls.loss_rows import Opened
from permissible.learners.uls.options import Stop, ULSOptions
from permissible.learners.uls.refit import Refit, refit
from permissible.learners.uls.rows import HistogramRequest, Histograms, PatternsOf, SignedWeights, Terms
from permissible.learners.uls.search import GrownRule, RuleSearch, literal_sums, single_literals
from permissible.learners.uls.step import FitRows, Leverage, apply, change
from permissible.learners.uls.trace import Round, Trace
from permissible.losses import Loss
from permissible.losses.entropy import Functor
from permissible.losses.surrogate import PythonSurrogate, Surrogate, compiled
from permissible.rows.source import Journal, NoJournal
from permissible.types import AnyArray, BoolArray, FloatArray

OnRound = Callable[[int], bool]
"""Called with the number of each round; False ends the fit."""
GRADIENT_WORK = 2e7
"""Up to this many rows times rules the gradient is computed at the end of a fit."""


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A fit to continue: its trace, the scores of its model on the rows, and whether it saw the same rows."""

    trace: Trace
    scores: FloatArray
    same_rows: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class LoopTask:
    """The arguments of both loops in addition to rows and options.

    `surrogate` is the loss in the units of the rows; values of the model are `scale` times theirs. `start` is a fit to
    continue; its model is not changed by the classic scheme. `search` finds the rules where they have a criterion of
    their own. `layout` has the columns as the kernels need them, with the keys of draws (criteria/draws.py) where there are any.
    `pace` numbers the rounds as they may begin.
    """

    loss_name: str
    surrogate: Surrogate
    scale: float
    binning: Binning
    layout: AnyArray
    start: Start | None = None
    callback: OnRound | None = None
    journal: Journal = field(default_factory=NoJournal)
    search: CriterionSearch | None = None
    pace: "Pace | None" = None

    @staticmethod
    def of(loss: Loss, binning: Binning, layout: AnyArray | None = None, **more: Any) -> "LoopTask":
        """The task of a loss: in the units of its compiled form where there is one; `layout` follows from the bins."""
        kernel: Functor | None = compiled(loss)
        surrogate: Surrogate = PythonSurrogate(loss) if kernel is None else kernel.function()
        columns = layout_of(binning).by_column if layout is None else layout
        return LoopTask(loss.name, surrogate, 1.0 if kernel is None else kernel.scale, binning, columns, **more)

    @property
    def first_round(self) -> int:
        """Rounds of the fit to continue."""
        return 0 if self.start is None else len(self.start.trace.rounds)

    @property
    def start_terms(self) -> Terms:
        """The model to start from, in the units of the rows."""
        return Terms() if self.start is None else Terms.of(*self.start.trace.terms(), self.scale)

    @property
    def unit(self) -> float:
        """The loss at margin 0."""
        return float(self.surrogate.at(np.zeros(1))[0, 0])


Pace = Callable[["Fit"], Iterable[int]]


@dataclass(slots=True)
class Fit:
    """A fit in progress: training and held-out rows, model and rounds so far; `options` in the units of the rows."""

    rows: FitRows
    held_out: FitRows | None
    task: LoopTask
    options: ULSOptions
    layout: AnyArray
    constant: float = 0.0
    rules: list[Rule] = field(default_factory=list)
    theta: FloatArray = field(default_factory=lambda: np.zeros(1))
    rounds: list[Round] = field(default_factory=list)
    endless: list[int] = field(default_factory=list)
    short: FloatArray = field(default_factory=lambda: np.zeros(1))
    request: HistogramRequest | None = None

    @property
    def next_request(self) -> HistogramRequest | None:
        """The histogram that the next round is expected to ask for; None after the last round."""
        if self.request is None or len(self.rounds) + 1 >= self.options.n_rounds:
            return None
        return self.request._replace(seed=self.request.seed + 1)

    @property
    def cost(self) -> float:
        """A refitted coefficient c has a penalty of this times c^2 / 2; a classic step penalises only its values."""
        return 0.0 if self.options.scheme == 1 else 2.0 * self.options.l2

    @property
    def all_rows(self) -> list[FitRows]:
        """The rows to be moved: the training rows, and those held out."""
        return [self.rows] if self.held_out is None else [self.rows, self.held_out]

    @property
    def stalled(self) -> bool:
        """Whether the held-out loss has had no new minimum for `patience` rounds."""
        patience = self.options.patience
        if self.held_out is None or not patience or len(self.rounds) <= patience:
            return False
        curve = [step.validation for step in self.rounds]
        return min(curve[-patience:]) >= min(curve[:-patience])

    @property
    def validation(self) -> float:
        """The surrogate of the held-out rows."""
        return math.nan if self.held_out is None else self.held_out.state.surrogate


def boost(training: Opened, held_out: Opened | None, task: LoopTask, options: ULSOptions) -> Trace:
    """Boost rules over training rows; the trace also has the loss of the held-out rows."""
    terms, surrogate = task.start_terms, task.surrogate
    fit = Fit(
        FitRows.start(training, surrogate, terms),
        None if held_out is None else FitRows.start(held_out, surrogate, terms),
        task,
        replace(options, l2=options.l2 * task.scale, noise=noise_of(surrogate, options.noise)),
        task.layout,
    )
    if task.start is None and options.fit_intercept:
        _fit_constant(fit)
    else:
        _continue(fit, terms)
    before = fit.rows.state
    start_validation = fit.validation
    stop = _rounds(fit)
    total, weight = training.sizes.total_weight, task.unit * training.sizes.total_weight
    held = math.nan if held_out is None else task.unit * held_out.sizes.total_weight
    means = tuple(
        replace(r, surrogate=r.surrogate / weight, train_error=r.train_error / total, validation=r.validation / held)
        for r in fit.rounds
    )
    told = options.edges and stop != "callback"
    largest_edge, gradient_norm = left_to_gain(fit) if told else (math.nan, math.nan)
    return Trace(
        constant=task.scale * fit.constant,
        rounds=means,
        stop=stop,
        start_surrogate=before.surrogate / weight,
        start_error=before.error / total,
        start_validation=start_validation / held,
        total_weight=total,
        largest_edge=largest_edge,
        gradient_norm=gradient_norm,
        evidence={} if options.scheme == 1 else _refit_evidence(fit),
    )


def _continue(fit: Fit, terms: Terms) -> None:
    """Start from the model of an earlier fit."""
    fit.rules, fit.theta = list(terms.rules), np.array([terms.constant, *terms.coefficients])
    fit.short = np.zeros(len(fit.theta))
    start = fit.task.start
    if start is not None and start.same_rows and "unconverged" in start.trace.evidence:  # refitted coefficients
        evidence = start.trace.evidence
        fit.endless, fit.short = [place + 1 for place in evidence["endless"]], np.array(evidence["unconverged"])


def _refit_evidence(fit: Fit) -> dict[str, object]:
    """Positions of the rules without a finite coefficient (-1: the constant), and the remaining gradient of refits.

    The remaining gradient is given for the constant and each coefficient: that of its last refit, 0 if it converged.
    """
    return {"endless": tuple(position - 1 for position in fit.endless), "unconverged": tuple(fit.short.tolist())}


def _rounds(fit: Fit) -> Stop:
    """Algorithm 1: weights, rule, leverage, update; why it ended."""
    options, task, begun = fit.options, fit.task, time.monotonic()
    loss_at_zero = task.unit * fit.rows.sizes.total_weight
    for number in range(options.n_rounds) if task.pace is None else task.pace(fit):
        if task.callback is not None and not task.callback(number):
            return "callback"
        if options.max_seconds and time.monotonic() - begun > options.max_seconds:
            return "time"
        if fit.rows.state.surrogate <= options.tolerance * loss_at_zero:  # nothing is left to gain
            return "no edge" if task.surrogate.attained else "separable"
        seed = options.seed + task.first_round + number
        grown: GrownRule | None = task.journal.recall(lambda: grow(fit, seed))  # noqa: B023 (called at once)
        if grown is None or not grown.decrease > options.tolerance * fit.rows.state.surrogate:
            return "no edge"
        separable = _step(fit, grown) if options.scheme == 1 else _refit_step(fit, grown)
        if separable:
            return "separable"
        if fit.stalled:
            return "held out"
    return "rounds"


def _fit_constant(fit: Fit) -> None:
    """T_0 = {constant}: the score that is best before any rule."""
    fit.constant = fit.rows.leverage((), True, 0.0, 0.0, 0.0).value_in
    fit.theta = np.array([fit.constant])
    apply(fit.all_rows, (), fit.constant, 0.0)


def grow(fit: Fit, seed: int) -> GrownRule | None:
    """Find the rule of this round from histograms of the current weights; its edge is that on all rows."""
    rows, options = fit.rows, fit.options
    if fit.task.search is not None:
        return fit.task.search.best()
    request = rows.request(options.fit_intercept, options.search_fraction, seed)
    fit.request = request
    about = (rows.rows, fit.task.binning, fit.layout, options, request, rows.state.curvature)
    search = RuleSearch(*about, rows.histogram(request), rows.sizes.n_rows)
    # Exclude refitted rules: they are at their optimum although l2 leaves them an edge, or have no finite coefficient.
    endless = {fit.rules[position - 1] for position in fit.endless if position > 0}
    found = search.best(excluded=set(fit.rules) if options.scheme == 0 else endless)
    if found is None or not request.threshold or options.scheme == 1:  # a classic step asks with its leverage
        return found
    return replace(found, slope=rows.slopes([found.rule])[0])


def left_to_gain(fit: Fit) -> tuple[float, float]:
    """The largest edge of a single literal under the last weights, and the norm of the gradient over the rules found.

    If coefficients are refitted both include the derivative of the penalty.
    """
    rows, request = fit.rows, fit.rows.request(fit.options.fit_intercept)
    if rows.faded:
        return 0.0, 0.0
    sums = rows.rows.ask(Histograms(((),), request))[0]
    total, unit = int(sums[0, 0].sum()), 1.0 / request.weight_grid
    everything = float(total) / request.weight_grid
    coefficients = dict(zip(fit.rules, fit.theta[1:].tolist(), strict=True)) if fit.options.scheme != 1 else {}
    refitted = sorted({rule[0].column for rule in coefficients if len(rule) == 1})
    found = kernels.best_literals(fit.layout, sums, kernels.Criterion(False, 0.0, unit, 1.0, total, 1), False, refitted)
    largest = math.sqrt(2.0 * max((candidate.decrease for candidate in found), default=0.0))
    for column in refitted:
        others = single_literals(column, fit.layout, fit.task.binning, list(coefficients))
        inside = literal_sums(others, sums[column, 0]) / request.weight_grid
        largest = max(largest, float(np.abs(2.0 * inside - everything).max(initial=0.0)))
    squares = everything * everything if fit.options.fit_intercept else 0.0
    rules = tuple(coefficients or dict.fromkeys(step.rule for step in fit.rounds))
    if float(rows.sizes.n_rows) * len(rules) > GRADIENT_WORK:
        squares = math.nan
    elif rules:
        sums_in = rows.rows.ask(SignedWeights(rules, request.weight_grid)).tolist()
        for rule, weight_in in zip(rules, sums_in, strict=True):
            slope = 2.0 * float(weight_in) / request.weight_grid - everything
            slope -= fit.cost * coefficients.get(rule, 0.0)
            largest = max(largest, abs(slope) if len(rule) == 1 and coefficients else 0.0)
            squares += slope * slope
    return largest / rows.state.weight, math.sqrt(squares) / rows.state.weight


def leverage(fit: Fit, grown: GrownRule) -> Leverage:
    """Exact values of the rule, inside and outside; where they have not the sign that is asked for, the best constant."""
    found, constraints = _leverage(fit, grown), fit.options.constraints
    if constraints is None or constraints.sign(grown.rule) * (found.value_in - found.value_out) >= 0:
        return found
    value = fit.rows.leverage((), True, 0.0, 0.0, 0.0).value_in if fit.options.fit_intercept else 0.0
    return replace(found, value_in=value, value_out=value, capped=False)


def _leverage(fit: Fit, grown: GrownRule) -> Leverage:
    """Exact values of the rule, inside and outside; without a constant one value for both."""
    rows, l2, sampled = fit.rows, fit.options.l2, fit.options.search_fraction < 1.0
    if fit.options.fit_intercept:
        out, curved = grown.weight_all - grown.weight_in, grown.curvature_all - grown.curvature_in
        start_in = grown.weight_in / (grown.curvature_in + l2 + 1e-300)
        return rows.leverage(grown.rule, True, l2, start_in, out / (curved + l2 + 1e-300), sampled)
    guess = (2.0 * grown.weight_in - grown.weight_all) / (rows.state.curvature + 2.0 * l2 + 1e-300)
    return rows.leverage(grown.rule, False, l2, guess, -guess, sampled)


def _step(fit: Fit, grown: GrownRule) -> bool:
    """The classic scheme: one coefficient (and the constant). True when the rule separates the classes.

    If only one side is pure its value is bounded by the cap and the rounds continue; its rows then have little weight.
    """
    step: Leverage = fit.task.journal.recall(lambda: leverage(fit, grown))
    if not math.isnan(step.slope):
        grown = replace(grown, slope=step.slope)
    options, scale, before = fit.options, fit.task.scale, fit.rows.state.weight
    value_in, value_out = options.learning_rate * step.value_in, options.learning_rate * step.value_out
    apply(fit.all_rows, grown.rule, value_in, value_out, fit.next_request)
    if fit.task.search is not None:
        fit.task.search.move(grown.rule, scale * value_in, scale * value_out)
    fit.rules.append(grown.rule)
    fit.theta = np.append(fit.theta, 0.5 * (value_in - value_out))
    fit.theta[0] += 0.5 * (value_in + value_out)
    unbounded = options.fit_intercept and not options.l2 > 0 and not fit.task.surrogate.attained
    fit.rounds.append(
        replace(
            _round(fit, grown, before, (fit.rows.state.covered, fit.rows.state.covered_positive)),
            value_in=scale * value_in,
            value_out=scale * value_out,
            passes=step.passes,
            endless=unbounded and fit.rows.pure_sides > 0,
        )
    )
    return step.capped and (not options.fit_intercept or fit.rows.pure_sides == 2)


def _refit_step(fit: Fit, grown: GrownRule) -> bool:
    """The corrective scheme: (35) for all rules so far, or a block of them. True if the rules separate the classes.

    A rule without a finite coefficient that leaves errors does not stop the fit.
    """
    before, options, scale = fit.rows.state.weight, fit.options, fit.task.scale
    if grown.rule not in fit.rules:
        fit.rules.append(grown.rule)
        fit.theta, fit.short = np.append(fit.theta, 0.0), np.append(fit.short, 0.0)
    free = np.zeros(len(fit.theta), dtype=bool)
    free[0] = options.fit_intercept
    n_rules, number = len(fit.rules), fit.task.first_round + len(fit.rounds)
    size = n_rules if options.scheme == 0 else min(options.scheme, n_rules)
    newest = fit.rules.index(grown.rule)
    free[1 + (newest + np.arange(size) * (1 if number % 2 else -1)) % n_rules] = True
    found, covered = fit.task.journal.recall(lambda: _refitted(fit, free, newest))
    fit.theta = found.theta
    fit.endless.extend(position for position in found.endless if position not in fit.endless)
    fit.short[free] = 0.0 if found.converged else found.residual
    terms = Terms(float(fit.theta[0]), tuple(fit.rules), tuple(fit.theta[1:].tolist()))
    change(fit.all_rows, [rows.restart(terms) for rows in fit.all_rows], fit.next_request)
    coefficients, intercept = tuple((scale * fit.theta[1:]).tolist()), float(scale * fit.theta[0])
    fit.rounds.append(replace(_round(fit, grown, before, covered), refit=coefficients, intercept=intercept))
    return bool(fit.endless) and fit.rows.state.error <= 0.0


def _refitted(fit: Fit, free: BoolArray, newest: int) -> tuple[Refit, tuple[float, float]]:
    """(35) for the free coefficients, over the patterns of the rules so far; also what the newest rule covers."""
    grid = fit.rows.sizes.pattern_grid
    patterns = fit.rows.rows.ask(PatternsOf(tuple(fit.rules), grid))
    fixed = (patterns, grid, fit.task.surrogate, fit.theta, free, fit.options.l2)
    constraints = fit.options.constraints
    if constraints is None:
        found = refit(*fixed)
    else:
        found = refit_signed(*fixed, np.array([0, *(constraints.sign(rule) for rule in fit.rules)]))
    inside = patterns.weight[patterns.bits[:, newest] == 1].sum(axis=0) / grid
    return found, (float(inside.sum()), float(inside[1]))


def _round(fit: Fit, grown: GrownRule, weight: float, covered: tuple[float, float]) -> Round:
    """Record a round: `weight` is the sum of weights before it, `covered` that of all and of positives."""
    state = fit.rows.state
    return Round(
        rule=grown.rule,
        value_in=0.0,
        value_out=0.0,
        edge=abs(grown.slope) / weight,
        weight=weight,
        surrogate=state.surrogate,
        train_error=state.error,
        loss=fit.task.loss_name,
        validation=fit.validation,
        support=covered[0] / fit.rows.sizes.total_weight,
        positive=covered[1] / covered[0] if covered[0] else math.nan,
    )
