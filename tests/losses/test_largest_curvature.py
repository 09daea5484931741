"""The largest curvature of every loss, against closed forms in 50 digits, a search over the definition, and the built-ins."""

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from permissible import losses
from tests.losses.own.phis import own


def second_derivatives():
    """G'' of each permissible function as mpmath has it."""
    z = mpmath.mpf(8)
    return {
        ("logistic",): lambda p: 1 / (p * (1 - p)),
        ("matsushita",): lambda p: 1 / (4 * (p * (1 - p)) ** mpmath.mpf(1.5)),
        ("mu", ("mu", 0.25)): lambda p: mpmath.mpf(0.75) / (4 * (p * (1 - p)) ** mpmath.mpf(1.5)),
        ("squared",): lambda p: mpmath.mpf(2),
        ("power", ("upsilon", 0.25)): lambda p: -mpmath.diff(lambda q: (q * (1 - q)) ** mpmath.mpf(0.25), p, 2),
        ("power", ("upsilon", 0.9)): lambda p: -mpmath.diff(lambda q: (q * (1 - q)) ** mpmath.mpf(0.9), p, 2),
        ("logcosh", ("zeta", -8.0)): lambda p: z / 2 / mpmath.cosh(z / 2 * (p - mpmath.mpf(0.5))) ** 2,
    }


@pytest.mark.parametrize("key", second_derivatives())
def test_it_is_one_over_the_least_second_derivative(key):
    with mpmath.workdps(50):
        grid = [mpmath.mpf(k) / 400 for k in range(1, 201)] + [mpmath.mpf(10) ** -k for k in range(3, 20)]
        least = min(second_derivatives()[key](p) for p in grid)
    loss = losses.get(key[0], **dict(key[1:]))
    assert loss.largest_curvature == pytest.approx(float(1 / least), rel=1e-9)


@pytest.mark.parametrize("zeta", [-1e-3, -2.0, -20.0, -40.0])
def test_of_log_cosh_it_lies_at_the_end_of_the_scores(zeta):
    loss = losses.get("logcosh", zeta=zeta)
    assert 1 / loss.largest_curvature == pytest.approx(abs(zeta) / 2 / math.cosh(zeta / 4) ** 2, rel=1e-12)
    assert losses.get("logcosh", zeta=-1e6).largest_curvature == math.inf


def test_no_margin_has_a_larger_one():
    x = np.concatenate((np.linspace(-40, 40, 4001), np.sinh(np.linspace(-30, 30, 999))))
    for name in losses.names():
        loss = losses.get(name)
        assert np.asarray(loss.curvature(x)).max() <= loss.largest_curvature * (1 + 1e-12), name


@pytest.mark.parametrize(
    ("name", "built_in"), [("logistic", "logistic"), ("matsushita", "matsushita"), ("gini", "squared")]
)
def test_of_an_own_phi_it_is_that_of_the_built_in_one(name, built_in):
    assert own(name).largest_curvature == pytest.approx(losses.get(built_in).largest_curvature, rel=1e-6)


def test_of_an_own_phi_it_is_found_where_it_lies():
    lopsided = losses.from_phi(lambda p: p * (1 - p) + 0.02 * np.sin(2 * np.pi * p) ** 2, name="wavy")
    # phi'' = -2 + 0.16 pi^2 cos(4 pi p), least in size where cos is 1: at p = 1/2
    assert lopsided.largest_curvature == pytest.approx(1 / (2 - 0.16 * np.pi**2), rel=1e-6)
    steep = losses.from_phi(lambda p: np.log(np.cosh(2)) - np.log(np.cosh(4 * (p - 0.5))), name="log-cosh")
    assert steep.largest_curvature == pytest.approx(math.cosh(2) ** 2 / 16, rel=1e-5)
    table = own("table of 33")  # its flattest piece is the one next to p = 0
    knots = np.linspace(0, 1, 33)
    least = -np.diff(np.pi * np.cos(np.pi * knots))[0] * 32
    assert table.largest_curvature == pytest.approx(1 / least, rel=1e-6)


def test_it_is_infinite_where_the_second_derivative_comes_down_to_zero():
    assert own("sine").largest_curvature == math.inf
    assert losses.from_phi(lambda p: 1 - (2 * p - 1) ** 4 + 0 * p, name="quartic").largest_curvature == math.inf
    assert losses.get("exponential").largest_curvature == math.inf


def test_of_an_own_psi_it_is_that_of_the_built_in_one():
    exponential = losses.from_psi(lambda x: np.exp(-x), lambda x: -np.exp(-x), name="exp")
    assert exponential.largest_curvature == math.inf
    square = losses.from_psi(lambda x: (1 - x) ** 2, lambda x: -2 * (1 - x), lambda x: 2.0 + 0 * x, name="square")
    assert square.largest_curvature == pytest.approx(losses.get("least_squares").largest_curvature)

    def log_loss(x):
        return np.logaddexp(0, -x)

    def bend(x):
        return np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))) ** 2

    logistic = losses.from_psi(log_loss, lambda x: -1 / (1 + np.exp(np.minimum(x, 700))), bend, name="log")
    assert logistic.largest_curvature == pytest.approx(0.25, rel=1e-9)
    shifted = losses.from_psi(
        lambda x: log_loss(x - 3.21), lambda x: -1 / (1 + np.exp(np.minimum(x - 3.21, 700))), lambda x: bend(x - 3.21)
    )
    peak = minimize_scalar(lambda x: -bend(x - 3.21), bounds=(2, 4), method="bounded")
    assert shifted.largest_curvature == pytest.approx(-peak.fun, rel=1e-6)
