"""Boosted columns stand at the penalised optimum, cost what rules cost, and name a column without a finite coefficient."""

import warnings

import numpy as np
import pytest

from permissible import ULSClassifier, losses
from tests.learners.uls.optimum import least, penalised

LOSSES = ("logistic", "matsushita", "mu", "squared", "power", "least_squares", "exponential", "logcosh")


def table(seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 100.0, 0.01, 1.0] + [0.0, 0.0, 0.0, 5.0]
    y = (X / [1.0, 100.0, 0.01, 1.0] @ [1.0, -1.0, 0.5, 0.0] + rng.logistic(size=n) > 0).astype(int)
    return X, y


def fitted(X, y, loss, **options):
    asked = {"n_rounds": 400, "learner": "column", "scheme": "corrective", "l2_regularization": 0.0, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ULSClassifier(loss, **asked).fit(X, y)


def gap(model, X, y, loss, l2):
    features = np.column_stack((np.ones(len(y)), X))
    theta = np.concatenate((np.ravel(model.intercept_), np.ravel(model.coef_)))
    reached = penalised(losses.get(loss), features, y == 1, np.ones(len(y)), l2, theta)[0]
    best = least(loss, features, y == 1, np.ones(len(y)), l2, theta)
    return (reached - best) / best


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scheme", ["classic", "corrective", 2])
def test_columns_end_at_the_penalised_optimum(loss, scheme):
    X, y = table()
    X = X[:, :3]
    for l2 in (0.0, 1.0):
        model = fitted(X, y, loss, scheme=scheme, l2_regularization=l2)
        assert gap(model, X, y, loss, l2) < 1e-9
        assert model.certificate_.gradient_norm < 1e-6
        assert model.certificate_.doubts == ()


def test_newton_beyond_the_score_limit_comes_back():
    X, y = table(1, 40)
    for scheme in ("corrective", 2):
        model = fitted(X, y, losses.get("logcosh", zeta=-20.0), scheme=scheme, l2_regularization=0.1)
        assert gap(model, X, y, losses.get("logcosh", zeta=-20.0), 0.1) < 1e-6


@pytest.mark.parametrize("loss", ["logistic", "mu", "exponential"])
def test_the_same_l2_costs_a_rule_and_its_column_the_same(loss):
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2, (120, 3)).astype(float)
    y = (bits @ [2.0, -1.0, 0.5] + rng.logistic(size=120) > 0.7).astype(int)
    rules = fitted(
        bits, y, loss, learner="rule", l2_regularization=10.0, max_literals=1, early_stopping=False, n_rounds=3
    )
    columns = fitted(2 * bits - 1, y, loss, l2_regularization=10.0)
    assert len(rules.rules_) == 3
    np.testing.assert_allclose(rules.decision_function(bits), columns.decision_function(2 * bits - 1), atol=1e-8)
    assert rules.certificate_.surrogate == pytest.approx(columns.certificate_.surrogate, rel=1e-9)


@pytest.mark.parametrize("scheme", ["classic", "corrective", 2])
@pytest.mark.parametrize("loss", ["power", "logistic", "matsushita", "exponential"])
def test_a_column_without_a_finite_coefficient_is_named_and_the_others_go_on(loss, scheme):
    X, y = table(5, 60)
    flag = (np.arange(60) % 3 == 0).astype(float)
    y = np.where(flag == 1, 1, y)
    model = fitted(np.column_stack((flag, X[:, :3])), y, loss, scheme=scheme)
    certificate = model.certificate_
    assert not certificate.separable
    assert certificate.doubts[0].kind == "coefficient explodes"
    assert "column 0" in certificate.statement
    assert "separate" not in certificate.statement
    # Without the rows that the column decides, the rest is an ordinary problem with a finite optimum.
    kept = flag == 0
    features = np.column_stack((np.ones(kept.sum()), X[kept, :3]))
    theta = np.concatenate((np.ravel(model.intercept_), np.ravel(model.coef_)[1:]))
    reached = penalised(losses.get(loss), features, y[kept] == 1, np.ones(kept.sum()), 0.0, theta)[0]
    best = least(loss, features, y[kept] == 1, np.ones(kept.sum()), 0.0, theta)
    assert reached == pytest.approx(best, rel=1e-6)


def test_columns_that_separate_are_told_as_columns():
    X = np.arange(40.0)[:, None]
    model = fitted(X - 19.5, (X[:, 0] >= 20).astype(int), "logistic")
    assert model.certificate_.separable
    assert "columns separate the classes" in model.certificate_.statement
    assert "literal" not in model.certificate_.statement
    assert "largest remaining edge of a column" in model.certificate_.statement
