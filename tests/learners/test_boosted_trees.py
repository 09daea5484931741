"""Boosted trees as a learner: from binned rows to a frozen model and its trace."""

import numpy as np
import pytest

from permissible import losses
from permissible.bins import encode, find_bins
from permissible.learners.trees.boosted import BoostedOptions, BoostedRows, boost_trees, kernel_of
from permissible.table import read

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


def test_indicators_of_one_category_are_bundled():
    X, y = table()
    model, _ = boost_trees(rows_of(X, y), LOGISTIC, BoostedOptions(n_trees=5))
    assert model.bundles == ((4, 5, 6, 7, 8),)
    assert model.importances(9)[4:].sum() > 0


def test_a_bundle_scores_unseen_rows_by_the_same_codes():
    X, y = table()
    rows = rows_of(X, y)
    model, _ = boost_trees(rows, LOGISTIC, BoostedOptions(n_trees=5))
    fresh = read(table(200, seed=1)[0], rows.binned.binning.schema)
    scores = model.scores(encode(rows.binned.binning, fresh))
    assert scores.shape == (200, 1)
    assert np.isfinite(scores).all()


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
