"""UDTClassifier: a monotone constraint holds for smoothed probabilities, over every row of a grid, wherever the tree grew."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import permissible as pm

LEVELS = 5


def drawn(seed):
    """A few rows of three columns of few values, with labels that ignore the constraint half of the time."""
    random = np.random.default_rng(seed)
    n = int(random.integers(12, 60))
    X = random.integers(0, LEVELS, size=(n, 3)).astype(float)
    slope = random.normal(size=3) * random.integers(0, 2)
    y = (random.random(n) < 1 / (1 + np.exp(-(X - 2) @ slope))).astype(int)
    y[:2] = 0, 1
    return X, y, random.choice([-1, 0, 1, 1], size=3), float(random.choice([0.3, 1.0, 5.0]))


GRID = np.array(list(itertools.product(range(LEVELS), repeat=3)), dtype=float)


def largest_violation(probability, directions):
    """Brute force: over all pairs of grid neighbours in a constrained column, how far the probability moves the wrong way."""
    cube = probability.reshape((LEVELS,) * 3)
    steps = [direction * np.diff(cube, axis=axis).min() for axis, direction in enumerate(directions) if direction > 0]
    steps += [-np.diff(cube, axis=axis).max() for axis, direction in enumerate(directions) if direction < 0]
    return max(0.0, -min(steps, default=0.0))


@pytest.mark.parametrize("pruning", [None, 0.01, "auto"])
def test_monotone_constraints_hold_after_smoothing(pruning):
    moved = 0
    for seed in range(150):
        X, y, directions, smoothing = drawn(seed)
        tree = pm.UDTClassifier(
            monotonic_cst=directions,
            smoothing=smoothing,
            pruning=pruning,
            pruning_folds=3 if pruning == "auto" else 5,
            loss=("logistic", "squared", "matsushita")[seed % 3],
        ).fit(X, y)
        assert largest_violation(tree.predict_proba(GRID)[:, 1], directions) == 0.0
        free = replace(tree.model_, monotone=None).node_probability
        moved += largest_violation(free[tree.apply(GRID), 1], directions) > 0
    assert moved > (10 if pruning is None else 0)  # smoothing alone breaks the constraint in as many trees


def test_the_same_probabilities_on_parts_and_from_files(tmp_path):
    grid, moved = pd.DataFrame(GRID, columns=["a", "b", "c"]), 0
    for seed in range(12):
        X, y, directions, smoothing = drawn(seed)
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        options = {"monotonic_cst": directions, "smoothing": smoothing}
        memory = pm.UDTClassifier(**options).fit(frame, y)
        whole = frame.assign(y=y)
        parts = pm.UDTClassifier(**options).fit(pm.BinnedDataset.from_batches([whole[:7], whole[7:]], target="y"))
        expected = memory.predict_proba(grid)
        np.testing.assert_array_equal(parts.predict_proba(grid), expected)
        pm.save(memory, tmp_path / "tree.json")
        np.testing.assert_array_equal(pm.load(tmp_path / "tree.json").predict_proba(grid), expected)
        free = replace(memory.model_, monotone=None).node_probability
        moved += largest_violation(free[memory.apply(grid), 1], directions) > 0
    assert moved


def test_leaves_in_order_keep_their_smoothed_shares_and_others_get_the_pooled_one():
    # 40 rows at 0 with 4 positives, and 1 negative row at 1: the shares .1 and 0 fall, smoothed .119 and .333 rise.
    X = np.array([[0.0]] * 40 + [[1.0]])
    y = np.array([1] * 4 + [0] * 37)
    free = pm.UDTClassifier(smoothing=1.0).fit(X, y).predict_proba([[0.0], [1.0]])[:, 1]
    falling = pm.UDTClassifier(smoothing=1.0, monotonic_cst=[-1]).fit(X, y).predict_proba([[0.0], [1.0]])[:, 1]
    np.testing.assert_allclose(free, [5 / 42, 1 / 3], rtol=1e-15)
    np.testing.assert_allclose(falling, [6 / 45, 6 / 45], rtol=1e-15)
    X, y = np.array([[0.0]] * 9 + [[1.0]] * 9), np.array([0] * 8 + [1] + [1] * 8 + [0])
    rising = pm.UDTClassifier(smoothing=1.0, monotonic_cst=[1]).fit(X, y).predict_proba([[0.0], [1.0]])[:, 1]
    np.testing.assert_allclose(rising, [2 / 11, 9 / 11], rtol=1e-15)
