"""The display of mistakes and their costs against scikit-learn's confusion matrix and the estimator's own risk."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import confusion_matrix

import permissible as pm
from permissible.report.displays.cost import CostDisplay

COSTS = pm.CostMatrix([[0, 1, 3], [2, 0, 1], [4, 4, 0]])


@pytest.fixture(scope="module")
def fitted():
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    return pm.MCBoostClassifier("gll", cost_matrix=COSTS, n_rounds=30, learner="linear").fit(X, y), X, y


def test_counts_are_those_of_scikit_learn_and_risk_is_the_mean_cost(fitted):
    model, X, y = fitted
    display = CostDisplay.from_estimator(model, X, y)
    np.testing.assert_array_equal(display.counts, confusion_matrix(y, model.predict(X)))
    assert display.risk == pytest.approx(COSTS.matrix[y, model.predict(X)].mean())
    assert display.values("cost").sum() == pytest.approx(1.0)
    np.testing.assert_allclose(display.values("share").sum(axis=1), 1.0)


def test_rejections_get_a_column_of_their_own(fitted):
    model, X, y = fitted
    decision = pm.CostMatrix(COSTS.matrix, reject_cost=0.3)
    display = CostDisplay.from_estimator(model, X, y, decision)
    decided = model.decide(X, decision)
    assert display.counts.shape == (3, 4)
    assert display.counts[:, 3].sum() == np.sum(decided == -1)
    expected = np.where(decided == -1, 0.3, COSTS.matrix[y, decided]).mean()
    assert display.risk == pytest.approx(expected)


def test_it_draws_every_measure(fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    model, X, y = fitted
    display = CostDisplay.from_estimator(model, X, y)
    for measure in ("count", "share", "cost"):
        ax = display.plot(measure)
        assert f"{display.risk:.3f}" in ax.get_title()
        plt.close(ax.figure)


def test_bad_measures_and_labels_are_refused(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="measure"):
        CostDisplay.from_estimator(model, X, y).values("error")
    with pytest.raises(ValueError, match="decided"):
        CostDisplay.of([0, 1], [0, 7])
