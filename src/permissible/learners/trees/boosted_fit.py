"""A fit of boosted trees: choose by held-out rows, fit on all rows, and measure every round.

The kernel records the loss of every round. Training error and edge need the scores of all rows after every tree; where that
would be more work than the fit itself, they are NaN.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from permissible.kernels._core import boosted as kernels
from permissible.learners.certificate import CertificateHead
from permissible.learners.choose import Choice, Tried
from permissible.learners.doubts import Doubts, of_boosted_trees
from permissible.learners.trees.boosted import BoostedRows, BoostedTrace, BoostedTrees, equal_weights, kernel_of
from permissible.learners.trees.boosted_choice import GIVEN, RATE, Free, choose_options
from permissible.learners.trees.boosted_options import BoostedOptions
from permissible.learners.trees.boosted_rows import BoostedSource, RowSet
from permissible.losses import Loss
from permissible.losses.entropy import Functor
from permissible.losses.surrogate import natural_value
from permissible.models.kinds.boosted import BoostedModel
from permissible.models.kinds.forest import Forest
from permissible.rows.keys import keys_of
from permissible.rows.local import LocalSource
from permissible.rows.source import Source
from permissible.rows.splits import has_duplicates, hold_out
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, refusal

TreesStop: TypeAlias = Literal["rounds", "no edge", "separable", "time", "callback"]
OnTree: TypeAlias = Callable[[int], bool]
PATIENCE = 25
"""Trees at rate 0.1 without a smaller held-out loss after which a candidate stops; fewer at larger rates."""
CHOICE_TIME = 0.5
"""The fraction of `max_seconds` that the choice may take."""
VANISHED = 1e-7
"""Without l2 a surrogate below this has no finite minimiser: the integers of the search hold no smaller weights."""
SATURATION_ROWS = 100_000
"""Rows in parts up to which it is counted how many have a saturated probability."""
HISTORY_WORK = 1e6
"""Rows times trees times scores up to which training error and edge are measured."""


@dataclass(frozen=True, slots=True, eq=False)
class TreesTask:
    """What to fit: the loss, the options, which of them held-out rows choose, and when to stop.

    `validation` holds rows that were given instead of a hold-out: they choose where `stopping` says so, and otherwise their
    loss is only recorded. A mean surrogate below `tolerance` ends the fit.
    """

    loss: Loss
    options: BoostedOptions
    free: Free = GIVEN
    stopping: bool = True
    validation: LocalSource | None = None
    tolerance: float = 1e-10
    max_seconds: float = 0.0
    n_threads: int = 1
    callback: OnTree | None = None


@dataclass(frozen=True, slots=True)
class BoostedCertificate(CertificateHead):
    """What is known of boosted trees at the end of a fit.

    Attributes
    ----------
    rounds : int
        Trees.
    surrogate : float
        Mean surrogate at the end; 1 where every score is 0.
    largest_gain : float
        What the best single split could still lower the mean surrogate by, to second order: estimated on the rows of the next
        search, and with several classes for the random combination of them that the next tree would have been grown on.

    `stopped` is "rounds", "no edge", "separable", "time" or "callback". No bound on the gap is known.
    """

    rounds: int
    surrogate: float
    largest_gain: float


@dataclass(frozen=True, slots=True, eq=False)
class FittedTrees:
    """The model with its history and certificate, and what the held-out rows saw."""

    model: BoostedModel
    history: dict[str, AnyArray]
    certificate: BoostedCertificate
    selection: Mapping[str, object] | None


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """The trees of one fit, with mean losses before the first tree and after each."""

    trees: BoostedTrees
    surrogate: FloatArray
    validation: FloatArray
    stop: TreesStop
    gain: float


def fit_trees(source: Source, task: TreesTask) -> FittedTrees:
    """Choose the number of trees (and what is free) by held-out rows, then fit all rows."""
    functor = kernel_of(task.loss)
    if functor is None:
        remedy = "write it as a phi, or set learner='rule'"
        raise refusal("loss", "a built-in loss or a tabulated phi for trees", Words(task.loss.name), remedy)
    begun = time.monotonic()
    ends = begun + task.max_seconds if task.max_seconds else math.inf
    fit = BoostedSource(source, task.loss, task.validation, task.n_threads)
    options = task.options.in_unit(fit.unit.scale)
    choice = _choice(fit, task, options, functor, begun)
    if choice is not None:
        best = choice[0].chosen
        options = replace(best.candidate, n_trees=max(best.stage, 1))
    run = _run(fit.rows(), task, functor, replace(options, track_loss=True), ends)
    doubts = _doubts(fit, run)
    certificate = BoostedCertificate(
        rounds=run.trees.n_trees,
        surrogate=float(run.surrogate[-1]),
        largest_gain=run.gain,
        statement=_statement(run, run.gain, doubts),
        stopped=run.stop,
        doubts=doubts,
    )
    return FittedTrees(_model(run.trees, task.loss, source), _history(fit, run), certificate, _selection(choice))


def _choice(
    fit: BoostedSource, task: TreesTask, first: BoostedOptions, functor: Functor, begun: float
) -> tuple[Choice[BoostedOptions], float] | None:
    """The best candidate with its number of trees, and the fraction of weight that was held out; None without a choice."""
    split = None
    if not task.stopping:
        return None
    by_training_loss = task.validation is None and has_duplicates(fit.source)
    if task.validation is None and not by_training_loss:
        split = hold_out(fit.source, keys=keys_of(fit.source, first.seed))
        if split is None:
            return None
    rows = fit.rows(split)
    unit = _unit(task.loss, functor, rows.n_classes)
    ends = begun + CHOICE_TIME * task.max_seconds if task.max_seconds else math.inf

    def curve(options: BoostedOptions, best: Tried[BoostedOptions] | None) -> FloatArray:
        if best is not None and time.monotonic() > ends:
            return np.zeros(0)
        patience = max(round(PATIENCE * RATE / max(options.learning_rate, RATE)), 1)
        rival = (-1.0, 0) if best is None else (best.loss * unit * rows.held_total, best.stage)
        options = replace(options, patience=patience, track_loss=by_training_loss, rival=rival)
        run = _run(rows, task, functor, options, ends)
        return run.surrogate if by_training_loss else run.validation

    free = GIVEN if by_training_loss else task.free
    choice = choose_options(first, free, len(fit.source.binning.columns), curve)
    return choice, rows.held_total / (rows.total + rows.held_total)


def _selection(found: tuple[Choice[BoostedOptions], float] | None) -> dict[str, object] | None:
    """What the choice saw, as the estimator shows it."""
    if found is None:
        return None
    choice, fraction = found
    candidates = [
        {
            "max_leaf_nodes": tried.candidate.max_leaf_nodes,
            "max_features": tried.candidate.column_fraction,
            "learning_rate": tried.candidate.learning_rate,
            "n_rounds": tried.stage,
            "validation": tried.loss,
            "curve": tried.curve,
        }
        for tried in choice.tried
    ]
    chosen = {
        "max_leaf_nodes": choice.chosen.candidate.max_leaf_nodes,
        "max_features": choice.chosen.candidate.column_fraction,
        "learning_rate": choice.chosen.candidate.learning_rate,
        "n_rounds": choice.chosen.stage,
    }
    return {"candidates": candidates, "chosen": chosen, "validation_share": fraction}


def _run(rows: RowSet, task: TreesTask, functor: Functor, options: BoostedOptions, ends: float) -> _Run:
    """One fit with fixed options; all its trees are kept, those after the surrogate vanished excepted."""
    out_of_time = False

    def watch(number: int) -> bool:
        nonlocal out_of_time
        if time.monotonic() > ends:
            out_of_time = True
            return False
        return task.callback is None or task.callback(number)

    watched = task.callback is not None or task.max_seconds > 0
    trees, trace = rows.boost(functor, options, task.n_threads, watch if watched else None)
    unit = _unit(task.loss, functor, rows.n_classes)
    surrogate = trace.loss / (unit * rows.total) if options.track_loss else np.full(trees.n_trees + 1, np.nan)
    least = task.tolerance if options.l2 > 0 else max(task.tolerance, VANISHED)
    vanished = np.flatnonzero(surrogate[1:] < least)
    stop = _stop(trace, out_of_time)
    if len(vanished):
        stop = "no edge" if math.isfinite(task.loss.score_limit) else "separable"
    kept = int(vanished[0]) + 1 if len(vanished) else trees.n_trees
    validation = trace.held_out / (unit * rows.held_total) if rows.has_held_out else np.zeros(0)
    gain = trace.largest_gain / (unit * rows.total)
    return _Run(trees.head(kept), surrogate[: kept + 1], validation[: kept + 1], stop, gain)


def _stop(trace: BoostedTrace, out_of_time: bool) -> TreesStop:
    if out_of_time:
        return "time"
    known: dict[str, TreesStop] = {"no gain": "no edge", "callback": "callback"}
    return known.get(trace.stopped, "rounds")


def _unit(loss: Loss, functor: Functor, n_classes: int) -> float:
    """The loss of one row whose scores are all 0, as the kernel counts it."""
    if n_classes > 2 and functor.softmax:
        return math.log(n_classes)
    at_zero = float(natural_value(loss, np.zeros(1))[0]) / functor.scale
    return at_zero * (n_classes if n_classes > 2 else 1)


def _model(trees: BoostedTrees, loss: Loss, source: Source) -> BoostedModel:
    n_scores = len(trees.constant)
    forest = Forest(source.binning, n_scores + 1, trees.node_arrays(), np.arange(trees.n_trees, dtype=np.int64))
    return BoostedModel(source.binning.schema, loss, trees.constant, forest)


# -- what is known of every round ----------------------------------------------------------------------------------------


def _gradients(loss: Loss, scores: FloatArray, target: AnyArray) -> tuple[FloatArray, FloatArray]:
    """The gradient y w and the curvature of each row and score."""
    if scores.shape[1] == 1:
        sign = np.where(target == 1, 1.0, -1.0)[:, None]
    else:
        own = target[:, None] == np.arange(scores.shape[1])
        if loss.functor is not None and loss.functor.softmax:
            raised = np.exp(scores - scores.max(axis=1, keepdims=True))
            share = raised / raised.sum(axis=1, keepdims=True)
            return own - share, share * (1 - share)
        sign = np.where(own, 1.0, -1.0)
    margin = (sign * scores).ravel()
    weight, curvature = np.asarray(loss.weight(margin)), np.asarray(loss.curvature(margin))
    return sign * weight.reshape(scores.shape), curvature.reshape(scores.shape)


def _history(fit: BoostedSource, run: _Run) -> dict[str, AnyArray]:
    """One array entry per tree."""
    n_trees, loss = run.trees.n_trees, fit.loss
    error, edge = np.full(n_trees, np.nan), np.full(n_trees, np.nan)
    rows = fit.few(HISTORY_WORK / max(n_trees * len(run.trees.constant), 1))
    if rows is not None:
        error, edge = _errors_and_edges(rows, run.trees, loss)
    history: dict[str, AnyArray] = {
        "surrogate": run.surrogate[1:],
        "train_error": error,
        "edge": edge,
        "loss": np.full(n_trees, loss.name),
    }
    if len(run.validation):
        history["validation"] = run.validation[1:]
    return history


def _errors_and_edges(rows: BoostedRows, trees: BoostedTrees, loss: Loss) -> tuple[FloatArray, FloatArray]:
    """The weighted fraction of wrong classes after each tree, and |sum y w| over the leaves by sum w before it."""
    target, sample = np.asarray(rows.target), equal_weights(rows)
    total = math.fsum(sample)
    before = np.tile(trees.constant, (len(target), 1))
    errors, edges = [], []
    codes, kernel = kernels.Codes(rows.binned.blocks, rows.binned.n_columns), trees.kernel()
    for tree, scores in enumerate(trees.staged_scores(rows.binned)):
        signed = _gradients(loss, before, target)[0] * sample[:, None]
        leaf = kernel.leaves(codes, tree).astype(np.int64)
        by_leaf = [np.abs(np.bincount(leaf, column)).sum() for column in signed.T]
        weight = float(np.abs(signed).sum())
        edges.append(float(sum(by_leaf)) / weight if weight > 0 else 0.0)
        label = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] >= 0).astype(np.int64)
        errors.append(float(sample[label != target].sum()) / total)
        before = scores
    return np.array(errors), np.array(edges)


# -- what is said of it ----------------------------------------------------------------------------------------------------

_REASONS: dict[TreesStop, str] = {
    "rounds": "it grew all the trees that it was given",
    "no edge": "no split lowers the surrogate further",
    "separable": "the trees separate the classes, so the surrogate has no finite minimiser and the leaves were capped",
    "time": "it reached the time limit",
    "callback": "a callback stopped it",
}


def _doubts(fit: BoostedSource, run: _Run) -> Doubts:
    trees = run.trees
    largest = float(np.abs(trees.values).max(initial=0.0))

    def scores() -> FloatArray:
        rows = fit.few(math.inf if fit.memory is not None else SATURATION_ROWS)
        return np.zeros(1) if rows is None else trees.scores(rows.binned, fit.n_threads)

    return of_boosted_trees(run.surrogate, fit.loss, run.stop, largest, scores)


def _statement(run: _Run, gain: float, doubts: Doubts) -> str:
    trees = run.trees.n_trees
    said = (
        f"The fit stopped after {trees} tree{'' if trees == 1 else 's'} because {_REASONS[run.stop]}: mean surrogate "
        f"{run.surrogate[-1]:.4g}; one more split could lower it by about {gain:.2g}."
    )
    away = [doubt.words for doubt in doubts if doubt.kind == "coefficient explodes" and run.stop != "separable"]
    return " ".join([said, *away])
