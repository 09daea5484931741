"""MCBoostClassifier takes a loss by name or as an object, and both are the same model in every respect."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import permissible as pm
from permissible import losses

OBJECTS = [losses.GLL(), losses.GEL(), losses.LS(), losses.LT(), losses.MC()]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)


@pytest.mark.parametrize("loss", OBJECTS, ids=lambda loss: loss.name)
@pytest.mark.parametrize("learner", ["linear", "tree"])
def test_an_object_gives_the_model_of_its_name(loss, learner, rows, tmp_path):
    X, y = rows
    by_name, by_object = (
        pm.MCBoostClassifier(loss=each, learner=learner, n_rounds=4, random_state=0).fit(X, y)
        for each in (loss.name, loss)
    )
    assert np.array_equal(by_name.predict_proba(X), by_object.predict_proba(X))
    assert np.array_equal(by_name.decision_function(X), by_object.decision_function(X))
    copy = clone(by_object)
    assert copy.get_params()["loss"] == loss
    assert np.array_equal(copy.fit(X, y).predict_proba(X), by_object.predict_proba(X))
    pm.save(by_object, tmp_path / "model.json")
    loaded = pm.load(tmp_path / "model.json")
    assert loaded.loss == loss
    assert np.array_equal(loaded.predict_proba(X), by_object.predict_proba(X))


def test_a_grid_may_hold_names_and_objects(rows):
    search = GridSearchCV(pm.MCBoostClassifier(n_rounds=3), {"loss": [losses.GLL(), "gll"]}, cv=2).fit(*rows)
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    "loss", [losses.StructuredHinge(), losses.get("logistic"), type("Mine", (losses.GLL,), {})(), 3]
)
def test_what_the_core_does_not_have_is_refused(loss, rows):
    with pytest.raises(ValueError, match="`loss` must be one of 'gll', 'gel', 'ls', 'lt', 'mc', or its object, got"):
        pm.MCBoostClassifier(loss=loss).fit(*rows)
