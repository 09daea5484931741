"""Corollary 2, Theorem 6 and Corollary 3 of [K]: the inequalities of their proofs by brute force, and the rates they give."""

import numpy as np
import pytest

from permissible import losses
from tests.losses.boundary.test_excess import exact_margin

LINES = losses.PiecewiseLinear([0.25, 0.5, 0.75])


def losses_of(lines, p, f):
    """Q_p(f)."""
    return p * lines.value(1, f) + (1 - p) * lines.value(0, f)


def best_score(lines, p):
    """f*: the hinge of the region of p."""
    return lines.hinges[np.searchsorted(lines.boundaries, p, side="left")]


def test_E25_lemma_1_needs_the_distance_to_every_boundary():
    """At p just above 1/2 a score below H_1 loses |p - 1/2| |f - f*|, far less than the distance to the outer two allows."""
    p, f = 0.5 + 1e-3, LINES.hinges[1]
    lost = losses_of(LINES, p, f) - losses_of(LINES, p, best_score(LINES, p))
    away = abs(f - best_score(LINES, p))
    printed = min(abs(p - 0.25), abs(p - 0.75), 0.75, 0.75) * away  # D* = 1
    assert lost < 0.01 * printed
    assert lost >= min(abs(p - at) for at in LINES.boundaries) * away * (1 - 1e-9)


def test_lemma_1_as_corrected_holds_everywhere():
    for p in np.linspace(0.001, 0.999, 97):
        for f in np.linspace(-6, 6, 61):
            best = best_score(LINES, p)
            lost = losses_of(LINES, p, f) - losses_of(LINES, p, best)
            rho = abs(f - best) * (p if p < 0.25 and f < LINES.hinges[0] else 1)
            rho *= (1 - p) if p > 0.75 and f > LINES.hinges[-1] else 1
            assert lost >= min(*(abs(p - at) for at in LINES.boundaries), 0.75) * rho - 1e-12


@pytest.mark.parametrize("alpha", [0.0, 1.0, 3.0])
def test_lemma_3_the_class_is_bernstein_with_the_corrected_constant(alpha):
    rng = np.random.default_rng(int(alpha))
    largest = 0.0
    for _ in range(300):
        n, limit = int(rng.integers(1, 6)), 3.0
        mass, p, f = rng.dirichlet(np.ones(n)), rng.uniform(0.01, 0.99, n), rng.uniform(-limit, limit, n)
        margin = exact_margin(mass, p, LINES.boundaries, alpha)
        best = best_score(LINES, p)
        h = [LINES.value(y, f) - LINES.value(y, best) for y in (1, 0)]
        mean = mass @ (p * h[0] + (1 - p) * h[1])
        square = mass @ (p * h[0] ** 2 + (1 - p) * h[1] ** 2)
        bound = losses.bernstein_constant(LINES, limit, margin) * mean**margin.beta
        assert square <= bound * (1 + 1e-9)
        largest = max(largest, square / bound)
    assert largest > 1e-3


def test_the_modulus_of_convexity_bounds_and_is_reached():
    B, c = 2.0, losses.modulus_of_convexity("logistic", 2.0)
    rng, value = np.random.default_rng(0), lambda z: np.log1p(np.exp(-z))
    f, g, p = rng.uniform(-B, B, 2000), rng.uniform(-B, B, 2000), rng.random(2000)

    def risk(score):
        return p * value(score) + (1 - p) * value(-score)

    bend = (risk(f) + risk(g)) / 2 - risk((f + g) / 2)
    assert (bend >= c * (f - g) ** 2 * (1 - 1e-9)).all()
    at_the_end = (value(2.0) + value(1.99)) / 2 - value(1.995)
    assert at_the_end == pytest.approx(c * 0.01**2, rel=0.02)


def test_corollary_2_is_the_printed_sum():
    n, B, log_cover = 50_000, 1.5, losses.stump_cover(20, 1.5, 50_000)
    found = losses.learning_bound(
        "logistic", [0.3], n, limit=B, log_cover=log_cover, confidence=0.9, approximation=0.01
    )
    L, c = 1 / (1 + np.exp(-B)), 1 / (1 + np.exp(-B)) / (1 + np.exp(B)) / 8
    G = (20 * np.log1p(2 * B * n) - np.log(0.1)) / n
    exact = 0.01 + 3 * L / n + 8 * (L**2 / (2 * c) + L * B / 3) * G
    assert (found.lipschitz, found.curvature) == (pytest.approx(L), pytest.approx(c))
    assert found.surrogate == pytest.approx(exact, rel=1e-12)
    assert found.risk == pytest.approx(min(2, losses.excess_risk_bound("logistic", [0.3], exact)))


def test_theorem_6_solves_its_equation_and_has_the_fast_rate():
    margin, sizes = losses.MarginCondition(2.0, 2.0), (10**8, 10**10)
    found = [losses.learning_bound(LINES, LINES.boundaries, n, limit=3.0, log_cover=50.0, margin=margin) for n in sizes]
    reach = 3.0 + np.abs(LINES.hinges).max()
    for n, bound in zip(sizes, found, strict=True):
        G, L, t = (50.0 - np.log(0.05)) / n, bound.lipschitz, bound.surrogate - 3 * bound.lipschitz / n
        power = 1 - margin.beta
        failure = n * t ** (1 + power) / 8 / (bound.curvature + L * reach * t**power / 3)
        assert failure >= G * n * (1 - 1e-9)  # Bernstein's inequality for the net
        printed = 4 / 3 * L * reach * G + np.sqrt((4 / 3 * L * reach * G) ** 2 + 8 * bound.curvature * G)
        assert t <= printed * (1 + 1e-12)
        assert bound.risk == pytest.approx(min(2.0, 2 * LINES.excess_constant * bound.surrogate))
    rate = np.log(found[0].surrogate / found[1].surrogate) / np.log(100)
    assert rate == pytest.approx(1 / (2 - margin.beta), rel=0.02)


def test_lines_need_the_best_score_in_the_class():
    with pytest.raises(ValueError, match="a smooth loss where the class lacks the best score"):
        losses.learning_bound(LINES, LINES.boundaries, 1000, limit=0.5, log_cover=10.0)
    with pytest.raises(ValueError, match=r"an approximation error of 0\.1"):
        losses.learning_bound(LINES, LINES.boundaries, 1000, limit=9.0, log_cover=10.0, approximation=0.1)


def test_a_loss_without_curvature_has_no_bound():
    flat = losses.learning_bound("logistic", [0.5], 100, limit=800.0, log_cover=1.0)
    assert flat.surrogate == np.inf
    assert flat.risk == 2.0


def test_the_stumps_are_covered():
    """Every point of a small l1 ball lies within 1/n of a grid of (1 + 2 B n)^M points at most."""
    B, n, M = 1.0, 5, 2
    step = 1 / n
    axis = np.arange(-B, B + step / 2, step)
    net = [(a, b) for a in axis for b in axis if abs(a) + abs(b) <= B + step]
    assert np.log(len(net)) <= losses.stump_cover(M, B, n)
