"""BoundaryClassifierCV tunes lambda by the loss of the decision, ties to the largest."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import permissible as pm
from permissible.bins.hashing import hash_matrix
from permissible.rows.splits import fold_of_rows


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([pm.BoundaryClassifierCV(alphas=(1e-3, 1e-2, 1e-1), cv=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def content_folds(X, positive, n_folds):
    return fold_of_rows(hash_matrix(X), positive, None, n_folds)


@pytest.fixture(scope="module")
def data():
    return make_classification(150, 5, flip_y=0.3, random_state=1)


def test_the_grid_is_the_papers(data):
    model = pm.BoundaryClassifierCV().fit(*data)
    np.testing.assert_array_equal(model.alphas_, 2.0 ** np.arange(10, -16, -1))
    assert model.alpha_ in model.alphas_


@pytest.mark.parametrize("boundaries", [(0.5,), pm.Reject(0.2), (0.25, 0.5, 0.75), "soft"])
def test_the_risk_is_that_of_separate_fits_and_ties_go_to_the_largest(boundaries, data):
    X, y = data
    splitter = KFold(4, shuffle=True, random_state=0)
    model = pm.BoundaryClassifierCV(boundaries, alphas=2.0 ** np.arange(-8, 3), cv=splitter).fit(X, y)
    decision = {str: pm.Soft(), tuple: None}.get(type(boundaries), boundaries) or pm.Boundaries(boundaries)
    expected = []
    for alpha in model.alphas_:
        losses = np.empty(len(y))
        for train, left in splitter.split(X):
            fitted = pm.BoundaryClassifier(boundaries, alpha=alpha).fit(X[train], y[train])
            losses[left] = decision.loss(y[left], fitted.predict_proba(X[left]))
        expected.append(losses.mean())
    np.testing.assert_allclose(model.cv_risks_, expected, rtol=1e-6)
    best = np.flatnonzero(model.cv_risks_ == model.cv_risks_.min())[0]
    assert model.alpha_ == model.alphas_[best]
    np.testing.assert_allclose(
        model.decision_function(X), pm.BoundaryClassifier(boundaries, alpha=model.alpha_).fit(X, y).decision_function(X)
    )


def test_kernels_follow_the_path_too(data):
    X, y = data
    named = pm.BoundaryClassifierCV(kernel="rbf", gamma=0.2, alphas=(1e-3, 1e-2, 1e-1)).fit(X, y)
    fold = content_folds(X, y == 1, 5)
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    given = pm.BoundaryClassifierCV(kernel="precomputed", alphas=(1e-3, 1e-2, 1e-1), cv=pairs).fit(
        rbf_kernel(X, gamma=0.2), y
    )
    np.testing.assert_allclose(given.cv_risks_, named.cv_risks_, atol=0.02)


def test_folds_depend_on_content_alone(data):
    X, y = data
    folds = content_folds(X, y == 1, 5)
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(content_folds(X[order], y[order] == 1, 5), folds[order])
    np.testing.assert_array_equal(content_folds(sparse.csr_matrix(X), y == 1, 5), folds)
    assert np.bincount(folds).min() > 20


def test_tuning_by_the_surrogate_is_the_likelihood_for_the_soft_classifier(data):
    X, y = data
    model = pm.BoundaryClassifierCV("soft", tuning="surrogate", alphas=(1e-2, 1e-1)).fit(X, y)
    assert model.cv_risks_.shape == (2,)
    assert (model.cv_risks_ < 1.0).all()


def test_bad_grids_and_folds_are_refused(data):
    with pytest.raises(ValueError, match="`alphas` must be a non-empty sequence of positive numbers"):
        pm.BoundaryClassifierCV(alphas=(0.0, 1.0)).fit(*data)
    with pytest.raises(ValueError, match="`cv` must be at least 2 folds, got 1"):
        pm.BoundaryClassifierCV(cv=1).fit(*data)
    with pytest.raises(ValueError, match="`tuning` must be 'decision', 'surrogate' or a decision, got 'auc'"):
        pm.BoundaryClassifierCV(tuning="auc").fit(*data)


def test_it_comes_back_from_a_file(data, tmp_path):
    X, y = data
    model = pm.BoundaryClassifierCV((0.25, 0.75), alphas=(1e-2, 1e-1)).fit(X, y)
    pm.save(model, tmp_path / "model.json")
    again = pm.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.alpha_ == model.alpha_
