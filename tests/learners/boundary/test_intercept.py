"""The intercept where many are best: the middle of the interval, whatever the solver and the order of the rows."""

import numpy as np
import pytest
from scipy.optimize import linprog

import permissible as pm
from permissible.learners.boundary.intercept import best_intercepts, settled_intercept
from permissible.learners.boundary.problem import Problem
from permissible.learners.boundary.segments import Segments

HINGE = Segments(hinge=np.ones((2, 1)), width=np.ones((2, 1)))


def interval_of(problem, score):
    """The referee: least and greatest b of the linear program, at its optimal value."""
    n, k = len(score), problem.segments.count
    side = problem.positive.astype(int)
    sign = np.where(problem.positive, 1.0, -1.0)
    cost = np.concatenate([[0.0], (problem.weight[:, None] * problem.segments.width[side]).ravel()])
    # slack_ik >= h_k - y (f + b)
    rows = np.zeros((n * k, 1 + n * k))
    rows[:, 0] = -np.repeat(sign, k)
    rows[np.arange(n * k), 1 + np.arange(n * k)] = -1.0
    right = -(problem.segments.hinge[side] - (sign * score)[:, None]).ravel()
    bounds = [(None, None)] + [(0, None)] * (n * k)
    value = linprog(cost, rows, right, bounds=bounds).fun
    ends = []
    for direction in (1.0, -1.0):
        found = linprog(
            direction * np.eye(1 + n * k)[0], np.vstack([rows, cost]), np.append(right, value + 1e-9), bounds=bounds
        )
        ends.append(float(found.x[0]))
    return ends


@pytest.mark.parametrize("seed", range(12))
def test_the_interval_is_that_of_the_linear_program(seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(4, 20))
    positive = np.arange(n) < n // 2
    weight = np.where(positive, 1.0, (n // 2) / (n - n // 2)) if seed % 2 else generator.integers(1, 3, n).astype(float)
    problem = Problem(HINGE, positive, weight, 0.1)
    score = generator.normal(size=n) * (0.1 if seed % 3 else 2.0)
    np.testing.assert_allclose(best_intercepts(problem, score), interval_of(problem, score), atol=1e-6)


def test_a_unique_intercept_is_kept_to_the_bit():
    problem = Problem(HINGE, np.array([True, True, False]), np.array([1.0, 1.5, 1.0]), 0.1)
    score = np.array([0.1, -0.2, 0.3])
    low, high = best_intercepts(problem, score)
    assert low == high
    assert settled_intercept(problem, score, low + 1e-9) == low + 1e-9


def test_rows_of_no_weight_do_not_cut_the_interval():
    positive, score = np.array([True, False, True]), np.zeros(3)
    problem = Problem(HINGE, positive, np.array([1.0, 1.0, 0.0]), 0.1)
    assert best_intercepts(problem, np.array([0.0, 0.0, 0.7])) == (-1.0, 1.0)
    assert settled_intercept(problem, score, 0.3) == 0.0


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "rbf", "alpha": 0.1},
        {"kernel": "linear", "alpha": 1.0},
        {"alpha": 1.0},
        {"alpha": 1.0, "boundaries": (0.2, 0.5, 0.7)},
        {"kernel": "rbf", "alpha": 1.0, "boundaries": (0.2, 0.5, 0.7)},
    ],
)
def test_balanced_classes_have_one_intercept_with_a_certificate(options):
    moved = 0
    for seed in range(25):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(6, 60))
        X, y = generator.normal(size=(n, 2)).round(1), (generator.random(n) < 0.4).astype(int)
        y[:2] = 0, 1
        order = generator.permutation(n)
        first = pm.BoundaryClassifier(class_weight="balanced", **options).fit(X, y)
        second = pm.BoundaryClassifier(class_weight="balanced", **options).fit(X[order], y[order])
        np.testing.assert_allclose(first.decision_function(X), second.decision_function(X), atol=1e-6)
        assert first.gap_ <= 1e-6 * first.objective_
        share = np.where(y == 1, 0.5 / (y == 1).mean(), 0.5 / (y == 0).mean())
        problem = Problem(first.target_.segments, y == 1, share, first.alpha)
        low, high = best_intercepts(problem, first.decision_function(X) - first.intercept_[0])
        if high - low > 1e-3:
            moved += 1
            assert first.intercept_[0] == pytest.approx(0.5 * (low + high), abs=1e-6)
    assert moved > 2 or options.get("boundaries")
