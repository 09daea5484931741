"""Every estimator inside what its users already have: the meta-estimators, searches, selections and displays of scikit-learn."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.compose import make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay, DetCurveDisplay, PrecisionRecallDisplay, RocCurveDisplay
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    LearningCurveDisplay,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    cross_validate,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

import permissible as pm
from permissible import losses
from tests.ecosystem.cases import BINARY_ONLY, ESTIMATORS, FRAME, THREE, X, Y, estimator

mpl.use("Agg")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::permissible.DoubtfulFitWarning")]
NAMES = pytest.mark.parametrize("name", ESTIMATORS)
GOOD = 0.75
"""Accuracy on the training rows that all of them reach; the larger class has half of the rows."""


@NAMES
def test_a_threshold_is_tuned_for_a_cost(name):
    def saved(y, predicted):
        return -np.mean(np.where(y == 1, 20.0, 1.0) * (y != predicted))

    scorer = sklearn.metrics.make_scorer(saved)
    tuned = TunedThresholdClassifierCV(estimator(name), scoring=scorer, cv=3).fit(X, Y)
    assert tuned.best_threshold_ < 0.5  # a miss costs twenty false alarms
    assert (tuned.predict(X) == 1).sum() >= (estimator(name).fit(X, Y).predict(X) == 1).sum()


@NAMES
def test_a_fixed_threshold_is_that_of_weighted(name):
    fixed = FixedThresholdClassifier(estimator(name), threshold=0.2, response_method="predict_proba").fit(X, Y)
    ours = estimator(name).fit(X, Y)
    proba = ours.predict_proba(X)[:, 1]
    apart = np.abs(proba - 0.2) > 1e-12  # at the threshold itself scikit-learn says yes
    assert (fixed.predict(X) == ours.decide(X, pm.Weighted(0.2)))[apart].all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@NAMES
def test_probabilities_are_calibrated_by_all_methods(name, method):
    found = CalibratedClassifierCV(estimator(name), method=method, cv=3).fit(X, Y)
    assert found.score(X, Y) > GOOD
    np.testing.assert_allclose(found.predict_proba(X).sum(axis=1), 1)


@NAMES
def test_columns_are_selected(name):
    selected = RFE(estimator(name), n_features_to_select=2).fit(X, Y)
    assert selected.support_.sum() == 2
    chosen = SelectFromModel(estimator(name), threshold="mean").fit(FRAME, Y)
    assert 1 <= len(chosen.get_feature_names_out()) < 5
    forward = SequentialFeatureSelector(estimator(name), n_features_to_select=2, cv=2).fit(X, Y)
    assert forward.transform(X).shape[1] == 2


@NAMES
def test_it_is_a_member_of_ensembles(name):
    members = [("ours", estimator(name)), ("lr", LogisticRegression())]
    for ensemble in (
        StackingClassifier(members, cv=3),
        VotingClassifier(members, voting="soft"),
        BaggingClassifier(estimator(name), n_estimators=3, random_state=0),
    ):
        assert ensemble.fit(X, Y).score(X, Y) > GOOD


def test_ada_boost_over_a_tree_improves_on_the_tree():
    tree = pm.UDTClassifier(max_leaf_nodes=2)
    boosted = AdaBoostClassifier(tree, n_estimators=20).fit(X, Y)
    assert boosted.score(X, Y) > tree.fit(X, Y).score(X, Y)


@NAMES
def test_several_targets_and_classes(name):
    both = np.column_stack([Y, X[:, 0] > 0])
    for many in (ClassifierChain(estimator(name)), MultiOutputClassifier(estimator(name))):
        assert many.fit(X, both).predict(X).shape == (160, 2)
    for pairs in (OneVsRestClassifier(estimator(name)), OneVsOneClassifier(estimator(name))):
        assert pairs.fit(X, THREE).score(X, THREE) > 0.6
    if name in BINARY_ONLY:
        with pytest.raises(ValueError, match="a boundary of a probability needs two"):
            estimator(name).fit(X, THREE)


@NAMES
def test_it_trains_itself_on_rows_without_labels(name):
    partly = np.where(np.arange(160) % 3 == 0, -1, Y)
    assert SelfTrainingClassifier(estimator(name)).fit(X, partly).score(X, Y) > GOOD


@pytest.mark.parametrize("search", [GridSearchCV, HalvingGridSearchCV])
@pytest.mark.parametrize("name", ["rules", "tree", "boosted trees"])
def test_searches_take_loss_objects(name, search):
    mine = losses.from_phi(lambda p: np.sin(np.pi * p), name="sine")
    asked = [losses.get("mu", mu=0.2), losses.get("power", upsilon=0.3), "logistic"]
    grid = {"loss": asked if name == "boosted trees" else [*asked, mine]}
    found = search(estimator(name), grid, cv=2).fit(X, Y)
    assert found.best_params_["loss"] in grid["loss"]
    scored = GridSearchCV(estimator(name), grid, cv=2, scoring=pm.Reject(0.2).scorer(), n_jobs=1).fit(X, Y)
    assert scored.best_score_ <= 0  # minus the risk


@NAMES
def test_it_is_inspected(name):
    fitted = estimator(name).fit(FRAME, Y)
    found = permutation_importance(fitted, FRAME, Y, n_repeats=2, random_state=0)
    assert found.importances_mean.max() > 0
    assert len(PartialDependenceDisplay.from_estimator(fitted, FRAME, ["a", "b"]).lines_.ravel()) == 2
    two = estimator(name).fit(FRAME[["a", "b"]], Y)
    assert DecisionBoundaryDisplay.from_estimator(two, FRAME[["a", "b"]], grid_resolution=10).surface_ is not None
    mpl.pyplot.close("all")


@NAMES
def test_the_displays_draw_it(name):
    fitted = estimator(name).fit(X, Y)
    for display in (
        RocCurveDisplay,
        PrecisionRecallDisplay,
        DetCurveDisplay,
        ConfusionMatrixDisplay,
        CalibrationDisplay,
    ):
        assert display.from_estimator(fitted, X, Y).figure_ is not None
    assert LearningCurveDisplay.from_estimator(estimator(name), X, Y, cv=2, train_sizes=[60, 80]).ax_ is not None
    size = next(key for key in ("n_rounds", "max_leaf_nodes", "alpha") if key in fitted.get_params())
    values = [0.01, 0.1] if size == "alpha" else [2, 4]
    drawn = ValidationCurveDisplay.from_estimator(estimator(name), X, Y, param_name=size, param_range=values, cv=2)
    assert drawn.ax_ is not None
    mpl.pyplot.close("all")


@NAMES
def test_weights_are_routed(name):
    weight = np.where(Y == 1, 4.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = estimator(name).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = cross_validate(asking, X, Y, cv=2, params={"sample_weight": weight}, return_estimator=True)
        plain = cross_validate(estimator(name), X, Y, cv=2, return_estimator=True)
    differ = [
        np.abs(a.predict_proba(X) - b.predict_proba(X)).max()
        for a, b in zip(routed["estimator"], plain["estimator"], strict=True)
    ]
    assert max(differ) > 0.01


@pytest.mark.parametrize("library", ["pandas", "polars"])
@NAMES
def test_a_column_transformer_may_return_frames(name, library):
    words = np.where(X[:, 1] > 0, "yes", "no")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 2], "word": words})
    frame = frame if library == "pandas" else pl.from_pandas(frame)
    columns = make_column_transformer((StandardScaler(), ["a", "b"]), (OrdinalEncoder(), ["word"]))
    pipeline = make_pipeline(columns.set_output(transform=library), estimator(name)).fit(frame, X[:, 0] > 0.5)
    assert pipeline[-1].feature_names_in_.tolist() == ["standardscaler__a", "standardscaler__b", "ordinalencoder__word"]
    assert pipeline.score(frame, X[:, 0] > 0.5) > GOOD


def test_a_column_transformer_may_keep_categories_for_rules():
    frame = pd.DataFrame({"a": X[:, 0], "word": pd.Categorical(np.where(X[:, 1] > 0, "yes", "no"))})
    columns = make_column_transformer((StandardScaler(), ["a"]), remainder="passthrough").set_output(transform="pandas")
    pipeline = make_pipeline(columns, pm.UDTClassifier(max_leaf_nodes=4)).fit(frame, Y)
    assert pipeline[-1].schema_.columns[1].kind == "categorical"
