"""Boosted trees as a learner: from binned rows to a frozen model and its trace."""

from dataclasses import replace

import numpy as np
import pytest

from permissible import losses
from permissible.bins.binning import BinnedTable
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.learners.trees.boosted import BoostedRows, boost_trees, kernel_of
from permissible.learners.trees.boosted_fit import TreesTask, fit_trees
from permissible.learners.trees.boosted_options import BoostedOptions
from permissible.learners.trees.criteria import TreeLimits
from permissible.learners.trees.rows import descend
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.table import read
from tests.learners.trees.grown import grow_tree

LOGISTIC = kernel_of(losses.get("logistic"))


def table(n_rows=1500, n_classes=2, seed=0):
    """Numbers, a category, a missing value here and there, and five indicators of one category."""
    random = np.random.default_rng(seed)
    kind = random.integers(0, 5, n_rows)
    X = {f"x{j}": random.normal(size=n_rows).astype(object) for j in range(3)}
    score = X["x0"].astype(float) + 2 * np.isin(kind, [1, 3]) + random.normal(size=n_rows)
    X["x1"][random.random(n_rows) < 0.1] = None
    X["letter"] = random.choice(list("abc"), n_rows)
    X |= {f"kind{k}": (kind == k).astype(float) for k in range(5)}
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def rows_of(X, y, weight=None, n_classes=2):
    read_rows = read(X)
    return BoostedRows(encode(find_bins(read_rows), read_rows), y, n_classes, weight)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("columns", [1.0, 0.4])
def test_a_bundle_of_indicators_does_not_show_in_the_model(n_classes, columns):
    X, y = table(n_classes=n_classes)
    X["again"] = X["kind1"]  # a tie, and no member of the same bundle
    rows, held_out = rows_of(X, y, n_classes=n_classes), None
    twice = table(300, n_classes, seed=1)
    twice[0]["again"] = twice[0]["kind2"]
    twice[0]["kind2"] = np.ones(300)  # held-out rows of two kinds: nothing excludes kind2 any more
    held_out = BoostedRows(encode(rows.binned.binning, read(twice[0], rows.binned.binning.schema)), twice[1], n_classes)
    options = BoostedOptions(n_trees=12, column_fraction=columns, search_rows=400, search_fraction=0.1)
    for other in (None, held_out):
        together, seen = boost_trees(rows, LOGISTIC, options, held_out=other)
        alone, seen_alone = boost_trees(rows, LOGISTIC, replace(options, bundle=False), held_out=other)
        for name in ("parent", "test", "cut", "column", "set", "gain", "values"):
            np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))
        np.testing.assert_array_equal(seen.held_out, seen_alone.held_out)
    assert np.isin(together.column, range(4, 10)).any()


def test_stages_end_at_the_scores():
    X, y = table(n_classes=3)
    rows = rows_of(X, y, n_classes=3)
    model, _ = boost_trees(rows, LOGISTIC, BoostedOptions(n_trees=6))
    stages = list(model.staged_scores(rows.binned))
    assert len(stages) == 6
    np.testing.assert_allclose(stages[-1], model.scores(rows.binned), rtol=1e-12)
    np.testing.assert_allclose(stages[2], model.head(3).scores(rows.binned), rtol=1e-12)


def test_weight_two_equals_row_twice_with_a_sample():
    X, y = table(3000)
    twice = np.repeat(np.arange(3000), 2)
    options = BoostedOptions(n_trees=4, search_rows=500, search_fraction=0.1)
    rows = rows_of(X, y)
    doubled = BoostedRows(encode(rows.binned.binning, read({k: v[twice] for k, v in X.items()})), y[twice], 2)
    weighted, _ = boost_trees(BoostedRows(rows.binned, y, 2, np.full(3000, 2.0)), LOGISTIC, options)
    repeated, trace = boost_trees(doubled, LOGISTIC, options)
    assert (trace.searched < 6000).all()
    np.testing.assert_array_equal(weighted.values, repeated.values)
    np.testing.assert_array_equal(weighted.column, repeated.column)


def test_held_out_rows_choose_the_trees():
    X, y = table(2000)
    rows = rows_of(X, y)
    held = table(1000, seed=2)
    held_rows = BoostedRows(encode(rows.binned.binning, read(held[0], rows.binned.binning.schema)), held[1], 2)
    options = BoostedOptions(n_trees=300, learning_rate=0.5, patience=10)
    model, trace = boost_trees(rows, LOGISTIC, options, held_out=held_rows)
    assert trace.stopped == "held-out loss"
    assert model.n_trees >= trace.best_round == np.argmin(trace.held_out)


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_mu_matsushita_is_matsushita_rescaled(mu):
    X, y = table()
    rows = rows_of(X, y)
    plain, _ = boost_trees(rows, kernel_of(losses.get("matsushita")), BoostedOptions(n_trees=5, l2=0.0))
    scaled, _ = boost_trees(rows, kernel_of(losses.get("mu", mu=mu)), BoostedOptions(n_trees=5, l2=0.0))
    np.testing.assert_array_equal(scaled.values, (1 - mu) * plain.values)


@pytest.mark.parametrize("name", ["power", "logcosh"])
def test_losses_by_table_or_in_lanes_lower_their_surrogate(name):
    X, y = table()
    options = BoostedOptions(n_trees=20, track_loss=True)
    _, trace = boost_trees(rows_of(X, y), kernel_of(losses.get(name)), options)
    assert np.all(np.diff(trace.loss) <= 1e-6 * trace.loss[0])


EXACT = BoostedOptions(n_trees=1, learning_rate=1.0, l2=0.0, min_curvature=1e-6, exact=True)


def numbers(n_rows=1500):
    random = np.random.default_rng(3)
    X = {f"x{j}": random.normal(size=n_rows).round(1) for j in range(3)}
    return X, (X["x0"] * (X["x1"] > 0.2) + random.normal(size=n_rows) > 0).astype(np.int64)


def taken(binned, rows):
    blocks = np.ascontiguousarray(binned.blocks[:, rows])
    return BinnedTable(binned.binning, blocks, blocks.shape[1])


def test_one_tree_from_zero_is_the_tree_of_the_gini_impurity():
    """At H = 0 all curvatures are equal, and G^2 / H is the decrease of the Gini impurity, up to a factor."""
    rows = rows_of(*numbers())
    options = replace(EXACT, max_leaf_nodes=10, fit_intercept=False)
    model, _ = boost_trees(rows, kernel_of(losses.get("squared")), options)
    udt, _ = grow_tree(rows.binned, rows.target, 2, losses.get("squared"), limits=TreeLimits(10))
    pairs = np.unique(np.stack([model.leaves(rows.binned, 0), descend(udt, rows.binned)]), axis=1)
    assert pairs.shape[1] == 10 == (udt.left < 0).sum()


@pytest.mark.parametrize("name", ["logistic", "matsushita", "squared", "power"])
def test_from_zero_the_exact_value_of_a_leaf_is_the_score_of_its_fraction(name):
    """Equation (50): g(p) of the fraction p of positives."""
    loss = losses.get(name, **({"upsilon": 0.6} if name == "power" else {}))
    rows = rows_of(*numbers())
    model, _ = boost_trees(rows, kernel_of(loss), replace(EXACT, max_leaf_nodes=6, fit_intercept=False))
    leaf = model.leaves(rows.binned, 0)
    share = np.bincount(leaf, rows.target) / np.bincount(leaf)
    assert ((share > 0) & (share < 1)).all()
    np.testing.assert_allclose(model.values[:, 0], loss.score(share), rtol=1e-6, atol=1e-7)


def test_the_figures_of_every_round_are_those_of_the_model():
    X, y = numbers()
    binned, weight = rows_of(X, y).binned, np.random.default_rng(0).random(len(y)) + 0.2
    parts = [MemoryPart(taken(binned, rows), y[rows], weight[rows]) for rows in (slice(1000), slice(1000, None))]
    kept, held = (LocalSource((part,), binned.binning, np.arange(2), len(part.classes), True) for part in parts)
    loss = losses.get("matsushita")
    options = BoostedOptions(n_trees=8, max_leaf_nodes=5)
    found = fit_trees(kept, TreesTask(loss, options, stopping=False, validation=held))
    for source, rows, name in ((kept, slice(1000), "surrogate"), (held, slice(1000, None), "validation")):
        table = read({k: v[rows] for k, v in X.items()}, binned.binning.schema)
        sign = np.where(y[rows] == 1, 1.0, -1.0)
        for n_trees in (1, 4, 8):
            score = found.model.first(n_trees).scores(table)
            mean = np.average(np.asarray(loss.value(sign * score)), weights=weight[rows])
            assert found.history[name][n_trees - 1] == pytest.approx(mean, rel=1e-6)
            if source is kept:
                error = np.average((score >= 0) != (sign > 0), weights=weight[rows])
                assert found.history["train_error"][n_trees - 1] == pytest.approx(error, abs=1e-6)
    assert (np.diff(found.history["surrogate"]) < 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_no_tree_of_three_classes_is_lost_to_equal_signs(seed):
    X, y = table(n_classes=3)  # the same random sign for all classes would leave no gradient to grow a tree on
    model, _ = boost_trees(rows_of(X, y, n_classes=3), LOGISTIC, BoostedOptions(n_trees=16, seed=seed))
    assert (np.diff(model.first_split) > 0).all()
    assert (model.gain[model.first_split[:-1]] > 1e-3).all()  # of the first split of each tree
