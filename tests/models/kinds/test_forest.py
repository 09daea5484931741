"""Trees and rules of an additive model: read, written out, filed, they say what the compiled core says."""

import json

import numpy as np
import pytest

import permissible as pm
from permissible.estimators.classifier import card_of
from permissible.estimators.input.training import rows
from permissible.models.card.scorecard import scores as card_scores
from permissible.models.files.forest import forest_document, read_forest
from permissible.models.files.json_node import Node


def frame(n=400, seed=0):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    colour = rng.choice(["red", "green", "blue", "grey"], n)
    y = np.where(size > 0.3, "big", np.where(np.isin(colour, ["red", "grey"]), "warm", "cold"))
    size[rng.random(n) < 0.1] = np.nan
    data = pandas.DataFrame({"size": size, "colour": pandas.Categorical(colour), "noise": rng.normal(size=n)})
    data.loc[::17, "colour"] = None
    return data, y


@pytest.mark.parametrize("descent", ["coordinate", "gradient"])
@pytest.mark.parametrize(
    "options",
    [
        {"learner": "tree", "max_leaf_nodes": 6},
        {"learner": "tree", "max_leaf_nodes": 2},
        {"learner": "tree", "max_leaf_nodes": 9, "max_features": 0.7},
        {"learner": "rule", "max_literals": 3},
    ],
)
def test_literals_in_words_score_like_the_compiled_trees(options, descent):
    data, y = frame()
    model = pm.MCBoostClassifier(n_rounds=8, descent=descent, random_state=0, **options).fit(data, y)
    table = rows(model, data)
    written = card_scores(card_of(model), table)
    np.testing.assert_allclose(written, model.model_.scores(table), atol=1e-12)


def test_a_model_of_trees_comes_back_from_its_file(tmp_path):
    data, y = frame()
    for options in ({"learner": "tree"}, {"learner": "rule", "descent": "gradient"}, {"learner": "auto"}):
        model = pm.MCBoostClassifier(n_rounds=10, random_state=0, **options).fit(data, y)
        pm.save(model, tmp_path / "model.json")
        again = pm.load(tmp_path / "model.json")
        np.testing.assert_array_equal(again.decision_function(data), model.decision_function(data))
        np.testing.assert_array_equal(again.predict(data), model.predict(data))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("left", [0]),
        ("left", [5]),
        ("right", [-9]),
        ("column", [99]),
        ("mask", ["zz"]),
        ("value", [1.0]),
        ("coordinate", 7),
    ],
)
def test_a_tampered_forest_is_refused_before_the_core_walks_it(key, value):
    data, y = frame()
    model = pm.MCBoostClassifier(n_rounds=1, learner="tree", max_leaf_nodes=2).fit(data, y)
    document = json.loads(json.dumps(forest_document(model.model_.parts[0])))
    document["trees"][0][key] = value
    with pytest.raises(ValueError, match="forest"):
        read_forest(Node(document, "forest"), model.schema_, 3)


def test_rules_table_ranks_terms_by_what_their_mistakes_cost():
    data, y = frame()
    model = pm.MCBoostClassifier(n_rounds=10, learner="rule").fit(data, y)
    table = model.rules_table()
    assert list(table) == ["term", "score of big", "score of cold", "score of warm", "cost"]
    assert list(table["cost"]) == sorted(table["cost"], reverse=True)
    assert any("size" in term for term in table["term"][:3])


@pytest.mark.parametrize("learner", ["linear", "rule", "tree"])
def test_an_explanation_adds_up_to_the_score(learner):
    data, y = frame()
    model = pm.MCBoostClassifier(n_rounds=10, learner=learner).fit(data, y)
    for explanation, scores in zip(
        model.explain(data.head(5), n_steps=4), model.decision_function(data.head(5)), strict=True
    ):
        total = np.array(explanation.start) + np.sum([step.adds for step in explanation.steps], axis=0)
        np.testing.assert_allclose(total, scores, atol=1e-9)
        assert "expected cost" in str(explanation)
