"""learner="auto": held-out rows choose between affine terms, trees and blends."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

import permissible as pm
from permissible.learners.mcboost import auto


def test_auto_chooses_the_family_that_the_data_ask_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    affine = (X @ rng.normal(size=(4, 3)) * 2 + rng.gumbel(size=(600, 3))).argmax(axis=1)
    boxes = (X[:, 0] > 0).astype(int) * (X[:, 1] > 0) + 2 * (X[:, 2] > 0.5)
    boxes = np.where(rng.random(600) < 0.1, rng.integers(0, 4, 600), boxes)
    straight = pm.MCBoostClassifier(learner="auto", n_rounds=30, random_state=0).fit(X, affine)
    cut = pm.MCBoostClassifier(learner="auto", n_rounds=30, random_state=0).fit(X, boxes)
    assert "linear" in straight.certificate_.chosen
    assert "linear" not in cut.certificate_.chosen or cut.certificate_.chosen.startswith("0.25")
    assert cut.score(X, boxes) > 0.85
    assert straight.decision_.n_classes == 3


def test_affine_terms_are_penalised_so_that_separating_ones_stay_moderate(monkeypatch):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(1).permutation(150)
    held_out = {}
    for l2 in (0.0, auto.AFFINE_L2):
        monkeypatch.setattr(auto, "AFFINE_L2", l2)
        model = pm.MCBoostClassifier().fit(X[order[:100]], y[order[:100]])
        assert "linear" in model.certificate_.chosen
        held_out[l2] = log_loss(y[order[100:]], model.predict_proba(X[order[100:]]))
    assert held_out[1.0] < 0.75 * held_out[0.0]
