"""Metrics of two classes, each a function of `Cells`: one number for each sample of counts.

The tables, the displays and the report read these, so that each metric has one formula and one kind of interval wherever
it is shown. A row is flagged where its probability exceeds the threshold, as `pm.Weighted` decides.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from permissible.evaluation.cells import Cells, Judged
from permissible.evaluation.intervals import Resampling, basic, percentile, wilson
from permissible.evaluation.recalibration import brier_parts, briers, intercepts, slopes
from permissible.types import FloatArray

Function = Callable[[Cells], FloatArray]


@dataclass(frozen=True, slots=True)
class Statistic:
    """A metric: its name, what it means, its value for each sample, and how its interval is made.

    A share has `trials`, the rows that it is a share of, and Wilson's interval; `reflected` ones have the basic
    bootstrap interval.
    """

    key: str
    name: str
    value: Function
    trials: Function | None = None
    reflected: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A figure with its interval, its value in each resample, and for a share the number of rows that it is a share of."""

    value: float
    low: float
    high: float
    replicates: FloatArray
    trials: float | None = None


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part / whole, not defined (NaN) where there is nothing to divide by."""
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0))


# -- calibration and discrimination -----------------------------------------------------------------------------------


def _observed(cells: Cells) -> FloatArray:
    return ratio(cells.by_class[:, 1], cells.total)


def _predicted(cells: Cells) -> FloatArray:
    return ratio(cells.counts.sum(axis=1) @ cells.probability, cells.total)


def _auc(cells: Cells) -> FloatArray:
    """P(a positive row has the larger probability), ties counted by half."""
    negative, positive = cells.counts[:, 0], cells.counts[:, 1]
    below = np.cumsum(negative, axis=1) - negative / 2
    return ratio((positive * below).sum(axis=1), negative.sum(axis=1) * positive.sum(axis=1))


def calibration_measures(all_rows: Cells) -> tuple[Statistic, ...]:
    """Return the figures of `calibration_summary`; resamples start their fits from the estimates of all rows."""
    large, both = cache(lambda: intercepts(all_rows)), cache(lambda: slopes(all_rows))

    def intercept(cells: Cells) -> FloatArray:
        start = float(large()[0])
        return large() if cells is all_rows else intercepts(cells, start if np.isfinite(start) else 0.0)

    def slope(cells: Cells) -> FloatArray:
        start = both()[0]
        found = both() if cells is all_rows else slopes(cells, start if np.isfinite(start).all() else np.zeros(2))
        return found[:, 1]

    parts = lru_cache(maxsize=1)(brier_parts)  # three figures read the parts of one regression
    return (
        Statistic("observed", "observed rate", _observed, lambda cells: cells.total),
        Statistic("predicted", "mean predicted probability", _predicted),
        Statistic("o_e", "observed / expected", lambda cells: ratio(_observed(cells), _predicted(cells))),
        Statistic("intercept", "calibration intercept", intercept),
        Statistic("slope", "calibration slope", slope),
        Statistic("auc", "area under the ROC curve", _auc),
        Statistic("brier", "Brier score", lambda cells: briers(cells, cells.probability)),
        Statistic("miscalibration", "miscalibration", lambda cells: parts(cells)[:, 0], reflected=True),
        Statistic("discrimination", "discrimination", lambda cells: parts(cells)[:, 1], reflected=True),
        Statistic("uncertainty", "uncertainty", lambda cells: parts(cells)[:, 2]),
    )


# -- decisions at a threshold -----------------------------------------------------------------------------------------


def flagged_counts(cells: Cells, threshold: float) -> tuple[FloatArray, FloatArray]:
    """Return false and true positives at a threshold."""
    above = cells.counts[:, :, cells.probability > threshold].sum(axis=2)
    return above[:, 0], above[:, 1]


def threshold_measures(threshold: float, costs: tuple[float, float] | None = None) -> tuple[Statistic, ...]:
    """Return the figures of a decision at a threshold; `costs` are those of a false alarm and of a miss.

    Without costs a miss costs 1 and a false alarm the odds of the threshold, the costs at which the threshold is right.
    """
    false_alarm, miss = (threshold / (1 - threshold), 1.0) if costs is None else costs

    def counts(cells: Cells) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        fp, tp = flagged_counts(cells, threshold)
        negative, positive = cells.by_class.T
        return tp, fp, positive - tp, negative - fp  # tp, fp, fn, tn

    def share(part: Sequence[int], whole: Sequence[int]) -> tuple[Function, Function]:
        def trials(cells: Cells) -> FloatArray:
            found = counts(cells)
            return np.asarray(sum(found[k] for k in whole))

        return lambda cells: ratio(np.asarray(sum(counts(cells)[k] for k in part)), trials(cells)), trials

    def benefit(cells: Cells) -> FloatArray:
        tp, fp, *_ = counts(cells)
        return ratio(tp - fp * (threshold / (1 - threshold)), cells.total)

    def cost(cells: Cells) -> FloatArray:
        _, fp, fn, _ = counts(cells)
        return ratio(fp * false_alarm + fn * miss, cells.total)

    return (
        Statistic("flagged", "share flagged", *share((0, 1), (0, 1, 2, 3))),
        Statistic("sensitivity", "sensitivity", *share((0,), (0, 2))),
        Statistic("specificity", "specificity", *share((3,), (1, 3))),
        Statistic("ppv", "positive predictive value", *share((0,), (0, 1))),
        Statistic("npv", "negative predictive value", *share((3,), (2, 3))),
        Statistic("net_benefit", "net benefit", benefit),
        Statistic("cost", "cost", cost),
    )


# -- estimates --------------------------------------------------------------------------------------------------------


def estimates(
    rows: Judged, measures: Sequence[Statistic], how: Resampling, *, resample_all: bool = False
) -> list[Estimate]:
    """Return each figure with its interval, all from the same resamples.

    Shares have an interval without any resample; `resample_all` draws theirs too, for differences between groups.
    """
    drawn = [k for k, measure in enumerate(measures) if resample_all or measure.trials is None]
    values = [float(measure.value(rows.cells)[0]) for measure in measures]
    found: dict[int, list[FloatArray]] = {k: [] for k in drawn}
    for sample in rows.resamples(how.n_bootstrap, how.random_state) if drawn else ():
        for k in drawn:
            found[k].append(measures[k].value(sample))
    grouped, empty = rows.grouped(), np.empty(0)
    replicates = [np.concatenate(found[k]) if found.get(k) else empty for k in range(len(measures))]
    if grouped is not rows.cells and how.n_bootstrap:  # resamples are those of the grouped cells: centre them
        for k in drawn:
            replicates[k] = replicates[k] + (values[k] - float(measures[k].value(grouped)[0]))
    return [_estimate(rows, *each, how) for each in zip(measures, values, replicates, strict=True)]


def _estimate(rows: Judged, measure: Statistic, value: float, replicates: FloatArray, how: Resampling) -> Estimate:
    unit, trials = rows.size / float(rows.cells.total[0]), None
    if measure.trials is not None:
        trials = unit * float(measure.trials(rows.cells)[0])
    if how.n_bootstrap == 0 or np.isnan(value):
        low = high = np.nan
    elif trials is not None:
        low, high = wilson(value, trials, how.z)
    elif measure.reflected:
        low, high = map(float, basic(replicates, how.level, np.asarray(value)))
    else:
        low, high = map(float, percentile(replicates, how.level))
    return Estimate(value, low, high, replicates, trials)
