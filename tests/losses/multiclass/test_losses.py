"""Multiclass losses with costs: values, gradients, stability, guess-aversion ([B], mathematics section 9)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import permissible as pm
from permissible import losses
from permissible.losses import GEL, GLL, LS, LT, MC, StructuredHinge, get_multiclass, is_guess_averse

ALL = [GLL(), GEL(), MC(), LS(), LT(), StructuredHinge()]
every_loss = pytest.mark.parametrize("loss", ALL, ids=repr)
seeds = st.integers(0, 10_000)


def case(seed, n=5, m=4, spread=2.0):
    rng = np.random.default_rng(seed)
    cost = rng.uniform(0.5, 5, (m, m)) * (1 - np.eye(m))
    return rng.normal(0, spread, (n, m)), rng.integers(0, m, n), cost


def by_definition(loss, scores, z, cost):
    """The formulas of [B] with loops."""
    m = len(scores)
    differences = [cost[z, j] * np.exp(scores[j] - scores[z]) for j in range(m)]
    return {
        "GLL": lambda: np.log(1 + sum(differences)),
        "GEL": lambda: sum(differences),
        "MC": lambda: sum(np.exp(scores[j] - scores[z]) for j in range(m)),
        "LS": lambda: sum(cost[z, j] * np.exp(scores[j]) for j in range(m)),
        "LT": lambda: sum(cost[z, j] * np.exp(scores[j] - scores[k]) for j in range(m) for k in range(m)),
        "StructuredHinge": lambda: max(cost[z, k] + scores[k] - scores[z] for k in range(m)),
    }[type(loss).__name__]()


@every_loss
@given(seed=seeds)
def test_values_are_the_formulas_of_the_paper(loss, seed):
    scores, y, cost = case(seed)
    expected = [by_definition(loss, s, z, cost) for s, z in zip(scores, y, strict=True)]
    assert loss.value(scores, y, cost) == pytest.approx(expected, rel=1e-12)
    assert loss.value(scores[0], y[0], cost) == pytest.approx(expected[0], rel=1e-12)
    assert isinstance(loss.value(scores[0], y[0], cost), float)


@every_loss
@given(seed=seeds)
def test_gradients_are_the_differences_of_values(loss, seed):
    # E17: the printed (36) and (37) of [B] fail this for L_s and L_t
    scores, y, cost = case(seed, spread=1.0)
    gradient, step = loss.gradient(scores, y, cost), 1e-6
    for j in range(scores.shape[1]):
        move = step * np.eye(scores.shape[1])[j]
        slope = (loss.value(scores + move, y, cost) - loss.value(scores - move, y, cost)) / (2 * step)
        assert gradient[:, j] == pytest.approx(slope, rel=1e-5, abs=1e-6)
    assert loss.gradient(scores[1], y[1], cost) == pytest.approx(gradient[1])


@every_loss
@given(seed=seeds, share=st.floats(0, 1))
def test_all_are_convex_in_the_scores(loss, seed, share):
    scores, y, cost = case(seed)
    other = scores[::-1]
    mixed = loss.value(share * scores + (1 - share) * other, y, cost)
    assert (mixed <= share * loss.value(scores, y, cost) + (1 - share) * loss.value(other, y, cost) + 1e-9).all()


@every_loss
@given(seed=seeds)
def test_costs_as_a_matrix_as_rows_and_as_a_decision_agree(loss, seed):
    scores, y, cost = case(seed)
    expected = loss.value(scores, y, cost)
    assert np.array_equal(loss.value(scores, y, cost[y]), expected)
    assert np.array_equal(loss.value(scores, y, pm.CostMatrix(cost)), expected)
    square = scores[:4], y[:4]
    assert np.array_equal(loss.value(*square, cost[y[:4]], rows=True), loss.value(*square, cost))
    assert np.array_equal(loss.gradient(*square, cost[y[:4]], rows=True), loss.gradient(*square, cost))


@every_loss
@given(seed=seeds)
def test_without_costs_every_mistake_costs_one(loss, seed):
    scores, y, _ = case(seed)
    assert np.array_equal(loss.value(scores, y), loss.value(scores, y, 1 - np.eye(4)))


@given(margin=st.floats(-30, 30))
def test_two_classes_give_the_binary_losses(margin):
    # S = (f/2, -f/2): the difference is the binary margin
    scores = [[margin / 2, -margin / 2]]
    assert GLL().value(scores, [0]) == pytest.approx([np.log1p(np.exp(-margin))], rel=1e-12)
    assert GLL().value(scores, [0]) == pytest.approx([np.log(2) * losses.get("logistic").value(margin)], rel=1e-12)
    assert GEL().value(scores, [0]) == pytest.approx([losses.get("exponential").value(margin)], rel=1e-12)
    assert StructuredHinge().value(scores, [0]) == pytest.approx([losses.hinge().value(margin)], abs=1e-12)


@given(seed=seeds)
def test_mc_is_cost_insensitive_gel_plus_one(seed):
    scores, y, cost = case(seed)
    assert MC().value(scores, y, cost) == pytest.approx(GEL().value(scores, y) + 1, rel=1e-12)


@every_loss
def test_extreme_scores_give_no_overflow_and_no_warning(loss):
    scores = np.array([[1e8, 0.0, -1e8], [-1e8, 1e8, 0.0], [800.0, -800.0, 0.0], [0.0, 0.0, 0.0]])
    for y in ([0, 0, 0, 0], [1, 2, 1, 2]):
        cost = 9.0 * (1 - np.eye(3))
        assert np.isfinite(loss.value(scores, y, cost)).all()
        assert np.isfinite(loss.gradient(scores, y, cost)).all()


def test_gll_keeps_its_digits_where_it_is_tiny_and_where_it_is_huge():
    assert GLL().value([[50.0, 0.0]], [0]) == pytest.approx([np.exp(-50.0)], rel=1e-12)
    assert GLL().value([[-1e6, 0.0]], [0]) == pytest.approx([1e6], rel=1e-15)


@given(seed=seeds)
def test_posteriors_invert_the_conditional_risk(seed):
    # mathematics, section 10: eta ~ e^S for GLL, e^(2S) for MC; the risk of that S is stationary
    rng = np.random.default_rng(seed)
    eta = rng.dirichlet(np.ones(4))
    for loss, scale in ((GLL(), 1.0), (MC(), 2.0)):
        scores = np.log(eta) / scale
        gradient = sum(eta[z] * loss.gradient(scores, z) for z in range(4))
        if isinstance(loss, MC):
            assert gradient == pytest.approx(np.zeros(4), abs=1e-9 * max(1, np.abs(loss.gradient(scores, 0)).max()))
        assert loss.posterior(scores) == pytest.approx(eta)
    two = np.array([0.3, 0.7])
    gradient = sum(two[z] * GLL().gradient(np.log(two), z) for z in range(2))
    assert gradient == pytest.approx(np.zeros(2), abs=1e-12)


@pytest.mark.parametrize("name", ["gll", "gel", "mc", "structured_hinge"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_difference_losses_are_guess_averse(name, n_classes):
    assert is_guess_averse(name, n_classes, n_trials=400)


@pytest.mark.parametrize("name", ["ls", "lt"])
def test_calibrated_losses_are_guess_averse_for_two_classes_only(name):
    assert is_guess_averse(name, 2, n_trials=400)
    verdict = is_guess_averse(name, 3, n_trials=400)
    found = verdict.counterexample
    assert not verdict
    assert found.scores.argmax() == found.label
    assert get_multiclass(name).value(found.scores, found.label, found.cost) == pytest.approx(found.value)
    assert found.value > found.guess
    assert "decide for the true class" in str(found)


def test_the_counterexamples_of_the_paper():
    # [B] section 3: [3, 2, -5] for L_s has 7.396 > 2; [3, 0, -3] for L_t has 22.188 > 6
    assert LS().value([3, 2, -5], 0) == pytest.approx(7.396, abs=1e-3)
    assert LS().value([0, 0, 0], 0) == 2
    assert LT().value([3, 0, -3], 0) == pytest.approx(22.188, abs=1e-3)
    assert LT().value([0, 0, 0], 0) == 6


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: GLL().value([[0.0]], [0]),
            r"`scores` must be of shape \(n, classes\), two classes or more, got shape \(1, 1\)",
        ),
        (
            lambda: GLL().value([[0.0, 1.0]], [0, 1]),
            r"`y` must be 1 labels, one for each row of `scores`, got shape \(2,\)",
        ),
        (lambda: GLL().value([[0.0, 1.0]], [2]), "`y` must be codes of classes, 0 to 1"),
        (
            lambda: GLL().value([[0.0, 1.0]], [0], [[0, -1], [1, 0]]),
            r"`cost` must be finite and non-negative, got -1 at",
        ),
        (
            lambda: GLL().value([[0.0, 1.0]], [0], [[1, 1], [1, 0]]),
            r"`cost` must be zero on the diagonal, got 1 at \[0, 0\]",
        ),
        (lambda: GLL().value([[0.0, 1.0]], [0], np.ones((3, 3))), r"`cost` must be of shape \(2, 2\), or \(1, 2\)"),
        (
            lambda: GLL().value([[0.0, 1.0]], [0], [[1.0, 1.0]]),
            "zero for the true class of each row, got 1 in row 0",
        ),
        (lambda: get_multiclass("softmax"), "`loss` must be one of gll, gel"),
        (lambda: is_guess_averse("gll", 1), "`n_classes` must be an integer of at least 2, got 1"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
