"""Performance measures by the values of a column: in which groups the model does worse, and whether chance could explain it.

Every group is compared with all other rows. With many groups some differ by chance, so the intervals of the differences hold
for all comparisons of the table at once (Bonferroni), and a group `differs` where such an interval leaves 0 out. Figures that
are not proportions are not compared where the group or the rest is small: bootstrap intervals from a few rows are too narrow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.stats import norm

from permissible.decisions.proba import positive
from permissible.evaluation.cells import judged, weights_of
from permissible.evaluation.intervals import Resampling, wilson
from permissible.evaluation.labels import as_positive, truth_of
from permissible.evaluation.measures import Estimate, calibration_measures, estimates, threshold_measures
from permissible.evaluation.net_benefit import Columns, checked_thresholds
from permissible.types import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
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
    measures: str | Sequence[str] = MEASURES,
    *,
    threshold: float = 0.5,
    min_events: int = 20,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> Columns:
    """Return metrics in each group of rows, beside all other rows.

    Parameters
    ----------
    y, proba, pos_label, sample_weight, level, n_bootstrap, random_state
        As in `net_benefit`.
    groups : array of shape (n,)
        The value of a column. Numbers of more than ten distinct values are cut at their quartiles; missing ones are a group.
    measures : str or sequence of str
        Among those of `calibration_summary` and of `threshold_table`.
    threshold : float
        For the measures of a decision.
    min_events : int
        A group with fewer rows of either class is marked as ``small``: its figures are uncertain whatever their interval,
        and only its shares are compared.

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
    names = [measures] if isinstance(measures, str) else list(measures)
    wanted = [one_of("measures", name, (*CALIBRATION, *AT_THRESHOLD)) for name in names]
    if not wanted:
        raise refusal("measures", "at least one measure", Words("none"))
    labels, p = as_positive(y, proba, pos_label)
    p = positive(p)
    truth, weight = truth_of(labels, len(p), 2), weights_of(sample_weight, len(p))
    return GroupedRows(truth, p, weight, at, how, min_events).tables({"": groups}, wanted)[""]


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRows:
    """Codes, probabilities and weights of rows of two classes, and how groups of them are judged."""

    truth: IntArray
    proba: FloatArray
    weight: FloatArray
    at: float
    how: Resampling
    min_events: int = 20

    def tables(self, columns: Mapping[str, ArrayLike], wanted: Sequence[str]) -> dict[str, Columns]:
        """Return the table of each column; the intervals of differences hold for all comparisons of all columns at once."""
        named = {name: group_rows(column, len(self.truth)) for name, column in columns.items()}
        comparisons = len(wanted) * sum(map(len, named.values()))
        z = float(norm.ppf(1 - (1 - self.how.level) / 2 / max(1, comparisons)))
        return {name: self._table(groups, wanted, z) for name, groups in named.items()}

    def _table(self, groups: Sequence[tuple[str, BoolArray]], wanted: Sequence[str], z: float) -> Columns:
        lines: list[dict[str, object]] = []
        for place, (name, inside) in enumerate(groups):
            if not self.weight[inside].any():
                continue
            totals = [np.bincount(self.truth[rows], self.weight[rows], minlength=2) for rows in (inside, ~inside)]
            small, rest_small = (bool(total.min() < self.min_events) for total in totals)
            group, rest = (self._figures(rows, wanted, 2 * place + side) for side, rows in enumerate((inside, ~inside)))
            about = {"group": name, "rows": float(totals[0].sum()), "events": float(totals[0][1]), "small": small}
            for k, measure in enumerate(wanted):
                compared = _compared(group[k], rest[k], z, small or rest_small)
                lines.append({**about, "measure": measure, **compared})
        columns = {key: [line[key] for line in lines] for key in lines[0]}
        return {key: np.array(of) if isinstance(of[0], float) else of for key, of in columns.items()}

    def _figures(self, inside: BoolArray, wanted: Sequence[str], place: int) -> list[Estimate]:
        """The figures of some rows, with resamples of their own."""
        if not self.weight[inside].any():
            return [NOTHING] * len(wanted)
        rows = judged(self.truth[inside], self.proba[inside], self.weight[inside])
        seeded = replace(self.how, random_state=self.how.random_state * 100_003 + place)
        found: dict[str, Estimate] = {}
        at = np.array([self.at])
        families = ((calibration_measures(rows.cells), rows), (threshold_measures(self.at), rows.between(at)))
        for family, cells in families:
            chosen = [measure for measure in family if measure.key in wanted]
            figures = estimates(cells, chosen, seeded, resample_all=True)
            found |= {measure.key: one for measure, one in zip(chosen, figures, strict=True)}
        return [found[name] for name in wanted]


def _compared(group: Estimate, rest: Estimate, z: float, small: bool) -> dict[str, object]:
    """A figure of a group, and its difference from the rest with an interval from the two intervals (Newcombe 1998)."""
    value = {"value": group.value, "low": group.low, "high": group.high}
    if group.trials is None and group.low == group.high:  # no resample differs: a few equal rows tell nothing
        value |= {"low": np.nan, "high": np.nan}
    (below, above), (rest_below, rest_above) = (_reach(one, z, small) for one in (group, rest))
    difference = group.value - rest.value
    low, high = difference - np.hypot(below, rest_above), difference + np.hypot(above, rest_below)
    value |= {"difference": float(difference), "difference_low": float(low), "difference_high": float(high)}
    return {**value, "differs": bool(low > 0 or high < 0)}


def _reach(one: Estimate, z: float, small: bool) -> tuple[float, float]:
    """How far an interval goes below and above its figure: Wilson's for a share, else by the spread of the resamples.

    The spread over resamples of a few rows is too small, so there is none for small groups.
    """
    if not len(one.replicates) or np.isnan(one.value):
        return np.nan, np.nan
    if one.trials is not None:
        low, high = wilson(one.value, one.trials, z)
        return one.value - low, high - one.value
    known = one.replicates[np.isfinite(one.replicates)]
    spread = z * float(np.std(known, ddof=1)) if len(known) > 1 and not small else np.nan
    return spread, spread


def group_rows(groups: ArrayLike, n_rows: int) -> list[tuple[str, BoolArray]]:
    """Return the groups of a column by name, each with its rows."""
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise refusal("groups", f"one value for each of the {n_rows} rows", Words(f"shape {values.shape}"))
    missing: BoolArray = np.array([_is_missing(value) for value in values.tolist()], dtype=bool)
    found = _quartiles(values, missing) if values.dtype.kind in "iuf" else None
    if found is None:
        texts = np.array([str(value) for value in values.tolist()], dtype=object)
        distinct = list(dict.fromkeys(_in_order(values[~missing])))
        found = [(name, np.asarray((texts == name) & ~missing)) for name in distinct]
    taken = {name for name, _ in found}
    return [*found, ("missing" if "missing" not in taken else "missing value", missing)] if missing.any() else found


def _is_missing(value: object) -> bool:
    """None, NaN, NaT, and the NA of pandas, which compares with nothing."""
    return value is None or str(value) == "<NA>" or bool(value != value)


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
