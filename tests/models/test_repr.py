"""The repr of a frozen model: one short line with its kind and size, whatever it holds."""

import numpy as np
import pytest

import permissible as pm

X = np.random.default_rng(0).normal(size=(120, 3))
TWO, THREE = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])


@pytest.mark.parametrize(
    ("estimator", "y", "shown"),
    [
        (pm.ULSClassifier.compact(2, early_stopping=False), TWO, "RuleModel(2 rules on 3 columns)"),
        (pm.ULSClassifier.trees(n_trees=3), TWO, "BoostedModel(3 trees on 3 columns)"),
        (pm.UDTClassifier(max_leaf_nodes=4), THREE, "TreeModel(4 leaves, 3 classes)"),
        (pm.BoundaryClassifier(), TWO, "LinearModel(3 columns)"),
        (
            pm.MCBoostClassifier(learner="tree", n_rounds=2, max_leaf_nodes=3),
            THREE,
            "AdditiveModel(3 classes, 2 rounds: Forest(4 trees))",
        ),
    ],
)
def test_a_model_is_shown_by_kind_and_size(estimator, y, shown):
    assert repr(estimator.fit(X, y).model_) == shown


@pytest.mark.parametrize(
    "estimator",
    [
        pm.MCBoostClassifier(n_rounds=20, early_stopping=True, learner="linear"),
        pm.ULSClassifier(n_rounds=20, early_stopping=False),
        pm.BoundaryClassifier(kernel="rbf", boundaries=(0.2, 0.8)),
        pm.ULSClassifier.points(n_rules=2),
    ],
)
def test_a_repr_is_one_short_line(estimator):
    two = isinstance(estimator, pm.BoundaryClassifier) or estimator.get_params().get("points") is not None
    text = repr(estimator.fit(X, TWO if two else THREE).model_)
    assert "\n" not in text
    assert len(text) < 120
    assert text.startswith(type(estimator.model_).__name__)
