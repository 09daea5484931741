"""The papers' own statistics: methods beaten, regression of one method on another, standard error of a median.

What any comparison needs (paired tests, ranks) is in permissible.evaluation.paired.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from permissible.evaluation.paired import Paired, paired_t
from permissible.types import AnyArray


@dataclass(frozen=True, slots=True)
class Regression:
    """Least squares of y on x: y = slope x + intercept, with the P value of slope zero and the paired t-test of x against y."""

    slope: float
    intercept: float
    correlation: float
    slope_p_value: float
    paired: Paired


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
