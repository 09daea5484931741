"""A decision means the same in every estimator: costs by name, arrays of costs, ties, scorers, reports and files."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from permissible.report.displays.cost import CostDisplay
from permissible.report.summary import summarise

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = np.where(X[:, 0] + 0.8 * RNG.normal(size=120) > 0.4, "sick", "well")
THREE = np.array(["b", "c", "a"])[np.digitize(X[:, 0] + 0.5 * RNG.normal(size=120), [-0.5, 0.5])]
TWO_CLASSES = {
    "rules": pm.ULSClassifier(n_rounds=5, random_state=0),
    "columns": pm.ULSClassifier(learner="column", n_rounds=5),
    "tree": pm.UDTClassifier(max_leaf_nodes=6),
    "boundary": pm.BoundaryClassifier(pm.Reject(0.2)),
    "boundary, cross-validated": pm.BoundaryClassifierCV(alphas=[0.01, 0.1], cv=2),
    "boosting": pm.MCBoostClassifier(n_rounds=5, learner="linear"),
}
SEVERAL = {name: TWO_CLASSES[name] for name in ("rules", "columns", "tree", "boosting")}
CASES = [*((name, Y) for name in TWO_CLASSES), *((name, THREE) for name in SEVERAL)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}, {len(np.unique(case[1]))} classes")
def case(request):
    name, y = request.param
    return copy.deepcopy(TWO_CLASSES[name]).fit(X, y), y


def priced(model, rng=RNG):
    """Random costs as a plain array in the order of classes_, and the same costs by name in another order."""
    m = len(model.classes_)
    costs = rng.uniform(0.2, 5, (m, m)) * (1 - np.eye(m))
    order = rng.permutation(m)
    return costs, pm.CostMatrix(costs[np.ix_(order, order)], classes=model.classes_[order].tolist())


def test_costs_by_name_decide_price_and_report_as_the_same_costs_in_order(case, tmp_path):
    model, y = case
    costs, named = priced(model)
    proba, codes = model.predict_proba(X), np.searchsorted(model.classes_, y)
    expected = (proba @ costs).argmin(axis=1)
    assert np.array_equal(model.decide(X, named), expected)
    assert np.array_equal(model.decide(X, costs), expected)
    paid = costs[codes, expected].mean()
    assert named.scorer()(model, X, y) == pytest.approx(-paid)
    figures = {metric.key: metric.value for metric in summarise(model, X, y, decision=named).metrics}
    assert figures["cost"] == pytest.approx(paid)
    assert CostDisplay.from_estimator(model, X, y, named).risk == pytest.approx(paid)
    model = copy.deepcopy(model)
    model.decision_ = named
    pm.save(model, tmp_path / "model.json")
    again = pm.load(tmp_path / "model.json")
    assert np.array_equal(again.decision_.decide(again.predict_proba(X)), expected)
    space: dict = {}
    exec(again.to_python(), space)
    rows = [dict(zip(("x0", "x1", "x2"), row, strict=True)) for row in X[:20].tolist()]
    assert [space["decide"](row) for row in rows] == model.classes_[expected[:20]].tolist()


def test_names_of_other_classes_are_refused_by_all(case):
    model, y = case
    strange = pm.CostMatrix.from_class_weights(dict.fromkeys(["p", "q", "r"][: len(model.classes_)], 1.0))
    calls = [
        lambda: model.decide(X, strange),
        lambda: strange.scorer()(model, X, y),
        lambda: summarise(model, X, y, decision=strange),
        lambda: model.to_sql(decision=strange),
        lambda: model.to_python(decision=strange),
        lambda: model.to_onnx(decision=strange),
        lambda: CostDisplay.from_estimator(model, X, y, strange),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="`classes` must be those of the estimator"):
            call()
    with pytest.raises(TypeError, match="`decision` must be a decision such as"):
        model.decide(X, "reject")


def test_tuning_by_costs_by_name_does_not_depend_on_their_order():
    grid = {"alphas": [0.001, 0.1, 10.0], "cv": 3}
    first, second = (
        pm.BoundaryClassifierCV(
            "soft", tuning=pm.CostMatrix([[0, 1], [1, 0]] * np.array([[a], [b]]), classes=names), **grid
        ).fit(X, Y)
        for names, a, b in ((["sick", "well"], 9.0, 1.0), (["well", "sick"], 1.0, 9.0))
    )
    assert np.array_equal(first.cv_risks_, second.cv_risks_)


def test_costs_by_row_in_a_data_frame_are_found_by_name():
    by_row = pd.DataFrame(RNG.uniform(0.5, 4, (120, 2)), columns=["sick", "well"])
    by_row = by_row.mask(pd.DataFrame({"sick": Y == "sick", "well": Y == "well"}), 0.0)
    fits = [
        pm.MCBoostClassifier(n_rounds=3, learner="linear").fit(X, Y, cost=costs)
        for costs in (by_row.to_numpy(), by_row, by_row[["well", "sick"]])
    ]
    for model in fits[1:]:
        assert np.array_equal(model.predict_proba(X), fits[0].predict_proba(X))
    with pytest.raises(ValueError, match="a data frame with a column for each class"):
        pm.MCBoostClassifier(n_rounds=3, learner="linear").fit(X, Y, cost=by_row.rename(columns={"sick": "ill"}))


# -- ties -----------------------------------------------------------------------------------------------------------------


def at_a_tie(boundaries, pi):
    """A classifier of one column whose score at x = 0 is exactly the cut-off of pi."""
    model = pm.BoundaryClassifier(boundaries).fit(np.array([[-2.0], [-1], [1], [2]]), [0, 0, 1, 1])
    model.model_ = replace(model.model_, intercept=float(model.target_.loss.score(pi)))
    return model


@pytest.mark.parametrize(
    "decision", [pm.Hard(), pm.Weighted(0.5), pm.Weighted(0.3), (0.3,), pm.Boundaries([0.7]), pm.Reject(0.5)], ids=repr
)
def test_one_boundary_gives_one_answer_on_the_boundary_itself(decision):
    pi = decision.pi if isinstance(decision, pm.Weighted) else 0.5
    pi = {(0.3,): 0.3, pm.Boundaries([0.7]): 0.7}.get(decision, pi)
    model = at_a_tie(decision, pi)
    assert model.decision_function([[0.0]])[0] == model.deltas_[0]
    wanted = 1 if isinstance(decision, pm.Hard) else 0
    assert model.predict_proba([[0.0]])[0, 1] == pi
    found = model.predict([[0.0]]), model.predict_region([[0.0]]), model.decide([[0.0]])
    assert [int(answer[0]) for answer in found] == [wanted] * 3
    space: dict = {}
    exec(model.to_python(), space)
    assert space["decide"]({"x0": 0.0}) == wanted


def test_without_a_single_boundary_an_even_chance_is_positive_as_in_every_classifier():
    for boundaries in ((0.25, 0.5, 0.75), "soft", pm.Reject(0.2)):
        model = at_a_tie(boundaries, 0.5)
        assert model.predict([[0.0]])[0] == 1
        assert model.decide([[0.0]], pm.Hard())[0] == 1
    even = np.zeros((4, 1)), [0, 1, 0, 1]
    assert pm.UDTClassifier().fit(*even).predict([[0.0]])[0] == 1
    assert pm.ULSClassifier(n_rounds=1, early_stopping=False).fit(*even).predict([[0.0]])[0] == 1


def test_regions_by_score_are_regions_by_probability_at_every_cut_off():
    for pi in np.arange(1, 50) / 50:
        model = at_a_tie((float(pi),), float(pi))
        step = np.spacing(model.deltas_[0])
        x = np.array([[-step], [0.0], [step]]) * 2 / abs(model.coef_[0, 0])
        assert np.array_equal(model.predict_region(x), model.decide(x))


def test_exports_decide_as_predict_when_no_decision_is_kept():
    # learner="auto" decides at least expected cost, also in a file whose decision is empty
    costs = np.array([[0, 1, 1], [1, 0, 1], [9, 9, 0.0]])
    model = pm.MCBoostClassifier("mc", cost_matrix=costs, n_rounds=4, learner="linear").fit(X, THREE)
    plain = model.predict(X)
    model.loss, model.learner, model.decision_ = "gll", "auto", None  # with a named loss "auto" is "linear"
    space: dict = {}
    exec(model.to_python(), space)
    rows = [dict(zip(("x0", "x1", "x2"), row, strict=True)) for row in X.tolist()]
    assert [space["decide"](row) for row in rows] == model.predict(X).tolist()
    assert (model.predict(X) != plain).any()


def test_decide_is_that_of_the_saved_decision_as_in_the_exports(tmp_path):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 2))
    y = np.where(X[:, 0] + generator.normal(size=200) > 0, "yes", "no")
    model = pm.UDTClassifier(max_leaf_nodes=6).fit(X, y)
    model.decision_ = pm.CostMatrix([[0, 1], [9, 0]], classes=["no", "yes"])
    pm.save(model, tmp_path / "m.json")
    again = pm.load(tmp_path / "m.json")
    wanted = again.decision_.decide(again.predict_proba(X))
    assert (wanted != (again.predict(X) == "yes")).any()
    np.testing.assert_array_equal(again.decide(X), wanted)
    np.testing.assert_array_equal(again.decide_labels(X), np.array(["no", "yes"])[wanted])
    np.testing.assert_array_equal(again.decide(X, pm.Hard()), again.predict(X) == "yes")


@pytest.mark.parametrize(
    "made",
    [
        pm.UDTClassifier(max_leaf_nodes=4),
        pm.ULSClassifier(n_rounds=4),
        pm.BoundaryClassifier([0.3]),
        pm.BoundaryClassifier([0.3], learner="rule", n_rounds=4),
        pm.MCBoostClassifier(n_rounds=4),
    ],
    ids=repr,
)
def test_a_new_fit_forgets_the_decision_of_a_file(made):
    X = np.random.default_rng(0).normal(size=(120, 2))
    y = X[:, 0] + np.random.default_rng(1).normal(size=120) > 0
    model = copy.deepcopy(made).fit(X, y)
    before = model.decide(X)
    model.decision_ = pm.CostMatrix([[0, 1], [500, 0]])
    assert (model.decide(X) != before).any()
    np.testing.assert_array_equal(model.fit(X, y).decide(X), before)


def test_boundaries_set_after_a_fit_change_nothing_before_the_next():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = X[:, 0] + np.random.default_rng(1).normal(size=200) > 0
    model = pm.BoundaryClassifier([0.2]).fit(X, y)
    before = model.predict(X), model.decide(X), model.decide_labels(X)
    model.set_params(boundaries=[0.8])
    for was, now in zip(before, (model.predict(X), model.decide(X), model.decide_labels(X)), strict=True):
        np.testing.assert_array_equal(now, was)
    assert (model.fit(X, y).decide(X) != before[1]).any()
