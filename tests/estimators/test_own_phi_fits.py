"""Fits with a user's own phi: every scheme ends at the optimum over its own features, as an independent optimiser finds it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import permissible as pm
from permissible import losses
from permissible.table import read
from tests.losses.own.phis import Counted, entropy, own

NAMES = ["logistic", "sine", "table of 33", "table of 33 without derivative", "table of 1001"]


def small_table(seed=0, n=240):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] * (X[:, 2] > 1) + 1.5 * rng.normal(size=n) > 2).astype(int)
    return X, y


def best_surrogate(loss, features, y):
    """The least mean F over the span of the features and a constant, by L-BFGS on the loss's exact functions."""
    sign = np.where(y == 1, 1.0, -1.0)
    design = np.column_stack((np.ones(len(y)), features))

    def objective(theta):
        margin = sign * (design @ theta)
        weight = np.asarray(loss.weight(margin))
        return float(np.sum(loss.value(margin))) * loss.b, -(design.T @ (sign * weight))

    exact = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-10}
    found = minimize(objective, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", options=exact)
    return found.fun / loss.b / len(y)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", ["classic", "corrective", 2])
def test_rules_of_every_scheme_end_and_lower_the_exact_surrogate(name, scheme):
    X, y = small_table()
    loss = own(name)
    rate = 1.0 if scheme == "classic" else "auto"
    model = pm.ULSClassifier(
        loss, n_rounds=4, max_literals=1, scheme=scheme, l2_regularization=0.0, learning_rate=rate, early_stopping=False
    ).fit(X, y)
    margin = np.where(y == 1, 1, -1) * model.decision_function(X)
    reached = float(np.mean(loss.value(margin)))
    assert reached == pytest.approx(model.history_["surrogate"][-1], rel=1e-8)
    assert (np.diff(model.history_["surrogate"]) <= 1e-9).all()


@pytest.mark.parametrize("name", ["logistic", "sine", "table of 33", "table of 1001"])
@pytest.mark.parametrize("seed", [0, 2])
def test_corrective_rules_come_to_the_optimum_over_the_rules(name, seed):
    X, y = small_table(seed)
    loss = own(name)
    model = pm.ULSClassifier(
        loss, n_rounds=5, max_literals=1, scheme="corrective", l2_regularization=0.0, early_stopping=False
    ).fit(X, y)
    rules, table = model.model_, read(X)
    alone = np.eye(len(rules.rules))
    features = [replace(rules, intercept=0.0, coefficients=each).scores(table) for each in alone]
    best = best_surrogate(loss, np.column_stack(features), y)
    assert model.history_["surrogate"][-1] == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("name", ["logistic", "table of 33", "table of 1001"])
def test_classic_columns_come_to_the_optimum_over_the_columns(name):
    X, y = small_table()
    X = (X - 1) / 2
    loss = own(name)
    model = pm.ULSClassifier(loss, learner="column", n_rounds=400, l2_regularization=0.0).fit(X, y)
    assert model.history_["surrogate"][-1] == pytest.approx(best_surrogate(loss, X, y), rel=1e-7)


def test_a_built_in_phi_given_as_ones_own_gives_the_built_in_model():
    X, y = small_table()
    mine, built_in = own("logistic"), losses.get("logistic")
    for more in ({}, {"scheme": "corrective"}, {"scheme": 2}, {"learner": "column"}, {"learner": "tree"}):
        first, second = (pm.ULSClassifier(loss, n_rounds=6, **more).fit(X, y) for loss in (mine, built_in))
        np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X), atol=1e-7)
    first, second = (pm.ULSClassifier.compact(loss=loss).fit(X, y) for loss in (mine, built_in))
    np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("scheme", ["classic", "corrective"])
def test_the_users_function_is_called_for_the_table_and_hardly_again_by_a_fit(scheme):
    X, y = small_table()
    phi = Counted(entropy)
    slope = Counted(lambda p: np.log1p(-p) - np.log(p))
    loss = losses.from_phi(phi, slope, name="counted")
    pm.ULSClassifier(loss, n_rounds=2, scheme=scheme, early_stopping=False).fit(X, y)
    after_one = phi.calls + slope.calls
    assert after_one < 1500
    pm.ULSClassifier(loss, n_rounds=40, max_literals=2, scheme=scheme, early_stopping=False).fit(X, y)
    assert phi.calls + slope.calls < after_one + 300  # doubts and certificate, not one per pass


@pytest.mark.parametrize("n_knots", [257, 1001, 4097, 100001])
def test_a_table_read_by_straight_lines_is_refused_before_any_fit(n_knots):
    knots = np.linspace(0, 1, n_knots)
    with pytest.raises(ValueError, match=r"`phi` must be strictly concave, got straight pieces.*cubic spline"):
        losses.from_phi(lambda p: np.interp(p, knots, knots * (1 - knots)))


def test_a_derivative_of_steps_is_refused():
    knots = np.linspace(0, 1, 2**20 + 1)

    def steps(p):
        return 1 - 2 * (np.floor(p * 2**20) + 0.5) / 2**20

    with pytest.raises(ValueError, match="`phi_prime` must be strictly decreasing, got constant pieces"):
        losses.from_phi(lambda p: np.interp(p, knots, knots * (1 - knots)), steps)
