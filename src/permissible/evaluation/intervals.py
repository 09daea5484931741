"""Intervals from bootstrap resamples, and Wilson's for shares.

A share of counted rows (sensitivity, predictive value) has Wilson's interval: the bootstrap gives none at 0 and 1. The
others have the percentile interval of the resamples, but for the parts of the Brier score by isotonic regression: their
estimates are biased upwards, and those of a resample are biased again by about as much. The interval is therefore
reflected at the estimate (the basic bootstrap), which removes the bias.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.stats import norm

from permissible.types import FloatArray
from permissible.validation.numbers import count, fraction

INFINITE = 1e200
"""Replaces an infinite value among the resamples, so that quantiles are defined."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made: their level, the number of resamples (0 for no intervals) and the seed."""

    level: float = 0.95
    n_bootstrap: int = 1000
    random_state: int = 0

    def __post_init__(self) -> None:
        fraction("level", self.level, most=0.9999)
        count("n_bootstrap", self.n_bootstrap, low=0)
        count("random_state", self.random_state, low=0)

    @property
    def z(self) -> float:
        """The quantile of the normal distribution."""
        return float(norm.ppf(0.5 + self.level / 2))


def percentile(replicates: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the interval between quantiles of the resamples (axis 0); undefined ones are left out, infinite ones count."""
    tails = np.array([0.5 - level / 2, 0.5 + level / 2])
    known = np.clip(replicates, -INFINITE, INFINITE)
    empty = np.isnan(known).all(axis=0)
    ends = np.nanquantile(np.where(empty, 0.0, known), tails, axis=0)
    low, high = np.where(empty, np.nan, np.where(np.abs(ends) > INFINITE / 1e9, np.copysign(np.inf, ends), ends))
    return low, high


def basic(replicates: FloatArray, level: float, estimate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the percentile interval reflected at the estimate; neither end is below 0."""
    low, high = percentile(replicates, level)
    return np.maximum(2 * estimate - high, 0.0), np.maximum(2 * estimate - low, 0.0)


Z95 = 1.959963984540054


def wilson(share: float, size: float, z: float = Z95) -> tuple[float, float]:
    """Return Wilson's interval of a share of `size` rows, by default of 95 %.

    >>> [round(end, 4) for end in wilson(1.0, 10)]
    [0.7225, 1.0]
    """
    spread = z * sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    center, scale = share + z**2 / (2 * size), 1 + z**2 / size
    return max(0.0, (center - spread) / scale), min(1.0, (center + spread) / scale)
