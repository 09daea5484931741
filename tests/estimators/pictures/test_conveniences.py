"""What a person reads of a fitted model: actions in words, tables as data frames, explanations, pictures."""

import copy
import sys
from importlib.util import find_spec

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import permissible as pm

mpl.use("Agg")
RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.normal(50, 10, 160).round(1), "dose": RNG.normal(size=160)})
Y = np.where(X["age"] + 8 * RNG.normal(size=160) > 50, "ill", "healthy")
THREE = np.array(["b", "c", "a"])[np.digitize(X["age"], [45, 55])]
MODELS = {
    "rules": pm.ULSClassifier(n_rounds=5),
    "columns": pm.ULSClassifier(learner="column", n_rounds=5),
    "boosted trees": pm.ULSClassifier.trees(n_trees=4, early_stopping=False),
    "tree": pm.UDTClassifier(max_leaf_nodes=5),
    "boundary": pm.BoundaryClassifier([0.2, 0.7]),
    "boosting": pm.MCBoostClassifier(n_rounds=5, learner="linear"),
    "boosted rules": pm.MCBoostClassifier(n_rounds=5, learner="rule"),
}
CASES = [*((name, "two") for name in MODELS), *((name, "three") for name in MODELS if name != "boundary")]


@pytest.fixture(scope="module", params=CASES, ids=", ".join)
def model(request):
    name, classes = request.param
    return copy.deepcopy(MODELS[name]).fit(X, Y if classes == "two" else THREE)


def test_labels_are_the_codes_of_decide_in_words(model):
    costs = pm.CostMatrix(5 - 5 * np.eye(len(model.classes_)), reject_cost=1.0)
    codes, labels = model.decide(X, costs), model.decide_labels(X, costs, refer="ask")
    words = [*model.classes_, "ask"]
    assert [words[code] for code in codes] == labels.tolist()
    assert model.decide_labels(X, pm.Hard()).tolist() == model.classes_[model.decide(X, pm.Hard())].tolist()


def test_groups_have_names_of_their_own_or_of_the_user():
    model = copy.deepcopy(MODELS["rules"]).fit(X, Y)
    groups = pm.Boundaries([0.2, 0.7])
    codes = model.decide(X, groups)
    assert set(codes.tolist()) == {0, 1, 2}
    spoken = model.decide_labels(X, groups, names=["low", "medium", "high"])
    assert np.array(["low", "medium", "high"])[codes].tolist() == spoken.tolist()
    assert set(model.decide_labels(X, groups)) == {"P <= 0.2", "0.2 < P <= 0.7", "P > 0.7"}
    with pytest.raises(ValueError, match="`names` must be one name for each risk group, got 2 names for 3 groups"):
        model.decide_labels(X, groups, names=["low", "high"])
    with pytest.raises(ValueError, match="`names` must be left out: only risk groups"):
        model.decide_labels(X, pm.Hard(), names=["low", "high"])


def test_the_table_of_rules_is_a_frame_of_what_is_installed(monkeypatch):
    model = copy.deepcopy(MODELS["rules"]).fit(X, Y)
    table = model.rules_table()
    assert isinstance(table, pd.DataFrame)
    assert table["coefficient"].tolist() == sorted(model.coefficients_.tolist(), key=lambda size: -abs(size))
    finder = find_spec
    monkeypatch.setattr(
        "permissible.estimators.exports.find_spec", lambda name: finder(name) if name == "polars" else None
    )
    assert type(model.rules_table()).__module__.startswith("polars")
    monkeypatch.setattr("permissible.estimators.exports.find_spec", lambda name: None)
    assert isinstance(model.rules_table(), dict)
    assert "pandas" in sys.modules


def test_an_explanation_says_what_is_true_of_the_row():
    model = pm.ULSClassifier(max_literals=2, n_rounds=12, early_stopping=False).fit(X, Y)
    for row, explanation in zip(X.to_dict("records"), model.explain(X), strict=True):
        for step in explanation.steps:
            text = step.said.replace(" is missing", "").replace(" <= ", " <= ")
            assert eval(text, {}, row), (step, row)  # the words are tests of Python, too
        assert str(explanation).count("\n") == len(explanation.steps) + 2


def test_every_model_can_be_drawn(model):
    drawn = model.plot()
    axes = drawn if isinstance(drawn, list) else [drawn]
    assert all(ax.has_data() for ax in axes)
    from matplotlib import pyplot

    pyplot.close("all")


def test_bars_show_the_largest_terms_and_count_the_others():
    model = pm.ULSClassifier(max_literals=1, n_rounds=40, early_stopping=False).fit(X, Y)
    ax = model.plot(n_terms=3)
    assert len(ax.patches) == 3
    assert "smaller ones are not shown" in ax.get_xlabel()


def test_what_has_no_picture_is_refused_in_a_sentence():
    kernel = pm.BoundaryClassifier(alpha=0.1, kernel="rbf").fit(X, Y)
    with pytest.raises(ValueError, match="`model` must be made of rules, columns or trees to be drawn"):
        kernel.plot()
    with pytest.raises(TypeError, match="`estimator` must be a fitted UDTClassifier"):
        pm.plot_tree(kernel)
