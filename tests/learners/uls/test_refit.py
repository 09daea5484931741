"""Refitted rules stand at the optimum over the same rules, for every loss; the certificate says what is left to gain."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible import ULSClassifier, losses
from permissible.bins.find import find_bins
from permissible.learners.uls import boost as uls
from permissible.learners.uls import refit as uls_step
from permissible.learners.uls.rows import Patterns
from permissible.learners.uls.search import literal_sums, single_literals
from permissible.losses.surrogate import PythonSurrogate, compiled
from permissible.table import read
from tests.learners.uls.optimum import boolean_table, least, penalised, rule_features, sine

OWN = {
    "logcosh -2": losses.get("logcosh", zeta=-2.0),
    "logcosh -8": losses.get("logcosh", zeta=-8.0),
    "logcosh -20": losses.get("logcosh", zeta=-20.0),
    "sine": sine(),
    "psi": losses.from_psi(lambda x: np.logaddexp(0, -x), lambda x: -1 / (1 + np.exp(x)), name="mine"),
}
OWN_UNIT = [name for name in losses.names() if compiled(losses.get(name)).scale == 1.0]
"""Losses whose kernel is not that of another one in other units."""
BUILT_IN = ("logistic", "matsushita", "mu", "squared", "power", "least_squares", "exponential")


def fitted(X, y, loss, weight=None, **options):
    """A fit that refits; what it warns of is in its certificate."""
    asked = {"n_rounds": 8, "max_literals": 2, "scheme": "corrective", "early_stopping": False, **options}
    if asked.get("learner") == "column":
        del asked["max_literals"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ULSClassifier(loss, **asked).fit(X, y, sample_weight=weight)


def kinds(model):
    return [doubt.kind for doubt in model.certificate_.doubts]


def assert_optimal(model, X, y, loss, l2, weight=None):
    features, theta = rule_features(model, X)
    weight = np.ones(len(y)) if weight is None else weight
    reached = penalised(losses.get(loss), features, y == 1, weight, l2, theta)[0]
    best = least(loss, features, y == 1, weight, l2, theta)
    assert reached <= best + 1e-9 * max(best, 1e-3 * len(y))
    assert "not converged" not in kinds(model)


@pytest.mark.parametrize("name", ["logcosh -2", "logcosh -8", "logcosh -20", "sine"])
@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_losses_whose_scores_end_are_refitted_to_the_optimum(name, l2):
    for seed in (0, 3, 7) if name != "sine" else (3,):
        X, y = boolean_table(seed)
        assert_optimal(fitted(X, y, OWN[name], l2_regularization=l2), X, y, OWN[name], l2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logcosh -2", "logcosh -8", "logcosh -20", "sine"])
@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_sixty_tables_of_losses_whose_scores_end_are_refitted_to_the_optimum(name, l2):
    for seed in range(60 if name != "sine" else 15):
        X, y = boolean_table(seed)
        assert_optimal(fitted(X, y, OWN[name], l2_regularization=l2, n_rounds=12), X, y, OWN[name], l2)


@pytest.mark.parametrize("loss", [*BUILT_IN, OWN["psi"]], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_loss_is_refitted_to_the_penalised_optimum_with_a_vanishing_gradient(loss, weighted):
    X, y = boolean_table(5)
    weight = np.random.default_rng(5).random(len(y)) + 0.5 if weighted else None
    model = fitted(X, y, loss, weight, l2_regularization=2.0)
    assert_optimal(model, X, y, loss, 2.0, weight)
    assert model.certificate_.gradient_norm < 1e-5
    assert kinds(model) == []


def test_blocks_end_at_the_optimum_too():
    X, y = boolean_table(3)
    X = X[:, :3]
    model = fitted(X, y, OWN["logcosh -8"], l2_regularization=1.0, scheme=2, n_rounds=200, max_literals=1)
    assert_optimal(model, X, y, OWN["logcosh -8"], 1.0)


def test_the_largest_edge_of_refitted_rules_counts_the_penalty():
    X, y = boolean_table(3)
    model = fitted(X, y, "logistic", l2_regularization=10.0, max_literals=1, n_rounds=50)
    assert model.certificate_.stopped == "no edge"
    assert model.certificate_.largest_edge < 1e-5
    some = fitted(X, y, "logistic", l2_regularization=10.0, max_literals=1, n_rounds=2)
    features, theta = rule_features(some, X)
    sign = np.where(y == 1, 1.0, -1.0)
    weight = np.asarray(losses.get("logistic").weight(sign * (features @ theta)))
    known = {rule[0].column: c for rule, c in zip(some.rules_, theta[1:], strict=True)}
    side = {rule[0].column: 1.0 if rule[0].test == "<=" else -1.0 for rule in some.rules_}
    edges = [
        abs((sign * weight) @ np.where(X[:, j] <= 0.5, 1.0, -1.0) - 2 * 10.0 * known.get(j, 0.0) * side.get(j, 1.0))
        for j in range(X.shape[1])
    ]
    assert some.certificate_.largest_edge == pytest.approx(max(edges) / weight.sum(), rel=1e-4)


def test_sums_of_literals_are_those_of_their_codes_and_leave_out_the_model():
    sums = np.zeros(256, dtype=np.int64)
    sums[:4], sums[255] = [1, 10, 100, 1000], 10_000
    binning = find_bins(read(np.arange(4.0)[:, None]))

    def found(layout, without=()):
        return sorted(literal_sums(single_literals(0, np.array([layout]), binning, without), sums))

    assert found((0, 4, 0)) == [1, 11, 111]
    assert found((0, 4, 1)) == [1, 11, 111, 10_000, 10_001, 10_011, 10_111]
    assert found((1, 4, 0)) == [0, 1, 10, 100, 1000]
    first = single_literals(0, np.array([(0, 4, 0)]), binning, ())[0]
    assert found((0, 4, 0), [(first,)]) == found((0, 4, 0), [(first.negated(),)]) == [11, 111]


def test_a_penalised_refit_does_not_end_because_its_rules_fill_the_beam():
    # With l2 the best cut of the only column stays the best after its refit; the other cuts are still to come.
    x = np.arange(40.0)
    y = (np.random.default_rng(1).random(40) < x / 40).astype(int)
    model = fitted(x[:, None], y, "logistic", l2_regularization=30.0, max_literals=1, beam=1, n_rounds=500)
    assert model.certificate_.stopped == "no edge"
    assert len(model.rules_) > 5
    assert model.certificate_.largest_edge < 1e-4


@pytest.mark.parametrize("loss", [*BUILT_IN, "logcosh"])
@pytest.mark.parametrize("scheme", ["classic", "corrective", 3])
@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_certificate_and_history_are_the_surrogate_of_the_scores(loss, scheme, l2):
    X, y = boolean_table(6)
    model = fitted(
        X, y, loss, scheme=scheme, l2_regularization=l2, learning_rate=1.0 if scheme == "classic" else "auto"
    )
    sign, loss = np.where(y == 1, 1.0, -1.0), losses.get(loss)
    staged = [
        np.mean(loss.value(sign * np.ravel(score))) / loss.value(0.0) for score in model.staged_decision_function(X)
    ]
    np.testing.assert_allclose(
        model.history_["surrogate"], staged[-len(model.history_["surrogate"]) :], rtol=1e-9, atol=1e-13
    )
    assert model.certificate_.surrogate == model.history_["surrogate"][-1]


def test_large_coefficients_that_cancel_do_not_hide_the_exponential_surrogate():
    # The margins lie within 8, the sum of the sizes of the coefficients is beyond 60: a grid made for the sum would be useless.
    rng = np.random.default_rng(0)
    x = rng.integers(0, 60, 400).astype(float)
    y = (rng.random(400) < 0.5 + 0.49 * np.sin(x)).astype(int)
    model = fitted(x[:, None], y, "exponential", n_rounds=60, max_literals=1, l2_regularization=0.0)
    sign = np.where(y == 1, 1.0, -1.0)
    assert model.certificate_.surrogate == pytest.approx(
        np.mean(np.exp(-sign * model.decision_function(x[:, None]))), rel=1e-9
    )


@pytest.mark.parametrize("loss", ["squared", "logcosh", "least_squares"])
@pytest.mark.parametrize(
    ("learner", "scheme"),
    [
        ("rule", "classic"),
        ("rule", "corrective"),
        ("column", "classic"),
        ("column", "corrective"),
        ("tree", "classic"),
    ],
)
def test_separated_classes_are_no_doubt_where_a_finite_minimiser_exists(loss, learner, scheme):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]] * 10)
    literals = {"max_literals": "auto" if learner == "tree" else 1}
    options = {"learner": learner, "scheme": scheme, "l2_regularization": 0.0, "learning_rate": 1.0, **literals}
    model = fitted(X, X[:, 0].astype(int), loss, **options)
    assert model.certificate_.stopped != "separable"
    assert "coefficient explodes" not in kinds(model)
    assert "separate" not in model.certificate_.statement
    values = model.model_.forest.arrays["value"] if learner == "tree" else np.ravel(model.coefficients_)
    assert np.abs(values).max() < 10


@pytest.mark.parametrize("loss", ["logistic", "matsushita", "exponential", "power"])
@pytest.mark.parametrize("scheme", ["classic", "corrective", 2])
def test_separated_classes_are_told_where_the_loss_falls_for_ever(loss, scheme):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]] * 10)
    model = fitted(
        X, X[:, 0].astype(int), loss, scheme=scheme, l2_regularization=0.0, learning_rate=1.0, max_literals=1
    )
    assert model.certificate_.separable
    assert "coefficient explodes" in kinds(model)
    assert "separate the classes" in model.certificate_.statement


@pytest.mark.parametrize("loss", ["logistic", "matsushita", "power"])
def test_a_rule_without_a_finite_coefficient_is_named_and_the_others_go_on(loss):
    X, y = boolean_table(11)
    X = np.column_stack((X[:, :3], np.arange(len(y)) % 4 == 0))
    y = np.where(X[:, 3] == 1, 1, y)
    model = fitted(X, y, loss, max_literals=1, l2_regularization=0.0, n_rounds=20)
    assert not model.certificate_.separable
    assert "separate" not in model.certificate_.statement
    assert "x3" in model.certificate_.statement
    assert kinds(model) == ["coefficient explodes"]
    assert len(model.rules_) == 4
    features, theta = rule_features(model, X)
    slope = penalised(losses.get(loss), features, y == 1, np.ones(len(y)), 0.0, theta)[1]
    assert np.abs(slope).max() < 1e-5 * len(y)


def test_a_refit_that_runs_out_of_steps_says_so(monkeypatch):
    monkeypatch.setattr(uls_step, "MAX_STEPS", 1)
    X, y = boolean_table(3)
    model = fitted(X, y, "logistic", l2_regularization=1.0)
    assert kinds(model) == ["not converged"]
    assert "did not converge" in model.certificate_.statement
    assert model.certificate_.doubts[0].figure > 1e-9


def test_a_block_that_did_not_converge_is_told_until_its_coefficients_are_refitted(monkeypatch):
    """Of rounds with two coefficients each, one ends short; the rounds after it refit other rules."""
    X, y = boolean_table(3)
    calls, exact = [], uls.refit

    def short_once(*given):
        calls.append(given[4].copy())
        found = exact(*given)
        return replace(found, converged=False, residual=0.25) if len(calls) == 2 else found

    monkeypatch.setattr(uls, "refit", short_once)
    for n_rounds in (2, 3, 4, 5):
        calls.clear()
        model = fitted(X, y, "logistic", l2_regularization=1.0, scheme=2, n_rounds=n_rounds)
        later = np.any([np.append(free, [False] * (n_rounds + 1 - len(free))) for free in calls[2:]], axis=0)
        left = np.flatnonzero(calls[1] & ~later[: len(calls[1])]) if n_rounds > 2 else [0]
        assert kinds(model) == (["not converged"] if len(left) else [])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(OWN_UNIT), st.sampled_from([1e-3, 0.5, 20.0]))
def test_compiled_refits_are_those_of_the_readable_twin(seed, name, l2):
    random = np.random.default_rng(seed)
    n_rules = int(random.integers(1, 6))
    bits = (random.random((50, n_rules)) < random.random(n_rules)).astype(np.uint8)
    patterns = Patterns.merged([Patterns(bits, random.integers(0, 5, (50, 2)) + (np.arange(50) == 0)[:, None])])
    free = np.append(True, random.random(n_rules) < 0.8)
    theta = np.append(random.normal(), np.where(free[1:], 0.0, 0.3 * random.normal(size=n_rules)))
    loss = losses.get(name)
    known = compiled(loss).function(), PythonSurrogate(loss)
    one, other = (uls_step.refit(patterns, 1.0, surrogate, theta, free, l2) for surrogate in known)
    assert one.converged
    assert np.array_equal(one.theta[~free], theta[~free])
    assert np.allclose(one.theta, other.theta, rtol=1e-9, atol=1e-10)
