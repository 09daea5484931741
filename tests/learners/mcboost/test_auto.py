"""learner="auto": held-out rows choose between affine terms, trees and blends."""

import numpy as np

import permissible as pm


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
