"""Decisions as scorers: scikit-learn chooses the model that decides best, not the one that classifies best."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import LinearSVC

import permissible as pm

X, Y = make_classification(120, 5, n_informative=3, weights=[0.7], random_state=0)
NAMES = np.where(Y == 1, "sick", "well")  # the positive class of these strings is "well", classes_[1]


@pytest.mark.parametrize(
    "decision", [pm.Hard(), pm.Weighted(0.2), pm.Reject(0.2), pm.Boundaries([0.3, 0.6]), pm.Soft()], ids=repr
)
def test_scorer_is_minus_the_risk_in_cross_validation_and_grid_search(decision):
    found = cross_val_score(LogisticRegression(), X, Y, scoring=decision.scorer(), cv=3)
    assert (found <= 0).all()
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring=decision.scorer(), cv=3).fit(X, Y)
    model = search.best_estimator_
    assert decision.scorer()(model, X, Y) == pytest.approx(-decision.risk(Y, model.predict_proba(X)))


def test_labels_go_through_the_classes_of_the_estimator():
    model = LogisticRegression().fit(X, NAMES)
    codes = np.searchsorted(model.classes_, NAMES)
    decision = pm.Weighted(0.3)
    assert decision.scorer()(model, X, NAMES) == pytest.approx(-decision.risk(codes, model.predict_proba(X)))
    weight = np.arange(len(Y)) % 3
    expected = -decision.risk(codes, model.predict_proba(X), weight)
    assert decision.scorer()(model, X, NAMES, sample_weight=weight) == pytest.approx(expected)


def test_a_cost_matrix_with_names_is_turned_to_the_order_of_the_estimator():
    model = LogisticRegression().fit(X, NAMES)
    named = pm.CostMatrix([[0, 1], [9, 0]], classes=["well", "sick"])  # missing a sick one costs 9
    in_order = pm.CostMatrix([[0, 9], [1, 0]])  # sick, well
    assert named.scorer()(model, X, NAMES) == in_order.scorer()(model, X, NAMES)
    assert named.scorer()(model, X, NAMES) != pm.CostMatrix([[0, 1], [9, 0]]).scorer()(model, X, NAMES)


def test_scorers_are_pickled_for_worker_processes():
    scorer = pm.Reject(0.2).scorer()
    assert pickle.loads(pickle.dumps(scorer)) == scorer


def test_an_estimator_without_probabilities_and_an_unknown_label_are_refused():
    with pytest.raises(TypeError, match="`estimator` must be a classifier with predict_proba, got LinearSVC"):
        pm.Hard().scorer()(LinearSVC().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="`y` must be labels among"):
        pm.Hard().scorer()(LogisticRegression().fit(X, Y), X, Y + 5)
