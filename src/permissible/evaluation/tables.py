"""Tables for a decision: cost curves, calibration, thresholds."""

from collections.abc import Sequence

import numpy as np

from permissible.decisions import decision_for
from permissible.decisions.cost import CostMatrix
from permissible.evaluation.cells import Cells, judged
from permissible.evaluation.intervals import Resampling
from permissible.evaluation.labels import as_positive
from permissible.evaluation.measures import (
    Estimate,
    calibration_measures,
    estimates,
    flagged_counts,
    threshold_measures,
)
from permissible.evaluation.net_benefit import Columns, checked_thresholds
from permissible.evaluation.recalibration import isotonic
from permissible.types import ArrayLike, FloatArray
from permissible.validation import Words, refusal, refusal_type


def expected_cost_curve(
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
    """Return the mean cost per row as the costs of the two mistakes change.

    At t a false alarm costs 2t and a miss 2(1 - t), as in `pm.Weighted(t)`, and rows above t are flagged. The area
    under the curve is the Brier score. ``best`` is the least cost that the same order of the rows could reach with
    other probabilities: the difference is the cost of miscalibration.

    Parameters
    ----------
    y, proba, thresholds, pos_label, sample_weight, level, n_bootstrap, random_state
        As in `net_benefit`.

    Returns
    -------
    dict of arrays
        ``threshold``, ``cost`` with ``_low`` and ``_high``, ``best``, ``act_on_all``, ``act_on_none``.

    Examples
    --------
    >>> from permissible import metrics
    >>> found = metrics.expected_cost_curve([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.5], [0.25, 0.75], n_bootstrap=0)
    >>> found["cost"].tolist(), found["best"].tolist(), found["act_on_all"].tolist()
    ([0.125, 0.125], [0.125, 0.125], [0.25, 0.75])
    """
    at = checked_thresholds(thresholds)
    how = Resampling(level, n_bootstrap, random_state)
    rows = judged(*as_positive(y, proba, pos_label), sample_weight)
    told, recalibrated = rows.between(at), Cells(isotonic(rows.cells)[0], rows.cells.counts)
    measured = [(t, threshold_measures(t, (2 * t, 2 * (1 - t)))[-1]) for t in at]
    costs = [estimates(told.between(np.array([t])), [cost], how)[0] for t, cost in measured]
    rate = float(rows.cells.by_class[0, 1] / rows.cells.total[0])
    found: Columns = {"threshold": at, **_with_ends("cost", costs)}
    found["best"] = np.array([cost.value(recalibrated)[0] for _, cost in measured])
    return found | {"act_on_all": 2 * at * (1 - rate), "act_on_none": 2 * (1 - at) * rate}


def calibration_summary(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> Columns:
    """Return measures of calibration and discrimination, each with an interval.

    Parameters
    ----------
    y, proba, pos_label, sample_weight, level, n_bootstrap, random_state
        As in `net_benefit`.

    Returns
    -------
    dict of columns
        ``measure``, ``value``, ``low``, ``high``. The measures are ``observed`` (rate of positives), ``predicted`` (mean
        probability), ``o_e`` (their ratio), ``intercept`` (calibration in the large, 0 is right) and ``slope`` (1 is right,
        below 1 the probabilities are too extreme) of a logistic recalibration, ``auc``, ``brier``, and the parts of the
        Brier score by isotonic regression: brier = ``miscalibration`` - ``discrimination`` + ``uncertainty``.

    Examples
    --------
    >>> from permissible import metrics
    >>> found = metrics.calibration_summary([0, 0, 1, 1, 0, 1], [0.1, 0.2, 0.6, 0.9, 0.7, 0.4])
    >>> dict(zip(found["measure"], found["value"].round(3).tolist()))["o_e"]
    1.034
    """
    rows = judged(*as_positive(y, proba, pos_label), sample_weight)
    measures = calibration_measures(rows.cells)
    found = estimates(rows, measures, Resampling(level, n_bootstrap, random_state))
    return {"measure": [measure.key for measure in measures], **_ends_alone(found)}


def threshold_table(
    y: ArrayLike,
    proba: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    costs: object = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> Columns:
    """Return what happens at chosen thresholds, one line for each.

    Parameters
    ----------
    y, proba, pos_label, sample_weight, level, n_bootstrap, random_state
        As in `net_benefit`. Shares have Wilson's intervals, net benefit and cost those of the bootstrap.
    thresholds : array, optional
        By default 0.05, 0.1, 0.2, ..., 0.9.
    costs : CostMatrix or array of shape (2, 2), optional
        What the mistakes cost, ``costs[true, decided]``, the positive class last, or by name. By default a miss costs 1
        and a false alarm the odds of the threshold, the costs at which the threshold is right.

    Returns
    -------
    dict of arrays
        ``threshold``; the counts ``tp``, ``fp``, ``fn``, ``tn``; and with ``_low`` and ``_high`` ``flagged`` (share of all rows),
        ``sensitivity``, ``specificity``, ``ppv``, ``npv``, ``net_benefit``, ``cost``. A share of no rows is NaN.

    Examples
    --------
    >>> from permissible import metrics
    >>> found = metrics.threshold_table([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3], [0.5])
    >>> {name: found[name].tolist() for name in ("tp", "fn", "sensitivity", "ppv")}
    {'tp': [1.0], 'fn': [1.0], 'sensitivity': [0.5], 'ppv': [1.0]}
    """
    how = Resampling(level, n_bootstrap, random_state)
    at = checked_thresholds([0.05, *(np.arange(1, 10) / 10)] if thresholds is None else thresholds)
    prices = _two_costs(costs, y, pos_label)
    rows = judged(*as_positive(y, proba, pos_label), sample_weight).between(at)
    counts = np.array([np.concatenate(flagged_counts(rows.cells, t)) for t in at])
    negative, positive = rows.cells.by_class[0]
    found: Columns = {"threshold": at, "tp": counts[:, 1], "fp": counts[:, 0]}
    found |= {"fn": positive - counts[:, 1], "tn": negative - counts[:, 0]}
    lines = [(t, threshold_measures(t, prices)) for t in at]
    lists = [estimates(rows.between(np.array([t])), measures, how) for t, measures in lines]
    for k, measure in enumerate(lines[0][1]):
        found |= _with_ends(measure.key, [line[k] for line in lists])
    return found


def _two_costs(costs: object, y: ArrayLike, pos_label: object) -> tuple[float, float] | None:
    """The costs of a false alarm and of a miss; costs by name are those of the labels."""
    if costs is None:
        return None
    labels = np.asarray(y)
    coded = pos_label is None and labels.dtype.kind not in "OUS"
    names = [0, 1] if coded else np.unique(labels).tolist()
    found = decision_for(costs, names, "costs")
    if len(names) == 2 and isinstance(found, CostMatrix) and found.classes and pos_label == names[0]:
        found = found.aligned(names[::-1])
    if not isinstance(found, CostMatrix):
        raise refusal_type("costs", "a CostMatrix or an array of shape (2, 2)", costs)
    if found.reject_cost is not None:
        remedy = "see decision_benefit for decisions that refer rows"
        raise refusal("costs", "without a price of referring a row", Words(f"{found.reject_cost}"), remedy)
    return float(found.matrix[0, 1]), float(found.matrix[1, 0])


def _ends_alone(found: Sequence[Estimate]) -> dict[str, FloatArray]:
    return {
        "value": np.array([one.value for one in found]),
        "low": np.array([one.low for one in found]),
        "high": np.array([one.high for one in found]),
    }


def _with_ends(name: str, found: Sequence[Estimate]) -> dict[str, FloatArray]:
    value, low, high = _ends_alone(found).values()
    return {name: value, f"{name}_low": low, f"{name}_high": high}
