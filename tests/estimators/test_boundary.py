"""BoundaryClassifier keeps scikit-learn's promises and its own."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import permissible as pm
from permissible.estimators.boundary import BoundaryClassifier


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        BoundaryClassifier(),
        BoundaryClassifier((0.3, 0.7), loss="matsushita", penalize_intercept=True),
        BoundaryClassifier(kernel="rbf"),
        BoundaryClassifier("soft"),
        BoundaryClassifier((0.3, 0.7), learner="rule", n_rounds=10),
        BoundaryClassifier(learner="tree", n_rounds=10, max_leaf_nodes=4),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_classification(400, 6, flip_y=0.2, random_state=3)


def test_one_boundary_at_one_half_is_the_support_vector_machine(data):
    X, y = data
    alpha = 1e-2
    ours = BoundaryClassifier(alpha=alpha, tol=1e-10).fit(X, y)
    # mathematics.md, section 8.2: lambda_svm = 4 ln2 lambda and w = 2 ln2 w_svm; LIBSVM's C is 1 / (lambda_svm n).
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


def test_not_converged_warns_and_gives_the_gap(data):
    with pytest.warns(ConvergenceWarning, match=r"relative gap of \d\.\de[-+]\d+"):
        fitted = BoundaryClassifier(max_iter=1).fit(*data)
    assert fitted.gap_ > 0


@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"solver": "dcd"}, {"boundaries": "soft"}])
def test_every_solver_that_stops_early_warns_with_its_gap(options, data):
    X, y = make_classification(1500, 6, flip_y=0.2, random_state=3)
    with pytest.warns(ConvergenceWarning, match=r"relative gap of \d\.\de[-+]\d+"):
        fitted = BoundaryClassifier(max_iter=1, tol=1e-12, alpha=1e-5, **options).fit(X, y)
    assert fitted.gap_ > 1e-12 * fitted.objective_


@pytest.mark.parametrize("kernel", [lambda A, B: A[:, :1] + 2 * B[:, 0], "precomputed"])
def test_a_kernel_that_is_not_symmetric_is_refused_in_one_sentence(kernel, data):
    X, y = data
    rows = X[:, :1] + 2 * X[:, 0] if kernel == "precomputed" else X
    with pytest.raises(ValueError, match=r"^`kernel` must be symmetric, got k\(\d+, \d+\) = .+\.$"):
        BoundaryClassifier(kernel=kernel).fit(rows, y)


@pytest.mark.parametrize(
    ("options", "thin"),
    [({}, False), ({"boundaries": "soft"}, False), ({"kernel": "rbf"}, False), ({}, True)],
)
def test_any_number_of_threads_gives_the_same_bits(options, thin):
    n, d = (2500, 20) if "kernel" in options else (30_000, 20)  # enough cells that threads are really used
    X, y = make_classification(n, d, flip_y=0.2, random_state=1)
    X = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0)) if thin else X
    found = []
    for jobs in (1, 2, 4):
        fitted = BoundaryClassifier(**{"boundaries": (0.3, 0.7), **options}, alpha=1e-3, n_jobs=jobs).fit(X, y)
        found.append((fitted.decision_function(X[:500]), fitted.intercept_))
    for scores, intercept in found[1:]:
        np.testing.assert_array_equal(scores, found[0][0])
        np.testing.assert_array_equal(intercept, found[0][1])


@pytest.mark.parametrize("boundaries", [(0.5,), (0.25, 0.5, 0.75)])
def test_liblinear_and_a_penalised_intercept_agree(boundaries, data):
    X, y = data
    ours = BoundaryClassifier(boundaries, alpha=1e-2, penalize_intercept=True, tol=1e-10).fit(X, y)
    if boundaries != (0.5,):
        assert ours.gap_ <= 1e-9 * ours.objective_
        return
    peer = LinearSVC(loss="hinge", C=1 / (4 * np.log(2) * 1e-2 * len(y)), tol=1e-10, max_iter=1_000_000).fit(X, y)
    scale = 2 * np.log(2)
    margin = np.where(y == 1, 1, -1) * scale * peer.decision_function(X)
    square = scale**2 * ((peer.coef_**2).sum() + peer.intercept_[0] ** 2)
    assert ours.objective_ == pytest.approx(
        np.log(2) * np.maximum(1 - margin / scale, 0).mean() + 0.5e-2 * square, rel=1e-8
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_kernels_score_new_rows_like_libsvm(kernel, data):
    X, y = data
    alpha = 1e-2
    ours = BoundaryClassifier(kernel=kernel, alpha=alpha, tol=1e-10).fit(X[:300], y[:300])
    peer = SVC(kernel=kernel, C=1 / (4 * np.log(2) * alpha * 300), tol=1e-9).fit(X[:300], y[:300])
    if kernel != "sigmoid":  # not positive definite: no unique optimum
        np.testing.assert_allclose(
            ours.decision_function(X[300:]), 2 * np.log(2) * peer.decision_function(X[300:]), atol=2e-4
        )
    assert ours.support_vectors_.shape == (len(ours.support_), 6)


def test_a_function_and_a_matrix_give_the_same_as_the_named_kernel(data):
    X, y = data
    gram = rbf_kernel(X, gamma=0.2)
    named = BoundaryClassifier((0.3, 0.6), kernel="rbf", gamma=0.2, tol=1e-9).fit(X[:300], y[:300])
    own = BoundaryClassifier((0.3, 0.6), kernel=partial(rbf_kernel, gamma=0.2), tol=1e-9).fit(X[:300], y[:300])
    given = BoundaryClassifier((0.3, 0.6), kernel="precomputed", tol=1e-9).fit(gram[:300, :300], y[:300])
    expected = named.decision_function(X[300:])
    np.testing.assert_allclose(own.decision_function(X[300:]), expected, atol=1e-3)
    np.testing.assert_allclose(given.decision_function(gram[300:, :300]), expected, atol=1e-3)


@pytest.mark.parametrize("boundaries", [(0.5,), (0.25, 0.5, 0.75), "soft"])
def test_sparse_and_dense_rows_give_the_same_classifier(boundaries, data):
    X, y = data
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    dense = BoundaryClassifier(boundaries, tol=1e-10).fit(X, y)
    thin = BoundaryClassifier(boundaries, tol=1e-10).fit(sparse.csr_matrix(X), y)
    assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-9)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-4)


def test_decisions_name_their_boundaries(data):
    X, y = data
    reject = BoundaryClassifier(pm.Reject(0.2)).fit(X, y)
    np.testing.assert_array_equal(reject.coef_, BoundaryClassifier((0.2, 0.8)).fit(X, y).coef_)
    assert set(reject.decide(X)) == {-1, 0, 1}
    assert set(reject.decide(X, pm.Weighted(0.1))) <= {0, 1}
    weighted = BoundaryClassifier(pm.Weighted(0.2)).fit(X, y)
    np.testing.assert_array_equal(weighted.predict(X), weighted.decide(X, pm.Weighted(0.2)))


def test_lines_of_ones_own_are_checked(data):
    surrogate = pm.losses.PiecewiseLinear.from_hinges([0.3, 0.6], [-2.0, 0.1, 1.5])
    fitted = BoundaryClassifier((0.3, 0.6), loss=surrogate).fit(*data)
    np.testing.assert_allclose(fitted.model_.loss.probability(fitted.deltas_), [0.3, 0.6], rtol=1e-12)
    crooked = pm.losses.PiecewiseLinear.from_lines([0.3, 0.6], [1.0, 0.9], [-0.7, -0.4], [0.8, 1.0], [-0.4, -0.6])
    with pytest.raises(ValueError, match="`loss` must be lines that satisfy"):
        BoundaryClassifier((0.3, 0.6), loss=crooked).fit(*data)


def test_partial_fit_streams_and_fit_starts_afresh(data):
    X, y = data
    streamed = BoundaryClassifier(alpha=1e-2)
    for _ in range(60):
        for part in np.array_split(np.arange(400), 8):
            streamed.partial_fit(X[part], y[part], classes=[0, 1])
    exact = BoundaryClassifier(alpha=1e-2).fit(X, y)
    assert (streamed.predict(X) == exact.predict(X)).mean() > 0.97
    assert streamed.n_iter_ == 480
    np.testing.assert_array_equal(streamed.fit(X, y).coef_, exact.coef_)


def test_warm_start_reaches_the_same_optimum(data):
    X, y = data
    model = BoundaryClassifier((0.3, 0.7), alpha=1e-2, warm_start=True).fit(X, y)
    model.set_params(alpha=3e-3).fit(X, y)
    assert model.objective_ == pytest.approx(BoundaryClassifier((0.3, 0.7), alpha=3e-3).fit(X, y).objective_, rel=1e-9)


def test_three_classes_are_refused():
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*OneVsRestClassifier"):
        BoundaryClassifier().fit(np.eye(3), [0, 1, 2])


def test_float32_rows_stay_as_they_are(data):
    X, y = data
    narrow = BoundaryClassifier().fit(X.astype(np.float32), y)
    wide = BoundaryClassifier().fit(X.astype(np.float32).astype(np.float64), y)
    assert narrow.objective_ == pytest.approx(wide.objective_, rel=1e-10)


@pytest.mark.parametrize("boundaries", ["soft", (0.3, 0.7)])
def test_warm_start_goes_on_from_the_coefficients_when_rows_join(data, boundaries):
    X, y = data
    alone = BoundaryClassifier(boundaries, alpha=1e-2, max_iter=1, tol=1e-9)
    first = BoundaryClassifier(boundaries, alpha=1e-2, warm_start=True, tol=1e-9).fit(X[:-5], y[:-5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pm.DoubtfulFitWarning)
        assert first.set_params(max_iter=1).fit(X, y).objective_ < alone.fit(X, y).objective_


@pytest.mark.parametrize("options", [{"solver": "dcd", "tol": 1e-3}, {"kernel": "rbf"}])
def test_warm_start_without_a_start_says_so(data, options):
    X, y = data
    model = BoundaryClassifier(alpha=1e-2, warm_start=True, **options).fit(X[:-5], y[:-5])
    with pytest.warns(UserWarning, match="warm_start: .*from scratch"):
        model.fit(X, y)


@pytest.mark.parametrize("given", [{"solver": "newton"}, {"tol": 0.1}, {"max_iter": 3}])
def test_partial_fit_refuses_what_it_does_not_use(data, given):
    X, y = data
    with pytest.raises(ValueError, match=f"`{next(iter(given))}` must be left at its default .* in partial_fit"):
        BoundaryClassifier(**given).partial_fit(X, y, classes=[0, 1])
    BoundaryClassifier(solver="psgd", warm_start=True).partial_fit(X, y, classes=[0, 1])


def test_learner_kernel_is_the_named_kernel_or_rbf(data):
    X, y = data
    given = BoundaryClassifier(kernel="rbf", alpha=0.01).fit(X, y)
    assert np.array_equal(BoundaryClassifier(learner="kernel", alpha=0.01).fit(X, y).dual_coef_, given.dual_coef_)
    polynomial = BoundaryClassifier(learner="kernel", kernel="poly", alpha=0.01).fit(X, y)
    assert polynomial.model_.kernel.name == "poly"
    with pytest.raises(ValueError, match="`kernel` must be left at its default None with rules"):
        BoundaryClassifier(learner="rule", kernel="rbf").fit(X, y)
    assert not hasattr(BoundaryClassifier(learner="rule"), "partial_fit")


def test_rules_are_refused_on_data_in_parts(data):
    X, y = data
    whole = pd.DataFrame(X).add_prefix("x").assign(y=y)
    parts = pm.BinnedDataset.from_batches([whole[:200], whole[200:]], target="y", keep_values=True)
    with pytest.raises(ValueError, match="`learner` must be linear on data in parts, got 'rule'"):
        BoundaryClassifier(learner="rule").fit(parts)


def test_a_fit_of_another_learner_leaves_nothing_of_the_last_one(data):
    X, y = data
    model = BoundaryClassifier((0.3, 0.7), learner="rule", n_rounds=5).fit(X, y)
    assert model.rules_
    assert not hasattr(model, "coef_")
    model.set_params(learner="linear", n_rounds=100).fit(X, y)
    assert model.coef_.shape == (1, 6)
    assert not any(hasattr(model, name) for name in ("rules_table", "rules_", "schema_"))
    model.set_params(learner="rule", n_rounds=5).fit(X, y)
    assert not hasattr(model, "support_")
    assert len(model.rules_) <= 5


def test_rules_do_not_depend_on_threads_of_the_linear_algebra(data):
    X, y = data
    fits = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            fits.append(BoundaryClassifier((0.3, 0.7), learner="rule", n_jobs=n_threads).fit(X, y))
    assert fits[0].rules_ == fits[1].rules_
    assert np.array_equal(fits[0].coefficients_, fits[1].coefficients_)


def test_a_score_of_zero_is_a_positive_for_the_hard_decision_everywhere():
    # sigma(0) = +1 ([N] equation 3); a boundary in numbers is right-closed instead ([K])
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    row = np.zeros((1, 1))
    model = BoundaryClassifier(pm.Hard(), fit_intercept=False).fit(X, y)
    assert model.decision_function(row)[0] == 0.0
    assert model.predict(row)[0] == 1
    assert model.decide(row, pm.Hard())[0] == 1
    right_closed = BoundaryClassifier((0.5,), fit_intercept=False).fit(X, y)
    assert right_closed.predict_region(row)[0] == 0


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, lambda X: {"a": X[:, 0], "b": X[:, 1]}])
def test_a_column_too_large_for_a_kernel_is_named(container):
    X = container(np.array([[1.0, 1e200], [2.0, 0.0], [3.0, 1.0], [4.0, 2.0]]))
    name = "b" if isinstance(X, dict) else "x1"
    with pytest.raises(ValueError, match=f"got 1e\\+200 in column '{name}'; scale that column"):
        pm.BoundaryClassifier(learner="kernel").fit(X, [0, 1, 0, 1])
