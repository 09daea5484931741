"""Weights of any unit, of any range, and as copies of a row: what `sample_weight` means to every estimator."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import permissible as pm
from permissible.estimators.input.weights import canonical, in_unit

SCALES = (1e12, 1e40, 1e-45, 1e240, 1e-240)


def rows(seed=0, n_rows=200, n_columns=4, n_classes=2, digits=1):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns)).round(digits)
    score = X @ generator.normal(size=n_columns) + generator.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return X, y, generator.integers(1, 4, n_rows)


def fit(estimator, *given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.DoubtfulFitWarning)
        return estimator.fit(*given)


def test_ordinary_weights_are_used_as_they_are():
    weight = np.array([1.0, 0.3, 1e5, 1e-200])
    found, scale = canonical(weight)
    assert found is weight
    assert scale == 1.0
    assert in_unit(0.7, scale) == 0.7


@pytest.mark.parametrize("size", [1e-240, 1e-45, 1e40, 1e240])
def test_other_weights_are_multiplied_by_a_power_of_two_exactly(size):
    weight = np.array([3.0, 0.1, 0.7]) * size
    found, scale = canonical(weight)
    assert 0.25 <= found.max() < 1
    assert np.frexp(scale)[0] == 0.5
    assert np.sqrt(scale) ** 2 == scale
    np.testing.assert_array_equal(found / scale, weight)


def test_a_weight_that_would_vanish_beside_the_largest_stays_positive():
    found, _ = canonical(np.array([1e240, 1e-200, 0.0]))
    assert found[1] > 0
    assert found[2] == 0


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("scheme", ["classic", "corrective"])
def test_weighted_columns_are_unpenalised_logistic_regression_in_any_unit(scale, scheme):
    X, y, copies = rows(digits=3)
    model = fit(
        pm.ULSClassifier(learner="column", l2_regularization=0.0, n_rounds=400, scheme=scheme), X, y, copies * scale
    )
    referee = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(X, y, copies)
    np.testing.assert_allclose(model.coef_, referee.coef_, rtol=1e-4)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "options",
    [
        {"max_literals": 2},
        {"learner": "tree"},
        {"max_literals": 2, "scheme": "corrective"},
        {"learner": "column"},
    ],
)
def test_weights_and_l2_times_the_same_number_give_the_same_model(options, scale):
    X, y, copies = rows()
    first, second = (
        fit(pm.ULSClassifier(n_rounds=6, l2_regularization=unit, **options), X, y, copies * unit)
        for unit in (1.0, scale)
    )
    np.testing.assert_allclose(second.predict_proba(X), first.predict_proba(X), atol=1e-9)
    if options.get("learner") == "tree":
        assert second.certificate_.surrogate == pytest.approx(first.certificate_.surrogate, rel=1e-6)
        return
    assert second.certificate_.bound == pytest.approx(first.certificate_.bound, rel=1e-6)
    ingredients = second.certificate_.ingredients
    assert ingredients["examples"] == pytest.approx(copies.sum() * scale)
    assert ingredients["a_Z"] == pytest.approx(first.certificate_.ingredients["a_Z"] * scale)


@pytest.mark.parametrize("learner", ["rule", "tree", "column"])
def test_a_row_of_next_to_no_weight_is_as_good_as_gone(learner):
    X, y, _ = rows(digits=3)
    weight = np.ones(len(y))
    weight[:20] = 1e-300
    labels = np.where(np.arange(len(y)) < 20, 1 - y, y)
    options = {"n_rounds": 5, "learner": learner, "early_stopping": False}
    # The draws of a shrunk search are named by the bins, so the exact search is compared.
    options |= {"max_literals": 2, "learning_rate": 1.0} if learner == "rule" else {}
    options |= {"search_fraction": 1.0} if learner == "tree" else {}  # a sample is drawn by the bins too
    with_it = fit(pm.ULSClassifier(**options), X, labels, weight)
    without = fit(pm.ULSClassifier(**options), X[20:], y[20:])
    # Where bins are cut may move with a row of no weight; what is learned from the others may not.
    np.testing.assert_allclose(with_it.predict_proba(X[20:]), without.predict_proba(X[20:]), atol=1e-6)


def test_weight_two_is_the_row_twice_bit_for_bit_for_the_leaves_of_trees():
    for seed in range(4):
        X, y, copies = rows(seed)
        twice = np.repeat(np.arange(len(y)), copies)
        model = pm.ULSClassifier(learner="tree", n_rounds=12)
        first = fit(model, X, y, copies.astype(float)).predict_proba(X)
        np.testing.assert_array_equal(first, fit(model, X[twice], y[twice]).predict_proba(X))


@pytest.mark.parametrize(("seed", "state", "more"), [(3, 1, {"subsample": 0.7}), (8, 0, {"descent": "gradient"})])
def test_tests_of_trees_that_tie_but_for_rounding_go_to_the_first(seed, state, more):
    """Weight 2 and the row twice round differently; where gains are equal that chose between them."""
    X, y, copies = rows(seed, n_classes=3)
    twice = np.repeat(np.arange(len(y)), copies)
    model = pm.MCBoostClassifier(n_rounds=5, learner="tree", random_state=state, **more)
    first = fit(model, X, y, copies.astype(float)).predict_proba(X)
    np.testing.assert_allclose(first, fit(model, X[twice], y[twice]).predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_weight_two_is_the_row_twice_where_the_learner_is_chosen(seed):
    X, y, copies = rows(seed, n_rows=120, n_classes=3)
    twice = np.repeat(np.arange(len(y)), copies)
    model = pm.MCBoostClassifier(n_rounds=4, learner="auto")
    first = fit(model, X, y, copies.astype(float))
    chosen, found = first.certificate_.chosen, first.predict_proba(X)
    second = fit(model, X[twice], y[twice])
    assert second.certificate_.chosen == chosen
    np.testing.assert_allclose(second.predict_proba(X), found, atol=1e-6)


def test_mean_costs_of_a_class_are_weighted():
    X, y, copies = rows(n_classes=3)
    cost = np.random.default_rng(1).random((len(y), 3))
    cost[np.arange(len(y)), y] = 0
    model = fit(pm.MCBoostClassifier(n_rounds=2, learner="linear"), X, y, copies.astype(float), cost)
    expected = [np.average(cost[y == label], axis=0, weights=copies[y == label]) for label in range(3)]
    np.testing.assert_allclose(model.cost_matrix_.matrix, expected)


def test_a_pruned_tree_takes_weights_of_any_unit():
    X, y, copies = rows()
    for scale in SCALES:
        model = fit(pm.UDTClassifier(pruning="auto"), X, y, copies * scale)
        assert np.isfinite(model.pruning_path_.surrogate).all()


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_weights_of_an_extreme_unit_are_refused_in_parts(scale):
    X, y, copies = rows()
    batch = {**{f"c{j}": X[:, j] for j in range(X.shape[1])}, "y": y, "w": copies * scale}
    with pytest.raises(ValueError, match=r"between 1e-06 and 1e\+18 for data in parts"):
        pm.BinnedDataset.from_batches([batch], target="y", weight="w")


@pytest.mark.parametrize("learner", ["rule", "tree", "auto"])
def test_weights_too_small_for_any_leaf_are_refused(learner):
    """With weights that sum to 1 and a least leaf of 1 nothing could be learned, and nothing was said."""
    X, y, copies = rows()
    model = pm.MCBoostClassifier(n_rounds=2, learner=learner)
    with pytest.raises(ValueError, match="scale them to a mean of 1"):
        model.fit(X, y, copies / copies.sum())
    if learner != "auto":
        model.set_params(min_samples_leaf=0.01).fit(X, y, copies / copies.sum())


def test_rules_found_by_an_earlier_fit_leave_no_support_behind():
    X, y, _ = rows()
    model = fit(pm.ULSClassifier(n_rounds=6, early_stopping=False), X, y)
    fit(model.set_params(learner="column"), X, y)
    assert np.isnan(model.rules_table()["support"]).all()


def test_a_kernel_fit_leaves_no_coefficients_of_a_linear_one_behind():
    X, y, _ = rows()
    model = fit(pm.BoundaryClassifier(), X, y)
    fit(model.set_params(kernel="rbf"), X, y)
    assert not hasattr(model, "coef_")
    fit(model.set_params(kernel=None), X, y)
    assert not hasattr(model, "support_vectors_")
