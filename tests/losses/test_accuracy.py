"""Every derived quantity against mpmath: relative 1e-12 (1e-10 where the link is inverted numerically), no warning."""

import mpmath as mp
import numpy as np
import pytest

from permissible import losses
from permissible.losses.catalogue import power_inverse
from tests import phi_referee as referee

CASES = [
    ("logistic", {}),
    ("matsushita", {}),
    ("mu", {"mu": 1 / 3}),
    ("mu", {"mu": 0.99}),
    ("squared", {}),
    ("power", {"upsilon": 0.05}),
    ("power", {"upsilon": 0.25}),
    ("power", {"upsilon": 0.9}),
    ("logcosh", {"zeta": -0.01}),
    ("logcosh", {"zeta": -8.0}),
    ("logcosh", {"zeta": -60.0}),
    ("logcosh", {"zeta": -200.0}),
]
cases = pytest.mark.parametrize(("name", "params"), CASES, ids=[f"{n}{p}" for n, p in CASES])

POSITIVE = np.r_[10.0 ** np.linspace(-12, 8, 21), 0.3, 0.5, 0.96, 0.9640, 0.96402, 0.99999, 1 - 2e-12, 1.0, 1.7]
MARGINS = np.r_[-POSITIVE[::-1], 0.0, POSITIVE]
SMALL = np.r_[10.0 ** -np.arange(0.31, 300, 23), 1e-300, 0.25, 0.3, 0.49, 0.4999999]
PROBABILITIES = np.r_[SMALL, 1 - SMALL[SMALL > 1e-16]]


def tolerance(name):
    return 1e-10 if name == "power" else 1e-12


def relative(got, exact):
    """Relative error; below the smallest double an absolute one."""
    if abs(exact) < 1e-305:
        return abs(got)
    return float(abs(mp.mpf(float(got)) - exact) / abs(exact))


@cases
def test_functions_of_the_margin_are_exact_from_minus_to_plus_1e8(name, params):
    loss = losses.get(name, **params)
    got = {
        key: getattr(loss, key)(MARGINS)
        for key in ("value", "weight", "probability", "curvature", "margin", "conjugate")
    }
    for i, margin in enumerate(MARGINS):
        for key, exact in referee.quantities(name, loss.params, margin).items():
            assert relative(got[key][i], exact) < tolerance(name), (key, margin)


@cases
def test_functions_of_a_probability_are_exact_down_to_1e_300(name, params):
    loss = losses.get(name, **params)
    with mp.workdps(400):
        phi, link = referee.phi(name, params), referee.link(name, params)
        a, b = phi(mp.mpf(0)), phi(mp.mpf(1) / 2) - phi(mp.mpf(0))
        for p in PROBABILITIES:
            exact = mp.mpf(float(p))
            assert relative(loss.phi(p), phi(exact)) < 1e-12
            assert relative(loss.score(p), link(exact)) < 1e-12
            assert relative(loss.phi_prime(p), -link(exact)) < 1e-12
            assert relative(loss.impurity(p), (phi(exact) - a) / b) < 1e-12
        assert relative(loss.a, a) < 1e-14
        assert relative(loss.b, b) < 1e-14


@cases
def test_bregman_divergence_keeps_its_digits_near_and_far(name, params):
    loss = losses.get(name, **params)
    with mp.workdps(700):
        phi, link = referee.phi(name, params), referee.link(name, params)
        for p in PROBABILITIES[::2]:
            for q in np.r_[PROBABILITIES[1::3], p * (1 + 1e-9), p * 0.93]:
                if p == q or not 0 < q < 1 or abs(p - q) < 1e-290:
                    continue
                first, second = mp.mpf(float(p)), mp.mpf(float(q))
                exact = phi(second) - phi(first) - (first - second) * link(second)
                assert relative(loss.bregman(p, q), exact) < 1e-12 or abs(exact) < 1e-290, (p, q)


@pytest.mark.parametrize("name", losses.names())
def test_extreme_input_gives_no_nan_and_no_warning(name):
    loss = losses.get(name)
    extreme = np.array([-1e8, -1e3, -1.0, -1e-300, -0.0, 0.0, 5e-324, 1.0, 745.0, 1e8])
    for method in (loss.value, loss.weight, loss.curvature, loss.probability, loss.margin):
        assert np.isfinite(method(extreme)).all()
    for method in (loss.score, loss.impurity):
        assert not np.isnan(method([0.0, 5e-324, 1e-300, 0.5, 1 - 1e-16, 1.0])).any()
    assert loss.probability([-np.inf, np.inf]).tolist() == [0.0, 1.0]
    assert loss.score([0.0, 0.5, 1.0]).tolist() == [-loss.score_limit, 0.0, loss.score_limit]


@pytest.mark.parametrize("name", losses.names())
def test_shape_is_kept_and_a_scalar_gives_a_float(name):
    loss = losses.get(name)
    for method in (loss.value, loss.weight, loss.curvature, loss.probability, loss.margin, loss.score, loss.impurity):
        assert isinstance(method(0.25), float)
        assert isinstance(method(np.float32(0.25)), float)
        assert isinstance(method(1), float)
        assert method([0.25, 0.5]).shape == (2,)
        assert method(np.full((2, 3, 4), 0.25, dtype=np.float32)).shape == (2, 3, 4)
        assert method(np.empty((0, 3))).shape == (0, 3)
        wide = np.linspace(0, 1, 50_000).reshape(100, 500)
        assert np.array_equal(method(wide), method(wide.ravel()[::-1])[::-1].reshape(100, 500))
        assert np.array_equal(method(wide), [method(row) for row in wide])
        assert np.array_equal(method(wide.T), method(wide).T)


@pytest.mark.parametrize("u", [1e-6, 0.01, 0.25, 0.5, 0.9, 0.999999])
def test_the_newton_iterations_of_the_power_link_end_long_before_their_limit(u, monkeypatch):
    x = -np.concatenate(([0.0], 10.0 ** np.linspace(-300, 300, 2001), np.linspace(0, 5, 501)))
    within = power_inverse(x, u)
    monkeypatch.setattr("permissible.losses.catalogue.STEPS", 30)
    assert np.array_equal(within, power_inverse(x, u))
