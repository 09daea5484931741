"""Exponential, plain square and a user's own psi: the same methods as far as they exist ([N] section 2, mathematics 3)."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from permissible import losses


def fall(x):
    return np.exp(-x)


def fall_slope(x):
    return -np.exp(-x)


SMOOTH_ABS = losses.from_psi(lambda x: np.sqrt(1 + x * x) - x, lambda x: x / np.sqrt(1 + x * x) - 1, name="smooth")
GENERAL = [losses.get("exponential"), losses.get("least_squares"), SMOOTH_ABS, losses.from_psi(fall, fall_slope)]
every_loss = pytest.mark.parametrize("loss", GENERAL, ids=repr)


@given(margin=st.floats(-15, 15))
def test_values_are_the_formulas_5_and_7_of_the_paper(margin):
    assert losses.get("exponential").value(margin) == pytest.approx(np.exp(-margin), rel=1e-14)
    assert losses.get("least_squares").value(margin) == pytest.approx((1 - margin) ** 2, rel=1e-14)


@every_loss
@given(margin=st.floats(-15, 15))
def test_value_weight_and_curvature_agree_numerically(loss, margin):
    step = 1e-4
    slope = (loss.value(margin + step) - loss.value(margin - step)) / (2 * step)
    assert loss.weight(margin) == pytest.approx(-slope, rel=1e-6, abs=1e-7)
    bend = (loss.weight(margin - step) - loss.weight(margin + step)) / (2 * step)
    assert loss.curvature(margin) == pytest.approx(bend, rel=1e-6, abs=1e-6)


@every_loss
@given(p=st.floats(0.02, 0.98))
def test_the_score_of_a_probability_minimises_its_conditional_risk(loss, p):
    def risk(x):
        return p * loss.value(x) + (1 - p) * loss.value(-x)

    found = minimize_scalar(risk, bounds=(-10, 10), method="bounded", options={"xatol": 1e-11})
    assert loss.score(p) == pytest.approx(found.x, abs=1e-5)
    assert loss.impurity(p) == pytest.approx(found.fun, rel=1e-9)
    assert loss.probability(loss.score(p)) == pytest.approx(p, rel=1e-9)
    assert loss.margin(loss.score(p)) == pytest.approx(2 * p - 1, abs=1e-9)


@given(score=st.floats(-300, 300))
def test_exponential_probability_is_the_sigmoid_of_twice_the_score(score):
    loss = losses.get("exponential")
    assert loss.probability(score) == pytest.approx(1 / (1 + np.exp(-2 * score)), rel=1e-12)
    assert loss.impurity(0.1) == pytest.approx(2 * np.sqrt(0.09), rel=1e-12)


def test_least_squares_probability_is_clipped_and_weights_turn_negative():
    loss = losses.get("least_squares")
    assert loss.probability([-3.0, -1.0, 0.0, 0.5, 1.0, 2.0]).tolist() == [0, 0, 0.5, 0.75, 1, 1]
    assert loss.weight(2.0) == -2.0
    assert loss.score_limit == 1.0


@given(first=st.floats(-3, 3), second=st.floats(-3, 3))
def test_divergence_of_weights_is_what_a_margin_change_gains(first, second):
    # psi(x) - psi(x') - psi'(x')(x - x') = D_psi~(w' || w) with w = -psi'(x) ([N] section 2)
    for loss in (losses.get("exponential"), losses.get("least_squares")):
        w, other = loss.weight(first), loss.weight(second)
        gained = loss.value(first) - loss.value(second) + other * (first - second)
        assert loss.bregman(other, w) == pytest.approx(gained, rel=1e-6, abs=1e-9)


@given(x=st.floats(-3, 3), p=st.floats(0.1, 4))
def test_the_legendre_dual_of_the_table_is_the_weight_of_an_added_margin(x, p):
    # mathematics, section 3: x <> p is the weight of margin m - x when p is the weight of margin m
    exponential, square = losses.get("exponential"), losses.get("least_squares")
    assert exponential.weight(-np.log(p) - x) == pytest.approx(p * np.exp(x), rel=1e-12)
    assert square.weight((1 - p / 2) - x) == pytest.approx(p + 2 * x, rel=1e-12, abs=1e-12)


def test_what_needs_a_phi_says_so():
    for loss in GENERAL:
        for name in ("phi", "phi_prime", "conjugate", "a", "b"):
            with pytest.raises(AttributeError, match=f"`{name}` exists only for the loss of a permissible phi"):
                getattr(loss, name)
    with pytest.raises(AttributeError, match="no closed Bregman divergence"):
        SMOOTH_ABS.bregman(0.5, 0.4)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        SMOOTH_ABS.nonsense


def test_an_own_psi_of_the_exponential_is_the_exponential():
    mine, built_in, x = losses.from_psi(fall, fall_slope), losses.get("exponential"), np.linspace(-20, 20, 41)
    for method in ("value", "weight", "probability"):
        assert getattr(mine, method)(x) == pytest.approx(getattr(built_in, method)(x), rel=1e-12)
    assert mine.curvature(x) == pytest.approx(built_in.curvature(x), rel=1e-8)
    p = [1e-200, 1e-9, 0.2, 0.5, 0.9]
    assert mine.score(p) == pytest.approx(built_in.score(p), rel=1e-10)
    again = pickle.loads(pickle.dumps(losses.from_psi(fall, fall_slope)))
    assert again == mine
    assert again.value(1.5) == mine.value(1.5)


@pytest.mark.parametrize(
    ("value", "derivative", "words"),
    [
        (lambda x: np.exp(x), lambda x: np.exp(x), "`derivative` must be negative at margin 0, got 1.0"),
        (lambda x: 20 - x**2 - x, lambda x: -2 * x - 1, "`value` must be non-negative"),
        (
            lambda x: 100 - x**2 - x,
            lambda x: -2 * x - 1,
            "`value` must be convex, got a derivative that falls after margin -8",
        ),
        (lambda x: np.maximum(1 - x, 0), lambda x: -1.0 * (x < 1), "`value` must be strictly convex"),
        (lambda x: np.exp(-x), lambda x: -2 * np.exp(-x), "`derivative` must be the derivative of the value, got "),
        (lambda x: np.log(x), lambda x: 1 / x, "`value` must be finite on the real line, got nan at margin -8"),
        (3, lambda x: x, "`value` must be a function of a number, got int 3"),
    ],
)
def test_a_function_that_is_no_loss_is_refused(value, derivative, words):
    with pytest.raises((ValueError, TypeError), match=words):
        losses.from_psi(value, derivative)
