"""Every identity of the mathematics, section 2.2, over the registry: a phi is tested by being registered."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from permissible import losses

LOSSES = [losses.get(name) for name in losses.names(permissible_only=True)] + [
    losses.get("mu", mu=0.99),
    losses.get("power", upsilon=0.8),
    losses.get("logcosh", zeta=-1.0),
    losses.get("logcosh", zeta=-30.0),
    losses.from_phi(lambda p: np.sin(np.pi * p), lambda p: np.pi * np.cos(np.pi * p), name="sine"),
]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
probabilities = st.floats(1e-9, 1 - 1e-9)
scores = st.floats(-30, 30)


def inside(loss, score):
    """A score strictly between the limits: the given one, squeezed where they are finite."""
    return score if loss.score_limit == np.inf else 0.97 * loss.score_limit * np.tanh(score)


@every_loss
@given(p=probabilities)
def test_phi_is_symmetric_and_pinned_at_its_ends(loss, p):
    assert loss.phi(p) == pytest.approx(loss.phi(1 - p), rel=1e-7)
    assert loss.phi([0.0, 1.0]) == pytest.approx([loss.a, loss.a], abs=1e-15)
    assert loss.phi(0.5) == pytest.approx(loss.a + loss.b, rel=1e-14)
    assert loss.impurity(0.5) == pytest.approx(1, rel=1e-14)


@every_loss
@given(p=probabilities, q=probabilities, share=st.floats(0.01, 0.99))
def test_phi_is_concave(loss, p, q, share):
    assert loss.phi(share * p + (1 - share) * q) >= share * loss.phi(p) + (1 - share) * loss.phi(q) - 1e-14
    if abs(p - q) > 0.01:
        assert loss.phi((p + q) / 2) > (loss.phi(p) + loss.phi(q)) / 2


@every_loss
@given(p=st.floats(1e-12, 0.5))
def test_link_and_its_inverse_undo_each_other(loss, p):
    there_and_back = loss.probability(loss.score(p))
    assert loss.score(there_and_back) == pytest.approx(loss.score(p), rel=1e-12, abs=1e-14)
    if loss.score_limit == np.inf:  # next to a finite limit the score has no digits left for p
        assert there_and_back == pytest.approx(p, rel=1e-10)
    assert loss.score(1 - 0.3 * p) == pytest.approx(-loss.score(1 - (1 - 0.3 * p)), rel=1e-12)
    assert loss.phi_prime(p) == -loss.score(p)


@every_loss
@given(score=scores)
def test_the_inverse_is_undone_by_the_link(loss, score):
    score = -abs(inside(loss, score))
    assume(loss.probability(score) > 1e-280)
    assert loss.score(loss.probability(score)) == pytest.approx(score, rel=1e-8, abs=1e-12)


@every_loss
@given(p=probabilities, score=scores)
def test_fenchel_young_with_equality_at_the_link_only(loss, p, score):
    assert loss.conjugate(score) - loss.phi(p) - score * p >= -1e-12 * max(1, abs(score))
    at = loss.score(p)
    assert loss.conjugate(at) == pytest.approx(at * p + loss.phi(p), rel=1e-10, abs=1e-12)


@every_loss
@given(p=probabilities, q=probabilities)
def test_bregman_divergence_is_positive_and_zero_only_at_equality(loss, p, q):
    assert loss.bregman(p, p) == 0
    assert loss.bregman(p, q) >= 0
    if abs(p - q) > 1e-3:
        assert loss.bregman(p, q) > 0
        by_hand = loss.phi(q) - loss.phi(p) + (p - q) * loss.phi_prime(q)
        assert loss.bregman(p, q) == pytest.approx(by_hand, rel=1e-6, abs=1e-12)


@every_loss
@given(score=scores)
def test_10_to_12_the_loss_is_a_divergence_between_class_and_probability(loss, score):
    # [T] (10)-(12): D_G(y || ginv(H)) = b F(y* H) = G*(-y* H) - a = D_G(0 || ginv(-y* H)) = D_G(1 || ginv(y* H))
    score = inside(loss, score)
    for label, sign in ((1, 1), (0, -1)):
        margin = sign * score
        expected = loss.b * loss.value(margin)
        close = {"rel": 1e-7, "abs": 1e-9}
        assert loss.conjugate(-margin) - loss.a == pytest.approx(expected, **close)
        if 1e-9 < loss.probability(score) < 1 - 1e-9:  # beyond, 1 - p has no digits left
            assert loss.bregman(label, loss.probability(score)) == pytest.approx(expected, **close)
            assert loss.bregman(0, loss.probability(-margin)) == pytest.approx(expected, **close)
            assert loss.bregman(1, loss.probability(margin)) == pytest.approx(expected, **close)


@every_loss
@given(margin=st.floats(-1e6, 1e6))
def test_13_the_loss_is_balanced(loss, margin):
    assert loss.value(margin) - loss.value(-margin) == pytest.approx(-margin / loss.b, rel=1e-12, abs=1e-12)
    x = abs(margin)
    assert loss.conjugate(x) == pytest.approx(loss.conjugate(-x) + x, rel=1e-12)


@every_loss
def test_14_15_the_conjugate_at_zero_and_at_its_left_end(loss):
    assert loss.conjugate(0.0) == pytest.approx(loss.phi(0.5), rel=1e-14)
    far = 1e12 if loss.score_limit == np.inf else loss.score_limit
    slowest = 0.3 if loss.name == "power" else 1e-6
    assert loss.conjugate(-far) == pytest.approx(loss.a, abs=slowest)


@every_loss
def test_17_the_loss_approaches_its_asymptotes(loss):
    # -x / b on the left and 0 on the right; phi = (p (1 - p))^(1/4) approaches them slowest, like x^(-1/3)
    far = np.array([1e2, 1e4, 1e6, 1e8])
    above = np.asarray(loss.value(far))
    assert (np.diff(above) <= 0).all()
    assert above[-1] < 2e-3
    assert loss.value(-far) * loss.b / far - 1 == pytest.approx(0, abs=0.01)
    assert loss.value(-1e8) * loss.b / 1e8 == pytest.approx(1, rel=1e-9)


@every_loss
@given(margin=st.floats(-1e3, 1e3))
def test_18_the_loss_lies_above_the_zero_one_loss_and_its_asymptotes(loss, margin):
    value = loss.value(margin)
    assert value >= (1 - 1e-12 if margin <= 0 else 0)
    assert value >= max(-margin / loss.b, 0) - 1e-9 * abs(margin)
    assert loss.value(0.0) == pytest.approx(1, rel=1e-15)


@every_loss
@given(first=st.floats(-50, 50), second=st.floats(-50, 50))
def test_the_loss_is_convex_and_decreasing(loss, first, second):
    low, high = sorted((first, second))
    assert loss.value(low) >= loss.value(high) - 1e-13
    assert loss.weight(low) >= loss.weight(high) - 1e-13
    chord = (loss.value(low) + loss.value(high)) / 2
    assert loss.value((low + high) / 2) <= chord + 1e-12 * max(1, abs(chord))


@every_loss
@given(margin=st.floats(-20, 20))
def test_value_weight_and_curvature_agree_numerically(loss, margin):
    step = 1e-4 * loss.score(0.75)  # in the loss's own unit of score
    if np.isfinite(loss.score_limit):
        margin = 0.9 * loss.score_limit * np.tanh(margin)
    slope = (loss.value(margin + step) - loss.value(margin - step)) / (2 * step)
    assert loss.weight(margin) == pytest.approx(-loss.b * slope, rel=1e-5, abs=1e-7)
    bend = (loss.weight(margin - step) - loss.weight(margin + step)) / (2 * step)
    assert loss.curvature(margin) == pytest.approx(bend, rel=1e-5, abs=1e-7)


@every_loss
@given(margin=scores)
def test_weight_probability_and_margin_are_one_function(loss, margin):
    assert loss.weight(margin) == loss.probability(-margin)
    assert loss.weight(0.0) == 0.5
    assert loss.weight(margin) + loss.weight(-margin) == pytest.approx(1, rel=1e-15)
    assert loss.margin(margin) == pytest.approx(2 * loss.probability(margin) - 1, abs=1e-11)
    assert -1 <= loss.margin(margin) <= 1


@every_loss
@given(p=st.floats(1e-4, 1 - 1e-4), q=st.floats(1e-4, 1 - 1e-4))
def test_25_divergence_of_probabilities_is_that_of_scores_reversed(loss, p, q):
    # D_G(q || p) = D_G*(g(p) || g(q)), D_G*(u || v) = G*(u) - G*(v) - (u - v) ginv(v)
    u, v = loss.score(p), loss.score(q)
    dual = loss.conjugate(u) - loss.conjugate(v) - (u - v) * q
    assert loss.bregman(q, p) == pytest.approx(dual, rel=1e-6, abs=1e-9 * max(1, abs(u), abs(v)))


@every_loss
@given(x=st.floats(-0.3, 0.3), other=st.floats(-0.3, 0.3), start=st.floats(-0.3, 0.3))
def test_28_to_30_the_legendre_dual_adds_scores(loss, x, other, start):
    span = min(loss.score_limit, 10.0)  # stay inside finite limits
    x, other, p = span * x, span * other, loss.probability(span * start)

    def dual(step, start):
        return loss.probability(step + loss.score(start))

    assert loss.score(dual(x, p)) == pytest.approx(x + loss.score(p), rel=1e-7, abs=1e-9)
    assert dual(x, dual(other, p)) == pytest.approx(dual(x + other, p), rel=1e-7, abs=1e-9)
    # x <> p is the argmax over p' of x p' - D_G(p' || p)
    best = dual(x, p)
    gain = x * best - loss.bregman(best, p)
    for nearby in (best * 0.99, best + 0.01 * (1 - best)):
        assert x * nearby - loss.bregman(nearby, p) <= gain + 1e-12


@every_loss
@given(p=st.floats(0.02, 0.98), guess=st.floats(0.02, 0.98))
def test_lemma_1_the_loss_of_probabilities_is_symmetric_and_proper(loss, p, guess):
    # [T] Lemma 1: l(y, p) = D_G(y || p), with A1 (never below the 0 of a right answer), A2 and A3
    assert loss.bregman(1, guess) > loss.bregman(1, 1.0) == 0.0
    assert loss.bregman(1, guess) == pytest.approx(loss.bregman(0, 1 - guess), rel=1e-9)

    def risk(q):
        return p * loss.bregman(1, q) + (1 - p) * loss.bregman(0, q)

    assert risk(guess) >= risk(p) - 1e-12
    if abs(p - guess) > 0.01:
        assert risk(guess) > risk(p)


@every_loss
@settings(max_examples=8)
@given(p=st.floats(0.02, 0.98))
def test_least_conditional_risk_is_the_impurity_at_the_link(loss, p):
    def risk(x):
        return p * loss.value(x) + (1 - p) * loss.value(-x)

    assert risk(loss.score(p)) == pytest.approx(loss.impurity(p), rel=1e-10)
    span = 3 * max(1.0, abs(loss.score(p)))
    found = minimize_scalar(risk, bounds=(-span, span), method="bounded", options={"xatol": 1e-10})
    assert found.fun >= loss.impurity(p) - 1e-12
    assert found.fun == pytest.approx(loss.impurity(p), rel=1e-6)


@every_loss
@given(p=st.floats(0.01, 0.99))
def test_19_the_loss_is_classification_calibrated_strictly(loss, p):
    # E21: as printed, with <=, the condition holds for every loss; it must be strict for p != 1/2
    assume(abs(p - 0.5) > 1e-4)
    on_the_wrong_side = 1.0  # min over x with x (2p - 1) <= 0 of p F(x) + (1-p) F(-x), attained at x = 0 by convexity
    for x in -np.sign(2 * p - 1) * np.array([0.0, 1e-3, 0.1, 0.5, 2.0]):
        assert p * loss.value(x) + (1 - p) * loss.value(-x) >= on_the_wrong_side - 1e-12
    assert loss.impurity(p) < on_the_wrong_side


@given(margin=st.floats(-1e4, 1e4), mu=st.floats(0.01, 0.99), p=st.floats(0.001, 0.999))
def test_mu_matsushita_is_matsushita_rescaled(margin, mu, p):
    # E5: phi_mu = mu + (1 - mu) phi_M changes the unit of the score and nothing else
    scaled, plain = losses.get("mu", mu=mu), losses.get("matsushita")
    assert scaled.value(margin) == pytest.approx(plain.value(margin / (1 - mu)), rel=1e-12)
    assert scaled.weight(margin) == pytest.approx(plain.weight(margin / (1 - mu)), rel=1e-12)
    assert scaled.score(p) == pytest.approx((1 - mu) * plain.score(p), rel=1e-12)
    assert scaled.impurity(p) == pytest.approx(plain.impurity(p), rel=1e-12)


@given(p=st.floats(1e-6, 0.5))
def test_power_one_half_is_matsushita_and_power_near_one_is_gini(p):
    assert losses.get("power", upsilon=0.5).phi(p) == pytest.approx(losses.get("M").phi(p), rel=1e-12)
    assert losses.get("power", upsilon=1 - 1e-9).phi(p) == pytest.approx(losses.get("B").phi(p), rel=1e-6)


@given(margin=st.floats(-0.99, 0.99))
def test_log_cosh_runs_from_the_square_to_the_hinge(margin):
    flat, steep = losses.get("logcosh", zeta=-1e-4), losses.get("logcosh", zeta=-1e4)
    assert flat.value(margin * flat.score_limit) == pytest.approx(losses.get("B").value(margin), abs=1e-6)
    assert steep.value(margin) == pytest.approx(1 - margin, abs=1e-2)
