"""The displays draw what the classifier decides."""

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import permissible as pm

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return pm.BoundaryClassifier((0.25, 0.5, 0.75), alpha=1e-2).fit(X, y), X, y


@pytest.fixture(autouse=True)
def close():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_full_coverage_has_the_error_of_all_rows(fitted):
    model, X, y = fitted
    display = pm.RiskCoverageDisplay.from_estimator(model, X, y)
    assert display.coverage[-1] == 1.0
    assert display.risk[-1] == pytest.approx(np.mean((model.predict_proba(X)[:, 1] >= 0.5) != y))
    assert display.ax_.lines[0].get_label() == "BoundaryClassifier"


@pytest.mark.parametrize("features", ["pca", (0, 3)])
def test_every_row_is_drawn_in_its_region(features, fitted):
    model, X, y = fitted
    display = pm.RegionDisplay.from_estimator(model, X, y, features=features)
    drawn = sum(len(collection.get_offsets()) for collection in display.ax_.collections)
    assert drawn == len(y)
    if features != "pca":
        np.testing.assert_array_equal(display.points, X[:, [0, 3]])


def test_densities_integrate_to_one_and_the_cutoffs_are_drawn(fitted):
    model, X, y = fitted
    display = pm.MarginDensityDisplay.from_estimator(model, X, np.where(y == 1, "benign", "malignant"))
    curves = [line for line in display.ax_.lines if len(line.get_xdata()) > 2]
    assert {line.get_label() for line in curves} == {"benign", "malignant"}
    for line in curves:
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1.0, abs=0.02)
    np.testing.assert_allclose(
        [line.get_xdata()[0] for line in display.ax_.lines if len(line.get_xdata()) == 2], model.deltas_
    )


def test_groups_must_fit_the_rows(fitted):
    model, X, _ = fitted
    with pytest.raises(ValueError, match="`groups` must be one value for each of the 569 rows, got 3 values"):
        pm.MarginDensityDisplay.from_estimator(model, X, ["a", "b", "c"])


def test_regions_of_any_classifier_of_two_classes_are_drawn():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] + X[:, 1] > 0
    for model in (
        pm.ULSClassifier(n_rounds=4, random_state=0),
        pm.UDTClassifier(max_leaf_nodes=4),
        pm.MCBoostClassifier(n_rounds=3, learner="linear"),
    ):
        fit = model.fit(X, y)
        display = pm.RegionDisplay.from_estimator(fit, X, y, features=[0, 2], boundaries=[0.3, 0.7])
        assert np.array_equal(display.region, np.digitize(fit.predict_proba(X)[:, 1], [0.3, 0.7], right=True))
        assert pm.RegionDisplay.from_estimator(fit, X).boundaries == (0.5,)
    matplotlib.pyplot.close("all")


def test_what_cannot_be_drawn_is_refused_in_one_sentence():
    X = np.random.default_rng(0).normal(size=(60, 2))
    three = pm.UDTClassifier(max_leaf_nodes=4).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    with pytest.raises(
        ValueError,
        match="`estimator` must be a fitted classifier of two classes with predict_proba, got UDTClassifier of 3",
    ):
        pm.RegionDisplay.from_estimator(three, X)
    words = {"x": X[:, 0], "word": np.where(X[:, 1] > 0, "a", "b")}
    model = pm.UDTClassifier(max_leaf_nodes=4).fit(words, X[:, 0] > 0)
    with pytest.raises(ValueError, match="`X` must be a table of numbers, to be points of a plane"):
        pm.RegionDisplay.from_estimator(model, words)
    with pytest.raises(
        ValueError, match="`estimator` must be a classifier of two classes, which has one score, got UDT"
    ):
        pm.MarginDensityDisplay.from_estimator(three, X, X[:, 0] > 0)
    assert pm.MarginDensityDisplay.from_estimator(model, words, X[:, 0] > 0).deltas.tolist() == [0.0]


@pytest.mark.parametrize("features", [("x0", "y"), (0, 2), "x0", (0,), 1])
def test_columns_that_are_not_there_are_refused_by_their_argument(features):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = pm.UDTClassifier(max_leaf_nodes=4).fit(X, X[:, 0] > 0)
    with pytest.raises((ValueError, TypeError), match="`features` must be"):
        pm.RegionDisplay.from_estimator(model, X, features=features)


def test_risk_and_coverage_take_labels_and_refuse_numbers_that_are_no_codes():
    p = [0.1, 0.9, 0.4, 0.3]
    coded = pm.RiskCoverageDisplay.from_predictions([0, 1, 1, 0], p)
    named = pm.RiskCoverageDisplay.from_predictions(["a", "b", "b", "a"], p)
    assert (named.coverage, named.risk) == (coded.coverage, coded.risk)
    with pytest.raises(ValueError, match="`y` must be codes of classes"):
        pm.RiskCoverageDisplay.from_predictions([1, 2, 2, 1], p)
