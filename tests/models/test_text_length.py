"""A long model stays readable: intervals in one piece, equal rules once, the heaviest first, the rest counted."""

import numpy as np
import pytest

import permissible as pm


@pytest.fixture(scope="module")
def band():
    """Positive in a band of one column, which one bound alone cannot see."""
    rng = np.random.default_rng(0)
    X = rng.random((600, 3)) * 100
    return X, (((X[:, 0] > 40) & (X[:, 0] <= 60)) ^ (rng.random(600) < 0.05)).astype(int)


def test_both_bounds_of_a_column_are_one_interval(band):
    X, y = band
    model = pm.ULSClassifier(n_rounds=1, max_literals=2, learning_rate=1.0, early_stopping=False).fit(X, y)
    (rule,) = model.rules_
    lower, upper = sorted(rule, key=lambda literal: literal.test == "<=")
    words = f"{lower.threshold:g} < x0 <= {upper.threshold:g}"
    assert abs(lower.threshold - 40) < 3
    assert abs(upper.threshold - 60) < 3
    assert words in model.to_text()
    assert list(model.rules_table()["rule"]) == [words]
    inside = (X[:, 0] > lower.threshold) & (X[:, 0] <= upper.threshold)
    assert len(np.unique(model.decision_function(X)[inside])) == 1
    assert np.ptp(model.decision_function(X)) == pytest.approx(2 * abs(model.coefficients_[0]))


def test_a_band_is_learnt_by_few_rules(band):
    X, y = band
    assert pm.ULSClassifier.compact(n_rules=1).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9


def test_long_lists_are_cut_with_a_count(band):
    X, y = band
    model = pm.ULSClassifier(n_rounds=60, early_stopping=False).fit(X, y)
    n_rules = len(model.rules_)
    assert n_rules > 20
    cut, whole = model.to_text(max_rules=20).splitlines(), model.to_text(max_rules=None).splitlines()
    assert len(whole) == n_rules + 3
    assert cut[:-1] == whole[: len(cut) - 1]
    lightest = np.sort(np.abs(model.coefficients_))[n_rules - 21]
    assert cut[-1] == f"and {n_rules - 20} more rules, each of which adds at most {lightest:.2g}"
    sizes = np.abs(model.rules_table()["coefficient"])
    assert (np.diff(sizes) <= 0).all()
