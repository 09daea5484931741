"""The compiled boundary solvers agree with their readable twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible.kernels._core import boundary as core
from permissible.kernels.reference import boundary as twin
from permissible.losses import PiecewiseLinear

BOUNDARIES = [(0.5,), (0.2, 0.7), (0.1, 0.5, 0.6, 0.9)]


def problem(seed, n, d, boundaries):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    positive = (X[:, 0] + rng.normal(size=n) > 0.3).astype(np.int8)
    positive[:2] = 0, 1
    weight = rng.integers(1, 4, size=n).astype(float)
    surrogate = PiecewiseLinear(boundaries)
    hinge = np.ascontiguousarray([surrogate.segments_neg.hinges, surrogate.segments_pos.hinges])
    width = np.ascontiguousarray([surrogate.segments_neg.widths, surrogate.segments_pos.widths])
    return X, positive, weight, hinge, width


def at_zero(X):
    return core.Start(np.zeros(X.shape[1]), np.zeros(len(X)))


cases = given(st.integers(0, 10_000), st.integers(4, 40), st.integers(1, 6), st.sampled_from(BOUNDARIES))


@settings(max_examples=25, deadline=None)
@cases
def test_newton_and_its_twin_reach_the_same_value(seed, n, d, boundaries):
    X, positive, weight, hinge, width = problem(seed, n, d, boundaries)
    strength = 0.05 * weight.sum()
    given = twin.HingeProblem(positive, weight, hinge, width, strength)
    solution = core.solve_dense(X, core.Problem(*given), at_zero(X), 1e-9, 1000, 1)
    coef, intercept, t = twin.newton(X, given)
    primal, dual = twin.values(X, given, coef, intercept, t)
    assert solution.dual_value <= primal * (1 + 1e-12)
    assert dual <= solution.primal_value * (1 + 1e-12)
    ours = twin.values(X, given, solution.coef, solution.intercept, solution.dual)
    assert ours[0] == pytest.approx(solution.primal_value, rel=1e-12)
    assert ours[1] == pytest.approx(solution.dual_value, rel=1e-9, abs=1e-12)
    assert primal == pytest.approx(solution.primal_value, rel=1e-5)


@settings(max_examples=15, deadline=None)
@cases
def test_descent_and_its_twin_reach_the_same_point(seed, n, d, boundaries):
    X, positive, weight, hinge, width = problem(seed, n, d, boundaries)
    strength = 0.2 * weight.sum()
    given = twin.HingeProblem(positive, weight, hinge, width, strength)
    solution = core.descend_dense(X, core.Problem(*given, penalize_intercept=True), at_zero(X), 1e-10, 3000, 0)
    coef, intercept, _ = twin.descend(X, given)
    np.testing.assert_allclose(solution.coef, coef, atol=2e-3)
    assert solution.intercept == pytest.approx(intercept, abs=2e-3)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 25), st.sampled_from(BOUNDARIES))
def test_pair_updates_and_their_twin_reach_the_same_scores(seed, n, boundaries):
    X, positive, weight, hinge, width = problem(seed, n, 2, boundaries)
    gram = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    strength = 0.1 * weight.sum()
    given = twin.HingeProblem(positive, weight, hinge, width, strength)
    solution = core.solve_gram(gram, core.Problem(*given), np.zeros(n), 1e-10, 10**6)
    t, _ = twin.pair_updates(gram, given)
    mass = np.where(positive, 1.0, -1.0) * weight
    np.testing.assert_allclose(solution.score, gram @ (mass * t) / strength, atol=2e-3)
    np.testing.assert_allclose(solution.score, gram @ (mass * solution.dual) / strength, atol=1e-10)


@settings(max_examples=60, deadline=None)
@cases
def test_the_intercept_is_the_weighted_median(seed, n, d, boundaries):
    X, positive, weight, hinge, width = problem(seed, n, d, boundaries)
    score = X @ np.ones(d)
    found = core.best_intercept(score, core.Problem(positive, weight, hinge, width, 1.0), 0.3)
    assert found == pytest.approx(
        twin.best_intercept(score, twin.HingeProblem(positive, weight, hinge, width, 1.0)), abs=1e-9
    )


@pytest.mark.parametrize(("kind", "name"), list(enumerate(["linear", "rbf", "poly", "sigmoid"])))
@pytest.mark.parametrize("shape", [(1, 1, 1), (31, 5, 3), (32, 7, 1), (100, 33, 8)])
def test_kernel_scores_agree(kind, name, shape):
    m, n, d = shape
    rng = np.random.default_rng(m)
    support, points, coef = rng.normal(size=(m, d)), rng.normal(size=(n, d)), rng.normal(size=m)
    expected = twin.kernel_scores(support, name, 0.7, 0.4, 3, coef, points)
    np.testing.assert_allclose(
        core.score_kernel(support, core.Kernel(kind, 0.7, 0.4, 3), coef, points), expected, rtol=1e-11, atol=1e-12
    )


def test_the_exponential_keeps_its_digits_down_to_underflow():
    points = np.concatenate([np.linspace(0, 30, 2001), [100.0, 1000.0]])[:, None]
    value = core.score_kernel(np.zeros((1, 1)), core.Kernel(1, 0.5, 0.0, 3), np.ones(1), np.ascontiguousarray(points))
    np.testing.assert_allclose(value, np.exp(-0.5 * points[:, 0] ** 2), rtol=3e-15, atol=1e-300)


def test_sizes_that_do_not_fit_are_refused():
    X, positive, weight, hinge, width = problem(0, 10, 2, (0.5,))
    with pytest.raises(ValueError, match="one value per row"):
        core.solve_dense(X, core.Problem(positive[:5], weight, hinge, width, 1.0), at_zero(X), 1e-6, 10, 1)
    with pytest.raises(ValueError, match="one value per column"):
        core.solve_dense(X, core.Problem(positive, weight, hinge, width, 1.0), at_zero(X[:, :1]), 1e-6, 10, 1)
    with pytest.raises(TypeError):
        core.solve_dense(X.astype(int), core.Problem(positive, weight, hinge, width, 1.0), at_zero(X), 1e-6, 10, 1)
    with pytest.raises(TypeError):
        core.Problem(positive.astype(int), weight, hinge, width, 1.0)


def test_a_record_keeps_what_its_arrays_view():
    X, positive, weight, hinge, width = problem(0, 10, 2, (0.5,))
    given = core.Problem(positive.copy(), weight.copy(), hinge.copy(), width.copy(), 1.0)
    coef = core.solve_dense(X, given, at_zero(X), 1e-6, 10, 1).coef
    again = core.solve_dense(X, core.Problem(positive, weight, hinge, width, 1.0), at_zero(X), 1e-6, 10, 1)
    np.testing.assert_array_equal(coef, again.coef)


# Kernel rows may use fused arithmetic (ADR 2) only while neither the place of a row in its block nor the number of rows shows
# in a single bit: the same rows at other offsets, and in tables of other lengths, have the same values.
@pytest.mark.parametrize("kind", range(4))
def test_a_kernel_value_depends_on_its_two_points_alone(kind):
    X = np.random.default_rng(kind).normal(size=(150, 7))

    def matrix(rows):  # a coefficient of 1 for one row and 0 for the others leaves the kernel value itself
        units = np.eye(len(rows))
        return np.array([core.score_kernel(rows, core.Kernel(kind, 0.7, 0.4, 3), unit, rows) for unit in units])

    full = matrix(X)
    np.testing.assert_array_equal(full, full.T)
    for begin, end in [(0, 1), (1, 2), (0, 31), (5, 37), (17, 49), (31, 96), (3, 147), (64, 150), (149, 150)]:
        part = np.ascontiguousarray(X[begin:end])
        np.testing.assert_array_equal(matrix(part), full[begin:end, begin:end])


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("kind", range(4))
def test_rows_without_weight_before_and_after_change_no_bit_of_a_kernel_solution(kind, single):
    X, positive, weight, hinge, width = problem(kind, 150, 7, (0.5,))

    def solved(before, after):
        more = np.random.default_rng(before).normal(size=(before + after, 7))
        rows = np.vstack([more[:before], X, more[before:]])
        side, mass = (np.pad(given, (before, after)) for given in (positive, weight))
        given, kernel = core.Problem(side, mass, hinge, width, 0.1, False), core.Kernel(kind, 0.7, 0.4, 3)
        found = core.solve_kernel(rows, kernel, given, np.zeros(len(rows)), 1e-12, 400, 1 << 20, single)
        return [values[before : before + 150] for values in (found.dual, found.score)]

    alone = solved(0, 0)
    assert np.count_nonzero(alone[0]) > 50
    for before, after in [(1, 0), (5, 3), (17, 40), (31, 1), (64, 64)]:
        np.testing.assert_array_equal(solved(before, after), alone)
