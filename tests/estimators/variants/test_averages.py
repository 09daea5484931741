"""Averages of fits: the default of lengths that the folds cannot tell apart, and `ensemble` of the fits of its folds."""

import numpy as np
import pytest

import permissible as pm
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.rows.splits import evaluation_folds
from permissible.table import read


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 5)).round(2)
    return X, (X[:, 0] + 0.8 * X[:, 1] + 0.5 * X[:, 0] * X[:, 2] + rng.logistic(size=400) > 0).astype(int)


def used(model):
    return [candidate for candidate in model.selection_["candidates"] if candidate["used"]]


def alone(candidate, X, y, **more):
    """The fit of one candidate, without a choice."""
    settings = {name: candidate[name] for name in ("max_literals", "learning_rate", "n_rounds")}
    return pm.ULSClassifier(early_stopping=False, **settings, **more).fit(X, y)


def drawn(candidates, X, y, n_rounds=100):
    """The fits that are averaged: all candidates with as many draws as there is room for, each with its part of the rules."""
    n_draws = max(min(n_rounds // sum(candidate["n_rounds"] for candidate in candidates), 5), 1)
    room = n_rounds // (n_draws * len(candidates))
    own = [{**candidate, "n_rounds": min(candidate["n_rounds"], room)} for candidate in candidates]
    return [alone(candidate, X, y, random_state=draw * n_rounds) for draw in range(n_draws) for candidate in own]


def test_the_default_is_the_mean_of_the_lengths_that_are_as_good_as_the_best(noisy):
    X, y = noisy
    model = pm.ULSClassifier().fit(X, y)
    assert len(used(model)) > 1
    members = drawn(used(model), X, y)
    assert len(members) > len(used(model))
    mean = np.mean([member.decision_function(X) for member in members], axis=0)
    np.testing.assert_allclose(model.decision_function(X), mean, rtol=0, atol=1e-12)
    assert set(model.rules_) == {rule for member in members for rule in member.rules_}
    assert "average of" in model.certificate_.statement


def test_history_and_certificate_are_those_of_the_average(noisy):
    X, y = noisy
    model = pm.ULSClassifier().fit(X, y)
    p = model.predict_proba(X)[np.arange(len(y)), y]
    assert model.history_["surrogate"][-1] * np.log(2) == pytest.approx(-np.log(p).mean(), rel=1e-12)
    assert model.history_["train_error"][-1] == np.mean(model.predict(X) != y)
    weight = 1 - p  # of the logistic loss
    slopes = [(2 * y - 1) @ weight]
    for rule in model.rules_:
        one = np.ones(len(y), dtype=bool)
        for literal in rule:
            one &= (
                X[:, literal.column] <= literal.threshold
                if literal.test == "<="
                else X[:, literal.column] > literal.threshold
            )
        slopes.append(np.where(one, 1, -1) @ ((2 * y - 1) * weight))
    assert model.certificate_.gradient_norm == pytest.approx(
        np.linalg.norm(slopes) / weight.sum(), rel=1e-7
    )  # on a grid of 2^-24


def test_rules_of_all_members_are_at_most_the_rounds(noisy):
    X, y = noisy
    model = pm.ULSClassifier(n_rounds=9).fit(X, y)
    assert len(model.rules_) <= 9


def test_an_ensemble_is_the_mean_of_the_fits_of_its_folds(noisy):
    X, y = noisy
    model = pm.ULSClassifier(ensemble=3).fit(X, y)
    table = read(X)
    binning = find_bins(table)
    part = MemoryPart(encode(binning, table), y)
    splits = evaluation_folds(LocalSource((part,), binning, np.unique(y), len(y), False), 1, 0, 3)
    rows = [split.training.rows(part) for split in splits]
    assert np.array_equal(np.sum(rows, axis=0), np.full(len(y), 2))  # each row is held out once
    parts = [alone(candidate, X[own], y[own]) for own in rows for candidate in used(model)]
    mean = np.mean([one.decision_function(X) for one in parts], axis=0)
    # The folds share the bins of all rows, so thresholds differ a little from those of a fit on a fold's rows alone.
    assert np.corrcoef(mean, model.decision_function(X))[0, 1] > 0.98
    assert len(model.rules_) > max(len(one.rules_) for one in parts)
    assert f"average of {len(parts)} fits" in model.certificate_.statement


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"early_stopping": False}, "without early stopping"),
        ({"scheme": "corrective"}, "where coefficients are refitted"),
        ({"learner": "column"}, "learner"),
        ({"learner": "tree"}, "learner"),
        ({"points": 3, "early_stopping": False}, "with points"),
        ({"loss": "F1"}, "bag of losses"),
        ({"ensemble": 1}, "at least 2"),
    ],
)
def test_an_ensemble_that_would_have_no_effect_is_refused(settings, said, noisy):
    with pytest.raises(ValueError, match=said):
        pm.ULSClassifier(**{"ensemble": 3, **settings}).fit(*noisy)
