"""MCBoostClassifier: its conventions, its referees, and what it refuses."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import permissible as pm
from permissible.kernels.reference import mcboost as reference

LOSSES = ["gll", "gel", "ls", "lt", "mc"]
COSTS = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [4.0, 4.0, 0.0]])


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def overlapping():
    """Three classes that no affine scores separate, so that the convex optimum is finite."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 3)) + np.eye(3)[y] * 1.2
    return X, y


def affine(*given, **settings):
    """The learner of [B]."""
    return pm.MCBoostClassifier(*given, **{"learner": "linear", **settings})


@parametrize_with_checks(
    [
        affine(n_rounds=10),
        affine(loss="gel", n_rounds=5, descent="gradient"),
        pm.MCBoostClassifier(loss="mc", n_rounds=5, decision="bayes", learner="linear-full"),
        pm.MCBoostClassifier(n_rounds=30, learner="tree", subsample=0.7, max_features=0.5),
        pm.MCBoostClassifier(n_rounds=30, learner="rule", descent="gradient"),
        pm.MCBoostClassifier(n_rounds=5, learner="auto"),
    ]
)
@pytest.mark.filterwarnings("ignore::permissible.DoubtfulFitWarning")  # many of the checks fit rows that are separable
def test_scikit_learn_checks_pass_without_exceptions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_linear_variant_reaches_the_convex_optimum_that_scipy_finds(loss, overlapping):
    X, y = overlapping
    design = np.column_stack([X, np.ones(len(X))])

    def risk(flat):
        free = design @ flat.reshape(4, 2)
        scores = np.column_stack([free, -free.sum(axis=1)])
        return reference.loss_values(loss, scores, y, COSTS[y]).mean()

    best = minimize(risk, np.zeros(8), method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}).fun
    for options in (
        {"learner": "linear", "descent": "coordinate"},
        {"learner": "linear", "descent": "gradient"},
        {"learner": "linear-full"},
        {"learner": "linear-full", "descent": "gradient"},
    ):
        model = pm.MCBoostClassifier(
            loss, cost_matrix=COSTS, n_rounds=3000, tol=1e-14, calibration=None, **options
        ).fit(X, y)
        assert model.history_["surrogate"][-1] == pytest.approx(best, abs=1e-6), options
        assert np.all(np.diff(model.history_["surrogate"]) <= 1e-12)


def test_two_classes_without_costs_gll_is_logistic_regression(overlapping):
    X, y = overlapping
    y = (y == 0).astype(int)
    model = affine("gll", n_rounds=3000, tol=1e-15).fit(X, y)
    logistic = LogisticRegression(C=1e12, tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), logistic.predict_proba(X), atol=2e-5)
    margin = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert model.history_["surrogate"][-1] == pytest.approx(np.log(2) * pm.losses.get("logistic").value(margin).mean())


def test_two_classes_without_costs_gel_takes_gentle_adaboost_steps(overlapping):
    X, y = overlapping
    y = (y == 0).astype(int)
    model = affine("gel", n_rounds=1).fit(X, y)
    sign = np.where(y == 0, 1.0, -1.0)  # codewords: class 0 is +1
    fits = []
    for column in X.T:  # Gentle AdaBoost: weights e^{-yf} = 1, target y, least squares
        design = np.column_stack([column, np.ones(len(column))])
        coefficients, *_ = np.linalg.lstsq(design, sign, rcond=None)
        fits.append((np.sum((sign - design @ coefficients) ** 2), design @ coefficients))
    gentle = min(fits, key=lambda fit: fit[0])[1]
    scores = -model.decision_function(X) / 2 * 2
    assert np.corrcoef(scores, gentle)[0, 1] == pytest.approx(1.0, abs=1e-12)
    exponential = pm.losses.get("exponential").value(sign * scores).mean()
    assert model.history_["surrogate"][-1] == pytest.approx(exponential, rel=1e-12)


def test_symmetric_costs_do_not_move_gel_but_move_gll():
    """Lemma 6 of [B], in the population: one cell with class probabilities eta, any symmetric cost matrix."""
    eta = np.array([0.5, 0.3, 0.2])
    X = np.zeros((3, 1))
    y = np.arange(3)
    symmetric = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]])
    options = {"learner": "linear", "n_rounds": 2000, "tol": 0.0, "calibration": None}
    found = {}
    for loss in ("gel", "gll"):
        for name, costs in (("plain", None), ("costs", symmetric)):
            model = pm.MCBoostClassifier(loss, cost_matrix=costs, **options).fit(X, y, sample_weight=eta)
            found[loss, name] = model.decision_function(X[:1])[0]
    expected = np.log(eta) / 2 - np.mean(np.log(eta) / 2)
    np.testing.assert_allclose(found["gel", "plain"], expected, atol=1e-8)
    np.testing.assert_allclose(found["gel", "costs"], expected, atol=1e-8)
    np.testing.assert_allclose(softmax(found["gll", "plain"]), eta, atol=1e-8)
    assert np.abs(found["gll", "costs"] - found["gll", "plain"]).max() > 0.1


@pytest.mark.parametrize(("loss", "exponent"), [("mc", 2.0), ("gll", 1.0), ("gel", 2.0)])
def test_probabilities_have_the_exponent_of_the_loss(loss, exponent):
    eta = np.array([0.6, 0.3, 0.1])
    model = affine(loss, n_rounds=500, tol=0.0).fit(np.zeros((3, 1)), np.arange(3), sample_weight=eta)
    assert model.model_.exponent == exponent
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 1)))[0], eta, atol=1e-7)


def test_a_loss_without_a_posterior_is_calibrated_on_held_out_rows(overlapping):
    X, y = overlapping
    model = affine("gll", cost_matrix=COSTS, n_rounds=50).fit(X, y)
    assert model.model_.calibrated
    raw = affine("gll", cost_matrix=COSTS, n_rounds=50, calibration=None).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), raw.decision_function(X))
    assert model.model_.exponent != 1.0


def test_costs_by_row_equal_the_matrix_they_come_from(overlapping):
    X, y = overlapping
    whole = affine("gll", cost_matrix=COSTS, n_rounds=20, calibration=None).fit(X, y)
    by_row = affine("gll", n_rounds=20, calibration=None).fit(X, y, cost=COSTS[y])
    np.testing.assert_array_equal(whole.decision_function(X), by_row.decision_function(X))
    np.testing.assert_allclose(by_row.cost_matrix_.matrix, COSTS)


def test_costs_by_row_follow_rows_that_weigh_nothing(overlapping):
    X, y = overlapping
    weight = np.arange(len(y)) % 3 * 1.0
    cost = COSTS[y] * np.linspace(1, 2, len(y))[:, None]
    kept = weight > 0
    one = affine(n_rounds=5, calibration=None).fit(X, y, sample_weight=weight, cost=cost)
    other = affine(n_rounds=5, calibration=None).fit(X[kept], y[kept], weight[kept], cost[kept])
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_cost_is_routed_as_metadata(overlapping):
    import sklearn

    X, y = overlapping
    with sklearn.config_context(enable_metadata_routing=True):
        model = affine(n_rounds=5).set_fit_request(cost=True, sample_weight=True)
        model.set_score_request(sample_weight=True)
        found = cross_validate(
            model, X, y, params={"cost": COSTS[y], "sample_weight": np.ones(len(y))}, error_score="raise"
        )
    assert len(found["test_score"]) == 5


def test_dearer_mistakes_are_made_less_often(overlapping):
    X, y = overlapping
    dear = COSTS.copy()
    dear[2, :2] = 40.0
    missed = []
    for costs in (COSTS, dear):
        predicted = affine("gll", cost_matrix=costs).fit(X, y).predict(X)
        missed.append(np.mean(predicted[y == 2] != 2))
    assert missed[1] < missed[0]


def test_bayes_decisions_for_other_costs_need_no_refit(overlapping):
    X, y = overlapping
    model = affine("mc", decision="bayes", cost_matrix=COSTS).fit(X, y)
    expected = (model.predict_proba(X) @ COSTS).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.decide(X), expected)
    rejecting = model.decide(X, pm.CostMatrix(COSTS, reject_cost=0.2))
    assert set(np.unique(rejecting)) >= {-1}
    least = (model.predict_proba(X) @ COSTS).min(axis=1)
    np.testing.assert_array_equal(rejecting == -1, least > 0.2)


def test_classes_named_in_the_cost_matrix_may_come_in_any_order(overlapping):
    X, y = overlapping
    names = np.array(["a", "b", "c"])[y]
    order = [2, 0, 1]
    shuffled = pm.CostMatrix(COSTS[np.ix_(order, order)], classes=["c", "a", "b"])
    one = affine("gll", cost_matrix=shuffled, n_rounds=10).fit(X, names)
    other = affine("gll", cost_matrix=COSTS, n_rounds=10).fit(X, names)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_staged_predictions_end_where_the_model_does(overlapping):
    X, y = overlapping
    model = affine("gll", cost_matrix=COSTS, n_rounds=12).fit(X, y)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X), rtol=1e-12)
    assert len(list(model.staged_predict(X))) == 12
    *_, proba = model.staged_predict_proba(X)
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=1e-9)


def test_warm_start_goes_on_where_the_fit_ended(overlapping):
    X, y = overlapping
    whole = affine("gll", cost_matrix=COSTS, n_rounds=20, calibration=None, tol=0).fit(X, y)
    model = affine("gll", cost_matrix=COSTS, n_rounds=8, warm_start=True, calibration=None, tol=0).fit(X, y)
    model.set_params(n_rounds=20).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)
    assert len(model.history_["surrogate"]) == 20
    with pytest.raises(ValueError, match="n_rounds"):
        model.set_params(n_rounds=3).fit(X, y)


@pytest.mark.parametrize("measure", ["cost", "surrogate"])
def test_early_stopping_keeps_the_best_round(measure):
    X, y = make_classification(200, 30, n_informative=4, n_classes=3, flip_y=0.3, random_state=0)
    model = affine("gll", n_rounds=400, early_stopping=True, scoring=measure, random_state=0).fit(X, y)
    assert model.n_rounds_ < 400
    assert model.n_rounds_ == np.argmin(model.history_["validation"]) + 1


def test_early_stopping_does_not_depend_on_the_order_of_rows(overlapping):
    X, y = overlapping
    order = np.random.default_rng(1).permutation(len(y))
    options = {"learner": "linear", "n_rounds": 60, "early_stopping": True, "scoring": "surrogate", "random_state": 3}
    one = pm.MCBoostClassifier(**options).fit(X, y)
    other = pm.MCBoostClassifier(**options).fit(X[order], y[order])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-6, atol=1e-8)


def test_weight_two_equals_row_twice(overlapping):
    X, y = overlapping
    weight = 1.0 + (np.arange(len(y)) % 2)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    one = affine("gll", cost_matrix=COSTS, n_rounds=30, random_state=0).fit(X, y, sample_weight=weight)
    other = affine("gll", cost_matrix=COSTS, n_rounds=30, random_state=0).fit(X[twice], y[twice])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-6, atol=1e-9)


def test_number_of_threads_does_not_change_a_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 5))
    y = (X[:, 0] + rng.normal(size=60_000) > 0).astype(int) + 2 * (X[:, 1] > 1)
    found = [affine(n_rounds=3, n_jobs=jobs).fit(X, y).decision_function(X) for jobs in (1, 2)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("descent", ["coordinate", "gradient"])
def test_rounds_end_where_only_rounding_is_left(descent):
    # With tol=0 the rounds go on to the optimum, where the slope of a line is rounding and no step is worth a search.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    y = (X[:, 0] + rng.normal(size=3000) > 0).astype(int)
    fitted = affine(n_rounds=10_000, descent=descent, tol=0.0).fit(X, y)
    assert fitted.certificate_.stopped == "no edge"
    assert fitted.certificate_.largest_edge < 1e-26  # the square of the grid on which terms are added, 2^-44
    assert len(fitted.history_["surrogate"]) < 1000


def test_categories_and_missing_values_are_attributes():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    size = rng.normal(size=300) + (colour == "red")
    size[::10] = np.nan
    frame = pandas.DataFrame({"colour": pandas.Categorical(colour), "size": size})
    with pytest.warns(pm.DoubtfulFitWarning, match="no finite minimiser"):  # the colour is the class
        model = affine(n_rounds=60).fit(frame, colour)
    assert model.score(frame, colour) == 1.0
    unseen = pandas.DataFrame({"colour": ["violet", None], "size": [0.1, np.nan]})
    with pytest.warns(UserWarning, match="violet"):
        assert np.all(np.isfinite(model.decision_function(unseen)))


def test_columns_far_from_zero_lose_no_digits(iris):
    X, y = iris
    near = affine(n_rounds=10).fit(X, y)
    far = affine(n_rounds=10).fit(X + 2.0**30, y)
    np.testing.assert_allclose(far.decision_function(X + 2.0**30), near.decision_function(X), rtol=1e-5, atol=1e-5)


def test_grid_search_and_pipeline_work(iris):
    X, y = iris
    search = GridSearchCV(
        make_pipeline(StandardScaler(), affine(n_rounds=10)),
        {"mcboostclassifier__loss": ["gll", "gel"]},
        cv=3,
    )
    assert search.fit(X, y).score(X, y) > 0.9
    assert clone(search.best_estimator_).get_params()["mcboostclassifier__n_rounds"] == 10


def test_separable_rows_are_reported(iris):
    X, y = iris
    with pytest.warns(pm.DoubtfulFitWarning, match="round to 0 or 1"):
        model = affine("gel", n_rounds=50).fit(X, (y == 0).astype(int))
    assert model.certificate_.separable
    assert model.certificate_.stopped == "separable"
    assert np.all(np.isfinite(model.decision_function(X)))


def test_subsampled_rounds_still_learn():
    X, y = load_wine(return_X_y=True)
    model = affine(n_rounds=60, subsample=0.5, max_features=0.5, learning_rate=0.5, random_state=1).fit(X, y)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0, -1, 1], [1, 0, 1], [1, 1, 0]], "non-negative"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "zero on the diagonal"),
        ([[0, 0, 0], [1, 0, 1], [1, 1, 0]], "positive somewhere in each row"),
        ([[0, 1], [1, 0]], "3 classes"),
        ([[0, np.nan, 1], [1, 0, 1], [1, 1, 0]], "finite"),
        (pm.CostMatrix(COSTS, classes=["x", "y", "z"]), "those of the estimator"),
    ],
)
def test_bad_cost_matrices_are_refused_in_one_sentence(matrix, words, iris):
    with pytest.raises(ValueError, match=words) as caught:
        affine(cost_matrix=matrix).fit(*iris)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "hinge"}, "loss"),
        ({"learner": "forest"}, "learner"),
        ({"descent": "newton"}, "descent"),
        ({"decision": "vote"}, "decision"),
        ({"n_rounds": 0}, "n_rounds"),
        ({"learning_rate": 1.5}, "learning_rate"),
        ({"subsample": 0}, "subsample"),
        ({"scoring": "error"}, "scoring"),
        ({"tol": -1.0}, "tol"),
    ],
)
def test_bad_arguments_are_refused_by_name(options, words, iris):
    with pytest.raises(ValueError, match=words):
        pm.MCBoostClassifier(**{"learner": "linear", **options}).fit(*iris)


def test_bad_costs_by_row_are_refused(iris):
    X, y = iris
    good = COSTS[y]
    for bad, words in (
        (good[:, :2], "shape"),
        (-good, "negative"),
        (good + 1.0, "own class"),
        (good * np.nan, "finite"),
    ):
        with pytest.raises(ValueError, match=words):
            affine().fit(X, y, cost=bad)
    with pytest.raises(ValueError, match="cost_matrix"):
        affine(cost_matrix=COSTS).fit(X, y, cost=good)


def test_auto_decides_at_least_expected_cost(overlapping):
    X, y = overlapping
    model = pm.MCBoostClassifier(learner="auto", cost_matrix=COSTS, n_rounds=20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), (model.predict_proba(X) @ COSTS).argmin(axis=1))


@pytest.mark.parametrize("seed", range(6))
def test_equal_signs_of_all_classes_do_not_end_a_fit_along_the_gradient(overlapping, seed):
    model = pm.MCBoostClassifier(n_rounds=12, learner="tree", descent="gradient", random_state=seed).fit(*overlapping)
    assert len(model.history_["surrogate"]) == 12
    assert (np.diff(model.history_["surrogate"]) < 0).all()
