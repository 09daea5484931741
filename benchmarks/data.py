"""Synthetic tables for the benchmarks: HIGGS-like columns (symmetric, skewed and few-valued) and a non-linear target."""

import functools

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


@functools.lru_cache(maxsize=2)
def higgs_like(n_rows: int, n_columns: int = 28, seed: int = 0) -> tuple[Floats, Labels]:
    """Make float32 columns, a third normal, a third log-normal, a third with few values, and labels with about 20% noise.

    The label depends on single columns, on products of two and on thresholds, so that depth and literals both matter.
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_columns), dtype=np.float32)
    X[:, 1::3] = np.exp(0.5 * X[:, 1::3])
    X[:, 2::3] = np.round(2 * X[:, 2::3]) / 2
    score = 0.8 * X[:, 0] - 0.6 * X[:, 1 % n_columns] + 0.5 * (X[:, 2 % n_columns] > 0.5) * X[:, 3 % n_columns]
    score += (
        0.7 * X[:, 4 % n_columns] * (X[:, 0] > 0) - 0.4 * np.abs(X[:, 6 % n_columns]) + 0.3 * X[:, 9 % n_columns] ** 2
    )
    probability = 1 / (1 + np.exp(-1.5 * (score - np.median(score))))
    return X, (random.random(n_rows) < probability).astype(np.int64)


def log_loss(y: Labels, probability: npt.ArrayLike) -> float:
    """Mean negative log-likelihood of the true labels."""
    positive = np.clip(np.asarray(probability, dtype=np.float64), 1e-15, 1 - 1e-15)
    return float(-np.mean(np.where(y == 1, np.log(positive), np.log1p(-positive))))
