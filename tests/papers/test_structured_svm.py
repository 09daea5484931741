"""The cost-sensitive structured machine against a quadratic program, and against LIBLINEAR where that has it."""

import numpy as np
import pytest

from papers.structured_svm import fit_csmc, liblinear


def rows(seed=0, n=60):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[y], y


COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [4.0, 3.0, 0.0]])


def test_it_reaches_the_optimum_of_the_quadratic_program():
    osqp = pytest.importorskip("osqp")
    from scipy import sparse

    X, y = rows()
    alpha, n, m = 0.05, len(X), 3
    design = np.column_stack([X, np.ones(n)])
    d = design.shape[1]
    constraints, low = [], []
    for i in range(n):  # xi_i >= C_zk + S_k - S_z for every k
        for k in range(m):
            row = np.zeros(m * d + n)
            row[m * d + i] = 1.0
            row[k * d : (k + 1) * d] -= design[i]
            row[y[i] * d : (y[i] + 1) * d] += design[i]
            constraints.append(row)
            low.append(COSTS[y[i], k])
    quadratic = sparse.diags([alpha] * (m * d) + [0.0] * n).tocsc()
    solver = osqp.OSQP()
    linear = np.r_[np.zeros(m * d), np.full(n, 1 / n)]
    solver.setup(
        quadratic,
        linear,
        sparse.csc_matrix(np.array(constraints)),
        np.array(low),
        np.full(len(low), np.inf),
        verbose=False,
        eps_abs=1e-9,
        eps_rel=1e-9,
        max_iter=200_000,
        polishing=True,
    )
    best = solver.solve(raise_error=True).info.obj_val
    machine = fit_csmc(X, y, COSTS, alpha=alpha, tol=1e-6)
    assert machine.gap <= 1e-6 * machine.objective
    assert machine.objective == pytest.approx(best, rel=1e-5)


def test_without_costs_it_is_crammer_and_singer():
    X, y = rows(1)
    alpha = 0.02
    ours = fit_csmc(X, y, 1.0 - np.eye(3), alpha=alpha, tol=1e-6)
    peer = liblinear("SVM-MC", alpha, len(X), tol=1e-8, max_iter=200_000).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    weights = np.column_stack([peer.coef_, peer.intercept_])
    scores = np.column_stack([X, np.ones(len(X))]) @ weights.T
    hinge = ((1.0 - np.eye(3))[y] + scores).max(axis=1) - scores[np.arange(len(y)), y]
    assert 0.5 * alpha * (weights**2).sum() + hinge.mean() == pytest.approx(ours.objective, rel=1e-4)


def test_dear_mistakes_are_avoided():
    X, y = rows(2, 200)
    dear = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [20.0, 20.0, 0.0]])
    plain = fit_csmc(X, y, 1.0 - np.eye(3), alpha=0.01)
    warned = fit_csmc(X, y, dear, alpha=0.01)
    assert np.mean(warned.predict(X)[y == 2] != 2) < np.mean(plain.predict(X)[y == 2] != 2)


def test_one_against_all_is_liblinear_with_the_hinge():
    X, y = rows(3)
    assert liblinear("SVM-OVA", 0.05, len(X), max_iter=100_000).fit(X, y).score(X, y) > 0.6
