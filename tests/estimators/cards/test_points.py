"""ULSClassifier.points: cards of whole numbers, certified, the same in memory and in parts, for weights, gaps and categories."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression

import permissible as pm
from permissible import losses
from permissible.models.card.from_model import scorecard
from permissible.models.card.scorecard import holds


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def mixed():
    """Numbers, gaps and categories with a label that depends on all three."""
    random = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame({"age": random.normal(50, 12, n), "dose": random.exponential(2, n)})
    frame.loc[random.random(n) < 0.2, "dose"] = np.nan
    frame["site"] = random.choice(["lung", "skin", "bone"], n)
    score = (frame["age"] > 55) * 1.5 + frame["dose"].isna() * 1.2 + (frame["site"] == "bone") * 2.0 - 1.6
    return frame, np.where(random.random(n) < 1 / (1 + np.exp(-score)), "ill", "well")


def binary(card, X):
    scores = scorecard(card.model_, card.schema_)
    return np.column_stack([holds(rule, scores, card._rows(X)) for rule in card.rules_])


@pytest.mark.parametrize(("n_rules", "max_points"), [(3, 5), (5, 3), (10, 5), (4, 1)])
def test_points_are_whole_and_small_and_add_up(cancer, n_rules, max_points):
    X, y = cancer
    card = pm.ULSClassifier.points(n_rules=n_rules, max_points=max_points).fit(X, y)
    model = card.model_
    assert len(model.rules) <= n_rules
    assert model.points.dtype.kind == "i"
    assert 1 <= model.points.min() <= model.points.max() <= max_points
    assert model.unit > 0
    total = binary(card, X) @ model.points
    assert np.array_equal(model.totals(card._rows(X)), total)
    assert np.array_equal(card.decision_function(X), model.offset + model.unit * total)
    assert np.allclose(card.decision_function(X), card.intercept_ + (2 * binary(card, X) - 1) @ card.coefficients_)


@pytest.mark.parametrize("loss", ["logistic", "matsushita", "squared", "exponential", "auto"])
def test_any_loss_and_its_certificate(cancer, loss):
    X, y = cancer
    certificate = pm.ULSClassifier.points(n_rules=4, loss=loss).fit(X, y).certificate_
    assert certificate.real_loss <= certificate.loss
    assert certificate.gap == pytest.approx(certificate.loss - certificate.bound)
    assert certificate.gap_percent < 5


def test_the_bound_is_the_loss_of_real_coefficients_by_scikit_learn(cancer):
    X, y = cancer
    card = pm.ULSClassifier.points(n_rules=4, l2_regularization=2.0).fit(X, y)
    signs = 2.0 * binary(card, X) - 1.0
    real = LogisticRegression(C=1 / 4.0, tol=1e-10, max_iter=10_000).fit(signs, y)
    lost = -np.log(real.predict_proba(signs)[np.arange(len(y)), y]).sum() + 2.0 * (real.coef_**2).sum()
    assert card.certificate_.real_loss == pytest.approx(lost / len(y) / np.log(2), rel=1e-7)


def test_the_time_given_proves_the_points(cancer):
    X, y = cancer
    certificate = pm.ULSClassifier.points(n_rules=5, max_time=30).fit(X, y).certificate_
    assert certificate.optimal
    assert certificate.gap == 0.0
    assert "No other points" in certificate.statement


def test_the_time_given_to_a_fit_is_kept_and_the_gap_reached_is_told():
    random = np.random.default_rng(0)
    X = (random.random((800, 14)) < 0.5).astype(float)
    y = X @ random.uniform(0.5, 1.5, 14) + random.normal(size=800) > 7
    pm.ULSClassifier.points(n_rules=10).fit(X, y)  # whatever is loaded at the first call
    spent = []
    for _ in range(3):
        begun, worked = time.monotonic(), time.process_time()
        certificate = pm.ULSClassifier.points(n_rules=10, max_time=2.0).fit(X, y).certificate_
        if time.process_time() - worked > 0.5 * (time.monotonic() - begun):  # else the machine gave its time to others
            spent.append(time.monotonic() - begun)
        assert certificate.real_loss <= certificate.bound <= certificate.loss
        assert certificate.optimal or "time limit was reached" in certificate.statement
    if not spent:
        pytest.skip("the machine is too busy to judge a time limit")
    assert min(spent) <= 1.1 * 2.0


def test_a_card_that_is_too_large_to_prove_says_so(cancer):
    X, y = cancer
    certificate = pm.ULSClassifier.points(n_rules=3, max_points=9, max_time=5).fit(X, y).certificate_
    assert not certificate.optimal
    assert "up to 10 rules of at most 5 points only" in certificate.statement


def test_weight_two_is_the_row_twice(mixed):
    X, y = mixed
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    one = pm.ULSClassifier.points().fit(X, y, sample_weight=weight)
    other = pm.ULSClassifier.points().fit(X.iloc[repeated], y[repeated])
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.rules_ == other.rules_


def test_gaps_and_categories_become_conditions(mixed):
    X, y = mixed
    card = pm.ULSClassifier.points(n_rules=3).fit(X, y)
    words = " | ".join(card.rules_table()["rule"])
    assert all(name in words for name in ("age", "dose", "site"))


def test_one_card_a_class():
    X, y = load_iris(return_X_y=True, as_frame=True)
    card = pm.ULSClassifier.points(n_rules=3).fit(X, y)
    assert len(card.model_.models) == 3
    assert len(card.certificate_.by_class) == 3
    assert card.score(X, y) > 0.9
    assert [one.positive for one in card.card()] == ["0", "1", "2"]
    assert "largest probability" in card.to_text()
    alone = [one.probabilities(card._rows(X)) for one in card.model_.models]
    assert (np.argmax([one[:, 1] for one in alone], axis=0) == card.predict(X)).all()
    with pytest.raises(ValueError, match="`decision` must be None for one card per class"):
        card.to_text(decision=pm.CostMatrix(1 - np.eye(3)))


def test_a_card_of_two_literals_has_no_negative_points(mixed):
    X, y = mixed
    card = pm.ULSClassifier.points(n_rules=4, max_literals=2).fit(X, y)
    assert card.model_.points.min() >= 1
    assert max(len(rule) for rule in card.rules_) == 2


def test_memory_parts_and_threads_give_the_same_card(mixed):
    X, y = mixed
    whole = X.assign(y=y)
    dataset = pm.BinnedDataset.from_batches([whole[:150], whole[150:]], target="y")
    models = [pm.ULSClassifier.points(n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    models.append(pm.ULSClassifier.points().fit(dataset))
    for model in models[1:]:
        assert np.array_equal(model.predict_proba(X), models[0].predict_proba(X))


def test_a_card_survives_its_file(mixed, tmp_path):
    X, y = mixed
    card = pm.ULSClassifier.points().fit(X, y)
    pm.save(card, tmp_path / "card.json")
    again = pm.load(tmp_path / "card.json")
    assert np.array_equal(again.predict_proba(X), card.predict_proba(X))
    assert json.loads((tmp_path / "card.json").read_text())["model"]["kind"] == "points"
    assert again.certificate_["loss"] == card.certificate_.loss
    assert again.model_.cases.tolist() == card.model_.cases.tolist()


def test_the_training_cases_of_a_total(mixed):
    X, y = mixed
    card = pm.ULSClassifier.points().fit(X, y)
    totals = card.model_.totals(card._rows(X))
    for total, (negative, positive) in enumerate(card.model_.cases.tolist()):
        here = totals == total
        assert (negative, positive) == ((here & (y == "ill")).sum(), (here & (y == "well")).sum())


def test_an_own_phi_makes_a_card(cancer):
    X, y = cancer
    own = losses.from_phi(lambda p: np.asarray(p) * (1 - np.asarray(p)), name="own")
    card = pm.ULSClassifier.points(n_rules=3, loss=own).fit(X, y)
    assert card.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"points": 0}, "`points` must be an integer"),
        ({"points": 2.5}, "`points` must be an integer"),
        ({"points": 3, "learner": "tree"}, "`points`|`learner`"),
        ({"points": 3, "fit_intercept": False}, "`fit_intercept` must be left"),
        ({"points": 3, "warm_start": True}, "`warm_start` must be left"),
        ({"points": 3, "loss": "F1"}, "`points` must be left"),
    ],
)
def test_what_cannot_be_a_card_is_refused_in_one_sentence(mixed, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        pm.ULSClassifier(**options).fit(*mixed)


def test_a_wider_beam_tries_more_rules(cancer):
    narrow, wide = (
        pm.ULSClassifier.points(max_literals=2, beam=beam).fit(*cancer).certificate_.loss for beam in (1, 20)
    )
    assert wide != narrow


def test_cases_are_in_the_unit_of_the_weights(mixed):
    X, y = mixed
    weight = np.random.default_rng(2).uniform(0.5, 1.5, len(y)) * 1e-4
    card = pm.ULSClassifier.points(l2_regularization=1e-4).fit(X, y, sample_weight=weight)
    assert card.model_.cases.sum() == pytest.approx(weight.sum(), rel=1e-9)


def test_a_separated_card_without_a_penalty_is_doubted():
    x = np.arange(40.0).reshape(-1, 1)
    with pytest.warns(pm.DoubtfulFitWarning):
        card = pm.ULSClassifier.points(n_rules=2, l2_regularization=0.0).fit(x, np.arange(40) > 20)
    assert card.certificate_.doubts
    assert card.score(x, np.arange(40) > 20) == 1.0
