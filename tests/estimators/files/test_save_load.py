"""pm.save and pm.load: same answers, same bytes, atomic, and one sentence for every bad file."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import permissible as pm
from permissible import losses
from permissible.estimators.files.save_load import VERSION, read_document, text_of
from permissible.models.files.strict_json import dump, parse

SAMPLES = Path(__file__).parents[2] / "data" / "model-files"


def frames():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y.map({0: "malignant", 1: "benign"})


def mixed(seed=0, n_rows=300):
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.where(generator.random(n_rows) < 0.1, np.nan, generator.normal(50, 10, n_rows)),
            "colour": pd.Series(generator.choice(["red", "blue", "it's", "<b>"], n_rows)).where(
                generator.random(n_rows) > 0.1
            ),
            "smoker": generator.random(n_rows) < 0.3,
        }
    )
    y = (frame["age"].fillna(60) + 20 * frame["smoker"] + 10 * (frame["colour"] == "red") > 58).to_numpy()
    return frame, y


def fitted():
    X, y = frames()
    table, truth = mixed()
    iris, kinds = load_iris(return_X_y=True)
    yield "tree", pm.UDTClassifier(max_leaf_nodes=8).fit(X, y), X
    yield "tree, classes", pm.UDTClassifier(loss="matsushita", max_leaf_nodes=6).fit(iris, kinds), iris
    yield "tree, mixed columns", pm.UDTClassifier(max_leaf_nodes=9).fit(table, truth), table
    yield "linear", pm.BoundaryClassifier(boundaries=(0.2, 0.8), loss="matsushita").fit(X, y), X
    yield "rules", pm.ULSClassifier(n_rounds=12, max_literals=2, random_state=0).fit(X, y), X
    yield "rules, classes", pm.ULSClassifier(loss="matsushita", n_rounds=5, random_state=0).fit(iris, kinds), iris
    yield "rules, mixed columns", pm.ULSClassifier(n_rounds=20, random_state=0).fit(table, truth), table
    yield "columns", pm.ULSClassifier(learner="column", n_rounds=30, random_state=0).fit(X / X.std(), y), X / X.std()
    yield "columns, classes", pm.ULSClassifier(learner="column", n_rounds=9, random_state=0).fit(iris, kinds), iris
    yield "rules from trees", pm.ULSClassifier(learner="tree", n_rounds=6, random_state=0).fit(X, y), X
    yield "additive", pm.MCBoostClassifier(n_rounds=20, learner="linear").fit(iris, kinds), iris
    yield (
        "additive, mixed columns",
        pm.MCBoostClassifier(loss="mc", decision="bayes", n_rounds=20, learner="linear").fit(table, truth),
        table,
    )
    yield "additive trees", pm.MCBoostClassifier(n_rounds=4, learner="tree", random_state=0).fit(iris, kinds), iris
    yield (
        "additive rules, mixed",
        pm.MCBoostClassifier(n_rounds=6, learner="rule", random_state=0).fit(table, truth),
        table,
    )
    yield "kernel", pm.BoundaryClassifier(kernel="rbf", alpha=0.01).fit(iris[50:], kinds[50:]), iris
    yield "rules of boundaries", pm.BoundaryClassifier((0.3, 0.6), learner="rule", n_rounds=6).fit(X, y), X
    yield "soft", pm.BoundaryClassifier(boundaries="soft").fit(X, y), X


CASES = list(fitted())


@pytest.fixture(params=CASES, ids=[name for name, *_ in CASES])
def case(request):
    return request.param[1:]


def test_a_loaded_model_answers_and_saves_the_same(case, tmp_path):
    estimator, X = case
    pm.save(estimator, tmp_path / "a.json")
    again = pm.load(tmp_path / "a.json")
    np.testing.assert_array_equal(again.predict_proba(X), estimator.predict_proba(X))
    np.testing.assert_array_equal(again.decision_function(X), estimator.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))
    assert again.classes_.dtype.kind == estimator.classes_.dtype.kind
    assert again.to_text() == estimator.to_text()
    pm.save(again, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_decision_and_notes_travel_with_the_model(case, tmp_path):
    estimator, X = case
    if len(estimator.classes_) > 2:
        pytest.skip("this decision is for two classes")
    estimator.decision_, estimator.notes_ = pm.Reject(0.2), {"target": "y"}
    try:
        pm.save(estimator, tmp_path / "a.json")
    finally:
        del estimator.decision_, estimator.notes_
    again = pm.load(tmp_path / "a.json")
    assert again.decision_ == pm.Reject(0.2)
    assert again.notes_ == {"target": "y"}
    decided = pm.Reject(0.2).decide(estimator.predict_proba(X))
    np.testing.assert_array_equal(again.decision_.decide(again.predict_proba(X)), decided)


def test_an_unfitted_or_foreign_estimator_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        pm.save(pm.UDTClassifier(), tmp_path / "a.json")
    with pytest.raises(TypeError, match="`estimator` must be a fitted estimator of permissible, got int 3"):
        pm.save(3, tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


def one_model_text():
    return text_of(CASES[0][1])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text[: len(text) // 2], "cannot be read: it is not valid JSON"),
        (lambda text: "", "cannot be read"),
        (lambda text: '{"format": "something"}', "which is something else"),
        (lambda text: "[1, 2]", "which is something else"),
        (lambda text: text.replace('"missing": true', '"missing": false', 1), "changed or damaged since"),
        (
            lambda text: text.replace(f'"version": {VERSION}', '"version": 99'),
            "of version 99, written by .* newer permissible",
        ),
        (lambda text: text.replace(f'"version": {VERSION}', '"version": "1"'), "with version '1'"),
        (lambda text: "\x80\x04\x95" + text, "cannot be read"),
    ],
)
def test_a_bad_file_gets_one_sentence(change, sentence, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(change(one_model_text()))
    with pytest.raises(ValueError, match=sentence) as found:
        pm.load(path)
    assert "\n" not in str(found.value)


def test_a_pickle_is_not_executed(tmp_path):
    import pickle

    class Bomb:
        def __reduce__(self):
            return (os.system, (f"touch {tmp_path}/boom",))

    (tmp_path / "model.json").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="cannot be read"):
        pm.load(tmp_path / "model.json")
    assert not (tmp_path / "boom").exists()


def test_spaces_and_line_ends_may_change_but_numbers_may_not(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(one_model_text())))
    X = CASES[0][2]
    np.testing.assert_array_equal(pm.load(path).predict(X), CASES[0][1].predict(X))


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    pm.save(CASES[0][1], path)
    before = path.read_bytes()

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        pm.save(CASES[1][1], path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def test_a_users_own_loss_is_asked_for(tmp_path):
    own = losses.from_phi(lambda p: p * (1 - p), lambda p: 1 - 2 * p, name="mine")
    X, y = load_iris(return_X_y=True)
    tree = pm.UDTClassifier(loss=own, max_leaf_nodes=4).fit(X, y)
    pm.save(tree, tmp_path / "own.json")
    with pytest.raises(ValueError, match="`losses` must be a mapping with the loss 'mine'"):
        pm.load(tmp_path / "own.json")
    again = pm.load(tmp_path / "own.json", losses={"mine": own})
    np.testing.assert_array_equal(again.predict_proba(X), tree.predict_proba(X))


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_files_of_every_released_version_stay_readable(path):
    document = json.loads(path.with_suffix(".expected").read_text())
    model = pm.load(path)
    X = {
        name: np.array(values, dtype=object if any(isinstance(v, str) for v in values) else float)
        for name, values in document["rows"].items()
    }
    np.testing.assert_allclose(model.predict_proba(X), document["probabilities"], rtol=1e-12)


def test_there_is_a_sample_of_the_current_version():
    assert any(json.loads(path.read_text())["version"] == VERSION for path in SAMPLES.glob("*.json"))


def test_the_documented_schema_holds_for_every_model():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parents[3] / "docs" / "model-file.schema.json").read_text())
    for _, estimator, _ in CASES:
        jsonschema.validate(json.loads(text_of(estimator)), schema)


def test_reading_a_document_twice_gives_the_same():
    document = parse(one_model_text())
    assert dump(document) == dump(parse(text_of(read_document(document, "here", {}))))
