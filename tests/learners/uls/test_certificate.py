"""Theorem 2's bound: its ingredients against their definitions, and the number of rounds that a fit really needed."""

import math

import numpy as np
import pytest
from scipy import sparse

import permissible as pm
from permissible import losses


def noisy(seed=0, n=200, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=n) > 0).astype(int)
    return X, y


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_a_m_is_the_largest_norm_of_a_column_and_the_bound_is_not_below_the_rounds_used(scale):
    X, y = noisy()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    for matrix in (X * scale, sparse.csr_matrix(X * scale)):
        model = pm.ULSClassifier(learner="column", n_rounds=30, l2_regularization=0.0).fit(
            matrix, y, sample_weight=weight
        )
        certificate = model.certificate_
        expected = max(np.sqrt(weight @ (X * scale) ** 2).max(), np.sqrt(weight.sum()))
        assert certificate.ingredients["a_m"] == pytest.approx(expected, rel=1e-12)
        assert certificate.bound >= certificate.rounds
    alone = pm.ULSClassifier(learner="column", n_rounds=3, l2_regularization=0.0, fit_intercept=False).fit(X / 100, y)
    assert alone.certificate_.ingredients["a_m"] == pytest.approx(np.linalg.norm(X / 100, axis=0).max(), rel=1e-12)


LOSSES = [(name, {}) for name in losses.names()]
LOSSES += [("logcosh", {"zeta": -20.0}), ("logcosh", {"zeta": -2.0}), ("mu", {"mu": 0.9}), ("power", {"upsilon": 0.8})]


@pytest.mark.parametrize(("name", "params"), LOSSES)
@pytest.mark.parametrize("learner", ["rule", "column"])
def test_every_round_gains_what_theorem_2_says_and_the_bound_holds(name, params, learner):
    # [N] (23): a round lowers the sum of b F by at least (edge Z)^2 a_v / (2 a_m^2).
    X, y = noisy()
    loss = losses.get(name, **params)
    model = pm.ULSClassifier(
        loss,
        learner=learner,
        n_rounds=12,
        l2_regularization=0.0,
        learning_rate=1.0,
        early_stopping=False,
        fit_intercept=False,
        **({} if learner == "column" else {"max_literals": 1}),
    ).fit(X, y)
    certificate = model.certificate_
    part = certificate.ingredients
    assert part["a_v"] == pytest.approx(1 / loss.largest_curvature)
    assert certificate.bound >= certificate.rounds
    surrogate = np.append(1.0, model.history_["surrogate"]) * part["b"] * part["examples"]
    least = (model.history_["edge"] * part["a_Z"]) ** 2 * part["a_v"] / (2 * part["a_m"] ** 2)
    assert (-np.diff(surrogate) >= least * (1 - 1e-6) - 1e-9).all()


def test_no_finite_bound_is_claimed_where_the_second_derivative_comes_down_to_zero():
    X, y = noisy()
    sine = losses.from_phi(lambda p: np.sin(np.pi * p), lambda p: np.pi * np.cos(np.pi * p), name="sine")
    exponential = losses.from_psi(lambda x: np.exp(-x), lambda x: -np.exp(-x), lambda x: np.exp(-x), name="exp")
    for loss in (sine, exponential, "exponential"):
        certificate = pm.ULSClassifier(loss, n_rounds=3, early_stopping=False).fit(X, y).certificate_
        assert certificate.bound == math.inf
        assert "Theorem 2 gives no finite bound" in certificate.statement


def test_an_own_psi_has_the_bound_of_the_built_in_one():
    X, y = noisy()
    mine = losses.from_psi(lambda x: (1 - x) ** 2, lambda x: -2 * (1 - x), lambda x: 2.0 + 0 * x, name="square")
    first, second = (
        pm.ULSClassifier(loss, n_rounds=4, early_stopping=False).fit(X, y) for loss in (mine, "least_squares")
    )
    assert first.certificate_.bound == pytest.approx(second.certificate_.bound, rel=1e-6)
