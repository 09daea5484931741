"""(13), (14), Theorems 4 to 6 of [K]: closed forms where there are some, brute force over small distributions elsewhere."""

import mpmath
import numpy as np
import pytest

from permissible import losses
from permissible.decisions.binary import Boundaries

PI = (0.05, 0.1, 0.3, 0.5, 0.62, 0.9)


@pytest.mark.parametrize("pi", PI)
def test_logistic_constant_is_the_best_one_of_pinsker_type(pi):
    """sup (p - pi)^2 / KL(p, pi) = (1 - 2 pi) / ln((1 - pi) / pi) (Ordentlich and Weinberger 2005), 1/2 at 1/2."""
    exact = 0.5 if pi == 0.5 else (1 - 2 * pi) / np.log((1 - pi) / pi)
    found = losses.excess_constants("logistic", [pi])
    assert found.exponent == 2
    assert found.constant**2 == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("pi", PI)
def test_exponential_and_squared_hinge_constants(pi):
    """By completing squares: sqrt(pi (1 - pi)), and 1/4 whatever pi."""
    assert losses.excess_constants("exponential", [pi]).constant ** 2 == pytest.approx(np.sqrt(pi * (1 - pi)), rel=1e-8)
    assert losses.excess_constants(losses.squared_hinge(), [pi]).constant ** 2 == pytest.approx(0.25, rel=1e-8)


def test_dwd_is_linear_at_one_half_only():
    """dQ_p(0) = p - sqrt(p (1 - p)) for p > 1/2, which leaves 1/2 with slope 1: s = 1 and C = 1."""
    at_half = losses.excess_constants(losses.dwd(), [0.5])
    assert (at_half.exponent, at_half.constant) == (1.0, pytest.approx(1.0, rel=1e-6))
    assert losses.excess_constants(losses.dwd(), [0.3]).exponent == 2.0
    p = np.linspace(0.5, 1, 50)[1:-1]
    found = losses.excess_surrogate(losses.dwd(), p, 0.0)
    assert np.allclose(found, p - np.sqrt(p * (1 - p)), rtol=1e-3)  # its weight has a corner within the integral


@pytest.mark.parametrize("name", ["logistic", "matsushita", "squared"])
def test_excess_surrogate_is_the_bregman_divergence(name):
    loss = losses.get(name)
    p, pi = np.meshgrid([0.01, 0.2, 0.5, 0.77, 0.99], [0.1, 0.5, 0.9])
    found = losses.excess_surrogate(name, p, np.asarray(loss.score(pi)))
    divergence = loss.phi(pi) + loss.phi_prime(pi) * (p - pi) - loss.phi(p)
    assert np.allclose(found, divergence, rtol=1e-7, atol=1e-13)


def test_excess_surrogate_has_the_digits_of_mpmath():
    with mpmath.workdps(40):
        for p, f in ((0.3, 1.5), (0.5, 1e-4), (1e-6, -3.0)):
            p_, f_ = mpmath.mpf(p), mpmath.mpf(f)
            risk = p_ * mpmath.log(1 + mpmath.exp(-f_)) + (1 - p_) * mpmath.log(1 + mpmath.exp(f_))
            exact = risk + p_ * mpmath.log(p_) + (1 - p_) * mpmath.log(1 - p_)
            assert float(losses.excess_surrogate("logistic", p, f)) == pytest.approx(float(exact), rel=1e-10)


def test_lines_have_the_constant_of_corollary_1():
    lines = losses.PiecewiseLinear([0.1, 0.15, 0.9])
    found = losses.excess_constants(lines, [0.1, 0.15, 0.9])
    assert (found.exponent, found.constant) == (1.0, lines.excess_constant)
    assert losses.excess_risk_bound(lines, [0.1, 0.15, 0.9], 0.01) == pytest.approx(0.02 * lines.excess_constant)


def test_a_loss_that_is_not_consistent_has_no_constant():
    with pytest.raises(ValueError, match="`loss` must be consistent for the boundaries"):
        losses.excess_constants(losses.hinge(), [0.3])


def small_world(rng, pi, *, near=False):
    """A distribution on some points: mass, p, and scores of which some are wrong."""
    n = int(rng.integers(2, 7))
    mass = rng.dirichlet(np.ones(n))
    p = rng.choice(pi, n) + 0.05 * rng.normal(size=n) if near else rng.random(n)
    return mass, np.clip(p, 1e-6, 1 - 1e-6), rng.normal(0, 2, n)


def excess_of_decision(pi, mass, p, region):
    """R(g) - R(best), (7), straight from its definition: the region of each point against the best region."""
    decision, edges = Boundaries(list(pi)), np.concatenate([[0.0], pi, [1.0]])
    inside = (edges[:-1] + edges[1:]) / 2  # a probability of each region

    def risk(regions):
        proba = inside[regions]
        each = [np.asarray(decision.loss(np.full(len(p), label), proba)) for label in (0, 1)]
        return mass @ ((1 - p) * each[0] + p * each[1])

    return risk(region) - risk(np.searchsorted(pi, p, side="left"))


@pytest.mark.parametrize(
    ("name", "pi"), [("logistic", (0.5,)), ("exponential", (0.2, 0.6)), ("matsushita", (0.1, 0.5, 0.9))]
)
def test_theorem_4_holds_on_small_worlds(name, pi):
    rng = np.random.default_rng(0)
    deltas = np.array(losses.check_consistency(name, pi).deltas)
    found, tightest = losses.excess_constants(name, pi), 0.0
    for trial in range(120):
        mass, p, f = small_world(rng, pi, near=trial % 2 == 1)
        dR = excess_of_decision(pi, mass, p, np.searchsorted(deltas, f, side="left"))
        dQ = float(mass @ losses.excess_surrogate(name, p, f))
        bound = 2 * found.constant * dQ**0.5
        assert dR <= bound * (1 + 1e-9)
        tightest = max(tightest, dR / bound)
    assert tightest > 0.3
    assert losses.excess_risk_bound(name, pi, 0.25) == pytest.approx(found.constant)


def exact_margin(mass, p, pi, alpha):
    """The least A of (14) for a distribution on points: its supremum is at the distances themselves."""
    distances = np.abs(p[:, None] - np.array(pi))
    ratios = [mass @ (distances[:, k] <= t) / t**alpha for k in range(len(pi)) for t in distances[:, k]]
    return losses.MarginCondition(alpha, max(1.0, *ratios))


def test_theorem_5_holds_on_small_worlds_and_beats_theorem_4():
    rng = np.random.default_rng(1)
    pi = (0.3, 0.7)
    deltas = np.array(losses.check_consistency("logistic", pi).deltas)
    found = losses.excess_constants("logistic", pi)
    for trial in range(120):
        mass, p, f = small_world(rng, pi)
        margin = exact_margin(mass, p, pi, rng.choice([0.5, 1.0, 4.0]))
        f = np.where(rng.random(len(p)) < 0.8, np.log(p / (1 - p)), f)  # mostly right
        dR = excess_of_decision(pi, mass, p, np.searchsorted(deltas, f, side="left"))
        dQ = float(mass @ losses.excess_surrogate("logistic", p, f))
        if dQ < 1e-12:
            continue
        s, C, beta, A = 2.0, found.constant, margin.beta, margin.A
        D = (4 * C**2 * 4 * (2 * A) ** (1 / (1 + margin.alpha))) ** (1 / (s + beta - beta * s))
        bound = min(D * dQ ** (1 / (s + beta - beta * s)), 2 * C * dQ**0.5)
        if trial < 4:
            assert losses.excess_risk_bound("logistic", pi, dQ, margin=margin) == pytest.approx(bound, rel=1e-9)
        assert dR <= bound * (1 + 1e-9)
    small = losses.excess_risk_bound("logistic", pi, 1e-9, margin=losses.MarginCondition(4.0, 2.0))
    assert small < 0.1 * losses.excess_risk_bound("logistic", pi, 1e-9)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 4.0])
def test_margin_condition_finds_a_power_law(alpha):
    """|p - 1/2| = u^(1/alpha) / 2 for uniform u: P(|p - 1/2| <= t) = (2 t)^alpha."""
    u = (np.arange(20_000) + 0.5) / 20_000
    p = 0.5 + 0.5 * u ** (1 / alpha) * np.where(np.arange(20_000) % 2, 1, -1)
    found = losses.margin_condition(p, [0.5])
    assert found.alpha == pytest.approx(alpha, rel=0.02)
    assert pytest.approx(2**alpha, rel=0.05) == found.A
    t = np.geomspace(found.resolution, 1, 50)
    shares = np.array([np.mean(np.abs(p - 0.5) <= at) for at in t])
    assert (shares <= found.A * t**found.alpha * (1 + 1e-2)).all()
    twice = losses.margin_condition(np.repeat(p[:5000], 2), [0.5])
    weighted = losses.margin_condition(p[:5000], [0.5], np.full(5000, 2.0))
    assert weighted.alpha == pytest.approx(twice.alpha, rel=0.02)


def test_margin_condition_far_from_the_boundaries_says_nothing():
    found = losses.margin_condition(np.full(100, 0.01), [0.5])
    assert (found.alpha, found.A) == (0.0, 1.0)
