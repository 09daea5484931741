"""Figures of merit by the values of a column: who is served worse, and whether chance could explain it.

Every group is compared with all other rows. With many groups some differ by chance, so the intervals of the differences hold
for all comparisons of the table at once (Bonferroni), and a group `differs` where such an interval leaves 0 out.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import norm

from permissible.evaluation.cells import Judged, judged, truth_of, weights_of
from permissible.evaluation.intervals import Resampling
from permissible.evaluation.measures import (
    Estimate,
    calibration_measures,
    estimates,
    threshold_measures,
)
from permissible.evaluation.net_benefit import Columns, checked_thresholds
from permissible.types import AnyArray, ArrayLike, BoolArray
from permissible.validation import Words, one_of, refusal
from permissible.validation.numbers import count

MEASURES = ("o_e", "auc", "sensitivity", "specificity", "net_benefit")
CALIBRATION = (
    "observed", "predicted", "o_e", "intercept", "slope", "auc", "brier", "miscalibration", "discrimination", "uncertainty",
)  # fmt: skip
AT_THRESHOLD = ("flagged", "sensitivity", "specificity", "ppv", "npv", "net_benefit", "cost")
NOTHING = Estimate(np.nan, np.nan, np.nan, np.empty(0))
MOST_VALUES = 10
"""A column of numbers with more distinct values is cut at its quartiles."""


def subgroup_table(
    y: ArrayLike,
    proba: ArrayLike,
    groups: ArrayLike,
    measures: Sequence[str] = MEASURES,
    *,
    threshold: float = 0.5,
    min_events: int = 20,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> Columns:
    """Return figures of merit in each group of rows, beside all other rows.

    Parameters
    ----------
    y, proba, sample_weight, level, n_bootstrap, random_state
        As in `net_benefit`.
    groups : array of shape (n,)
        The value of a column. Numbers of more than ten distinct values are cut at their quartiles; missing ones are a group.
    measures : sequence of str
        Among those of `calibration_summary` and of `threshold_table`.
    threshold : float
        For the measures of a decision.
    min_events : int
        A group with fewer rows of either class is marked as ``small``: its figures are uncertain whatever their interval.

    Returns
    -------
    dict of columns
        One line for each group and measure: ``group``, ``rows``, ``events``, ``small``, ``measure``, ``value``, ``low``,
        ``high``, ``difference`` from all other rows with ``_low`` and ``_high`` for all comparisons at once, and ``differs``.

    Examples
    --------
    >>> from permissible import metrics
    >>> found = metrics.subgroup_table([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.7], ["a", "a", "b", "b"], ["sensitivity"])
    >>> found["group"], found["value"].tolist(), found["small"]
    (['a', 'b'], [1.0, 0.0], [True, True])
    """
    how = Resampling(level, n_bootstrap, random_state)
    count("min_events", min_events, low=0)
    at = float(checked_thresholds([threshold])[0])
    wanted = [one_of("measures", name, (*CALIBRATION, *AT_THRESHOLD)) for name in measures]
    p = np.asarray(proba)
    truth, weight = truth_of(y, len(p), 2), weights_of(sample_weight, len(p))
    named = group_rows(groups, len(p))
    z = float(norm.ppf(1 - (1 - level) / 2 / max(1, len(named) * len(wanted))))
    lines: list[dict[str, object]] = []
    for place, (name, inside) in enumerate(named):
        if not weight[inside].any():
            continue
        group, rest = (
            _figures(judged(truth[rows], p[rows], weight[rows]), wanted, at, how, 2 * place + side)
            if weight[rows].any()
            else [NOTHING] * len(wanted)
            for side, rows in enumerate((inside, ~inside))
        )
        totals = np.bincount(truth[inside], weight[inside], minlength=2)
        about = {"group": name, "rows": float(totals.sum()), "events": float(totals[1])}
        about["small"] = bool(totals.min() < min_events)
        for k, measure in enumerate(wanted):
            lines.append({**about, "measure": measure, **_compared(group[k], rest[k], z)})
    return {key: _column([line[key] for line in lines]) for key in lines[0]}


def _column(values: list[object]) -> Any:
    return np.array(values) if isinstance(values[0], float) else values


def _figures(rows: Judged, wanted: Sequence[str], at: float, how: Resampling, place: int) -> list[Estimate]:
    """The figures of some rows, with resamples of their own."""
    seeded = Resampling(how.level, how.n_bootstrap, how.random_state * 100_003 + place)
    found: dict[str, Estimate] = {}
    families = ((calibration_measures(rows.cells), rows), (threshold_measures(at), rows.between(np.array([at]))))
    for family, cells in families:
        chosen = [measure for measure in family if measure.key in wanted]
        figures = estimates(cells, chosen, seeded, resample_all=True)
        found |= {measure.key: one for measure, one in zip(chosen, figures, strict=True)}
    return [found[name] for name in wanted]


def _compared(group: Estimate, rest: Estimate, z: float) -> dict[str, Any]:
    value = {"value": group.value, "low": group.low, "high": group.high}
    difference = group.value - rest.value
    spread = np.hypot(_spread(group), _spread(rest))
    low, high = float(difference - z * spread), float(difference + z * spread)
    value |= {"difference": float(difference), "difference_low": low, "difference_high": high}
    return {**value, "differs": bool(low > 0 or high < 0)}


def _spread(one: Estimate) -> float:
    """The standard deviation over the resamples in which the figure is defined."""
    known = one.replicates[np.isfinite(one.replicates)]
    return float(np.std(known, ddof=1)) if len(known) > 1 else np.nan


def group_rows(groups: ArrayLike, n_rows: int) -> list[tuple[str, BoolArray]]:
    """Return the groups of a column by name, each with its rows."""
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise refusal("groups", f"one value for each of the {n_rows} rows", Words(f"shape {values.shape}"))
    missing: BoolArray = np.array([value is None or value != value for value in values.tolist()])
    found = _quartiles(values, missing) if values.dtype.kind in "iuf" else None
    if found is None:
        texts = np.array([str(value) for value in values.tolist()], dtype=object)
        distinct = list(dict.fromkeys(_in_order(values[~missing])))
        found = [(name, np.asarray((texts == name) & ~missing)) for name in distinct]
    return [*found, ("missing", missing)] if missing.any() else found


def _in_order(values: AnyArray) -> list[str]:
    try:
        return [str(value) for value in np.unique(values).tolist()]
    except TypeError:
        return sorted({str(value) for value in values.tolist()})


def _quartiles(values: AnyArray, missing: BoolArray) -> list[tuple[str, BoolArray]] | None:
    """Groups between the quartiles of a column of numbers, or None where it has few values."""
    known = values[~missing]
    if len(np.unique(known)) <= MOST_VALUES:
        return None
    inner = np.unique(np.quantile(known, [0.25, 0.5, 0.75], method="lower"))
    inner = inner[inner < known.max()]
    place = np.searchsorted(inner, values, side="left")
    middle = [f"{low:g} to {high:g}" for low, high in pairwise(inner)]
    names = [f"up to {inner[0]:g}", *middle, f"above {inner[-1]:g}"]
    return [(name, np.asarray((place == k) & ~missing)) for k, name in enumerate(names)]
