"""What a hold-out chooses for boosted trees, and when a candidate is dropped."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

import permissible as pm
from permissible import losses
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.learners.trees.boosted import BoostedRows, boost_trees, kernel_of
from permissible.learners.trees.boosted_choice import RATE, Free, choose_options
from permissible.learners.trees.boosted_options import BoostedOptions
from permissible.table import read

FIRST = BoostedOptions(n_trees=1000, learning_rate=RATE)
ALL = Free(rate=True, leaves=True, columns=True)


def problem(best_leaves, best_columns, turn, least=0.3):
    """A curve that falls to its least value after `turn` trees at rate 0.2 and rises again; the best options have the least."""

    def curve(options, _):
        off = abs(np.log2((options.max_leaf_nodes + 1) / (best_leaves + 1))) + (options.column_fraction != best_columns)
        way = np.arange(options.n_trees + 1) * options.learning_rate / (turn * RATE)
        return least * (1 + 0.1 * off) + (1 - least) * (1 - np.minimum(way, 1)) ** 2 + 0.1 * np.maximum(way - 1, 0)

    return curve


@pytest.mark.parametrize("leaves", [15, 31, 63, 127, 255])
@pytest.mark.parametrize("columns", [1.0, 0.5])
def test_the_best_leaves_and_columns_are_found_one_at_a_time(leaves, columns):
    choice = choose_options(FIRST, ALL, 10, problem(leaves, columns, 100))
    assert choice.chosen.candidate.max_leaf_nodes == leaves
    assert choice.chosen.candidate.column_fraction == columns
    assert len(choice.tried) <= 6


def test_the_refit_goes_as_far_at_a_smaller_rate():
    chosen = choose_options(FIRST, ALL, 10, problem(31, 1.0, 100)).chosen
    assert chosen.candidate.learning_rate == pytest.approx(0.05)
    assert chosen.stage == 400


@pytest.mark.parametrize(("turn", "rate"), [(500, 0.1), (800, 0.16), (1600, 0.32)])
def test_a_long_way_takes_the_rate_that_the_limit_allows(turn, rate):
    chosen = choose_options(FIRST, ALL, 10, problem(31, 1.0, turn)).chosen
    assert chosen.candidate.learning_rate == pytest.approx(rate, rel=0.05)
    assert chosen.stage == pytest.approx(turn * RATE / chosen.candidate.learning_rate, rel=0.05)
    assert chosen.stage <= 1000


def test_what_was_given_stays():
    given = replace(FIRST, learning_rate=0.07, max_leaf_nodes=9, column_fraction=0.8, n_trees=300)
    chosen = choose_options(given, Free(), 10, problem(31, 1.0, 100)).chosen
    assert chosen.candidate == given


def test_a_fit_that_cannot_reach_its_rival_stops_early():
    X, y = make_classification(3000, 8, flip_y=0.2, random_state=0)
    table = read(X)
    binned = encode(find_bins(table), table)
    half = BoostedRows(binned, y, 2)
    options = BoostedOptions(n_trees=200, learning_rate=0.05)
    loss = kernel_of(losses.get("logistic"))
    _, alone = boost_trees(half, loss, options, held_out=half)
    reached = float(alone.held_out[-1])
    _, hopeless = boost_trees(half, loss, replace(options, rival=(0.5 * reached, 100)), held_out=half)
    _, level = boost_trees(half, loss, replace(options, rival=(reached, 200)), held_out=half)
    assert hopeless.stopped == "held-out loss"
    assert len(hopeless.held_out) < 60
    assert len(level.held_out) == 201


def test_the_preset_chooses_and_says_what():
    X, y = make_classification(1200, 8, n_informative=6, n_classes=3, random_state=1)
    model = pm.ULSClassifier.trees(n_trees=120).fit(X[:900], y[:900])
    chosen = model.selection_["chosen"]
    assert model.model_.n_trees == chosen["n_rounds"] <= 120
    assert len(model.selection_["candidates"]) >= 3
    best = min(tried["validation"] for tried in model.selection_["candidates"])
    alike = [
        tried
        for tried in model.selection_["candidates"]
        if tried["max_leaf_nodes"] == chosen["max_leaf_nodes"] and tried["max_features"] == chosen["max_features"]
    ]
    assert min(tried["validation"] for tried in alike) <= best * 1.011  # twice the leaves must gain a hundredth
    assert model.score(X[900:], y[900:]) > 0.6


def test_without_a_hold_out_the_rate_is_a_tenth():
    X, y = make_classification(400, 8, random_state=1)
    settings = {"learner": "tree", "n_rounds": 5, "early_stopping": False}
    by_default, given = (pm.ULSClassifier(**settings, learning_rate=rate).fit(X, y) for rate in ("auto", 0.1))
    np.testing.assert_array_equal(by_default.predict_proba(X), given.predict_proba(X))


def test_depth_one_trees_have_two_leaves():
    X, y = make_classification(400, 8, random_state=1)
    model = pm.ULSClassifier(learner="tree", max_depth=1, n_rounds=5, early_stopping=False).fit(X, y)
    assert list(model.rules_table()["leaves"]) == [2] * 5


def test_a_tree_uses_its_fraction_of_the_columns():
    X, y = make_classification(600, 8, n_informative=8, n_redundant=0, random_state=1)
    model = pm.ULSClassifier(learner="tree", max_features=0.25, n_rounds=20, early_stopping=False).fit(X, y)
    tested = [set(columns.split(", ")) for columns in model.rules_table()["columns"]]
    assert max(map(len, tested)) == 2
    assert len(set.union(*tested)) == 8
