"""Errata of the papers that concern losses (docs/errata.md): each test shows the printed formula wrong and ours right."""

import mpmath as mp
import numpy as np
import pytest

from permissible import Boundaries, losses
from permissible.losses import GEL, GLL, LS, LT, PiecewiseLinear

PERMISSIBLE = [losses.get(name) for name in losses.names(permissible_only=True)]
every_loss = pytest.mark.parametrize("loss", PERMISSIBLE, ids=repr)


def test_E1_the_logistic_loss_is_divided_by_ln_2():
    # Table 1 of [N], [I], [T] prints ln(1 + e^-x): 0.693 at 0, below the 0/1 loss, against F(0) = 1 and (18)
    printed = np.log1p(np.exp(-0.0))
    assert printed < 1
    assert losses.get("logistic").value(0.0) == 1
    assert losses.get("logistic").value(-1.3) == pytest.approx(np.log1p(np.exp(1.3)) / np.log(2), rel=1e-14)


@every_loss
def test_E2_the_divergence_has_the_margin_with_a_plus_sign(loss):
    # [I] Lemma 1 has F(-y* H); a right and confident prediction must be cheap
    score = 0.5 * min(loss.score_limit, 2.0)
    assert loss.bregman(1, loss.probability(score)) == pytest.approx(loss.b * loss.value(score), rel=1e-9)
    assert loss.bregman(1, loss.probability(score)) != pytest.approx(loss.b * loss.value(-score), rel=1e-3)


def test_E3_no_finite_minimiser_although_no_feature_is_one_sided():
    # [T] Lemma 5, [N] Lemma 2 ask only that no column be one-signed: majority of three has none, and yet is separable
    corners = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
    edges = -np.sign(corners.sum(axis=1))[:, None] * corners  # M_it = -y_i h_t(o_i)
    assert ((edges < 0).any(axis=0) & (edges > 0).any(axis=0)).all()
    margins = -edges @ np.ones(3)
    assert (margins > 0).all()  # delta = (1, 1, 1) violates Stiemke's condition
    risks = [losses.get("logistic").value(scale * margins).sum() for scale in (1, 10, 100)]
    assert risks[0] > risks[1] > risks[2]
    assert risks[2] < 1e-30


def test_E4_b_over_least_curvature_orders_gini_before_entropy_before_matsushita():
    # [T] section 4.1.5 reads the opposite out of Theorem 2; curvature is 1/G'', largest at margin 0 for these
    b_over_v = {name: losses.get(name).b * losses.get(name).curvature(0.0) for name in ("B", "Q", "M", "mu")}
    assert b_over_v["B"] == pytest.approx(1 / 8)
    assert b_over_v["Q"] == pytest.approx(np.log(2) / 4)
    assert b_over_v["M"] == pytest.approx(1 / 4)
    assert b_over_v["mu"] == pytest.approx(1 / 4)
    assert b_over_v["B"] < b_over_v["Q"] < b_over_v["M"]


def test_E7_log_cosh_is_shifted_to_zero_and_only_the_size_of_zeta_matters():
    # [T] (24) as printed, -(2/zeta) ln cosh(zeta/2 (p - 1/2)) with zeta < 0, is positive and convex; its opposite has a < 0
    zeta = -8.0
    printed = -2 / zeta * np.log(np.cosh(zeta / 2 * (0.0 - 0.5)))
    assert -printed < 0
    loss = losses.get("logcosh", zeta=zeta)
    assert loss.phi(0.0) == 0
    assert loss.phi(0.3) == pytest.approx(printed + 2 / zeta * np.log(np.cosh(zeta / 2 * (0.3 - 0.5))), rel=1e-13)
    assert losses.get("logcosh", zeta=8.0).value([-0.5, 0.5]) == pytest.approx(loss.value([-0.5, 0.5]), rel=1e-15)
    assert loss.score_limit == pytest.approx(np.tanh(2.0), rel=1e-15)


def test_E8_the_curvature_of_the_dual_of_the_exponential_has_no_positive_bound():
    # psi~''(w) = 1/psi''(x) = e^x -> 0 as x -> -inf: Theorem 2 of [N] says nothing
    assert 1 / losses.get("exponential").curvature(-500.0) < 1e-200
    assert 1 / losses.get("least_squares").curvature(-500.0) == 0.5


@every_loss
def test_E9_only_the_entropy_gives_an_exponential_family(loss):
    # sum over y of exp(theta y - G*(theta) - nu(y)) is 1 for all theta only if ln(e^nu0 + e^(theta + nu1)) = G*(theta)
    theta = np.linspace(-0.9, 0.9, 7) * min(loss.score_limit, 3.0)
    normaliser = np.exp(-loss.conjugate(theta)) * (1 + np.exp(theta))
    constant = np.ptp(normaliser) < 1e-12
    assert constant == (loss.name == "logistic")


@every_loss
def test_E9_the_probability_of_a_score_is_the_link_not_the_sigmoid(loss):
    score = 0.7 * min(loss.score_limit, 1.5)
    sigmoid = 1 / (1 + np.exp(-score))
    assert (loss.probability(score) == pytest.approx(sigmoid, rel=1e-9)) == (loss.name == "logistic")


@every_loss
def test_E10_the_weight_one_half_belongs_to_bF_and_one_over_2b_to_F(loss):
    step = 1e-6 * min(loss.score_limit, 1.0)
    slope = (loss.value(step) - loss.value(-step)) / (2 * step)
    assert loss.weight(0.0) == 0.5
    assert -slope == pytest.approx(1 / (2 * loss.b), rel=1e-6)


def test_E11_region_k_holds_scores_above_delta_k():
    # [K] (8) prints the index off by one; Theorem 1 puts f = delta + small into the region above pi
    surrogate, groups = PiecewiseLinear([0.25, 0.75]), Boundaries([0.25, 0.75])
    scores = np.array(
        [-5, surrogate.deltas[0], surrogate.deltas[0] + 1e-9, surrogate.deltas[1], surrogate.deltas[1] + 1e-9]
    )
    by_score = np.searchsorted(surrogate.deltas, scores, "left")
    assert by_score.tolist() == [0, 0, 1, 1, 2]
    assert groups.decide(losses.get("logistic").probability(scores)).tolist() == by_score.tolist()


def test_E12_the_last_hinge_has_a_minus_sign():
    # [K] (C2) fourth line, Corollary 1, S5, S8: A+_K / B+_K is negative; the loss of positives ends at the right
    surrogate = PiecewiseLinear([0.1, 0.15, 0.9])
    printed = surrogate.intercepts_pos[-1] / surrogate.slopes_pos[-1]
    last = surrogate.hinges[-1]
    assert printed < 0 < last
    assert surrogate.value(1, last + 1e-9) == 0
    assert surrogate.value(1, last - 1e-3) > 0
    # and the constant of Corollary 1 computed with the printed hinge is too small: .949 for 4.589
    hinges = np.append(surrogate.hinges[:-1], printed)
    printed_constant = max(np.min(1 / np.abs(delta - hinges)) for delta in surrogate.deltas)
    assert surrogate.excess_constant == pytest.approx(4.589, abs=1e-3)
    assert printed_constant < surrogate.excess_constant


def test_E13_theorem_4_needs_the_factor_two_outside_the_root():
    # s = 2, one boundary at 1/2, logistic loss with C^s = 1/2: excess R <= 2 C excess Q^(1/2), not C (2 excess Q)^(1/2)
    worst_printed, worst_ours = 0.0, 0.0
    for p in np.linspace(0.5, 1, 2001)[1:]:
        excess_risk = 2 * p - 1  # 0/1 loss of the wrong side
        excess_surrogate = np.log(2) - (-p * np.log(p) - (1 - p) * np.log1p(-p) if p < 1 else 0.0)
        constant = np.sqrt(0.5)
        worst_printed = max(worst_printed, excess_risk / (constant * np.sqrt(2 * excess_surrogate)))
        worst_ours = max(worst_ours, excess_risk / (2 * constant * np.sqrt(excess_surrogate)))
    assert worst_ours <= 1 + 1e-9
    assert worst_printed > 1.4


def simplex(m):
    """Codewords of mathematics, section 10: unit vectors that sum to zero."""
    u = np.zeros((m, m - 1))
    for r in range(1, m):
        u[:r, r - 1], u[r, r - 1] = 1, -r
        u[:, r - 1] /= np.sqrt(r * (r + 1))
    return np.sqrt(m / (m - 1)) * u


def test_E16_gll_is_21_and_gel_is_20():
    scores, cost = np.array([0.3, -0.2, 0.5]), 2.0 * (1 - np.eye(3))
    assert GLL().value(scores, 0, cost) == pytest.approx(np.log1p(GEL().value(scores, 0, cost)), rel=1e-14)


@pytest.mark.parametrize("z", [0, 1, 2])
def test_E17_the_printed_weights_36_and_37_are_not_the_gradients(z):
    # S = Y f / 2, so dL/df = (dL/dS) Y / 2; at f = 0 the printed (36) is twice that, (37) its opposite
    y, cost = simplex(3), np.array([[0.0, 2, 5], [1, 0, 3], [4, 1, 0]])
    f, m = np.zeros(2), 3
    step, direction = 1e-6, np.eye(2)

    def differences(loss):
        def value(at):
            return loss.value(y @ at / 2, z, cost)

        return [(value(f + step * d) - value(f - step * d)) / (2 * step) for d in direction]

    ours_s = LS().gradient(y @ f / 2, z, cost) @ y / 2
    printed_s = sum(cost[z, j] * y[j] * np.exp(f @ y[j]) for j in range(m))
    assert ours_s == pytest.approx(differences(LS()), abs=1e-8)
    assert printed_s == pytest.approx(2 * ours_s)
    ours_t = LT().gradient(y @ f / 2, z, cost) @ y / 2
    delta = {(u, v): (y[v] - y[u]) / 2 for u in range(m) for v in range(m)}
    printed_t = sum(cost[z, j] * delta[j, k] * np.exp(f @ delta[j, k]) for j in range(m) for k in range(m))
    assert ours_t == pytest.approx(differences(LT()), abs=1e-8)
    assert printed_t == pytest.approx(-ours_t)


def test_E18_gel_is_strictly_convex_only_where_mistakes_connect_the_classes():
    # Two classes never confused with the third: moving the third against them costs nothing to second order
    cost = np.array([[0.0, 1, 0], [1, 0, 0], [1, 1, 0]])
    eta = np.array([0.5, 0.5, 0.0])
    flat = np.array([1.0, 1.0, -2.0])
    risks = [sum(eta[z] * GEL().value(t * flat, z, cost) for z in range(3)) for t in (-1.0, 0.0, 1.0)]
    assert risks == pytest.approx([risks[0]] * 3)


def test_E19_a_mistake_costs_more_than_C_zj_under_gel_only():
    cost = 5.0 * (1 - np.eye(3))
    wrong = np.array([0.0, 0.1, -4.0])
    assert GEL().value(wrong, 0, cost) > 5
    assert np.log1p(5) < GLL().value(wrong, 0, cost) < 5


@every_loss
def test_E20_the_convex_generator_is_not_positive(loss):
    p = np.linspace(0, 1, 101)
    assert (-loss.phi(p) <= 0).all()


def test_E21_calibration_as_printed_holds_even_for_a_loss_that_is_not_calibrated():
    # [T] (19) with <=: the constant loss satisfies it; with < it does not
    constant = mp.mpf(1)
    p = mp.mpf("0.7")
    best_anywhere = best_on_wrong_side = p * constant + (1 - p) * constant
    assert best_anywhere <= best_on_wrong_side
    assert not best_anywhere < best_on_wrong_side
