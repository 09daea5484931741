"""The margin of a linear separator, y H / sum |alpha| ([T] 4.1.5), from the coefficients and rules by hand."""

import numpy as np
import pytest

import permissible as pm

RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, (120, 5)).astype(float)
Y = (X[:, 0] + X[:, 1] + RNG.normal(0, 0.7, 120) > 1).astype(int)


def test_of_rules_it_lies_between_minus_one_and_one():
    model = pm.ULSClassifier.plain("logistic", 6, 1).fit(X, Y)
    signs = np.where(Y == 1, 1.0, -1.0)
    total = np.abs(model.coefficients_).sum() + abs(float(np.ravel(model.intercept_)[0]))
    margins = model.margins(X, Y, normalised=True)
    assert margins == pytest.approx(signs * model.decision_function(X) / total, rel=1e-12)
    assert np.abs(margins).max() <= 1.0


def test_it_does_not_depend_on_the_scale_of_phi_but_the_other_one_is_the_same_too():
    # E5: mu is Matsushita rescaled, so both margins agree
    pair = [pm.ULSClassifier.plain(name, 5, 1).fit(X, Y) for name in ("matsushita", "mu")]
    normalised = [model.margins(X, Y, normalised=True) for model in pair]
    assert normalised[0] == pytest.approx(normalised[1], rel=1e-9)


def test_models_without_coefficients_refuse_it():
    with pytest.raises(ValueError, match="`normalised` must be False"):
        pm.UDTClassifier().fit(X, Y).margins(X, Y, normalised=True)


def test_of_columns_it_counts_the_constant():
    model = pm.ULSClassifier(learner="column", n_rounds=20).fit(X, Y)
    total = np.abs(model.coef_).sum() + np.abs(model.intercept_).sum()
    signs = np.where(Y == 1, 1.0, -1.0)
    assert model.margins(X, Y, normalised=True) == pytest.approx(signs * model.decision_function(X) / total, rel=1e-12)
