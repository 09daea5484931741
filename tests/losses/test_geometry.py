"""Bregman geometry, the exponential family and the game of a loss, by their definitions in scipy and by brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import brier_score_loss, log_loss

from permissible import losses

PERMISSIBLE = losses.names(permissible_only=True)
every_phi = pytest.mark.parametrize("name", PERMISSIBLE)
P = np.array([0.03, 0.2, 0.5, 0.77, 0.9])


@every_phi
def test_the_dual_divergence_is_its_definition_and_swaps_the_arguments(name):
    loss = losses.get(name)
    x = np.linspace(-1.4, 1.4, 13) * min(loss.score_limit, 3.0)  # beyond the limit too, where there is one
    for y in x:
        by_definition = loss.conjugate(x) - loss.conjugate(y) - (x - y) * loss.probability(y)
        assert losses.dual_divergence(loss, x, y) == pytest.approx(by_definition, abs=1e-12)
    inside = x[np.abs(x) < loss.score_limit]
    swapped = loss.bregman(loss.probability(inside[2]), loss.probability(inside))
    assert losses.dual_divergence(loss, inside, inside[2]) == pytest.approx(swapped, rel=1e-7, abs=1e-12)


@every_phi
@pytest.mark.parametrize("side", ["right", "left"])
def test_a_centroid_is_the_minimiser_of_the_divergences(name, side):
    loss, weight = losses.get(name), np.array([1.0, 2.0, 1.0, 3.0, 1.0])

    def total(c):
        return losses.divergence(loss, *((P, np.full(5, c)) if side == "right" else (np.full(5, c), P)), weight)

    best = minimize_scalar(total, bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-9}).x
    assert losses.centroid(loss, P, weight, side) == pytest.approx(best, abs=1e-5)


@every_phi
def test_minus_the_log_of_the_signature_is_the_surrogate(name):
    loss = losses.get(name)
    family, theta = losses.ExponentialFamily(loss), np.linspace(-0.9, 0.9, 7) * min(loss.score_limit, 4.0)
    for y in (0, 1):
        surrogate = loss.b * loss.value((2 * y - 1) * theta) + loss.a
        assert -family.log_signature(y, theta) == pytest.approx(surrogate, rel=1e-10, abs=1e-12)
    assert family.expectation(family.natural(P)) == pytest.approx(P, rel=1e-8)
    step = 1e-5
    slope = (family.cumulant(theta + step) - family.cumulant(theta - step)) / (2 * step)
    assert family.expectation(theta) == pytest.approx(slope, rel=1e-5, abs=1e-8)


@every_phi
def test_the_normalised_density_is_bernoulli_and_only_the_logistic_signature_sums_to_one(name):
    family, theta = losses.ExponentialFamily(losses.get(name)), np.array([-0.8, 0.0, 0.3])
    assert family.density(0, theta) + family.density(1, theta) == pytest.approx(1.0, rel=1e-15)
    assert family.density(1, theta) == pytest.approx(1 / (1 + np.exp(-theta)), rel=1e-14)
    sums = np.exp(family.log_signature(0, theta)) + np.exp(family.log_signature(1, theta))
    assert np.log(sums) == pytest.approx(family.excess(theta), abs=1e-13)
    assert (np.abs(family.excess(theta)).max() < 1e-14) == (name == "logistic")  # E9


def test_the_game_of_q_is_the_log_loss_and_that_of_b_the_brier_score():
    rng = np.random.default_rng(0)
    y, q = rng.integers(0, 2, 50), rng.uniform(0.01, 0.99, 50)
    assert losses.Game(losses.get("logistic")).payoff(y, q).mean() == pytest.approx(log_loss(y, q), rel=1e-12)
    assert losses.Game(losses.get("squared")).payoff(y, q).mean() == pytest.approx(brier_score_loss(y, q), rel=1e-12)


@every_phi
def test_entropy_and_regret_are_those_of_the_expected_payoff(name):
    game = losses.Game(losses.get(name))
    for p in P:
        expected = p * game.payoff(1, P) + (1 - p) * game.payoff(0, P)
        assert game.expected(p, P) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert game.entropy(p) == pytest.approx(p * game.payoff(1, p) + (1 - p) * game.payoff(0, p), rel=1e-9)
        assert (np.asarray(game.regret(p, P)) >= 0).all()
