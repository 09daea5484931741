"""The papers' own statistics: Friedman's test, methods beaten, regression of one method on another, standard error of a median.

What any comparison needs (paired tests, ranks) is in permissible.evaluation.paired.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from permissible.evaluation.paired import Paired, paired_t, ranks
from permissible.types import AnyArray


@dataclass(frozen=True, slots=True)
class Regression:
    """Least squares of y on x: y = slope x + intercept, with the P value of slope zero and the paired t-test of x against y."""

    slope: float
    intercept: float
    correlation: float
    slope_p_value: float
    paired: Paired


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test with Iman and Davenport's correction, and Nemenyi's critical difference of average ranks."""

    chi_square: float
    p_value: float
    f_statistic: float
    f_p_value: float
    critical_difference: float


def friedman(table: AnyArray, level: float = 0.05) -> Friedman:
    """Friedman's test over all methods, and the difference of average ranks that Nemenyi's test calls significant."""
    sets, methods = table.shape
    placed = ranks(table)
    mean = placed.mean(axis=0)
    # Ties lower the variance of the ranks: divide by the actual variance.
    variance = float(np.sum((placed - (methods + 1) / 2) ** 2)) / (sets * (methods - 1))
    spread = float(np.sum((mean - (methods + 1) / 2) ** 2))
    chi_square = sets * spread / variance if variance > 0.0 else 0.0
    room = sets * (methods - 1) - chi_square
    f_statistic = (sets - 1) * chi_square / room if room > 0.0 else float("inf")
    freedom = (methods - 1) * (sets - 1)
    studentized = float(stats.studentized_range.ppf(1.0 - level, methods, np.inf)) / np.sqrt(2.0)
    return Friedman(
        chi_square,
        float(stats.chi2.sf(chi_square, methods - 1)),
        f_statistic,
        float(stats.f.sf(f_statistic, methods - 1, freedom)),
        float(studentized * np.sqrt(methods * (methods + 1) / (6.0 * sets))),
    )


def beaten(table: AnyArray, level: float = 0.1) -> AnyArray:
    """Count, for each method, the methods it beats: smaller mean over the data sets, paired t-test under `level`."""
    methods = table.shape[1]
    wins = np.zeros(methods, dtype=np.int64)
    for one in range(methods):
        for other in range(methods):
            test = paired_t(table[:, one], table[:, other])
            wins[one] += one != other and test.difference < 0.0 and test.p_value < level
    return wins


def regression(x: AnyArray, y: AnyArray) -> Regression:
    """Regress y on x by least squares, as under the scatter plots of [T] Figure 7."""
    if np.ptp(x) == 0.0:
        return Regression(float("nan"), float(np.mean(y)), float("nan"), float("nan"), paired_t(y, x))
    fit = stats.linregress(x, y)
    return Regression(
        float(fit.slope),
        float(fit.intercept),
        float(fit.rvalue),
        float(fit.pvalue),
        paired_t(np.asarray(y), np.asarray(x)),
    )


def median_standard_error(values: AnyArray, draws: int = 1000, seed: int = 0) -> float:
    """Standard error of the median, by the bootstrap."""
    generator = np.random.default_rng(seed)
    picks = generator.integers(len(values), size=(draws, len(values)))
    return float(np.std(np.median(np.asarray(values)[picks], axis=1), ddof=1)) if len(values) > 1 else float("nan")
