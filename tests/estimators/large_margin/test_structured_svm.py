"""The structured SVM as an estimator: scikit-learn's checks, the optimum by another solver, its kernel's twin, costs, files."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.utils.estimator_checks import parametrize_with_checks

import permissible as pm
from permissible.kernels._core import boundary as kernel
from permissible.kernels.reference import boundary as twin
from permissible.learners.structured_svm import fit_structured

COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [4.0, 3.0, 0.0]])


def rows(seed=0, n=80):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 3)) + np.eye(3)[y], y


@parametrize_with_checks([pm.StructuredSVMClassifier(alpha=0.1)])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_the_objective_is_that_of_a_smooth_solver():
    X, y = rows()
    alpha, n = 0.05, len(X)
    design, costs = np.column_stack([X, np.ones(n)]), COSTS[y]
    ours = fit_structured(X, y, costs, np.ones(n), alpha=alpha, tol=1e-7, max_iter=5000)

    def primal(flat, width):  # the maximum rounded by a soft maximum of shrinking width
        scores = design @ flat.reshape(3, 4).T
        terms = (costs + scores - scores[np.arange(n), y][:, None]) / width
        top = terms.max(axis=1, keepdims=True)
        return alpha / 2 * flat @ flat + width * (top[:, 0] + np.log(np.exp(terms - top).sum(axis=1))).mean()

    point = np.zeros(12)
    for width in (1.0, 0.1, 0.01, 0.001):
        point = minimize(primal, point, args=(width,), method="L-BFGS-B", options={"maxiter": 5000}).x
    exact = primal(point, 1e-9)
    assert ours.objective[-1] == pytest.approx(exact, rel=2e-3)
    assert ours.objective[-1] <= exact * (1 + 1e-6)
    assert ours.gap[-1] <= 1e-7 * ours.objective[-1]


def test_a_sweep_is_its_readable_twin():
    X, y = rows(1, 20)
    x, costs, caps = np.column_stack([X, np.ones(20)]), np.ascontiguousarray(COSTS[y]), np.full(20, 1 / 20)
    points = []
    for sweep in (kernel.structured_sweep, twin.structured_sweep):
        dual, weights = np.zeros((20, 3)), np.zeros((3, 4))
        dual[np.arange(20), y] = caps
        for _ in range(3):
            sweep(x, costs, caps, 0.1, np.arange(20)[::-1].copy(), weights, dual)
        points.append((weights, dual))
    assert points[0][0] == pytest.approx(points[1][0], abs=1e-12)
    assert points[0][1] == pytest.approx(points[1][1], abs=1e-14)


def test_the_model_is_the_machine_and_survives_its_file(tmp_path):
    X, y = rows(3)
    model = pm.StructuredSVMClassifier(COSTS, alpha=0.02).fit(X, y)
    pm.save(model, tmp_path / "svm.json")
    again = pm.load(tmp_path / "svm.json")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert (again.cost_matrix_, again.gap_) == (model.cost_matrix_, model.gap_)
    scores = model.decision_function(X)
    assert np.array_equal(model.predict(X), scores.argmax(axis=1))
    hinge = (COSTS[y] + scores - scores[np.arange(len(y)), y][:, None]).max(axis=1).mean()
    assert hinge <= model.objective_ <= hinge + 1.0


def test_costs_by_row_are_the_matrix_when_they_repeat_it_and_dear_mistakes_become_rare():
    X, y = rows(4, 150)
    by_matrix = pm.StructuredSVMClassifier(COSTS, alpha=0.02).fit(X, y)
    by_row = pm.StructuredSVMClassifier(alpha=0.02).fit(X, y, cost=COSTS[y])
    assert np.array_equal(by_matrix.decision_function(X), by_row.decision_function(X))
    dear = pm.StructuredSVMClassifier([[0, 1, 1], [1, 0, 1], [20, 20, 0]], alpha=0.02).fit(X, y)
    plain = pm.StructuredSVMClassifier(alpha=0.02).fit(X, y)
    assert np.mean(dear.predict(X)[y == 2] != 2) < np.mean(plain.predict(X)[y == 2] != 2)


def test_too_few_passes_are_said():
    X, y = rows(5)
    with pytest.warns(pm.DoubtfulFitWarning, match="duality gap"):
        model = pm.StructuredSVMClassifier(alpha=1e-6, tol=1e-9, max_iter=2).fit(X, y)
    assert model.certificate_.stopped == "max_iter"


def test_data_in_parts_are_refused():
    X, y = rows()
    parts = pm.BinnedDataset.from_batches([{"a": X[:, 0], "y": y}], target="y")
    with pytest.raises(ValueError, match="rows in memory"):
        pm.StructuredSVMClassifier().fit(parts)
