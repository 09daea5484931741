"""Coordinate descent on sparse and wide rows meets Newton and the quadratic program."""

import numpy as np
import pytest
from scipy import sparse

from permissible.learners.boundary.linear import solve_linear
from permissible.learners.boundary.objective import MemoryObjective
from permissible.learners.boundary.problem import Options, Problem
from permissible.learners.boundary.target import Target


def draw(seed, n, d):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d)) / np.sqrt(d) * (rng.random((n, d)) < 0.5)
    positive = features[:, 0] * np.sqrt(d) + rng.normal(size=n) > -0.5
    return features, positive, rng.integers(1, 4, size=n).astype(float)


@pytest.mark.parametrize("as_sparse", [True, False])
@pytest.mark.parametrize("penalize_intercept", [False, True])
@pytest.mark.parametrize("boundaries", [(0.5,), (1 / 3, 2 / 3), (0.1, 0.15, 0.9)])
def test_descent_meets_the_quadratic_program(boundaries, penalize_intercept, as_sparse, referee, lines_of):
    features, positive, weight = draw(len(boundaries), 90, 140)
    problem = Problem(
        Target.of(boundaries, "logistic").segments, positive, weight, 2.0**-8, penalize_intercept=penalize_intercept
    )
    rows = sparse.csr_matrix(features) if as_sparse else features
    fit = solve_linear(rows, problem, Options(solver="dcd", tol=5e-8))
    if as_sparse:  # small sparse matrices are made dense: force the sparse kernel too
        from permissible.learners.boundary import linear

        fit = linear._descend(rows, problem, Options(tol=5e-8, max_iter=5000), None)
    optimum, _, _ = referee(
        features, positive, weight, lines_of(boundaries), 2.0**-8, free_intercept=not penalize_intercept
    )
    assert fit.converged
    assert fit.certificate.objective == pytest.approx(optimum, rel=1e-7)
    again = MemoryObjective(features, problem).certificate(
        np.append(fit.coef, fit.intercept), problem.segments, fit.dual
    )
    assert fit.certificate.objective == pytest.approx(again.objective, rel=1e-12)
    # The heavier class is scaled down, and g(ct) >= c g(t): what the kernel reports is no more than the dual point's value.
    slack = again.dual_objective - fit.certificate.dual_objective
    assert -1e-12 * optimum <= slack <= 5e-8 * optimum


@pytest.mark.parametrize("max_iter", [1, 3, 10])
def test_the_gap_of_descent_is_a_true_bound(max_iter, referee, lines_of):
    features, positive, weight = draw(4, 80, 200)
    problem = Problem(Target.of((0.25, 0.5), "logistic").segments, positive, weight, 1e-3)
    fit = solve_linear(features, problem, Options(solver="dcd", max_iter=max_iter))
    optimum, _, _ = referee(features, positive, weight, lines_of((0.25, 0.5)), 1e-3)
    assert fit.certificate.dual_objective <= optimum * (1 + 1e-10)
    assert fit.certificate.gap >= fit.certificate.objective - optimum * (1 + 1e-10)


def test_wide_rows_by_rotation_and_by_descent_agree():
    features, positive, weight = draw(6, 60, 400)
    problem = Problem(Target.of((0.25, 0.75), "logistic").segments, positive, weight, 1e-3)
    newton = solve_linear(features, problem, Options(solver="newton"))
    descent = solve_linear(features, problem, Options(solver="dcd", tol=1e-8, max_iter=5000))
    assert newton.certificate.relative_gap < 1e-10
    assert descent.certificate.objective == pytest.approx(newton.certificate.objective, rel=1e-7)


def test_where_descent_does_not_arrive_newton_takes_over():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(900, 400)) * 100
    positive = features[:, 0] + 50 * rng.normal(size=900) > 0
    problem = Problem(Target.of((0.5,), "logistic").segments, positive, np.ones(900), 1e-7)
    fit = solve_linear(features, problem, Options(tol=1e-6))
    assert fit.converged
    assert fit.solver == "newton"
