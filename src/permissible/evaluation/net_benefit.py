"""Net benefit of acting above a threshold, and its generalisation to every decision.

At threshold t a false positive counts as t / (1 - t) true positives, so that NB(t) = TP/n - FP/n t/(1 - t)
(Vickers and Elkin 2006). Acting on nobody has net benefit 0, acting on everybody rate - (1 - rate) t/(1 - t); the rate is the
largest possible value, and the standardised net benefit is divided by it. NB(t) is the saving of `pm.Weighted(t)` compared
with never acting, in units of a miss. For any decision, the benefit is therefore what it saves against the best constant action.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from permissible.decisions import Boundaries, Decision, decision_for
from permissible.decisions.proba import positive
from permissible.decisions.words import group_names
from permissible.evaluation.cells import Cells, draws, judged, row_count, rows_of, weights_of
from permissible.evaluation.intervals import Resampling, percentile
from permissible.evaluation.labels import as_positive, truth_of
from permissible.evaluation.measures import flagged_counts, ratio
from permissible.types import ArrayLike, FloatArray, IntArray
from permissible.validation import Words, real_array, refusal

Columns = dict[str, Any]
"""A table as its columns by name, for a data frame of any kind."""


def checked_thresholds(thresholds: ArrayLike | None) -> FloatArray:
    """Return thresholds in [0, 1); 0, 0.01, ..., 0.99 where none are given."""
    if thresholds is None:
        return np.arange(100) / 100
    found = real_array("thresholds", np.atleast_1d(np.asarray(thresholds)))
    outside = (found < 0) | (found >= 1)
    if outside.any() or not found.size:
        came = Words(f"{found[outside][0]}" if found.size else "none")
        raise refusal("thresholds", "probabilities of at least 0 and below 1", came)
    return found


def net_benefit(
    y: ArrayLike,
    proba: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> Columns:
    """Return the decision curve: the net benefit of acting above each threshold, beside acting on all and on none.

    Parameters
    ----------
    y : array of shape (n,)
        Class codes 0 and 1, truth values, or two labels; without `pos_label` the second in sorted order is positive.
    proba : array of shape (n,) or (n, 2)
        Probability of the positive class, or of both in sorted order. A row is flagged where it exceeds the threshold.
    thresholds : array, optional
        In [0, 1); by default 0, 0.01, ..., 0.99.
    pos_label : label, optional
        The positive class, such as "ill"; a 1-D `proba` is its probability.
    sample_weight : array of shape (n,), optional
        Weight 2 is the row twice.
    level : float
        Of the bootstrap intervals, one threshold at a time.
    n_bootstrap : int
        Resamples; 0 for no intervals (NaN).
    random_state : int

    Returns
    -------
    dict of arrays
        ``threshold``, ``net_benefit`` with ``_low`` and ``_high``, ``treat_all``, ``treat_none``,
        ``standardised_net_benefit`` (share of the rate of positives) with ``_low`` and ``_high``.

    Examples
    --------
    >>> from permissible import metrics
    >>> found = metrics.net_benefit([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3], [0.2, 0.5])
    >>> found["net_benefit"].tolist(), found["treat_all"].tolist()
    ([0.4375, 0.25], [0.375, 0.0])
    """
    how = Resampling(level, n_bootstrap, random_state)
    at = checked_thresholds(thresholds)
    rows = judged(*as_positive(y, proba, pos_label), sample_weight).between(at)
    benefit, rate = _benefits(rows.cells, at)
    samples = [_benefits(sample, at) for sample in rows.resamples(n_bootstrap, random_state)]
    found = {"threshold": at, "net_benefit": benefit[0]}
    found |= _ends("net_benefit", [sample for sample, _ in samples], how, len(at))
    found["treat_all"] = rate[0] - (1 - rate[0]) * at / (1 - at)
    found["treat_none"] = np.zeros(len(at))
    found["standardised_net_benefit"] = ratio(benefit[0], np.full(len(at), rate[0]))
    shares = [ratio(sample, np.broadcast_to(rates[:, None], sample.shape)) for sample, rates in samples]
    return found | _ends("standardised_net_benefit", shares, how, len(at))


def _benefits(cells: Cells, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Net benefit at each threshold, (B, T), and rate of positives, (B,)."""
    counts = [flagged_counts(cells, t) for t in thresholds]
    odds = thresholds / (1 - thresholds)
    fp, tp = (np.stack([pair[k] for pair in counts], axis=1) for k in (0, 1))
    return (tp - fp * odds) / cells.total[:, None], cells.by_class[:, 1] / cells.total


def _ends(name: str, samples: Sequence[FloatArray], how: Resampling, length: int) -> Columns:
    none = np.full(length, np.nan)
    low, high = percentile(np.concatenate(samples), how.level) if samples else (none, none)
    return {f"{name}_low": low, f"{name}_high": high}


# -- every decision ---------------------------------------------------------------------------------------------------


def decision_benefit(
    y: ArrayLike,
    proba: ArrayLike,
    decision: object,
    *,
    classes: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> Columns:
    """Return the cost of a decision and of each constant action, and what the decision saves against each of them.

    The benefit of the decision is its saving against the cheapest of them, the generalisation of net benefit to
    reject bands, risk groups and cost matrices.

    Parameters
    ----------
    y : array of shape (n,)
        Labels among `classes`; without them codes, or texts in sorted order.
    proba : array of shape (n,) or (n, n_classes)
    decision : Decision or array of costs
    classes : sequence, optional
        The classes in the order of the columns of `proba`, for labels, actions and costs by name.
    sample_weight, level, n_bootstrap, random_state
        As in `net_benefit`.

    Returns
    -------
    dict of columns
        ``strategy``, ``cost`` and ``saving`` with ``_low`` and ``_high``; the first row is the model, the others are
        constant actions, the cheapest first.

    Examples
    --------
    >>> import permissible as pm
    >>> found = pm.metrics.decision_benefit([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3], pm.Reject(0.2), classes=["well", "ill"])
    >>> list(zip(found["strategy"], found["cost"].tolist(), found["saving"].tolist()))
    [('model', 0.1, 0.0), ('always refer', 0.2, 0.1), ('always well', 0.5, 0.4), ('always ill', 0.5, 0.4)]
    """
    codes, table, weight = rows_of(y, proba, sample_weight, classes)
    names = list(range(table.shape[1])) if classes is None else list(classes)
    chosen = decision_for(decision, names)
    return strategy_table(codes, table, weight, chosen, names, Resampling(level, n_bootstrap, random_state))


def strategy_table(
    codes: IntArray,
    proba: FloatArray,
    weight: FloatArray,
    decision: Decision,
    classes: Sequence[object],
    how: Resampling,
) -> Columns:
    """Return the table of `decision_benefit` for codes of classes and a decision of the same order."""
    strategies, losses = strategy_losses(codes, proba, decision, tuple(map(str, classes)), weight)
    found = paired_means(losses, weight, how)
    order = [0, *(1 + np.argsort(found["mean"][1:], kind="stable"))]
    columns: Columns = {"strategy": [strategies[k] for k in order]}
    for name, key in (("cost", "mean"), ("saving", "above_first")):
        columns |= {f"{name}{end}": found[f"{key}{end}"][order] for end in ("", "_low", "_high")}
    return columns


def strategy_losses(
    codes: IntArray, proba: FloatArray, decision: Decision, names: Sequence[str], weight: FloatArray
) -> tuple[list[str], FloatArray]:
    """Return the model and every constant action by name, and the loss of each on each row, (n, strategies)."""
    own = np.asarray(decision.loss(codes, proba))
    table = decision.action_losses(proba.shape[1])
    if table is None:  # the action is no choice among a few: the same probabilities for every row
        rates = np.bincount(codes, weight, minlength=proba.shape[1]) / weight.sum()
        alike = np.asarray(decision.loss(codes, np.tile(rates, (len(codes), 1))))
        return ["model", "the rate of each class for every row"], np.stack([own, alike], axis=1)
    named = action_names(table.shape[1], decision, names)
    return ["model", *(f"always {name}" for name in named)], np.column_stack([own, table[codes]])


REFER = "refer"


def action_names(n_actions: int, decision: Decision, names: Sequence[str]) -> list[str]:
    """Return the names of the actions of a decision: classes and then "refer", or risk groups."""
    if isinstance(decision, Boundaries):
        return group_names(decision.boundaries)
    return [*names, REFER if "refer" not in names else "leave to a person"][:n_actions]


def paired_means(losses: FloatArray, weight: FloatArray, how: Resampling) -> Columns:
    """Return the weighted mean of each column, and of its difference from the first, with intervals from one set of resamples."""
    values, counts = _distinct_rows(losses, weight)
    mean = counts @ values / counts.sum()
    samples = [
        drawn @ values / drawn.sum(axis=1, keepdims=True)
        for drawn in draws(counts, row_count(weight), how.n_bootstrap, how.random_state)
    ]
    found: Columns = {"mean": mean, **_ends("mean", samples, how, len(mean))}
    found["above_first"] = mean - mean[0]
    return found | _ends("above_first", [sample - sample[:, :1] for sample in samples], how, len(mean))


MAX_DISTINCT = 20_000
"""Beyond this many distinct rows of losses, neighbours are grouped for the resamples."""


def _distinct_rows(losses: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    order = np.lexsort(losses.T[::1])
    ranked, weights = losses[order], weight[order]
    starts = np.flatnonzero(np.concatenate([[True], (ranked[1:] != ranked[:-1]).any(axis=1)]))
    if len(starts) > MAX_DISTINCT:
        starts = starts[np.linspace(0, len(starts) - 1, MAX_DISTINCT).astype(np.int64)]
    counts = np.add.reduceat(weights, starts)
    values = np.add.reduceat(ranked * weights[:, None], starts) / np.maximum(counts, 1e-300)[:, None]
    kept = counts > 0
    return values[kept], counts[kept]


def net_benefit_difference(
    y: ArrayLike,
    proba: ArrayLike,
    other: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> Columns:
    """Return the net benefit of `proba` minus that of `other` on the same rows, with paired intervals.

    Parameters
    ----------
    y, proba, thresholds, pos_label, sample_weight, level, n_bootstrap, random_state
        As in `net_benefit`.
    other : array of shape (n,) or (n, 2)
        The probabilities of the other model.

    Returns
    -------
    dict of arrays
        ``threshold``, ``difference`` with ``_low`` and ``_high``: both models are resampled on the same rows.

    Examples
    --------
    >>> from permissible import metrics
    >>> found = metrics.net_benefit_difference([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3], [0.1, 0.9, 0.1, 0.1], [0.2])
    >>> found["difference"].tolist()
    [0.1875]
    """
    how = Resampling(level, n_bootstrap, random_state)
    truth, one = as_positive(y, proba, pos_label)
    at, first, second = checked_thresholds(thresholds), positive(one), positive(as_positive(y, other, pos_label)[1])
    if first.shape != second.shape:
        raise refusal("other", f"of {len(first)} rows, as `proba`", Words(f"{len(second)}"))
    truth, weight = truth_of(truth, len(first), 2), weights_of(sample_weight, len(first))
    found = []
    for t in at:  # a row is one of eight: its class, flagged by the first, flagged by the second
        kinds = np.bincount(4 * truth + 2 * (first > t) + (second > t), weight, minlength=8).astype(np.float64)
        worth = np.array([-t / (1 - t), 1.0])[np.arange(8) // 4]
        gain = worth * ((np.arange(8) // 2 % 2) - (np.arange(8) % 2))
        samples = [
            drawn @ gain / drawn.sum(axis=1) for drawn in draws(kinds, row_count(weight), n_bootstrap, random_state)
        ]
        ends = percentile(np.concatenate(samples), how.level) if samples else (np.nan, np.nan)
        found.append((kinds @ gain / kinds.sum(), *map(float, ends)))
    difference, low, high = np.array(found).T
    return {"threshold": at, "difference": difference, "difference_low": low, "difference_high": high}
