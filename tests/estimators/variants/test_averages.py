"""Averages of fits: the default of lengths that the folds cannot tell apart, and `ensemble` of the fits of its folds."""

import math

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
    """The fits that are averaged: of 5/4 of the rounds, as many draws as twice the rounds have room for."""
    own = [{**one, "n_rounds": min(math.ceil(1.25 * one["n_rounds"]), n_rounds)} for one in candidates]
    n_draws = max(min(2 * n_rounds // sum(one["n_rounds"] for one in own), 5), 1)
    return [alone(one, X, y, random_state=draw * n_rounds) for draw in range(n_draws) for one in own]


def sign_of(rule, X):
    """1 on the rows that a rule of thresholds covers, else -1."""
    tests = [(X[:, one.column] <= one.threshold) == (one.test == "<=") for one in rule]
    return np.where(np.all(tests, axis=0), 1.0, -1.0)


def test_the_default_is_what_the_mean_of_draws_leaves_to_a_hundred_rules(noisy):
    X, y = noisy
    model = pm.ULSClassifier().fit(X, y)
    assert len(used(model)) > 1
    members = drawn(used(model), X, y)
    assert len(members) > len(used(model))
    mean = np.mean([member.decision_function(X) for member in members], axis=0)
    rules = list(dict.fromkeys(rule for member in members for rule in member.rules_))
    found = dict.fromkeys(rules, 0.0)
    for member in members:
        for rule, coefficient in zip(member.rules_, member.coefficients_, strict=True):
            found[rule] += coefficient / len(members)
    assert len(rules) > len(model.rules_) == 100
    p = 1 / (1 + np.exp(-mean))
    weight = p * (1 - p) / (p * (1 - p)).sum()
    signs = np.column_stack([sign_of(rule, X) for rule in rules])
    centred = (signs - weight @ signs) * np.sqrt(weight)[:, None]
    stacked = np.vstack((centred, np.diag(np.sqrt(0.01 * (centred**2).sum(axis=0)))))
    kept = [rules.index(rule) for rule in model.rules_]
    expected = np.linalg.lstsq(stacked[:, kept], stacked @ np.array(list(found.values())), rcond=None)[0]
    factor = model.selection_["factor"]
    assert model.coefficients_ / factor == pytest.approx(expected, abs=1e-8)
    assert weight @ model.decision_function(X) / factor == pytest.approx(weight @ mean, abs=1e-8)
    assert "average of" in model.certificate_.statement


def test_history_and_certificate_are_those_of_the_average(noisy):
    X, y = noisy
    model = pm.ULSClassifier().fit(X, y)
    p = model.predict_proba(X)[np.arange(len(y)), y]
    assert model.history_["surrogate"][-1] * np.log(2) == pytest.approx(-np.log(p).mean(), rel=1e-12)
    assert model.history_["train_error"][-1] == np.mean(model.predict(X) != y)
    weight = 1 - p  # of the logistic loss
    slopes = [(2 * y - 1) @ weight, *(sign_of(rule, X) @ ((2 * y - 1) * weight) for rule in model.rules_)]
    assert model.certificate_.gradient_norm == pytest.approx(
        np.linalg.norm(slopes) / weight.sum(), rel=1e-7
    )  # on a grid of 2^-24


def test_rules_of_all_members_are_at_most_the_rounds(noisy):
    X, y = noisy
    model = pm.ULSClassifier(n_rounds=9).fit(X, y)
    assert len(model.rules_) <= 9


def test_from_1000_rows_on_the_folds_may_choose_more_rounds_than_rules_are_left():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((1000, 4)).round(2)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.logistic(size=1000) > 0).astype(int)
    model = pm.ULSClassifier(n_rounds=6).fit(X, y)
    assert max(candidate["n_rounds"] for candidate in used(model)) > 6
    assert len(model.rules_) == 6 == len(set(model.rules_))
    parts = [{**dict(zip("abcd", X[rows].T, strict=True)), "y": y[rows]} for rows in (slice(0, 300), slice(300, None))]
    in_blocks = pm.ULSClassifier(n_rounds=6).fit(pm.BinnedDataset.from_batches(parts, target="y"))
    assert in_blocks.rules_ == model.rules_
    assert np.array_equal(in_blocks.coefficients_, model.coefficients_)
    fewer = pm.ULSClassifier(n_rounds=6).fit(X[1:], y[1:])
    assert max(candidate["n_rounds"] for candidate in used(fewer)) <= 6


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
