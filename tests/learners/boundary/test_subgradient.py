"""The corrected sub-gradient method of [K] comes down to the optimum; the printed one does not (E14, E15)."""

import numpy as np
import pytest

from permissible.learners.boundary.linear import solve_linear
from permissible.learners.boundary.problem import Options, Problem
from permissible.learners.boundary.subgradient import MemorySlopes, Stream, solve_subgradient, stream_step
from permissible.learners.boundary.target import Target


def draw(n=300):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 3))
    return features, features[:, 0] + rng.normal(size=n) > -1.0


def test_it_comes_within_a_small_gap_of_the_exact_solution():
    features, positive = draw()
    problem = Problem(Target.of((0.25, 0.5, 0.75), "logistic").segments, positive, np.ones(300), 0.1)
    exact = solve_linear(features, problem)
    fit = solve_subgradient(MemorySlopes(features, problem), Options(tol=2e-3, max_iter=3000))
    assert fit.converged
    assert exact.certificate.objective <= fit.certificate.objective <= exact.certificate.objective * (1 + 2e-3)
    assert fit.certificate.gap >= fit.certificate.objective - exact.certificate.objective


def test_the_printed_sign_ascends():
    features, positive = draw()
    problem = Problem(Target.of((0.5,), "logistic").segments, positive, np.ones(300), 0.1)
    step = stream_step(features, problem, Stream.begin(3))
    here = problem.objective(np.zeros(300), 0.0, 0.0)
    small = 0.05 * step.coef
    assert problem.objective(features @ small, small @ small, 0.0) < here
    assert problem.objective(-features @ small, small @ small, 0.0) > here


def test_the_printed_projection_excludes_the_intercept_of_the_imbalanced_case():
    half = np.random.default_rng(0).normal(size=(200, 2))
    features, positive = np.vstack([half, -half]), np.tile(np.arange(200) < 180, 2)
    problem = Problem(Target.of((0.25, 0.5, 0.75), "logistic").segments, positive, np.ones(400), 16.0)
    assert 16.0**-0.5 < 2.24934
    fit = solve_subgradient(MemorySlopes(features, problem), Options(tol=1e-3, max_iter=200))
    assert fit.intercept == pytest.approx(2.24934, abs=1e-2)


def test_a_stream_of_batches_comes_near_the_optimum():
    rng = np.random.default_rng(1)
    segments = Target.of((0.5,), "logistic").segments
    stream = Stream.begin(3)
    for _ in range(2000):
        features = rng.normal(size=(20, 3))
        positive = features[:, 0] + rng.normal(size=20) > -1.0
        stream = stream_step(features, Problem(segments, positive, np.ones(20), 1e-2), stream)
    features = rng.normal(size=(20_000, 3))
    problem = Problem(segments, features[:, 0] + rng.normal(size=20_000) > -1.0, np.ones(20_000), 1e-2)
    best = solve_linear(features, problem).certificate.objective
    reached = problem.objective(
        features @ stream.mean_coef + stream.mean_intercept, stream.mean_coef @ stream.mean_coef, 0.0
    )
    assert reached < best * 1.01
