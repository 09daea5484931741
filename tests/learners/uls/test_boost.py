"""Boosted rules: the properties that the papers prove, every round and for every loss, and one model by every path."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from permissible import losses
from permissible.learners.uls.options import ULSOptions
from permissible.losses.surrogate import compiled
from tests.learners.uls.cases import covered, examples_of, fit_compiled, fit_python, fit_readable, noisy_table, scores

PLAIN = ULSOptions(n_rounds=6, max_literals=2, fit_intercept=False)
RICH = ULSOptions(n_rounds=6, max_literals=3, fit_intercept=True, l2=1.0, beam=2, learning_rate=0.5)
DRAWN = replace(RICH, noise=1.0)
LOSSES = ["logistic", "matsushita", "mu", "squared", "power", "logcosh", "exponential", "least_squares"]


def weights_of(kind, n_rows):
    rng = np.random.default_rng(1)
    return {"none": None, "whole": rng.integers(1, 4, n_rows).astype(float), "real": rng.random(n_rows) + 0.1}[kind]


@pytest.mark.parametrize("kind", ["none", "whole", "real"])
@pytest.mark.parametrize("options", [PLAIN, RICH, DRAWN], ids=["plain", "rich", "drawn"])
@pytest.mark.parametrize("loss", LOSSES)
def test_compiled_and_readable_loops_give_the_same_bits(loss, options, kind):
    columns, positive = noisy_table()
    examples = examples_of(columns, positive, weights_of(kind, len(positive)))
    held = examples.take(np.arange(0, len(positive), 3))
    kept = examples.take(np.flatnonzero(np.arange(len(positive)) % 3))
    assert repr(fit_compiled(kept, loss, options, validation=held)) == repr(
        fit_readable(kept, loss, options, held=held)
    )


@pytest.mark.parametrize("options", [PLAIN, RICH, DRAWN], ids=["plain", "rich", "drawn"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_in_python_gives_the_compiled_model(loss, options):
    columns, positive = noisy_table(seed=3)
    if options.noise:  # what a set of categories costs is in the unit of the compiled loss, which a draw may bring out
        columns.pop("colour")
    examples = examples_of(columns, positive)
    fast, slow = fit_compiled(examples, loss, options), fit_python(examples, loss, options)
    assert [step.rule for step in fast.rounds] == [step.rule for step in slow.rounds]
    for one, other in zip(fast.rounds, slow.rounds, strict=True):
        assert one.value_in == pytest.approx(other.value_in, rel=1e-9, abs=1e-10)
        assert one.surrogate == pytest.approx(other.surrogate, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_round_lowers_the_surrogate_and_leaves_the_rule_without_edge(loss):
    columns, positive = noisy_table(seed=5)
    examples = examples_of(columns, positive)
    trace = fit_compiled(examples, loss, PLAIN)
    made, sign = losses.get(loss), np.where(positive, 1.0, -1.0)
    path = sign * scores(examples, trace)
    values = made.value(path).mean(axis=1)
    assert len(trace.rounds) == PLAIN.n_rounds
    assert np.all(np.diff(values) < 0)
    assert values[1:] == pytest.approx([step.surrogate for step in trace.rounds], rel=1e-11)
    for margin, step in zip(path[1:], trace.rounds, strict=True):
        weight = made.weight(margin)
        h = np.where(covered(examples, step.rule), 1.0, -1.0)
        # Exact leverage (35): edge 0, which for positive weights says that the rule errs on half of them.
        assert abs(np.sum(sign * h * weight)) <= 1e-9 * np.sum(np.abs(weight))
        if np.all(weight >= 0):
            assert np.sum(weight[sign * h < 0]) / np.sum(weight) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "matsushita", "mu", "power", "exponential"])
def test_a_round_lowers_the_surrogate_by_the_divergence_of_the_weights(loss):
    """(38): PCS_j - PCS_{j+1} = D(w_{j+1} || w_j), over b for a permissible loss."""
    columns, positive = noisy_table(seed=7)
    examples = examples_of(columns, positive)
    made, sign = losses.get(loss), np.where(positive, 1.0, -1.0)
    path = sign * scores(examples, fit_compiled(examples, loss, PLAIN))
    for before, after in pairwise(path):
        fall = np.sum(made.value(before)) - np.sum(made.value(after))
        divergence = np.sum(made.bregman(made.weight(after), made.weight(before)))
        assert fall == pytest.approx(divergence / (made.b if loss != "exponential" else 1.0), rel=1e-7)


@pytest.mark.parametrize("options", [PLAIN, RICH], ids=["plain", "rich"])
def test_threads_do_not_change_a_bit(options):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50_000, 6))
    positive = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)) > 0
    examples = examples_of(X, positive)
    one, two, four = (repr(fit_compiled(examples, "logistic", options, n_threads=n)) for n in (1, 2, 4))
    assert one == two == four


def test_weight_two_is_the_row_twice_bit_for_bit():
    columns, positive = noisy_table(seed=11)
    weight = np.random.default_rng(0).integers(1, 5, len(positive)).astype(float)
    weighted = examples_of(columns, positive, weight)
    repeated = weighted.take(np.repeat(np.arange(len(positive)), weight.astype(int)))
    repeated = type(repeated)(repeated.binned, repeated.positive)
    for options in (PLAIN, RICH):
        assert repr(fit_compiled(weighted, "logistic", options)) == repr(fit_compiled(repeated, "logistic", options))


@pytest.mark.parametrize("loss", ["logistic", "matsushita", "squared"])
def test_mirrored_labels_mirror_the_model(loss):
    columns, positive = noisy_table(seed=13)
    for options in (PLAIN, RICH):
        one = fit_compiled(examples_of(columns, positive), loss, options)
        other = fit_compiled(examples_of(columns, ~positive), loss, options)
        assert [step.rule for step in one.rounds] == [step.rule for step in other.rounds]
        assert [-step.value_in for step in one.rounds] == pytest.approx(
            [step.value_in for step in other.rounds], rel=1e-9
        )


def test_row_order_does_not_matter():
    columns, positive = noisy_table(seed=17)
    examples = examples_of(columns, positive)
    shuffled = examples.take(np.random.default_rng(0).permutation(len(positive)))
    assert repr(fit_compiled(examples, "logistic", RICH)) == repr(fit_compiled(shuffled, "logistic", RICH))


def test_mu_matsushita_is_matsushita_with_coefficients_scaled():
    columns, positive = noisy_table(seed=19)
    examples = examples_of(columns, positive)
    base = fit_compiled(examples, "matsushita", PLAIN)
    for mu in (0.25, 0.99):
        scaled = fit_compiled(examples, losses.get("mu", mu=mu), PLAIN)
        assert [step.rule for step in base.rounds] == [step.rule for step in scaled.rounds]
        assert [step.value_in * (1.0 - mu) for step in base.rounds] == [step.value_in for step in scaled.rounds]


def test_discrete_adaboost_coefficients_on_the_same_stumps():
    """exp with +-1 rules of one literal: delta = 1/2 ln(W_correct / W_wrong), weights multiplied by e^-+delta."""
    rng = np.random.default_rng(23)
    X = rng.normal(size=(150, 4))
    positive = X[:, 0] + X[:, 1] + rng.normal(size=150) > 0
    examples = examples_of(X, positive)
    trace = fit_compiled(examples, "exponential", ULSOptions(n_rounds=25, max_literals=1, fit_intercept=False))
    sign = np.where(positive, 1.0, -1.0)
    weight = np.ones(150)
    for step in trace.rounds:
        agrees = sign * np.where(covered(examples, step.rule), 1.0, -1.0)
        delta = 0.5 * np.log(weight[agrees > 0].sum() / weight[agrees < 0].sum())
        assert step.value_in == pytest.approx(delta, rel=1e-10, abs=1e-10)
        weight = weight * np.exp(-agrees * delta)


def test_one_literal_search_is_exhaustive_on_boolean_data():
    rng = np.random.default_rng(29)
    X = rng.integers(0, 2, size=(120, 7)).astype(float)
    positive = (X[:, 1] + X[:, 4] + rng.random(120)) > 1.4
    examples = examples_of(X, positive)
    trace = fit_compiled(examples, "logistic", ULSOptions(n_rounds=8, max_literals=1, fit_intercept=False))
    sign, made = np.where(positive, 1.0, -1.0), losses.get("logistic")
    for score, step in zip(scores(examples, trace), trace.rounds, strict=False):
        weight = made.weight(sign * score)
        edges = np.abs((sign * weight) @ (2 * X - 1)) / weight.sum()
        assert edges[step.rule[0].column] == pytest.approx(edges.max(), rel=1e-6)
        assert step.edge == pytest.approx(edges.max(), rel=1e-5)


def test_separable_data_stop_and_say_so():
    X = np.arange(40.0).reshape(-1, 1)
    positive = X[:, 0] > 19.5
    examples = examples_of(X, positive)
    for loss in LOSSES:
        for options in (PLAIN, ULSOptions(n_rounds=50, max_literals=1, fit_intercept=True)):
            trace = fit_compiled(examples, loss, options)
            margin = np.where(positive, 1, -1) * scores(examples, trace)[-1]
            assert np.all(margin > 0)
            assert np.all(np.isfinite(margin))
            assert trace.stop in ("separable", "no edge") or loss == "least_squares"


@pytest.mark.parametrize("loss", LOSSES)
def test_a_pure_side_without_a_penalty_is_bounded_and_told(loss):
    """A side whose rows are all of one class has no finite value: each round still lowers the surrogate, in both loops."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (100, 5)).astype(float)
    positive = rng.random(100) < 1 / (1 + np.exp(-(X - 0.5) @ rng.normal(size=5) * 3))
    examples, options = examples_of(X, positive), ULSOptions(n_rounds=25, max_literals=2, fit_intercept=True)
    trace = fit_compiled(examples, loss, options)
    assert repr(trace) == repr(fit_readable(examples, loss, options))
    assert np.all(np.diff([trace.start_surrogate, *(step.surrogate for step in trace.rounds)]) < 0)
    for step in trace.rounds:
        inside = covered(examples, step.rule)
        pure = any(len(set(positive[side])) == 1 for side in (inside, ~inside))
        assert step.endless == (pure and not compiled(losses.get(loss)).function().attained)
    assert trace.endless() or compiled(losses.get(loss)).function().attained


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gradient_is_over_the_distinct_rules(loss):
    columns, positive = noisy_table(seed=5)
    examples = examples_of({"a": np.round(columns["a"])}, positive)
    options = ULSOptions(n_rounds=12, max_literals=1, fit_intercept=True, l2=1.0, learning_rate=0.5)
    trace, sign = fit_compiled(examples, loss, options), np.where(positive, 1.0, -1.0)
    rules = {step.rule for step in trace.rounds}
    assert len(rules) < len(trace.rounds)
    weight = np.asarray(losses.get(loss).weight(sign * scores(examples, trace)[-1]))
    slopes = [sign @ weight, *(sign @ (weight * np.where(covered(examples, rule), 1, -1)) for rule in rules)]
    assert trace.gradient_norm == pytest.approx(np.linalg.norm(slopes) / np.abs(weight).sum(), rel=1e-5)


def test_the_sampled_search_still_minimises_exactly():
    rng = np.random.default_rng(31)
    X = rng.normal(size=(5000, 5))
    positive = X[:, 0] + X[:, 1] > rng.normal(size=5000)
    examples = examples_of(X, positive)
    options = ULSOptions(n_rounds=20, max_literals=2, fit_intercept=False, search_fraction=0.3)
    trace = fit_compiled(examples, "logistic", options)
    assert repr(trace) == repr(fit_readable(examples, "logistic", options))
    surrogate = [trace.start_surrogate, *(step.surrogate for step in trace.rounds)]
    assert np.all(np.diff(surrogate) < 0)


def test_time_limit_stops_between_rounds():
    columns, positive = noisy_table()
    examples = examples_of(columns, positive)
    trace = fit_compiled(examples, "logistic", ULSOptions(n_rounds=10**6, max_literals=2, l2=1.0, max_seconds=0.2))
    assert trace.stop == "time"
    assert 0 < len(trace.rounds) < 10**6
