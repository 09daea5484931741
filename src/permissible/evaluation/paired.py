"""Methods compared on a table of errors: rows are data sets or folds, columns are methods.

Two methods are compared by the paired t-test or by Wilcoxon's signed ranks; many by average ranks.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from permissible.types import AnyArray


@dataclass(frozen=True, slots=True)
class Paired:
    """A paired comparison: mean of first minus second, the statistic, and its two-sided P value."""

    difference: float
    statistic: float
    p_value: float


def paired_t(first: AnyArray, second: AnyArray) -> Paired:
    """Student's paired t-test. No difference at all has P value 1; a constant one that is not zero has 0.

    >>> test = paired_t(np.array([1.0, 2.0, 4.0]), np.array([0.0, 2.0, 2.0]))
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (1.7321, 0.2254)
    """
    gap = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    mean = float(np.mean(gap))
    if gap.size < 2 or np.ptp(gap) == 0.0:
        return Paired(mean, float("nan"), 1.0 if mean == 0.0 else 0.0)
    statistic = mean / standard_error(gap)
    return Paired(mean, statistic, float(2.0 * stats.t.sf(abs(statistic), gap.size - 1)))


def wilcoxon(first: AnyArray, second: AnyArray) -> Paired:
    """Wilcoxon's signed-rank test, zeros split by Pratt's method; P value 1 when nothing differs."""
    gap = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if not np.any(gap):
        return Paired(0.0, float("nan"), 1.0)
    # The normal approximation throughout: ties and zeros are the rule with error rates, and exact tables allow neither.
    test = stats.wilcoxon(gap, zero_method="pratt", method="asymptotic")
    return Paired(float(np.mean(gap)), float(test.statistic), float(test.pvalue))


def ranks(table: AnyArray) -> AnyArray:
    """Rank the methods on each data set, 1 the smallest, ties get their mean rank; values count to 12 decimals."""
    return np.asarray(stats.rankdata(np.round(table, 12), axis=1), dtype=np.float64)


def average_ranks(table: AnyArray) -> AnyArray:
    """Average rank of each method.

    >>> average_ranks(np.array([[0.1, 0.2, 0.2], [0.3, 0.1, 0.2]])).tolist()
    [2.0, 1.75, 2.25]
    """
    return np.asarray(ranks(table).mean(axis=0), dtype=np.float64)


def standard_error(values: AnyArray) -> float:
    """Standard error of the mean, with n - 1."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
