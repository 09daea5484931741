"""Honesty: a doubtful fit says so once, in plain words with the figure; its certificate agrees, and good fits are silent."""

import re
import warnings

import numpy as np
import pytest

import permissible as pm
from permissible.learners.doubts import MANY, certain_score, of_rounds, of_tree, rising, saturating
from tests.faults.subjects import ESTIMATORS, good

SEPARABLE = np.arange(40.0)[:, None] * [1.0, 0.5], (np.arange(40) >= 20).astype(int)


def said_by(model, X, y):
    """Fit; what was warned of, and the doubts that the certificates hold."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    doubts = list(model.certificate_.doubts)
    return [warning for warning in caught if issubclass(warning.category, UserWarning)], doubts


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_ordinary_fit_is_silent_and_its_certificate_has_no_doubt(kind):
    X, y = good(300, 4)
    caught, doubts = said_by(ESTIMATORS[kind](), X, y)
    assert [str(warning.message) for warning in caught] == []
    assert doubts == []


DOUBTFUL = {
    "rules that separate": (lambda: pm.ULSClassifier.plain(n_rules=5), "coefficient explodes"),
    "columns that separate": (
        lambda: pm.ULSClassifier(learner="column", l2_regularization=0.0, n_rounds=500, scheme="corrective"),
        "coefficient explodes",
    ),
    "leaves that separate": (
        lambda: pm.ULSClassifier.plain(n_rules=5, learner="tree", fit_intercept=True),
        "coefficient explodes",
    ),
    "time of rules": (lambda: pm.ULSClassifier(n_rounds=10**6, early_stopping=False, max_time=1e-3), "stopped early"),
    "time of columns": (
        lambda: pm.ULSClassifier(learner="column", n_rounds=10**6, l2_regularization=1e-3, max_time=1e-3, tol=0.0),
        "stopped early",
    ),
    "gap above tol": (
        lambda: pm.BoundaryClassifier((0.2, 0.5, 0.8), kernel="rbf", alpha=1e-5, max_iter=1, tol=1e-12),
        "stopped early",
    ),
    "a machine without penalty": (lambda: pm.BoundaryClassifier("soft", alpha=1e-17), "coefficient explodes"),
    "linear terms that separate": (
        lambda: pm.MCBoostClassifier(n_rounds=2000, tol=0.0, random_state=0, learner="linear"),
        "probabilities saturate",
    ),
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_doubtful_fit_warns_once_with_the_figure_and_the_certificate_agrees(name):
    maker, kind = DOUBTFUL[name]
    X, y = SEPARABLE
    if name in ("time of rules", "time of columns", "gap above tol"):
        X, y = good(3000, 6)
    caught, doubts = said_by(maker(), X, y)
    assert [warning.category for warning in caught] == [pm.DoubtfulFitWarning]
    message = str(caught[0].message)
    assert message == " ".join(doubt.words for doubt in doubts)
    assert kind in [doubt.kind for doubt in doubts]
    for doubt in doubts:
        assert re.search(r"\d", doubt.words)
        assert np.isfinite(doubt.figure)
        assert doubt.words.endswith(".")
        assert "\n" not in doubt.words
    assert caught[0].filename == __file__  # it points at the caller, not into the library


def test_an_outlying_value_cuts_steps_and_is_no_separation():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = (x + rng.normal(size=400) > 0).astype(int)
    x[np.argmax(x)] = 1e4
    model = pm.MCBoostClassifier(n_rounds=30, learner="linear")
    caught, doubts = said_by(model, x[:, None], y)
    assert (caught, doubts) == ([], [])
    assert model.certificate_.capped_steps > 0
    assert not model.certificate_.separable


def test_each_class_with_a_doubt_is_named():
    X = np.repeat(np.arange(3.0), 10)[:, None]
    caught, doubts = said_by(pm.ULSClassifier.plain(n_rules=5), X, np.repeat(["a", "b", "c"], 10))
    assert len(caught) == 1
    assert len(doubts) >= 2
    assert "Class a: The rules separate" in str(caught[0].message)


def test_a_warning_turned_into_an_error_leaves_the_estimator_as_it_was():
    model = pm.ULSClassifier.plain(n_rules=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(pm.DoubtfulFitWarning):
            model.fit(*SEPARABLE)
    assert not hasattr(model, "certificate_")


def test_doubts_are_kept_in_the_file(tmp_path):
    model = pm.ULSClassifier.plain(n_rules=5)
    _, doubts = said_by(model, *SEPARABLE)
    pm.save(model, tmp_path / "model.json")
    kept = pm.load(tmp_path / "model.json").certificate_.doubts
    assert [(doubt.kind, doubt.figure, doubt.words) for doubt in kept] == [
        (doubt.kind, doubt.figure, doubt.words) for doubt in doubts
    ]


def test_a_surrogate_that_rises_is_told_with_its_round():
    assert rising(1.0, np.array([0.9, 0.8, 0.8]), True) is None
    assert rising(1.0, np.array([0.9, 0.8, 0.8 + 1e-12]), True) is None
    doubt = rising(2.0, np.array([1.8, 1.9, 1.7]), True)
    assert doubt.figure == pytest.approx(0.05)
    assert "0.05 of its first value in round 2" in doubt.words
    assert rising(2.0, np.array([1.8, 1.9, 1.7]), False) is None
    assert rising(2.0, np.array([1.8, 2.1]), False).figure == pytest.approx(0.05)
    assert of_tree(np.array([10.0, 8.0, 9.0]))[0].kind == "surrogate rises"
    assert [doubt.kind for doubt in of_rounds(1.0, [0.5, 0.6], True, 2, 0.3)] == [
        "surrogate rises",
        "coefficient explodes",
        "probabilities saturate",
    ]


def test_rounds_of_different_losses_are_not_compared():
    assert rising(1.0, np.array([0.5, 0.9, 0.8]), True, np.array([False, True])) is None
    assert rising(1.0, np.array([0.5, 0.9, 0.8]), True, np.array([True, True])) is not None


@pytest.mark.parametrize("flavour", ["F1", "F2", "E1", "E2", "F*"])
def test_flavours_that_renormalise_are_not_taken_for_rising(flavour):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(90, 3))
        y = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=90) > 0
        caught, doubts = said_by(pm.ULSClassifier.plain(flavour, n_rules=5, max_literals=2), X, y)
        assert (caught, doubts) == ([], [])


@pytest.mark.parametrize("loss", [name for name in pm.losses.names() if name != "power"])
def test_the_score_called_certain_is_where_a_probability_becomes_one(loss):
    function = pm.losses.get(loss)
    reach = certain_score(function)
    assert float(function.probability(np.array([1.001 * reach]))[0]) >= 1 - 2.0**-52
    assert float(function.probability(np.array([0.9 * reach]))[0]) < 1


def test_a_share_of_saturated_rows_counts_from_a_quarter_on():
    assert saturating(np.nextafter(MANY, 0), False, "") is None
    assert saturating(MANY, False, "").figure == MANY
    assert saturating(0.99, True, "") is None
    assert saturating(1.0, True, "").figure == 1.0


def test_a_tree_counts_its_pure_leaves_in_the_certificate_without_a_warning():
    model = pm.UDTClassifier(smoothing=0.0)
    caught, doubts = said_by(model, *SEPARABLE)
    assert (caught, doubts, model.certificate_.saturated) == ([], [], 1.0)
    smoothed = pm.UDTClassifier().fit(*SEPARABLE)
    assert smoothed.certificate_.saturated == 0.0
