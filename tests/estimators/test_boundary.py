"""BoundaryClassifier keeps scikit-learn's promises and its own."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from permissible.estimators.boundary import BoundaryClassifier


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([BoundaryClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_classification(400, 6, flip_y=0.2, random_state=3)


def test_one_boundary_at_one_half_is_the_support_vector_machine(data):
    X, y = data
    alpha = 1e-2
    ours = BoundaryClassifier(alpha=alpha, tol=1e-10).fit(X, y)
    # MATH 8.2: lambda_svm = 4 ln2 lambda and w = 2 ln2 w_svm; LIBSVM's C is 1 / (lambda_svm n).
    peer = SVC(kernel="linear", C=1 / (4 * np.log(2) * alpha * len(y)), tol=1e-9).fit(X, y)
    scale = 2 * np.log(2)
    np.testing.assert_allclose(ours.coef_, scale * peer.coef_, rtol=1e-5)
    margin = np.where(y == 1, 1, -1) * scale * peer.decision_function(X)
    value = np.log(2) * np.maximum(1 - margin / scale, 0).mean() + alpha / 2 * (scale * peer.coef_**2 * scale).sum()
    assert ours.objective_ == pytest.approx(value, rel=1e-8)


def test_probability_is_the_boundary_at_its_cutoff(data):
    X, y = data
    fitted = BoundaryClassifier((0.2, 0.5, 0.7)).fit(X, y)
    np.testing.assert_allclose(fitted.model_.loss.probability(fitted.deltas_), [0.2, 0.5, 0.7], rtol=1e-12)
    regions = fitted.predict_region(X)
    probabilities = fitted.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(regions, np.searchsorted([0.2, 0.5, 0.7], probabilities, side="left"))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"boundaries": (0.0, 0.5)}, "numbers in .0, 1., got 0.0"),
        ({"boundaries": (0.5, 1.0)}, "numbers in .0, 1., got 1.0"),
        ({"boundaries": (0.7, 0.5)}, "strictly increasing, got 0.7 followed by 0.5"),
        ({"boundaries": (0.5, 0.5)}, "strictly increasing, got 0.5 followed by 0.5"),
        ({"alpha": 0.0}, "`alpha` must be a positive number, got 0.0"),
        ({"alpha": -1.0}, "`alpha` must be a positive number, got -1.0"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(parameters, words, data):
    with pytest.raises(ValueError, match=words):
        BoundaryClassifier(**parameters).fit(*data)
