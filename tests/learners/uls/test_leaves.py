"""Boosting on trees: leaf scores (50), exact steps, decrease, invariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissible import losses
from permissible.learners.trees.compiled import grow_tree
from permissible.learners.trees.criteria import TreeLimits
from permissible.learners.uls.leaves import Scored, boost_trees, leaf_steps
from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import Examples

LOSSES = [losses.get("logistic"), losses.get("matsushita"), losses.get("squared"), losses.get("power", upsilon=0.6)]


def rows_and_labels(seed, n_rows=120):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, size=(n_rows, 3)).astype(float)
    values[rng.random(values.shape) < 0.05] = np.nan
    positive = np.nan_to_num(values[:, 0] * (values[:, 1] > 2)) + 2 * rng.normal(size=n_rows) > 1.5
    positive[:2] = [False, True]
    return values, positive


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("seed", range(4))
def test_the_first_tree_is_udt_s_and_its_steps_are_the_leaf_scores(bin_rows, loss, seed):
    values, positive = rows_and_labels(seed)
    binned, table = bin_rows(values)
    tree, _ = grow_tree(binned, positive.astype(int), 2, loss, limits=TreeLimits(4, max_depth=3))
    options = ULSOptions(n_rounds=4, max_literals=3, fit_intercept=False)
    trace = boost_trees(Examples(binned, positive), loss, options)
    model = trace.model(binned.binning, loss)
    mixed = ~tree.is_pure[tree.apply(table)]
    assert mixed.any()
    np.testing.assert_allclose(model.scores(table)[mixed], tree.scores(table)[mixed], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.probabilities(table), tree.probabilities(table), atol=1e-8)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LOSSES), st.booleans(), st.sampled_from([0.0, 1.0]))
def test_every_round_lowers_the_surrogate_which_is_that_of_the_model(bin_rows, seed, loss, intercept, l2):
    values, positive = rows_and_labels(seed)
    binned, table = bin_rows(values)
    weight = np.random.default_rng(seed).random(len(positive)) + 0.2
    options = ULSOptions(n_rounds=14, max_literals=2, fit_intercept=intercept, l2=l2, learning_rate=0.5)
    trace = boost_trees(Examples(binned, positive, weight), loss, options)
    curve = [trace.start_surrogate] + [step.surrogate for step in trace.rounds]
    assert np.all(np.diff(curve) <= 1e-9)
    sign = np.where(positive, 1, -1)
    for n_rounds in (0, 5, len(trace.rounds)):
        score = trace.model(binned.binning, loss, n_rounds).scores(table)
        mean = np.sum(weight * np.asarray(loss.value(sign * score))) / weight.sum()
        assert mean == pytest.approx(curve[n_rounds], rel=1e-8)
    error = np.sum(weight * ((score >= 0) != positive)) / weight.sum()
    assert trace.rounds[-1].train_error == pytest.approx(error, abs=1e-9)


@pytest.mark.parametrize("l2", [0.0, 0.7])
def test_steps_are_stationary(bin_rows, l2):
    values, positive = rows_and_labels(5)
    binned, _ = bin_rows(values)
    loss = losses.get("logistic")
    train = Scored(Examples(binned, positive), loss, np.random.default_rng(0).normal(size=len(positive)), 0.0)
    leaf = np.arange(len(positive)) % 4
    step = leaf_steps(train, leaf, 4, l2)
    sign = np.where(positive, 1.0, -1.0)
    for k in range(4):
        rows = leaf == k
        slope = np.sum(sign[rows] * loss.weight(sign[rows] * (train.score[rows] + step[k]))) - l2 * step[k]
        assert abs(slope) < 1e-9


def test_rules_have_at_most_max_literals_tests(bin_rows):
    values, positive = rows_and_labels(6)
    binned, _ = bin_rows(values)
    trace = boost_trees(
        Examples(binned, positive), losses.get("logistic"), ULSOptions(n_rounds=30, max_literals=2, l2=1.0)
    )
    assert len(trace.rounds) == 30
    assert max(len({literal.column for literal in step.rule}) for step in trace.rounds) <= 2


def test_the_order_of_rows_does_not_matter(bin_rows):
    values, positive = rows_and_labels(7)
    order = np.random.default_rng(1).permutation(len(positive))
    options = ULSOptions(n_rounds=20, max_literals=2, l2=1.0, learning_rate=0.3)
    first = boost_trees(Examples(bin_rows(values)[0], positive), losses.get("logistic"), options)
    second = boost_trees(Examples(bin_rows(values[order])[0], positive[order]), losses.get("logistic"), options)
    assert [step.rule for step in first.rounds] == [step.rule for step in second.rounds]
    assert [step.value_in for step in first.rounds] == [step.value_in for step in second.rounds]


def test_validation_is_the_surrogate_of_the_rows_held_out(bin_rows):
    values, positive = rows_and_labels(8, 200)
    binned, table = bin_rows(values)
    everything = Examples(binned, positive)
    kept, held = everything.take(np.arange(120)), everything.take(np.arange(120, 200))
    loss = losses.get("logistic")
    trace = boost_trees(kept, loss, ULSOptions(n_rounds=9, max_literals=2, l2=1.0), validation=held)
    for n_rounds in (0, 4, 9):
        score = trace.model(binned.binning, loss, n_rounds).scores(table)[120:]
        expected = np.mean(np.asarray(loss.value(np.where(positive[120:], 1, -1) * score)))
        found = trace.start_validation if n_rounds == 0 else trace.rounds[n_rounds - 1].validation
        assert found == pytest.approx(expected, rel=1e-8)
