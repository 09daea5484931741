"""Small tables that are hard in one way each: separable, quasi-separable, repeated and constant columns, units of 1000."""

import numpy as np


def _random(seed):
    return np.random.default_rng(seed)


def _labels(random, score):
    y = (random.random(len(score)) < 1 / (1 + np.exp(-score))).astype(int)
    y[:2] = 0, 1
    return y


def boolean(seed):
    """Yes-or-no columns and noisy labels."""
    random = _random(seed)
    X = random.integers(0, 2, (int(random.integers(60, 160)), 5)).astype(float)
    return X, _labels(random, (X - 0.5) @ random.normal(size=5) * 3)


def separable(seed):
    """One test separates the classes."""
    random = _random(seed)
    X = random.integers(0, 4, (60, 4)).astype(float)
    return X, (X[:, seed % 4] > 1).astype(int)


def quasi_separable(seed):
    """Where the first column is 1 every label is 1; elsewhere labels are noisy."""
    random = _random(seed)
    X = random.integers(0, 2, (80, 4)).astype(float)
    y = _labels(random, (X[:, 1] - 0.5) * 2)
    y[X[:, 0] == 1] = 1
    y[X[:, 0] == 0][:1] = 0
    if not (y == 0).any():
        y[np.flatnonzero(X[:, 0] == 0)[0]] = 0
    return X, y


def repeated(seed):
    """A column twice, a column mirrored, a constant one, a column of zeros."""
    random = _random(seed)
    n = 70
    first, second = random.integers(0, 3, n).astype(float), random.normal(size=n).round(1)
    X = np.column_stack([first, first, -second, second, np.full(n, 7.0), np.zeros(n)])
    return X, _labels(random, first - 1 + second)


def units(seed):
    """Columns of very different sizes."""
    random = _random(seed)
    X = random.normal(size=(90, 3)) * [1000.0, 1.0, 1e-3]
    return X, _labels(random, X @ [2e-3, 1.0, 500.0])


def rare(seed):
    """Three positives among 150."""
    random = _random(seed)
    X = random.normal(size=(150, 3)).round(1)
    y = np.zeros(150, dtype=int)
    y[random.choice(150, 3, replace=False)] = 1
    return X, y


PROBLEMS = {made.__name__: made for made in (boolean, separable, quasi_separable, repeated, units, rare)}


def weights(n_rows, seed):
    """Weights of no particular unit."""
    return _random(seed).uniform(0.2, 3.0, n_rows)
