"""ULSClassifier is a scikit-learn classifier."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from permissible import ULSClassifier


@parametrize_with_checks([ULSClassifier(), ULSClassifier(n_rules=5, max_literals=1, early_stopping=False)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_learns_a_conjunction():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0.2) & (X[:, 1] <= 0.5)
    model = ULSClassifier(n_rules=3, max_literals=2, early_stopping=False).fit(X, y)
    assert model.score(X, y) == 1.0
