"""The displays of evaluation draw what the metrics compute, on given axes."""

import matplotlib as mpl
import numpy as np
import pytest

import permissible as pm
from permissible import metrics
from tests.evaluation.test_net_benefit import judged_rows

mpl.use("Agg")


@pytest.fixture
def fitted():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3))
    y = np.where(X[:, 0] + generator.normal(0, 1, 300) > 0.5, "ill", "well")
    return pm.ULSClassifier(n_rounds=4, random_state=0).fit(X, y), X, y


@pytest.fixture
def ax():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


DISPLAYS = [pm.DecisionCurveDisplay, pm.CalibrationDisplay, pm.CostCurveDisplay]


@pytest.mark.parametrize("display", DISPLAYS)
def test_from_estimator_is_from_predictions_on_its_probabilities(display, fitted, ax):
    estimator, X, y = fitted
    drawn = display.from_estimator(estimator, X, y, ax=ax)
    assert drawn.ax_ is ax
    again = display.from_predictions(y, estimator.predict_proba(X), ax=ax)
    lines = [line.get_ydata() for line in ax.lines]
    half = len(lines) // 2
    for first, second in zip(lines[:half], lines[half:], strict=True):
        np.testing.assert_array_equal(first, second)
    assert drawn.name == "ULSClassifier"
    assert again.name is None
    assert ax.get_xlabel()
    assert ax.get_ylabel()


def test_the_decision_curve_is_the_metric(ax):
    y, p = judged_rows()
    pm.DecisionCurveDisplay.from_predictions(y, p, [0.1, 0.4], ax=ax, n_bootstrap=0)
    found = metrics.net_benefit(y, p, [0.1, 0.4], n_bootstrap=0)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), found["net_benefit"])
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), found["treat_all"])


def test_calibration_bins_by_weight_are_those_of_repeated_rows(ax):
    y, p = judged_rows(150, decimals=2)
    weight = np.random.default_rng(1).integers(0, 3, 150)
    often = np.repeat(np.arange(150), weight)
    first = pm.CalibrationDisplay.from_predictions(y, p, sample_weight=weight, ax=ax)
    assert first.bins == pm.CalibrationDisplay.from_predictions(y[often], p[often], ax=ax).bins
    assert sum(b.count for b in first.bins) == weight.sum()


def test_subgroups_are_drawn_in_their_order(fitted, ax):
    estimator, X, y = fitted
    groups = np.where(X[:, 1] > 0, "upper", "lower")
    drawn = pm.SubgroupDisplay.from_estimator(estimator, X, y, groups, "sensitivity", ax=ax, n_bootstrap=20)
    codes, p = (y == "well").astype(int), estimator.predict_proba(X)[:, 1]
    assert drawn.overall == pytest.approx(((p > 0.5) & (codes == 1)).sum() / codes.sum())
    assert [text.get_text().split(" (")[0] for text in ax.get_yticklabels()] == ["lower", "upper"]


def test_more_than_two_classes_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = pm.UDTClassifier(max_leaf_nodes=3).fit(X, np.arange(30) % 3)
    for display in DISPLAYS:
        with pytest.raises(ValueError, match="a fitted classifier of two classes"):
            display.from_estimator(model, X, np.arange(30) % 3)
