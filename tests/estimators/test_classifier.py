"""Fitted attributes mean the same in every estimator, and scikit-learn's selectors of columns can read them."""

from collections.abc import Mapping

import numpy as np
import pytest
from sklearn.feature_selection import RFE, SelectFromModel

import permissible as pm
from permissible.models.card.explanation import Explanation

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5))
TWO = (X[:, 1] + 0.3 * RNG.normal(size=150) > 0).astype(int)
THREE = np.digitize(X[:, 1] + 0.3 * RNG.normal(size=150), [-0.5, 0.5])
MODELS = {
    "rules": pm.ULSClassifier(n_rounds=8),
    "columns": pm.ULSClassifier(learner="column", n_rounds=8),
    "leaves": pm.ULSClassifier(learner="tree", n_rounds=5),
    "tree": pm.UDTClassifier(max_leaf_nodes=6),
    "boundary": pm.BoundaryClassifier((0.3, 0.7)),
    "boundary, rules": pm.BoundaryClassifier((0.3, 0.7), learner="rule", n_rounds=8),
    "boundary, cross-validated": pm.BoundaryClassifierCV(alphas=[0.01, 0.1], cv=2),
    "affine": pm.MCBoostClassifier(n_rounds=5, learner="linear"),
    "boosted rules": pm.MCBoostClassifier(n_rounds=5, learner="rule"),
    "boosted trees": pm.MCBoostClassifier(n_rounds=5, learner="tree", max_leaf_nodes=4),
}
CASES = [*((name, TWO) for name in MODELS), *((name, THREE) for name in MODELS if "boundary" not in name)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}, {len(np.unique(case[1]))} classes")
def model(request):
    name, y = request.param
    return MODELS[name].fit(X, y), y


def test_history_and_certificate_have_the_same_form(model):
    model, _ = model
    assert isinstance(model.history_, Mapping)
    assert len({len(values) for values in model.history_.values()}) == 1
    assert model.certificate_.statement.endswith(".")
    assert model.certificate_.stopped
    assert model.certificate_.gap >= 0
    assert isinstance(model.certificate_.doubts, tuple)


def test_importances_are_one_number_a_column_and_name_the_one_that_matters(model):
    found = model[0].feature_importances_
    assert found.shape == (5,)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0)
    assert found.argmax() == 1


def test_an_explanation_adds_up_to_the_scores(model):
    model, _ = model
    scores, proba = model.decision_function(X[:6]), model.predict_proba(X[:6])
    for n_steps in (None, 2):
        for told, score, share in zip(model.explain(X[:6], n_steps), scores, proba, strict=True):
            assert isinstance(told, Explanation)
            total = np.array(told.start) + np.sum([step.adds for step in told.steps], axis=0)
            np.testing.assert_allclose(total, told.scores, atol=1e-9)
            binary = len(told.scores) == 2  # multiclass boosting has a score for each of two classes
            np.testing.assert_allclose(total[1] - total[0] if binary else total, score, atol=1e-9)
            np.testing.assert_array_equal(told.probability, share)
            assert "at the start" in str(told)


def test_predict_is_what_decide_and_the_exports_do(model):
    model, _ = model
    space: dict = {}
    exec(model.to_python(), space)
    rows = [dict(zip([f"x{j}" for j in range(5)], row, strict=True)) for row in X[:30].tolist()]
    assert [space["decide"](row) for row in rows] == model.predict(X[:30]).tolist()
    decided = model.decide(X, pm.CostMatrix(1 - np.eye(len(model.classes_))))
    np.testing.assert_array_equal(decided, model.predict_proba(X).argmax(axis=1))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("name", ["rules", "columns", "leaves", "tree"])
def test_columns_are_selected_by_what_matters(name, y):
    wanted = [False, True, False, False, False]
    assert RFE(MODELS[name], n_features_to_select=1).fit(X, y).support_.tolist() == wanted
    assert SelectFromModel(MODELS[name], max_features=1).fit(X, y).get_support().tolist() == wanted


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
def test_coef_is_one_number_a_column_and_rules_have_coefficients(y):
    columns = MODELS["columns"].fit(X, y)
    n_models = 1 if y is TWO else 3
    assert columns.coef_.shape == (n_models, 5)
    rules = MODELS["rules"].fit(X, y)
    assert not hasattr(rules, "coef_")
    for found, coefficients in zip(
        *((attribute,) if y is TWO else attribute for attribute in (rules.rules_, rules.coefficients_)), strict=True
    ):
        assert len(found) == len(coefficients)


def test_a_kernel_has_no_importance_by_column():
    assert not hasattr(pm.BoundaryClassifier(kernel="rbf").fit(X, TWO), "feature_importances_")


def test_an_explanation_of_a_tree_names_its_strongest_tests_and_sums_up_the_others():
    tree = pm.UDTClassifier(max_leaf_nodes=8).fit(X, TWO)
    for whole, short in zip(tree.explain(X[:20]), tree.explain(X[:20], n_steps=1), strict=True):
        strongest = max(whole.steps, key=lambda step: abs(step.adds[0]))
        assert short.steps[0] == strongest
        assert len(short.steps) == min(len(whole.steps), 2)
        assert sum(step.adds[0] for step in short.steps) == pytest.approx(whole.scores[0] - whole.start[0])


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("n_steps", lambda model: model.explain(X[:1], n_steps=-1)),
        ("n_steps", lambda model: model.explain(X[:1], n_steps="all")),
        ("max_rules", lambda model: model.to_text(max_rules=-1)),
        ("max_rules", lambda model: model.to_text(max_rules="all")),
        ("n_terms", lambda model: model.plot(n_terms=0)),
    ],
)
def test_how_much_is_shown_is_a_whole_number(argument, call):
    for model in (pm.ULSClassifier.compact(3, early_stopping=False), pm.UDTClassifier(max_leaf_nodes=3)):
        with pytest.raises((TypeError, ValueError), match=f"`{argument}` must be an integer of at least"):
            call(model.fit(X, TWO))


def test_the_name_of_one_column_stands_for_a_list_of_it():
    named = {f"col{j}": X[:, j] for j in range(5)}
    model = pm.ULSClassifier.compact(3, early_stopping=False).fit(named, TWO)
    assert model.to_sql(keep="col4") == model.to_sql(keep=["col4"]) != model.to_sql()
    row = {name: values[:1] for name, values in named.items()}
    assert model.recourse(row, fixed="col1") == model.recourse(row, fixed=["col1"])
