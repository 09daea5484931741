"""ULSClassifier: scikit-learn's rules, what it shows of a fit, and what it refuses."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from permissible import Reject, ULSClassifier, losses


@parametrize_with_checks(
    [
        ULSClassifier(),
        ULSClassifier(n_rounds=5, max_literals=1, early_stopping=False),
        ULSClassifier(learner="column", n_rounds=20, l2_regularization=0.1),
        ULSClassifier.compact(n_rules=3),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def breast():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(20, 80, n)),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue", None], n)),
            "tall": rng.random(n) < 0.5,
        }
    )
    y = np.where((frame["colour"] == "red") | (frame["age"] > 60), "yes", "no")
    return frame, y


def test_default_learns_real_data(breast):
    X, y = breast
    model = ULSClassifier(random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.94
    assert 1 <= len(model.rules_) <= 100
    assert set(model.history_) >= {"surrogate", "train_error", "edge", "loss"}
    assert [tried["max_literals"] for tried in model.selection_["candidates"]][:3] == [1, 2, 3]


def test_categories_and_missing_values_become_literals(mixed):
    frame, y = mixed
    model = ULSClassifier(n_rounds=20, max_literals=2, learning_rate=1.0, early_stopping=False).fit(frame, y)
    assert model.score(frame, y) > 0.98
    words = " ".join(model.rules_table()["rule"])
    assert "colour" in words
    assert "age" in words
    assert model.classes_.tolist() == ["no", "yes"]


def test_plain_is_the_papers_algorithm(breast):
    X, y = breast
    model = ULSClassifier.plain("matsushita", n_rules=5, max_literals=2).fit(X, y)
    assert model.intercept_ == 0.0
    assert len(model.history_["surrogate"]) == 5
    assert np.all(np.diff(model.history_["surrogate"]) < 0)


def test_compact_is_short(breast):
    X, y = breast
    model = ULSClassifier.compact().fit(X, y)
    assert 3 <= len(model.rules_) <= 10
    assert max(len(rule) for rule in model.rules_) <= 2
    assert model.score(X, y) > 0.97


def test_columns_with_the_logistic_loss_are_logistic_regression():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, [1, 4, 8, 9]]
    peer = LogisticRegression(C=np.inf, tol=1e-14, max_iter=10000, solver="newton-cholesky").fit(X, y)
    for scheme, rounds in (("classic", 3000), ("corrective", 50), (3, 2000)):
        model = ULSClassifier(
            "logistic", n_rounds=rounds, learner="column", scheme=scheme, l2_regularization=0.0, tol=1e-12
        ).fit(X, y)
        np.testing.assert_allclose(model.coefficients_, peer.coef_[0], rtol=0, atol=1e-8)
        assert model.intercept_ == pytest.approx(peer.intercept_[0], abs=1e-8)
        from_sparse = clone(model).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(
            from_sparse.decision_function(sparse.csr_array(X)), model.decision_function(X), atol=1e-7
        )


def test_columns_with_least_squares_are_least_squares():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    y = X[:, 0] + rng.normal(size=80) > 0
    best = np.linalg.lstsq(np.column_stack((np.ones(80), X)), np.where(y, 1.0, -1.0), rcond=None)[0]
    for scheme in ("classic", "corrective", 2):
        model = ULSClassifier(
            "least_squares", n_rounds=500, learner="column", scheme=scheme, l2_regularization=0.0
        ).fit(X, y)
        np.testing.assert_allclose(np.append(model.intercept_, model.coefficients_), best, atol=1e-8)


def test_staged_predictions_end_at_the_model(breast):
    X, y = breast
    for model in (ULSClassifier(n_rounds=7, early_stopping=False, max_literals=2), ULSClassifier.compact(n_rules=4)):
        model.fit(X, y)
        stages = list(model.staged_decision_function(X))
        assert len(stages) == len(model.history_["surrogate"])
        np.testing.assert_allclose(stages[-1], model.decision_function(X), rtol=1e-12, atol=1e-12)
        errors = [np.mean(labels != y) for labels in model.staged_predict(X)]
        np.testing.assert_allclose(errors, model.history_["train_error"], atol=1e-12)
        assert len(list(model.staged_predict_proba(X))) == len(stages)


def test_contributions_add_up_to_the_score(breast):
    X, y = breast
    model = ULSClassifier(n_rounds=12, early_stopping=False).fit(X, y)
    told = model.explain(X)
    total = [one.start[0] + sum(step.adds[0] for step in one.steps) for one in told]
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-12)
    np.testing.assert_allclose([one.probability for one in told], model.predict_proba(X))


def test_rules_table_counts_the_training_rows(breast):
    X, y = breast
    for model in (ULSClassifier(n_rounds=5, early_stopping=False), ULSClassifier.compact(n_rules=5)):
        table = model.fit(X, y).rules_table()
        held = [{step.words: step.holds for step in one.steps} for one in model.explain(X)]
        covered = np.array([[steps[rule] for rule in table["rule"]] for steps in held])
        np.testing.assert_allclose(table["support"], covered.mean(axis=0))
        expected = [y[covered[:, t]].mean() for t in range(covered.shape[1])]
        np.testing.assert_allclose(table["probability"], expected)


def test_margins_and_their_distribution(breast):
    X, y = breast
    model = ULSClassifier(n_rounds=10, early_stopping=False).fit(X, y)
    margins = model.margins(X, y)
    np.testing.assert_allclose(margins, np.tanh(np.where(y == 1, 1, -1) * model.decision_function(X) / 2), atol=1e-12)
    _, share = model.margin_distribution(X, y, at=[-1.0, 0.0, 1.0])
    assert share[-1] == 1.0
    assert share[1] == pytest.approx(1 - model.score(X, y), abs=1e-12)


def test_decide_takes_any_decision(breast):
    X, y = breast
    model = ULSClassifier(n_rounds=10, early_stopping=False).fit(X, y)
    actions = model.decide(X, Reject(0.2))
    assert set(np.unique(actions)) <= {-1, 0, 1}
    unsure = np.abs(model.predict_proba(X)[:, 1] - 0.5) < 0.25
    assert np.all(actions[unsure] == -1)


def test_multiclass_probabilities_sum_to_one():
    X, y = load_iris(return_X_y=True)
    model = ULSClassifier(n_rounds=20, random_state=0).fit(X, y)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert model.score(X, y) > 0.95
    assert len(model.rules_) == len(model.certificate_.by_class) == 3
    assert set(model.history_["class"]) == {0, 1, 2}


@pytest.mark.parametrize("flavour", ["F1", "F2", "E1", "E2", "F*"])
def test_adaptive_flavours_name_the_loss_of_each_round(flavour, breast):
    X, y = breast
    model = ULSClassifier.plain(flavour, n_rules=4, max_literals=2).fit(X[["mean radius", "mean texture"]], y)
    bag = {"mu", "matsushita", "logistic", "squared", "power"}
    assert set(model.history_["loss"]) <= bag
    assert model.score(X[["mean radius", "mean texture"]], y) > 0.85


def test_auto_loss_keeps_its_evidence(breast):
    X, y = breast
    model = ULSClassifier("auto", n_rounds=8, max_literals=1, early_stopping=False, random_state=0).fit(X, y)
    evidence = model.loss_evidence_
    assert evidence.scores.shape == (4, 5)
    assert evidence.chosen in evidence.names
    assert len(evidence.table()["p_value"]) == 4


def test_own_phi_is_boosted_like_the_built_in_one(breast):
    X, y = breast
    mine = losses.from_phi(lambda p: np.sqrt(p * (1 - p)), name="mine")
    one = ULSClassifier.plain(mine, n_rules=4, max_literals=2).fit(X, y)
    other = ULSClassifier.plain("matsushita", n_rules=4, max_literals=2).fit(X, y)
    assert one.rules_ == other.rules_
    np.testing.assert_allclose(one.coefficients_, other.coefficients_, rtol=1e-5)


def test_all_schemes_reach_the_same_optimum():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, size=(200, 4)).astype(float)
    y = X[:, 0] + X[:, 1] + 1.2 * rng.normal(size=200) > 1
    ends = []
    for scheme, rounds in (("classic", 20000), ("corrective", 30), (2, 3000)):
        model = ULSClassifier(
            n_rounds=rounds,
            max_literals=1,
            scheme=scheme,
            l2_regularization=0.0,
            learning_rate=1.0,
            beam=1,
            early_stopping=False,
            tol=1e-16,
        ).fit(X, y)
        ends.append(model.history_["surrogate"][-1])
    assert max(ends) - min(ends) < 1e-9


def test_warm_start_goes_on(breast):
    X, y = breast
    options = {"max_literals": 2, "early_stopping": False, "random_state": 0}
    whole = ULSClassifier(n_rounds=12, **options).fit(X, y)
    parts = ULSClassifier(n_rounds=5, warm_start=True, **options).fit(X, y)
    parts.set_params(n_rounds=12).fit(X, y)
    assert parts.rules_ == whole.rules_
    np.testing.assert_allclose(parts.coefficients_, whole.coefficients_, rtol=1e-9)


def test_given_validation_rows_choose_the_number_of_rules(breast):
    X, y = breast
    model = ULSClassifier(n_rounds=60, max_literals=2).fit(X[::2], y[::2], validation=(X[1::2], y[1::2]))
    assert len(model.history_["validation"]) == model.selection_["candidates"][0]["n_rounds"]
    assert np.argmin(model.history_["validation"]) == len(model.history_["validation"]) - 1


@pytest.mark.parametrize("large", [False, True])
def test_rows_that_come_again_and_again_are_judged_by_themselves(monkeypatch, large):
    # Ten digits on a noisy display of seven segments (LED, CART's book): 128 different rows, nine in ten of them not a 0.
    if large:
        monkeypatch.setattr("permissible.rows.splits.RANGE_ROWS", 3000)
        monkeypatch.setattr("permissible.rows.splits.PROBED", 1000)
    random = np.random.default_rng(0)
    lit = ["1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"]
    segments = np.array([[int(bit) for bit in shown] for shown in lit])
    digit = random.integers(0, 10, 6000)
    X, y = segments[digit] ^ (random.random((6000, 7)) < 0.1), digit == 0
    likely = np.array([[np.mean(y[(row == X).all(axis=1)]) for row in np.unique(X, axis=0)]]).ravel()
    share = np.unique(X, axis=0, return_counts=True)[1] / 6000
    best = float(np.sum(share * np.minimum(likely, 1 - likely)))  # of every table over the 128 rows
    model = ULSClassifier().fit(X[:3000], y[:3000])
    assert model.selection_["validation_share"] == 0.0
    assert np.mean(model.predict(X[3000:]) != y[3000:]) < best + 0.01 < 0.06
    few = ULSClassifier().fit(X[:300:2], y[:300:2])  # here each row comes about twice: a hold-out is a hold-out
    assert few.selection_["validation_share"] > 0.1
    heavy = ULSClassifier().fit(X[:300:2], y[:300:2], sample_weight=np.full(150, 100.0))  # a weight is no row met again
    assert heavy.selection_["validation_share"] > 0.1


def test_class_weight_is_sample_weight(breast):
    X, y = breast
    options = {"n_rounds": 5, "early_stopping": False}
    one = ULSClassifier(class_weight={0: 3.0, 1: 1.0}, **options).fit(X, y)
    other = ULSClassifier(**options).fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    assert one.rules_ == other.rules_
    assert one.coefficients_.tolist() == other.coefficients_.tolist()


def test_same_model_for_any_number_of_threads_and_shuffled_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20000, 12))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=len(X)) > 0
    options = {"n_rounds": 15, "random_state": 0}
    models = [ULSClassifier(n_jobs=n, **options).fit(X, y) for n in (1, 2, 4)]
    for other in models[1:]:
        assert other.rules_ == models[0].rules_
        assert other.coefficients_.tobytes() == models[0].coefficients_.tobytes()
        assert other.decision_function(X).tobytes() == models[0].decision_function(X).tobytes()
    order = rng.permutation(12)
    shuffled = ULSClassifier(**options).fit(X[:, order], y)
    assert shuffled.decision_function(X[:, order]).tobytes() == models[0].decision_function(X).tobytes()


def test_pipeline_grid_search_clone_pickle_joblib(breast, tmp_path):
    X, y = breast
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ULSClassifier(n_rounds=10, early_stopping=False)),
        {"ulsclassifier__max_literals": [1, 2]},
        cv=2,
    )
    search.fit(X, y)
    model = search.best_estimator_[-1]
    copy = pickle.loads(pickle.dumps(model))
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib")
    Z = search.best_estimator_[:-1].transform(X)
    assert np.array_equal(copy.decision_function(Z), model.decision_function(Z))
    assert np.array_equal(loaded.decision_function(Z), model.decision_function(Z))
    with pytest.raises(NotFittedError):
        clone(model).predict(Z)


def test_separable_data_warn_once_and_predict_well():
    X = np.arange(60.0).reshape(-1, 1)
    y = X[:, 0] > 29
    with pytest.warns(ConvergenceWarning, match="separate the classes") as told:
        model = ULSClassifier.plain("logistic", n_rules=50, max_literals=1).fit(X, y)
    assert len(told) == 1
    assert model.certificate_.separable
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.predict_proba(X)).all()


def test_certificate_holds_theorem_2(breast):
    X, y = breast
    model = ULSClassifier.plain("logistic", n_rules=10, max_literals=1).fit(X[["mean texture", "mean smoothness"]], y)
    certificate = model.certificate_
    assert certificate.rounds == 10 <= certificate.bound
    assert 0 < certificate.largest_edge < 1
    told = certificate.ingredients
    expected = (
        2 * told["examples"] * told["b"] * told["a_m"] ** 2 / (told["a_v"] * told["a_Z"] ** 2 * told["a_gamma"] ** 2)
    )
    assert certificate.bound == pytest.approx(expected)
    assert "rounds" in certificate.statement
