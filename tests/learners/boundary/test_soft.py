"""The soft end: the smooth loss to a certified gap, scikit-learn's logistic regression as referee, K boundaries meeting it."""

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

from permissible import losses
from permissible.learners.boundary.kernel import solve_kernel_soft
from permissible.learners.boundary.linear import solve_linear
from permissible.learners.boundary.objective import solve_soft
from permissible.learners.boundary.problem import Options, Problem
from permissible.learners.boundary.segments import Segments
from permissible.learners.boundary.target import Target
from permissible.models.kinds.kernel import Kernel

NONE = Segments(np.empty((2, 0)), np.empty((2, 0)))


def draw(seed=0, n=150, d=4):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    positive = features[:, 0] + rng.normal(size=n) > 0.4
    return features, positive, rng.integers(1, 4, size=n).astype(float)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_logistic_meets_logistic_regression(as_sparse):
    features, positive, weight = draw()
    alpha = 1e-2
    fit = solve_soft(
        sparse.csr_matrix(features) if as_sparse else features,
        Problem(NONE, positive, weight, alpha),
        losses.get("logistic"),
        Options(tol=1e-11),
    )
    peer = LogisticRegression(C=1 / (alpha * weight.sum()), tol=1e-10, max_iter=1000).fit(features, positive, weight)
    np.testing.assert_allclose(fit.coef, peer.coef_[0], rtol=1e-4)
    assert fit.converged


@pytest.mark.parametrize("name", ["logistic", "matsushita", "squared", "power", "logcosh"])
def test_every_permissible_loss_is_solved_to_its_gap(name):
    features, positive, weight = draw(1)
    loss = losses.get(name)
    fit = solve_soft(features, Problem(NONE, positive, weight, 1e-2), loss, Options(tol=1e-8))
    sign = np.where(positive, 1.0, -1.0)

    def value(point):
        mean = loss.b * np.average(loss.value(sign * (features @ point[:-1] + point[-1])), weights=weight)
        return mean + 0.5e-2 * point[:-1] @ point[:-1]

    best = optimize.minimize(
        value, np.append(fit.coef, fit.intercept) + 0.01, method="BFGS", options={"gtol": 1e-9}
    ).fun
    assert fit.certificate.relative_gap <= 1e-8
    assert fit.certificate.objective <= best * (1 + 1e-7)
    assert fit.certificate.dual_objective <= best * (1 + 1e-12)


def test_more_and_more_boundaries_meet_the_smooth_loss():
    features, positive, weight = draw(2)
    smooth = solve_soft(features, Problem(NONE, positive, weight, 1e-2), losses.get("logistic"), Options(tol=1e-10))
    distance = []
    for count in (3, 15, 63, 255):
        pi = np.arange(1, count + 1) / (count + 1)
        fit = solve_linear(features, Problem(Target.of(pi, "logistic").segments, positive, weight, 1e-2))
        distance.append(np.abs(fit.coef - smooth.coef).max())
        assert fit.certificate.objective <= smooth.certificate.objective  # tangents lie below the loss
    assert distance[-1] < 5e-3
    assert distance[-1] < distance[0] / 10


def test_the_kernel_version_meets_its_dual():
    features, positive, weight = draw(3, n=80)
    problem = Problem(NONE, positive, weight, 1e-2)
    fit = solve_kernel_soft(features, problem, losses.get("logistic"), Kernel("rbf", 0.5), Options(tol=1e-7))
    gram, sign = rbf_kernel(features, gamma=0.5), np.where(positive, 1.0, -1.0)
    score = gram @ fit.coef + fit.intercept
    value = np.average(np.log1p(np.exp(-sign * score)), weights=weight) + 0.5e-2 * fit.coef @ gram @ fit.coef
    assert fit.converged
    assert fit.certificate.objective == pytest.approx(value, rel=1e-12)
