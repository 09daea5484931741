"""UDTClassifier as scikit-learn, data frames and users see it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import permissible as pm
from permissible import UDTClassifier

CANCER = load_breast_cancer()


@parametrize_with_checks([UDTClassifier(), UDTClassifier(loss="squared", pruning="auto", max_leaf_nodes=8)])
def test_scikit_learn_s_own_checks_pass(estimator, check):
    check(estimator)


def test_accuracy_is_that_of_scikit_learn_s_tree():
    ours = cross_val_score(UDTClassifier(loss="squared", max_leaf_nodes=12), CANCER.data, CANCER.target, cv=5).mean()
    peer = cross_val_score(
        DecisionTreeClassifier(max_leaf_nodes=12, random_state=0), CANCER.data, CANCER.target, cv=5
    ).mean()
    assert ours > peer - 0.02


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_any_number_of_threads_gives_the_same_model(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 9))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=50_000) > 0).astype(int)
    one, two = (UDTClassifier(loss=loss, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2))
    assert one.model_.literals == two.model_.literals
    np.testing.assert_array_equal(one.model_.weight, two.model_.weight)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def frame(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue", "black"], n_rows)
    age = rng.integers(18, 80, n_rows).astype(float)
    age[rng.random(n_rows) < 0.2] = np.nan
    owner = rng.random(n_rows) < 0.5
    y = np.where((np.isin(colour, ["red", "black"]) & ~(age > 50)) | np.isnan(age), "yes", "no")
    return {"colour": colour, "age": age, "owner": owner}, y


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_categories_and_missing_values_are_learnt_as_they_are(library):
    columns, y = frame()
    X = library(columns)
    model = UDTClassifier().fit(X, y)
    assert np.mean(model.predict(X) == y) == 1.0
    text = model.to_text()
    assert "colour in {black, red}" in text or "colour in {blue, green}" in text
    assert "missing" in text
    assert "owner" not in text


def test_an_unseen_category_and_an_unseen_missing_value_get_an_answer():
    columns, y = frame()
    model = UDTClassifier().fit(pd.DataFrame(columns), y)
    new = pd.DataFrame({"colour": ["violet", None], "age": [30.0, 30.0], "owner": [True, False]})
    with pytest.warns(UserWarning, match="never seen in fit: 'violet'"):
        assert model.predict_proba(new).sum(axis=1) == pytest.approx([1, 1])
    bare = UDTClassifier(max_leaf_nodes=2).fit(CANCER.data, CANCER.target)
    heavier = bare.model_.samples[[1, 2]].argmax() + 1
    assert bare.apply(np.full((1, 30), np.nan))[0] == heavier


def test_words_and_picture_have_the_labels_that_costs_predict():
    from permissible.estimators.pictures.tree import plot_tree

    model = UDTClassifier(max_leaf_nodes=6, cost_matrix=[[0, 1], [200, 0]]).fit(CANCER.data, CANCER.target)
    labels = np.asarray(model.rules_table()["label"]).tolist()
    chance = np.asarray(model.rules_table()["probability of 1"])
    assert labels != (chance >= 0.5).astype(int).tolist()
    assert labels == (chance > 1 / 201).astype(int).tolist()
    told = [int(line.split(": ")[-1][0]) for line in model.to_text().splitlines() if "examples)" in line]
    drawn = [int(text.get_text()[0]) for text in plot_tree(model).texts if "examples" in text.get_text()]
    assert told == labels
    assert sorted(drawn) == sorted(labels)


def test_text_rules_and_linear_form_say_what_the_model_does():
    model = UDTClassifier(max_leaf_nodes=6).fit(CANCER.data, CANCER.target)
    table = model.rules_table()
    assert len(table["rule"]) == len(model.model_.leaves) == 6
    assert sum(table["samples"]) == len(CANCER.target)
    assert model.to_text().count("examples)") == 6
    assert "*" not in model.to_text()  # smoothed leaves have finite scores
    assert "*" in UDTClassifier(max_leaf_nodes=6, smoothing=0).fit(CANCER.data, CANCER.target).to_text()
    assert np.isfinite(model.decision_function(CANCER.data)).all()
    for row, explanation in zip(CANCER.data[:5], model.explain(CANCER.data[:5]), strict=True):
        added = explanation.start[0] + sum(step.adds[0] for step in explanation.steps)
        assert added == pytest.approx(explanation.scores[0])
        assert explanation.scores[0] == pytest.approx(model.decision_function(row[None])[0])


def test_history_says_the_surrogate_and_the_error_after_every_split():
    model = UDTClassifier(max_leaf_nodes=7).fit(CANCER.data, CANCER.target)
    history = model.history_
    assert all(len(values) == 6 for values in history.values())
    assert history["train_error"][-1] == pytest.approx(np.mean(model.predict(CANCER.data) != CANCER.target))
    tree = model.model_
    weight = tree.weight[tree.leaves]
    impurity = np.asarray(pm.losses.get("logistic").impurity(weight[:, 1] / weight.sum(axis=1)))
    expected = np.sum(weight.sum(axis=1) * impurity) / len(CANCER.target)
    assert history["surrogate"][-1] == pytest.approx(expected, abs=1e-12)
    assert model.certificate_.surrogate == pytest.approx(expected, abs=1e-12)
    assert np.all(history["edge"] > 0)
    for leaves in (2, 4):
        shorter = UDTClassifier(max_leaf_nodes=leaves).fit(CANCER.data, CANCER.target)
        assert shorter.history_["surrogate"][-1] == pytest.approx(history["surrogate"][leaves - 2], abs=1e-12)
        assert shorter.history_["train_error"][-1] == pytest.approx(history["train_error"][leaves - 2])


def test_the_first_edge_is_that_of_the_stump():
    model = UDTClassifier(max_leaf_nodes=2).fit(CANCER.data, CANCER.target)
    p = CANCER.target.mean()
    weight = np.where(CANCER.target == 1, 1 - p, p)
    sign = np.where(CANCER.target == 1, 1.0, -1.0)
    left = model.apply(CANCER.data) == 1
    assert model.history_["edge"][0] == pytest.approx(abs(np.sum(sign * weight * left)) / weight.sum())


def test_xor_stops_with_a_clear_statement():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    model = UDTClassifier().fit(X, y)
    certificate = model.certificate_
    assert len(model.model_.leaves) == 1
    assert len(model.history_["surrogate"]) == 0
    assert (certificate.surrogate, certificate.lower_bound, certificate.stopped) == (1.0, 0.0, "no gain")
    assert "stopped at the root" in certificate.statement
    assert "not a proof that no tree does better" in certificate.statement


def test_certificate_bound_is_what_the_best_partition_reaches():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    y = np.array([0, 0, 1, 1, 1])
    certificate = UDTClassifier().fit(X, y).certificate_
    assert certificate.surrogate == pytest.approx(certificate.lower_bound)
    assert certificate.lower_bound == pytest.approx(3 * pm.losses.get("logistic").impurity(1 / 3) / 5)
    assert certificate.locally_optimal


def test_weight_two_is_the_row_twice():
    repeats = np.random.default_rng(1).integers(0, 3, len(CANCER.target))
    model = UDTClassifier(min_samples_leaf=4, random_state=0)
    once = clone(model).fit(CANCER.data, CANCER.target, sample_weight=repeats)
    twice = clone(model).fit(np.repeat(CANCER.data, repeats, axis=0), np.repeat(CANCER.target, repeats))
    assert once.model_.literals == twice.model_.literals
    np.testing.assert_array_equal(once.predict_proba(CANCER.data), twice.predict_proba(CANCER.data))


def test_class_weight_is_a_weight_of_the_rows():
    weights = np.where(CANCER.target == 1, 3.0, 1.0)
    by_class = UDTClassifier(class_weight={0: 1, 1: 3}).fit(CANCER.data, CANCER.target)
    by_row = UDTClassifier().fit(CANCER.data, CANCER.target, sample_weight=weights)
    assert by_class.model_.literals == by_row.model_.literals


def test_pruning_by_cross_validation_shrinks_a_tree_of_noise_and_keeps_a_signal():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5))
    noise = rng.integers(0, 2, 400)
    signal = (X[:, 0] > 0).astype(int)
    assert len(UDTClassifier(max_leaf_nodes=None).fit(X, noise).model_.leaves) > 50
    assert len(UDTClassifier(max_leaf_nodes=None, pruning="auto", random_state=0).fit(X, noise).model_.leaves) <= 5
    kept = UDTClassifier(pruning="auto", random_state=0).fit(X, signal)
    assert len(kept.model_.leaves) == 2
    assert kept.pruning_path_.chosen in kept.pruning_path_.levels


def test_folds_follow_the_content_of_rows_not_their_order():
    order = np.random.default_rng(4).permutation(len(CANCER.target))
    model = UDTClassifier(pruning="auto", random_state=0)
    first = clone(model).fit(CANCER.data, CANCER.target)
    second = clone(model).fit(CANCER.data[order], CANCER.target[order])
    assert first.model_.literals == second.model_.literals


def test_decisions_need_no_refitting():
    model = UDTClassifier(max_leaf_nodes=6, smoothing=1.0).fit(CANCER.data, CANCER.target)
    probability = model.predict_proba(CANCER.data)[:, 1]
    np.testing.assert_array_equal(model.decide(CANCER.data, pm.Weighted(0.9)), (probability > 0.9).astype(int))
    held_back = model.decide(CANCER.data, pm.Reject(0.1)) == -1
    np.testing.assert_array_equal(held_back, (probability > 0.1) & (probability <= 0.9))


def test_margins_are_those_of_the_probabilities():
    model = UDTClassifier(max_leaf_nodes=4).fit(CANCER.data, CANCER.target)
    probability = model.predict_proba(CANCER.data)[:, 1]
    expected = np.where(CANCER.target == 1, 1, -1) * (2 * probability - 1)
    np.testing.assert_allclose(model.margins(CANCER.data, CANCER.target), expected)


def test_several_classes_with_names():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = UDTClassifier(loss="matsushita", max_leaf_nodes=5).fit(X, names)
    assert np.mean(model.predict(X) == names) > 0.95
    assert model.decision_function(X).shape == (150, 3)
    assert "setosa (probability 0.962; 50 examples)" in model.to_text()


def test_works_in_a_grid_search_and_survives_pickling():
    search = GridSearchCV(UDTClassifier(), {"loss": ["logistic", "squared"], "max_leaf_nodes": [2, 8]}, cv=3)
    search.fit(CANCER.data, CANCER.target)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(CANCER.data), search.predict_proba(CANCER.data))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "`loss` must be one of"),
        ({"max_leaf_nodes": 0}, "`max_leaf_nodes` must be an integer of at least 1, or None for no limit, got 0"),
        ({"max_depth": -1}, "`max_depth` must be an integer of at least 0"),
        ({"max_depth": 2.5}, "`max_depth` must be an integer"),
        ({"min_samples_leaf": 0}, "`min_samples_leaf` must be"),
        ({"pruning": "cross"}, "`pruning` must be None, a level of at least 0, or \"auto\", got 'cross'"),
        ({"pruning": -0.1}, "`pruning` must be"),
        ({"min_gain": float("nan")}, "`min_gain` must be a finite number"),
        ({"smoothing": -1}, "`smoothing` must be"),
        ({"pruning_folds": 1}, "`pruning_folds` must be"),
        ({"max_bins": 1000}, "`max_bins` must be"),
        ({"n_jobs": 0}, "`n_jobs` must be"),
        ({"monotonic_cst": [1, 0]}, "`monotonic_cst` must be"),
        ({"monotonic_cst": {"nobody": 1}}, "unknown column 'nobody'"),
    ],
)
def test_a_bad_parameter_is_refused_in_one_sentence_and_nothing_is_half_fitted(parameters, message):
    model = UDTClassifier(**parameters)
    with pytest.raises((ValueError, TypeError)) as error:
        model.fit(CANCER.data, CANCER.target)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    with pytest.raises(NotFittedError):
        model.predict(CANCER.data)


@pytest.mark.parametrize(
    ("X", "y", "weight", "message"),
    [
        ([[1.0], [np.inf]], [0, 1], None, "inf"),
        ([[1.0], [2.0]], [0, 0], None, "one class only"),
        ([[1.0], [2.0]], [0, 1, 1], None, "length"),
        ([[1.0], [2.0]], [0, 1], [1.0, -1.0], "sample_weight"),
        ([[1.0], [2.0]], [0, 1], [0.0, 0.0], "weight"),
    ],
)
def test_bad_data_is_refused(X, y, weight, message):
    model = UDTClassifier()
    with pytest.raises(ValueError, match=message):
        model.fit(np.array(X), np.array(y), sample_weight=weight)
    assert not hasattr(model, "model_")


def test_monotone_constraints_by_name_and_their_limits():
    columns, y = frame()
    X = pd.DataFrame(columns)
    model = UDTClassifier(monotonic_cst={"age": -1}).fit(X, y)
    ages = pd.DataFrame({"colour": "red", "age": np.arange(18.0, 80.0), "owner": True})
    assert np.all(np.diff(model.predict_proba(ages)[:, 1]) <= 0)
    with pytest.raises(ValueError, match="0 for a column of categories"):
        UDTClassifier(monotonic_cst={"colour": 1}).fit(X, y)
    iris = load_iris()
    with pytest.raises(ValueError, match="None for more than two classes"):
        UDTClassifier(monotonic_cst=[1, 0, 0, 0]).fit(iris.data, iris.target)


def test_boosted_trees_are_better_than_one_and_an_own_phi_grows_the_same():
    model = pm.ULSClassifier.trees(n_trees=30, max_leaf_nodes=3, random_state=0)
    accuracy = cross_val_score(model, CANCER.data, CANCER.target, cv=5).mean()
    alone = cross_val_score(UDTClassifier(max_leaf_nodes=3), CANCER.data, CANCER.target, cv=5).mean()
    assert accuracy > alone + 0.02
    mine = pm.losses.from_phi(lambda p: p * (1 - p), name="mine")
    own, gini = (
        pm.ULSClassifier.trees(n_trees=10, loss=loss, early_stopping=False).fit(CANCER.data, CANCER.target)
        for loss in (mine, "squared")
    )
    np.testing.assert_allclose(own.predict_proba(CANCER.data), gini.predict_proba(CANCER.data), atol=1e-6)


def test_uls_on_the_leaf_indicators_reproduces_the_leaf_scores():
    """(50), by the other estimator: no intercept, no shrinkage, no l2, one tree of as many leaves from the same tests."""
    X, y = CANCER.data[:, :1].round(0), CANCER.target
    tree = UDTClassifier(max_leaf_nodes=2).fit(X, y)
    boosted = pm.ULSClassifier(
        learner="tree",
        n_rounds=1,
        max_leaf_nodes=2,
        fit_intercept=False,
        l2_regularization=0.0,
        learning_rate=1.0,
        early_stopping=False,
    ).fit(X, y)
    mixed = ~tree.model_.is_pure[tree.apply(X)]
    same = [np.unique(model.decision_function(X)[mixed]).size for model in (tree, boosted)]
    assert mixed.sum() > 100
    assert same == [2, 2]
    leaf = boosted.decision_function(X)
    for value in np.unique(leaf):
        rows = leaf == value
        if 0 < y[rows].mean() < 1:
            assert value == pytest.approx(np.log(y[rows].mean() / (1 - y[rows].mean())), rel=1e-6)


def test_a_saved_tree_scores_as_before_and_exports_agree(tmp_path):
    columns, y = frame()
    X = pd.DataFrame(columns)
    model = UDTClassifier(loss="matsushita", max_leaf_nodes=6).fit(X, y)
    pm.save(model, tmp_path / "tree.json")
    again = pm.load(tmp_path / "tree.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.to_text() == model.to_text()
    assert again.certificate_.statement == model.certificate_.statement
    assert "inf" not in (tmp_path / "tree.json").read_text()
    assert "SELECT" in model.to_sql()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_raw_values_fall_where_their_codes_fell_in_training(dtype):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 4)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.round(X[:, 3], 1)
    y = (np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 3]) + rng.normal(size=4000) > 0).astype(int)
    model = UDTClassifier(max_leaf_nodes=200, random_state=0).fit(X, y)
    leaves = model.model_.leaves
    assert len(leaves) == 200
    np.testing.assert_array_equal(
        np.bincount(model.apply(X), minlength=model.model_.n_nodes)[leaves], model.model_.samples[leaves]
    )
    weight = np.zeros_like(model.model_.weight)
    np.add.at(weight, (model.apply(X), y), 1)
    np.testing.assert_array_equal(weight[leaves], model.model_.weight[leaves])
