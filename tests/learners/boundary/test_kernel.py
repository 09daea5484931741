"""The kernel solver meets an independent quadratic program and LIBSVM."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from permissible.learners.boundary.kernel import solve_kernel
from permissible.learners.boundary.problem import Options, Problem
from permissible.learners.boundary.target import Target
from permissible.models.kinds.kernel import Kernel


def draw(seed, n=80, d=3):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    positive = features[:, 0] ** 2 + 0.5 * rng.normal(size=n) > 0.7
    return features, positive, rng.integers(1, 4, size=n).astype(float)


def as_features(gram):
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0))


KERNELS = [Kernel("rbf", 0.3), Kernel("poly", 0.5, 1.0, 2), Kernel("linear"), Kernel("precomputed")]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("penalize_intercept", [False, True])
@pytest.mark.parametrize("boundaries", [(0.5,), (0.3, 0.6), (0.1, 0.15, 0.9)])
def test_any_boundaries_meet_the_quadratic_program(boundaries, penalize_intercept, kernel, referee, lines_of):
    features, positive, weight = draw(len(boundaries))
    alpha = 2.0**-6
    name = "rbf" if kernel.name == "precomputed" else kernel.name
    extra = {"rbf": {"gamma": kernel.gamma}, "poly": {"gamma": 0.5, "coef0": 1.0, "degree": 2}, "linear": {}}[name]
    gram = pairwise_kernels(features, metric=name, **extra)
    problem = Problem(
        Target.of(boundaries, "logistic").segments, positive, weight, alpha, penalize_intercept=penalize_intercept
    )
    fit = solve_kernel(gram if kernel.name == "precomputed" else features, problem, kernel, Options(tol=1e-8))
    optimum, _, _ = referee(
        as_features(gram), positive, weight, lines_of(boundaries), alpha, free_intercept=not penalize_intercept
    )
    assert fit.converged
    assert fit.certificate.objective == pytest.approx(optimum, rel=1e-7)
    value = problem.objective(gram @ fit.coef + fit.intercept, fit.coef @ gram @ fit.coef, fit.intercept)
    assert fit.certificate.objective == pytest.approx(value, rel=1e-10)
    assert fit.certificate.gap >= value - optimum * (1 + 1e-9)


def test_many_rows_use_single_precision_and_still_certify_in_double(referee):
    features, positive, _ = draw(5, n=2600)
    alpha = 1e-4
    problem = Problem(Target.of((0.5,), "logistic").segments, positive, np.ones(2600), alpha)
    fit = solve_kernel(features, problem, Kernel("rbf", 0.3), Options(tol=1e-6))
    gram = pairwise_kernels(features, metric="rbf", gamma=0.3)
    value = problem.objective(gram @ fit.coef + fit.intercept, fit.coef @ gram @ fit.coef, fit.intercept)
    assert fit.certificate.objective == pytest.approx(value, rel=1e-11)
    peer = SVC(C=1 / (4 * np.log(2) * alpha * 2600), gamma=0.3, tol=1e-8).fit(features, positive)
    scale = 2 * np.log(2)
    coef = np.zeros(2600)
    coef[peer.support_] = scale * peer.dual_coef_[0]
    theirs = problem.objective(gram @ coef + scale * peer.intercept_[0], coef @ gram @ coef, 0.0)
    assert theirs == pytest.approx(value, rel=2e-6)
    assert theirs >= fit.certificate.dual_objective


@pytest.mark.parametrize("boundaries", [(0.5,), (0.2, 0.7)])
@pytest.mark.parametrize("penalize_intercept", [False, True])
def test_the_gap_is_never_below_the_distance_to_the_optimum(boundaries, penalize_intercept, referee, lines_of):
    # Stopped anywhere: early by its rounds, or at a coarse tolerance. 1,100 rows are not polished; a low rank spares the referee.
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1100, 2))
    positive = features[:, 0] ** 2 + 0.5 * rng.normal(size=1100) > 0.7
    lifted = np.c_[features, features**2, features[:, :1] * features[:, 1:]]
    problem = Problem(
        Target.of(boundaries, "logistic").segments, positive, np.ones(1100), 1e-3, penalize_intercept=penalize_intercept
    )
    optimum, _, _ = referee(
        lifted, positive, np.ones(1100), lines_of(boundaries), 1e-3, free_intercept=not penalize_intercept
    )
    for tol, max_iter in [(1e-1, 1000), (1e-2, 1000), (1e-4, 1000), (1e-9, 1)]:
        fit = solve_kernel(lifted, problem, Kernel("linear"), Options(tol=tol, max_iter=max_iter))
        assert fit.certificate.gap >= fit.certificate.objective - optimum * (1 + 1e-10)
        assert fit.certificate.dual_objective <= optimum * (1 + 1e-10)


def test_a_start_from_a_nearby_alpha_leads_to_the_same_optimum():
    features, positive, weight = draw(2)
    segments = Target.of((0.25, 0.75), "logistic").segments
    first = solve_kernel(features, Problem(segments, positive, weight, 1e-2), Kernel("rbf", 0.3), Options(tol=1e-9))
    problem = Problem(segments, positive, weight, 5e-3)
    cold = solve_kernel(features, problem, Kernel("rbf", 0.3), Options(tol=1e-9))
    warm = solve_kernel(features, problem, Kernel("rbf", 0.3), Options(tol=1e-9), start=first)
    assert warm.certificate.objective == pytest.approx(cold.certificate.objective, rel=1e-8)


def test_a_kernel_that_is_not_symmetric_is_refused():
    features, positive, weight = draw(1)
    gram = features @ features.T
    gram[0, 1] += 1.0
    problem = Problem(Target.of((0.5,), "logistic").segments, positive, weight, 1e-2)
    with pytest.raises(ValueError, match=r"`kernel` must be symmetric, got k\(0, 1\)"):
        solve_kernel(gram, problem, Kernel("precomputed"))


@pytest.mark.parametrize("name", ["rbf", "poly", "sigmoid", "linear"])
def test_kernel_values_are_those_of_scikit_learn(name):
    left, right = draw(1)[0], draw(2, n=37)[0]
    kernel = Kernel(name, 0.3, 0.5, 3)
    extra = {} if name == "linear" else {"gamma": 0.3} if name == "rbf" else {"gamma": 0.3, "coef0": 0.5}
    np.testing.assert_allclose(
        kernel.matrix(left, right), pairwise_kernels(left, right, metric=name, **extra), rtol=1e-12
    )


def test_one_boundary_at_one_half_has_the_objective_of_libsvm():
    features, positive, _ = draw(7, n=250)
    alpha, scale = 1e-3, 2 * np.log(2)
    problem = Problem(Target.of((0.5,), "logistic").segments, positive, np.ones(250), alpha)
    fit = solve_kernel(features, problem, Kernel("rbf", 0.3))
    peer = SVC(C=1 / (4 * np.log(2) * alpha * 250), gamma=0.3, tol=1e-10).fit(features, positive)
    gram, coef = pairwise_kernels(features, metric="rbf", gamma=0.3), np.zeros(250)
    coef[peer.support_] = scale * peer.dual_coef_[0]
    theirs = problem.objective(gram @ coef + scale * peer.intercept_[0], coef @ gram @ coef, 0.0)
    assert fit.certificate.objective == pytest.approx(theirs, rel=1e-8)
    assert fit.certificate.relative_gap < 1e-10
