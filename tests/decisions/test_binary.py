"""Decisions of two classes: the Bayes rule by brute force, special cases, right-closed regions ([K] sections 2-3)."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss

import permissible as pm
from permissible import decisions

boundary_sets = st.lists(st.integers(1, 99), min_size=1, max_size=6, unique=True).map(
    lambda pi: sorted(k / 100 for k in pi)
)
ALL = [pm.Hard(), pm.Weighted(0.2), pm.Reject(0.15), pm.Boundaries([0.25, 0.5, 0.75]), pm.Soft()]
every_decision = pytest.mark.parametrize("decision", ALL, ids=repr)


def losses_7(pi, region):
    """(l+, l-) of [K] (7) with loops."""
    k_all = range(1, len(pi) + 1)
    plus = 2 / len(pi) * sum(1 - pi[k - 1] for k in k_all if k > region)
    minus = 2 / len(pi) * sum(pi[k - 1] for k in k_all if k <= region)
    return plus, minus


@given(pi=boundary_sets, p=st.floats(0, 1))
def test_theorem_1_the_bayes_rule_is_the_region_of_the_probability(pi, p):
    decision = pm.Boundaries(pi)
    risks = []
    for region in range(len(pi) + 1):
        plus, minus = losses_7(pi, region)
        risks.append(p * plus + (1 - p) * minus)
    chosen = int(decision.decide([p])[0])
    assert risks[chosen] == pytest.approx(min(risks), abs=1e-12)
    assert decision.bayes_risk([p])[0] == pytest.approx(min(risks), abs=1e-12)
    table = decision.region_losses()
    assert table[:, chosen] == pytest.approx(losses_7(pi, chosen)[::-1])
    assert decision.loss([1], [p])[0] == pytest.approx(losses_7(pi, chosen)[0])
    assert decision.loss([0], [p])[0] == pytest.approx(losses_7(pi, chosen)[1])


@given(pi=boundary_sets, p=st.floats(0, 1), other=st.floats(0, 1))
def test_excess_risk_is_the_sum_over_boundaries_between(pi, p, other):
    decision = pm.Boundaries(pi)
    plus, minus = losses_7(pi, int(decision.decide([other])[0]))
    excess = p * plus + (1 - p) * minus - decision.bayes_risk([p])[0]
    crossed = [boundary for boundary in pi if (boundary < p) != (boundary < other)]
    assert excess == pytest.approx(2 / len(pi) * sum(abs(p - boundary) for boundary in crossed), abs=1e-12)


def test_regions_are_right_closed():
    assert pm.Boundaries([0.25, 0.75]).decide([0.0, 0.25, 0.25 + 1e-12, 0.75, 0.76, 1.0]).tolist() == [0, 0, 1, 1, 2, 2]
    assert pm.Weighted(0.3).decide([0.3, 0.3 + 1e-12]).tolist() == [0, 1]
    assert pm.Reject(0.3).decide([0.3, 0.3 + 1e-12, 0.7, 0.7 + 1e-12]).tolist() == [0, -1, -1, 1]


def test_E23_a_score_of_zero_is_a_positive_for_the_hard_decision():
    # sigma(0) = +1 in [N, T]; the regions of [K] are right-closed instead, and its ties (5), (6) contradict them
    assert pm.Hard().decide([0.5, 0.5 - 1e-12]).tolist() == [1, 0]
    assert pm.Hard().decide([[0.5, 0.5]]).tolist() == [1]
    assert pm.Hard().decide([[0.4, 0.4, 0.2]]).tolist() == [0]
    # E23: the rejection depends on the score alone, not on Y f: both labels see the same action
    assert pm.Reject(0.2).decide([0.1]).tolist() == [0]


@given(p=st.floats(0, 1), pi=st.floats(0.01, 0.99), d=st.floats(0.01, 0.49))
def test_special_cases_of_the_boundaries(p, pi, d):
    for y in (0, 1):
        assert pm.Weighted(pi).loss([y], [p]) == pm.Boundaries([pi]).loss([y], [p])
        assert pm.Reject(d).loss([y], [p]) == pytest.approx(pm.Boundaries([d, 1 - d]).loss([y], [p]), abs=1e-12)
        if p != 0.5:
            assert pm.Hard().loss([y], [p]) == pm.Boundaries([0.5]).loss([y], [p])
    assert pm.Hard().bayes_risk([p])[0] == pytest.approx(min(p, 1 - p))
    assert pm.Reject(d).bayes_risk([p])[0] == pytest.approx(pm.Boundaries([d, 1 - d]).bayes_risk([p])[0], abs=1e-12)
    assert pm.Weighted(pi).bayes_risk([p])[0] == pytest.approx(2 * min(p * (1 - pi), (1 - p) * pi), abs=1e-12)


@given(p=st.floats(0, 1))
def test_equally_spaced_boundaries_become_the_brier_score(p):
    # needs EQUIDISTRIBUTED boundaries, not just dense ones
    k = 4000
    many = pm.Boundaries(np.arange(1, k + 1) / (k + 1))
    for y in (0, 1):
        assert many.loss([y], [p])[0] == pytest.approx(pm.Soft().loss([y], [p])[0], abs=2e-3)
    crowded = pm.Boundaries(np.linspace(0.001, 0.999, k) ** 2)
    assert crowded.loss([0], [0.99])[0] != pytest.approx(pm.Soft().loss([0], [0.99])[0], abs=0.05)


@every_decision
def test_one_and_two_columns_agree_and_weight_two_is_the_row_twice(decision):
    rng = np.random.default_rng(0)
    p, y = rng.random(50), rng.integers(0, 2, 50)
    columns = np.column_stack([1 - p, p])
    assert np.array_equal(decision.decide(p), decision.decide(columns))
    assert decision.loss(y, p) == pytest.approx(decision.loss(y, columns))
    assert decision.risk(y, p) == pytest.approx(decision.loss(y, p).mean())
    weight = rng.integers(1, 4, 50)
    repeated = decision.risk(np.repeat(y, weight), np.repeat(p, weight))
    assert decision.risk(y, p, sample_weight=weight) == pytest.approx(repeated, rel=1e-12)


@every_decision
@given(p=st.floats(0, 1))
def test_no_action_beats_the_bayes_risk(decision, p):
    conditional = p * decision.loss([1], [p])[0] + (1 - p) * decision.loss([0], [p])[0]
    assert conditional == pytest.approx(decision.bayes_risk([p])[0], abs=1e-12)


def test_soft_extends_to_more_classes():
    proba = np.array([[0.2, 0.5, 0.3]])
    assert pm.Soft().loss([1], proba) == pytest.approx([((0.2) ** 2 + 0.5**2 + 0.3**2) / 2])
    assert pm.Hard().loss([1], proba).tolist() == [0.0]
    assert pm.Soft().decide(proba).shape == (1, 3)


@every_decision
def test_documents_are_plain_data_and_read_back(decision):
    document = json.loads(json.dumps(decision.to_document()))
    assert decisions.from_document(document) == decision
    assert hash(decisions.from_document(document)) == hash(decision)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pm.Weighted(1.0), r"`pi` must be a number in \(0, 1\), got 1.0"),
        (lambda: pm.Weighted("0.3"), r"`pi` must be a number in \(0, 1\), got str '0.3'"),
        (lambda: pm.Reject(True), r"`cost` must be a number in \(0, 1\), got bool True"),
        (lambda: pm.Weighted("a"), r"`pi` must be a number in \(0, 1\), got str 'a'"),
        (lambda: pm.Reject(0.6), "`cost` must be at most 1/2, got 0.6; at a higher cost a guess is always better"),
        (lambda: pm.Boundaries([0.5, 0.2]), "`boundaries` must be strictly increasing, got 0.5 followed by 0.2"),
        (lambda: pm.Boundaries([1.5]), r"`boundaries` must be numbers in \(0, 1\), got 1.5"),
        (lambda: pm.Hard().decide([1.2]), r"`proba` must be probabilities in \[0, 1\], got 1.2"),
        (lambda: pm.Hard().decide([np.nan]), r"`proba` must be probabilities in \[0, 1\], got nan"),
        (lambda: pm.Hard().decide([[0.2, 0.3]]), "`proba` must be rows that sum to 1, got a sum of 0.5 in row 0"),
        (lambda: pm.Hard().decide(0.5), r"`proba` must be 1-D"),
        (
            lambda: pm.Reject(0.2).decide([[0.2, 0.3, 0.5]]),
            r"`proba` must be 1-D or of shape \(n, 2\), got shape \(1, 3\); use",
        ),
        (lambda: pm.Hard().loss([0, 1], [0.5]), r"`y` must be 1-D with 1 values"),
        (lambda: pm.Hard().loss([2], [0.5]), "`y` must be codes of classes, 0 to 1, got 2; pass positions"),
        (lambda: pm.Hard().loss(["a"], [0.5]), "`y` must be codes of classes, 0 to 1, got list"),
        (lambda: pm.Hard().risk([1], [0.5], sample_weight=[-1]), "`sample_weight` must be finite, non-negative"),
        (lambda: pm.Hard().risk([], []), "`y` must be at least one row, got none"),
        (lambda: decisions.from_document({"kind": "Oracle"}), "`document` must be of a kind among Hard, Weighted"),
        (lambda: decisions.from_document({"kind": "Hard", "x": 1}), "`document` must be with the fields"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_the_log_loss_is_that_of_scikit_learn_and_its_least_risk_the_entropy():
    rng = np.random.default_rng(3)
    for m in (2, 3):
        proba, y = rng.dirichlet(np.ones(m), 60), rng.integers(0, m, 60)
        assert pm.LogLoss().risk(y, proba) == pytest.approx(log_loss(y, proba, labels=range(m)), rel=1e-12)
        mean = sum(proba[:, k] * pm.LogLoss().loss(np.full(60, k), proba) for k in range(m))
        assert pm.LogLoss().bayes_risk(proba) == pytest.approx(mean, rel=1e-12)
    certain = pm.LogLoss().loss([1], [0.0])
    assert certain == pytest.approx(log_loss([1], [[1.0, 0.0]], labels=[0, 1]), rel=1e-12)
    assert pm.decisions.from_document(pm.LogLoss(1e-6).to_document()) == pm.LogLoss(1e-6)
    assert np.array_equal(pm.LogLoss().decide([0.2, 0.7]), [0.2, 0.7])
