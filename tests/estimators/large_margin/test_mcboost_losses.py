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
    search = GridSearchCV(
        pm.MCBoostClassifier(n_rounds=3, learner="linear"), {"loss": [losses.GLL(), "gll"]}, cv=2
    ).fit(*rows)
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    "loss", [losses.StructuredHinge(), losses.get("logistic"), type("Mine", (losses.GLL,), {})(), 3]
)
def test_what_the_core_does_not_have_is_refused(loss, rows):
    with pytest.raises(ValueError, match="`loss` must be one of 'gll', 'gel', 'ls', 'lt', 'mc', its object"):
        pm.MCBoostClassifier(loss=loss, learner="linear").fit(*rows)


NOISY = np.random.default_rng(5).normal(size=(160, 3))
NOISY_Y = np.argmax(NOISY + np.random.default_rng(6).normal(0, 1.5, (160, 3)), axis=1)
OWN_COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])


@pytest.mark.parametrize("learner", ["linear", "linear-full"])
@pytest.mark.parametrize("descent", ["coordinate", "gradient"])
def test_a_gamma_phi_loss_of_ones_own_boosts_as_the_compiled_one(learner, descent):
    own = losses.GammaPhi(np.log1p, lambda v: np.exp(-v), lambda u: 1 / (1 + u), lambda v: -np.exp(-v), name="own")
    settings = {"cost_matrix": OWN_COSTS, "learner": learner, "descent": descent, "n_rounds": 8}
    mine = pm.MCBoostClassifier(own, **settings).fit(NOISY, NOISY_Y)
    known = pm.MCBoostClassifier(losses.GLL(), **settings).fit(NOISY, NOISY_Y)
    assert mine.decision_function(NOISY) == pytest.approx(known.decision_function(NOISY), rel=1e-6, abs=1e-7)
    assert mine.predict_proba(NOISY) == pytest.approx(known.predict_proba(NOISY), abs=1e-5)
    assert mine.history_["surrogate"] == pytest.approx(known.history_["surrogate"], rel=1e-7)


def test_a_loss_of_ones_own_does_not_depend_on_the_order_of_rows_and_takes_weights_and_files(tmp_path):
    square = losses.GammaPhi(lambda u: u, lambda v: np.maximum(1 - v, 0) ** 2, name="squares")
    fit = pm.MCBoostClassifier(square, n_rounds=5, calibration=None, learner="linear").fit
    model = fit(NOISY, NOISY_Y)
    scores = model.decision_function(NOISY)
    order = np.random.default_rng(0).permutation(160)
    assert np.array_equal(fit(NOISY[order], NOISY_Y[order]).decision_function(NOISY), scores)
    twice = fit(np.r_[NOISY, NOISY[:20]], np.r_[NOISY_Y, NOISY_Y[:20]]).decision_function(NOISY)
    weight = np.r_[np.full(20, 2.0), np.ones(140)]
    assert np.array_equal(fit(NOISY, NOISY_Y, weight).decision_function(NOISY), twice)
    pm.save(fit(NOISY, NOISY_Y), tmp_path / "own.json")
    with pytest.raises(ValueError, match="`losses` must be a mapping with the loss 'squares'"):
        pm.load(tmp_path / "own.json")
    again = pm.load(tmp_path / "own.json", losses={"squares": square})
    assert np.array_equal(again.decision_function(NOISY), scores)
    assert again.loss is square


def test_where_a_loss_of_ones_own_cannot_run_it_is_refused():
    own = losses.GammaPhi(np.log1p, lambda v: np.exp(-v))
    with pytest.raises(ValueError, match="`learner` must be"):
        pm.MCBoostClassifier(own, learner="tree").fit(NOISY, NOISY_Y)
    parts = pm.BinnedDataset.from_batches([{"a": NOISY[:, 0], "y": NOISY_Y}], target="y", keep_values=True)
    with pytest.raises(ValueError, match="built-in one on data in parts"):
        pm.MCBoostClassifier(own, learner="linear").fit(parts)
