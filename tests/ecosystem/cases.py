"""The estimators that are tried in every library, small enough to be fitted many times, and the rows they are fitted to."""

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import make_classification

import permissible as pm

X, Y = make_classification(
    160, 5, n_informative=3, n_redundant=0, n_clusters_per_class=1, class_sep=1.0, flip_y=0.15, random_state=3
)
THREE = np.digitize(X[:, 0] + X[:, 1], [-1.0, 1.0])
FRAME = pd.DataFrame(X, columns=list("abcde"))
ESTIMATORS = {
    "rules": pm.ULSClassifier(n_rounds=6, early_stopping=False),
    "ten rules": pm.ULSClassifier.compact(n_rules=4),
    "columns": pm.ULSClassifier(learner="column", n_rounds=8),
    "boosted trees": pm.ULSClassifier.trees(n_trees=5, early_stopping=False),
    "tree": pm.UDTClassifier(max_leaf_nodes=6),
    "boundary": pm.BoundaryClassifier(alpha=0.01),
    "boosting": pm.MCBoostClassifier(n_rounds=6, learner="linear"),
    "boosted rules": pm.MCBoostClassifier(n_rounds=6, learner="rule"),
}
BINARY_ONLY = {"boundary"}


def estimator(name: str):
    """A fresh copy."""
    return clone(ESTIMATORS[name])
