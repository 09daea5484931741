"""A user's own phi: completed to a whole loss in ten lines, and refused with the property that fails when not permissible."""

import math

import numpy as np
import pytest

from permissible import losses


def entropy(p):
    return -p * np.log(p) - (1 - p) * np.log(1 - p)


def test_ten_lines_make_a_loss():
    # An own phi, the semicircle: phi(p) = sqrt(1/4 - (p - 1/2)^2) is Matsushita's error in disguise.
    mine = losses.from_phi(lambda p: np.sqrt(0.25 - (p - 0.5) ** 2), name="semicircle")
    margins = np.linspace(-5, 5, 101)
    assert mine.value(margins) == pytest.approx(losses.get("matsushita").value(margins), rel=1e-10)
    assert mine.weight(0.0) == 0.5
    assert mine.score_limit == math.inf
    assert losses.PiecewiseLinear([0.2, 0.7], base=mine).check()
    assert losses.get(mine) is mine
    assert repr(mine) == "losses.from_phi(name='semicircle')"


@pytest.mark.parametrize(
    ("phi", "phi_prime", "name", "params"),
    [
        (entropy, lambda p: np.log((1 - p) / p), "logistic", {}),
        (entropy, None, "logistic", {}),
        (lambda p: np.sqrt(p * (1 - p)), None, "matsushita", {}),
        (lambda p: 0.5 + 0.5 * np.sqrt(p * (1 - p)), None, "mu", {"mu": 0.5}),
        (lambda p: p * (1 - p), None, "squared", {}),
        (lambda p: (p * (1 - p)) ** 0.7, None, "power", {"upsilon": 0.7}),
        (lambda p: (np.log(np.cosh(2)) - np.log(np.cosh(4 * (p - 0.5)))) / 4, None, "logcosh", {"zeta": -8.0}),
    ],
)
def test_a_built_in_phi_given_as_ones_own_is_the_built_in_loss(phi, phi_prime, name, params):
    mine, built_in = losses.from_phi(phi, phi_prime), losses.get(name, **params)
    reach = 500.0 if name == "logistic" else 1e8  # e^-x underflows beyond
    x = np.r_[10.0 ** np.arange(-3, 9), 0.3, 0.7, 2.0, 20.0]
    x = np.r_[-x, x][np.abs(np.r_[-x, x]) <= reach]
    for method in ("value", "weight", "probability", "conjugate"):
        assert getattr(mine, method)(x) == pytest.approx(getattr(built_in, method)(x), rel=1e-10, abs=1e-300), method
    assert mine.curvature(x) == pytest.approx(built_in.curvature(x), rel=1e-9, abs=1e-300)
    p = np.array([1e-300, 1e-100, 1e-8, 0.01, 0.3, 0.49, 0.6, 0.99])
    assert mine.score(p) == pytest.approx(built_in.score(p), rel=1e-10)
    assert (mine.a, mine.b) == pytest.approx((built_in.a, built_in.b), rel=1e-12, abs=1e-300)
    assert mine.score_limit == pytest.approx(built_in.score_limit, rel=1e-10)
    assert mine.bregman(0.3, 0.6) == pytest.approx(built_in.bregman(0.3, 0.6), rel=1e-10)


def test_a_phi_of_single_numbers_without_derivative_still_serves():
    mine = losses.from_phi(lambda p: -p * math.log(p) - (1 - p) * math.log(1 - p))
    x = np.linspace(-20, 20, 41)
    assert mine.value(x) == pytest.approx(losses.get("logistic").value(x), rel=1e-6)
    assert mine.probability(x) == pytest.approx(losses.get("logistic").probability(x), rel=1e-6)


def test_differences_that_drown_in_rounding_are_continued_as_a_power():
    mine = losses.from_phi(lambda p: 0.5 + 0.5 * np.abs(np.sqrt(p * (1 - p))))  # abs() rules the complex step out
    x = np.linspace(-50, 50, 21)
    assert mine.weight(x) == pytest.approx(losses.get("mu", mu=0.5).weight(x), rel=1e-6)


@pytest.mark.parametrize(
    ("phi", "words"),
    [
        (lambda p: p**2 - p, r"`phi` must be strictly concave, got a second difference of \+3.05e-05 at p = "),
        (lambda p: np.minimum(p, 1 - p), r"`phi` must be strictly concave, got a second difference of \+0 at p = "),
        (lambda p: p * (1 - p) * (1 + 0.1 * p), r"`phi` must be symmetric, phi\(p\) = phi\(1 - p\), got phi\(0\.2"),
        (
            lambda p: p * (1 - p) - 0.1,
            r"`phi` must be non-negative, phi\(0\) >= 0, got phi\(0\) = -0.1; add a constant to it",
        ),
        (lambda p: p * (1 - p) + 0 / (p != 0.5), r"`phi` must be finite on \[0, 1\], got nan at p = 0.5"),
        (lambda p: "high", "`phi` must be a function of a number that returns a number|`phi` must be finite"),
    ],
)
def test_a_function_that_is_not_permissible_is_refused_with_the_property_and_the_place(phi, words):
    with pytest.raises((ValueError, TypeError), match=words):
        losses.from_phi(phi)


def test_a_wrong_derivative_is_refused():
    with pytest.raises(ValueError, match=r"`phi_prime` must be the derivative of phi, got 0\.98 at p = 0\.02, where"):
        losses.from_phi(lambda p: p * (1 - p), lambda p: 1 - p)
    with pytest.raises(TypeError, match="`phi` must be a function of a number, got str 'gini'"):
        losses.from_phi("gini")
