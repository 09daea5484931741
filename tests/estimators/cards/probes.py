"""Rows with gaps and categories, labels that contradict directions here and there, and a search for rows that violate one."""

import numpy as np
import pandas as pd

DIRECTIONS = {"a": 1, "b": -1, "c": -1}


def rows(n, seed):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({name: random.normal(size=n).round(2) for name in "abcd"})
    for name in "abc":
        frame.loc[random.random(n) < 0.15, name] = np.nan
    frame["k"] = pd.Categorical(random.choice(["u", "v", "w", "x", "y"], n))
    return frame


def labels(frame, seed):
    """Labels that contradict the constraints here and there."""
    random, x = np.random.default_rng(seed), frame.drop(columns="k").fillna(0.0)
    score = x["a"] - x["b"] * x["c"] + 0.7 * np.sin(3 * x["a"]) + frame["k"].isin(["u", "w"]) * 1.2
    return (score + random.normal(size=len(x)) > 0.3).astype(int)


def largest_violation(score, n, seed=1):
    """How far a score moves the wrong way when one constrained value of n random rows is raised.

    Half of the values raised are such as stand in the training rows, so that some lie at the thresholds of a model; steps are
    small and large; categories that training has not seen and missing values stand in the other columns.
    """
    frame, random, worst = rows(n, seed), np.random.default_rng(seed + 1), 0.0
    frame["k"] = random.choice(np.array(["u", "v", "w", "x", "y", "unseen", None], dtype=object), n)
    names = random.choice(list(DIRECTIONS), n)
    low = np.where(random.random(n) < 0.5, random.normal(size=n), random.normal(size=n).round(2))
    high = low + random.exponential(size=n) * 10.0 ** random.integers(-3, 1, n)
    for name, direction in DIRECTIONS.items():
        chosen = names == name
        before, after = frame[chosen].copy(), frame[chosen].copy()
        before[name], after[name] = low[chosen], high[chosen]
        moved = direction * (score(after) - score(before))
        worst = max(worst, -float(moved.min()))
    return worst
