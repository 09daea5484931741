"""`stability`: a model that resampling cannot change is stable in every figure, and noise is not."""

import numpy as np
import pytest

import permissible as pm


def test_a_certain_rule_survives_every_resample():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 3)).astype(float)
    y = X[:, 1].astype(int) ^ (rng.random(400) < 0.02)
    model = pm.ULSClassifier(n_rounds=1, max_literals=1, early_stopping=False).fit(X, y)
    found = model.stability(X, y, n_resamples=6)
    assert found.rules == {"rule": ["x1 <= 0.5"], "same": [1.0], "shape": [1.0], "spread": [0.0]}
    assert found.n_rules.tolist() == [1] * 6
    assert found.flipped.tolist() == [0.0] * 6
    assert 0 < found.probability.max() < 0.1
    assert "1 rules; between 1 and 1 on 6 resamples" in str(found)


def test_rules_of_noise_do_not_survive():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((150, 6)), rng.integers(0, 2, 150)
    model = pm.ULSClassifier(n_rounds=20, early_stopping=False).fit(X, y)
    found = model.stability(X, y, n_resamples=5)
    assert max(found.rules["same"]) <= 0.4
    assert found.flipped.mean() > 0.1
    same = model.stability(X, y, n_resamples=5)
    assert np.array_equal(found.probability, same.probability)
    assert not np.array_equal(found.probability, model.stability(X, y, n_resamples=5, random_state=1).probability)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_resample_has_a_rare_class(n_classes):
    X = np.random.default_rng(0).standard_normal((60, 2)).round(1)
    y = np.where(np.arange(60) < 2, n_classes - 1, (X[:, 0] > 0) * (n_classes > 2)).astype(int)
    model = pm.ULSClassifier(n_rounds=2, max_literals=1, early_stopping=False).fit(X, y)
    found = model.stability(X, y, n_resamples=8)
    assert len(found.flipped) == 8
    assert np.isfinite(found.probability).all()


def test_what_it_cannot_do_is_refused():
    X, y = np.random.default_rng(0).standard_normal((60, 2)), np.arange(60) % 2
    with pytest.raises(ValueError, match="learner"):
        pm.ULSClassifier(learner="column").fit(X, y).stability(X, y)
    with pytest.raises(ValueError, match="n_resamples"):
        pm.ULSClassifier(early_stopping=False).fit(X, y).stability(X, y, n_resamples=1)
