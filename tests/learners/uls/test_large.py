"""Rules of many rows: samples by importance, and columns that share a code, in every place where rows can lie."""

from dataclasses import replace

import numpy as np
import pytest

from permissible.learners.uls.options import ULSOptions
from permissible.learners.uls.rows import Examples
from tests.learners.uls.cases import examples_of, fit_compiled, fit_python, fit_readable


def indicators(n_rows, seed=0):
    """Numbers, indicators of a category, a few small integers with missing values, and a category."""
    rng = np.random.default_rng(seed)
    kind, few = rng.integers(0, 9, n_rows), rng.integers(0, 3, (2, n_rows)).astype(float)
    few[0, rng.random(n_rows) < 0.1] = np.nan
    numbers = rng.standard_normal((2, n_rows)).round(2)
    columns = {"a": numbers[0], "b": numbers[1], "few": few[0], "more": few[1]}
    columns |= {f"is {k}": (kind == k).astype(float) for k in range(9)}
    columns["colour"] = list(np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, n_rows)])
    score = numbers[0] + np.isin(kind, (2, 5)) * numbers[1] + 0.5 * (few[1] == 1) + rng.standard_normal(n_rows)
    return columns, score > 0


@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("literals", [1, 4])
def test_joint_codes_and_samples_change_nothing_but_the_time(share, literals):
    examples = examples_of(*indicators(5000))
    options = ULSOptions(25, literals, l2=1.0, learning_rate=0.5, beam=2, search_fraction=share, intervals=True)
    trace = fit_compiled(examples, "logistic", options)
    assert repr(trace) == repr(fit_compiled(examples, "logistic", options, n_threads=2))
    assert repr(trace) == repr(fit_readable(examples, "logistic", options))  # which has neither tables nor joint codes


@pytest.mark.parametrize("loss", ["logistic", "least_squares", "exponential"])
def test_a_sample_of_any_loss_is_drawn_alike(loss):
    columns, positive = indicators(3000)
    examples = examples_of(dict(reversed(columns.items())), positive)  # the first one has few values, so large sums
    options = ULSOptions(6, 2, l2=1.0, learning_rate=0.5, search_fraction=0.4)
    compiled, own = fit_compiled(examples, loss, options), fit_python(examples, loss, options)
    assert [step.rule for step in compiled.rounds] == [step.rule for step in own.rounds]
    np.testing.assert_allclose([step.edge for step in own.rounds], [step.edge for step in compiled.rounds], rtol=1e-5)


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_weight_two_is_the_row_twice_in_a_sample_too(share):
    columns, positive = indicators(4500)
    one = examples_of(columns, positive)
    rng = np.random.default_rng(1)
    copies = rng.integers(1, 3, len(positive))
    order = rng.permutation(np.repeat(np.arange(len(positive)), copies))
    twice, weighted = one.take(order), Examples(one.binned, one.positive, copies.astype(float))
    options = ULSOptions(25, 3, l2=1.0, learning_rate=0.5, search_fraction=share)
    first, second = (fit_compiled(of, "logistic", options) for of in (twice, weighted))
    assert repr(first.rounds) == repr(second.rounds)


def test_the_edge_of_a_round_is_that_of_all_rows():
    examples = examples_of(*indicators(5000))
    options = ULSOptions(1, 1, l2=1.0, learning_rate=0.5, search_fraction=0.3)
    trace = fit_compiled(examples, "logistic", options)
    chance = 1 / (1 + np.exp(-trace.constant))
    weight = np.where(examples.positive, 1 - chance, chance)
    sign = np.where(examples.positive, 1, -1) * np.where(examples.covers(trace.rounds[0].rule), 1, -1)
    assert trace.rounds[0].edge == pytest.approx(abs(sign @ weight) / weight.sum(), rel=1e-5)


def test_the_order_of_rows_does_not_change_the_sample():
    examples = examples_of(*indicators(4500))
    options = ULSOptions(25, 3, l2=1.0, learning_rate=0.5, search_fraction=0.3)
    shuffled = examples.take(np.random.default_rng(2).permutation(4500))
    first, second = (fit_compiled(of, "logistic", options) for of in (examples, shuffled))
    assert repr(first.rounds) == repr(second.rounds)
    other = fit_compiled(examples, "logistic", replace(options, seed=7))
    assert repr(first.rounds) != repr(other.rounds)
