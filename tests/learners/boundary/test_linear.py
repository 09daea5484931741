"""The linear solver meets an independent quadratic program, and its gap is a true bound."""

import numpy as np
import pytest

from permissible.learners.boundary.linear import solve_linear
from permissible.learners.boundary.problem import Options, Problem
from permissible.learners.boundary.target import Target

BOUNDARIES = [(0.5,), (0.2,), (1 / 3, 2 / 3), (0.25, 0.5, 0.75), (0.1, 0.15, 0.9)]


def draw(seed, n=None, d=None):
    rng = np.random.default_rng(seed)
    n, d = n or int(rng.integers(20, 150)), d or int(rng.integers(1, 20))
    features = rng.normal(size=(n, d))
    positive = features[:, 0] + rng.normal(size=n) + seed % 3 > 0
    positive[:2] = True, False
    weight = rng.integers(1, 4, size=n).astype(float) if seed % 2 else np.ones(n)
    return features, positive, weight


@pytest.mark.parametrize("penalize_intercept", [False, True])
@pytest.mark.parametrize("boundaries", BOUNDARIES)
@pytest.mark.parametrize("exponent", [-15, -9, -4, 0, 10])
def test_any_boundaries_meet_the_quadratic_program(
    boundaries, exponent, penalize_intercept, referee, lines_of, objective_of
):
    features, positive, weight = draw(exponent + 7 * len(boundaries) + 40)
    alpha = 2.0**exponent
    target = Target.of(boundaries, "logistic")
    problem = Problem(target.segments, positive, weight, alpha, penalize_intercept=penalize_intercept)
    fit = solve_linear(features, problem)
    optimum, _, _ = referee(
        features, positive, weight, lines_of(boundaries), alpha, free_intercept=not penalize_intercept
    )
    value = objective_of(
        features,
        positive,
        weight,
        lines_of(boundaries),
        alpha,
        fit.coef,
        fit.intercept,
        free_intercept=not penalize_intercept,
    )
    assert fit.converged
    assert value == pytest.approx(optimum, rel=1e-7)
    assert fit.certificate.objective == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
@pytest.mark.parametrize("seed", range(6))
def test_the_gap_is_never_below_the_distance_to_the_optimum(seed, tol, referee, lines_of):
    boundaries = BOUNDARIES[seed % 5]
    features, positive, weight = draw(seed)
    problem = Problem(Target.of(boundaries, "logistic").segments, positive, weight, 1e-3)
    for max_iter in (1, 3, 8, 1000):
        fit = solve_linear(features, problem, Options(tol=tol, max_iter=max_iter))
        optimum, _, _ = referee(features, positive, weight, lines_of(boundaries), 1e-3)
        assert fit.certificate.gap >= fit.certificate.objective - optimum * (1 + 1e-10)
        assert fit.certificate.dual_objective <= optimum * (1 + 1e-10)


def test_no_intercept_meets_the_quadratic_program(referee, lines_of):
    features, positive, weight = draw(5)
    problem = Problem(Target.of((0.3, 0.6), "logistic").segments, positive, weight, 1e-2, fit_intercept=False)
    fit = solve_linear(features, problem)
    optimum, _, _ = referee(features, positive, weight, lines_of((0.3, 0.6)), 1e-2, fit_intercept=False)
    assert fit.intercept == 0
    assert fit.certificate.objective == pytest.approx(optimum, rel=1e-8)


def test_weight_two_equals_the_row_twice():
    features, positive, weight = draw(1)
    segments = Target.of((0.25, 0.75), "logistic").segments
    once = solve_linear(features, Problem(segments, positive, weight, 1e-2))
    times = weight.astype(int)
    twice = solve_linear(
        np.repeat(features, times, axis=0), Problem(segments, np.repeat(positive, times), np.ones(times.sum()), 1e-2)
    )
    np.testing.assert_allclose(once.coef, twice.coef, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("boundaries", [(0.5,), (0.25, 0.5, 0.75)])
def test_bands_and_all_rows_at_once_agree(boundaries):
    features, positive, weight = draw(2, n=60_000, d=5)
    problem = Problem(Target.of(boundaries, "logistic").segments, positive, weight, 1e-4)
    by_bands = solve_linear(features, problem, Options(tol=1e-9))
    half = solve_linear(features[:30_000:2], Problem(problem.segments, positive[:30_000:2], weight[:30_000:2], 1e-4))
    assert by_bands.certificate.relative_gap <= 1e-9
    assert np.abs(by_bands.coef - half.coef).max() < 0.2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_do_not_change_a_bit(dtype):
    features, positive, weight = draw(3, n=50_000, d=8)
    problem = Problem(Target.of((0.3, 0.7), "logistic").segments, positive, weight, 1e-5)
    rows = np.ascontiguousarray(features, dtype=dtype)
    one, three = (solve_linear(rows, problem, Options(n_threads=threads)) for threads in (1, 3))
    np.testing.assert_array_equal(one.coef, three.coef)
    assert one.intercept == three.intercept
    assert one.certificate == three.certificate


def test_the_deeply_imbalanced_case_finds_its_intercept(referee, lines_of):
    # Errata E15 of [K]: with nine rows in ten positive, b* is the last hinge, 2.24934. Projecting (w, b) on a ball of radius
    # lambda^-1/2 excludes it, and a step 1/(lambda m) does not reach it. Rows come with their mirror image, so that w* = 0.
    half = np.random.default_rng(0).normal(size=(200, 2))
    features = np.vstack([half, -half])
    positive = np.tile(np.arange(200) < 180, 2)
    problem = Problem(Target.of((0.25, 0.5, 0.75), "logistic").segments, positive, np.ones(400), 16.0)
    fit = solve_linear(features, problem)
    optimum, _, _ = referee(features, positive, np.ones(400), lines_of((0.25, 0.5, 0.75)), 16.0)
    assert fit.intercept == pytest.approx(2.24934, abs=1e-5)
    assert fit.certificate.objective == pytest.approx(optimum, rel=1e-9)
