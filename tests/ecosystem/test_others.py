"""Every estimator in other libraries: resampling, fairness, conformal sets, Shapley values, tuning, and ways to store objects."""

import pickle
import warnings

import cloudpickle
import numpy as np
import pytest
from sklearn.metrics import accuracy_score

import permissible as pm
from permissible import losses
from tests.ecosystem.cases import ESTIMATORS, FRAME, X, Y, estimator

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the warnings of other libraries are theirs
NAMES = pytest.mark.parametrize("name", ESTIMATORS)
GROUP = np.where(X[:, 4] + 0.5 * Y > 0, "m", "f")


@NAMES
def test_imbalanced_learn(name):
    from imblearn.ensemble import BalancedBaggingClassifier
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline

    rare = (Y == 0) | (np.arange(160) % 4 == 0)
    assert make_pipeline(SMOTE(random_state=0, k_neighbors=3), estimator(name)).fit(X[rare], Y[rare]).score(X, Y) > 0.6
    bagged = BalancedBaggingClassifier(estimator(name), n_estimators=3, random_state=0).fit(X[rare], Y[rare])
    assert bagged.score(X, Y) > 0.6


@NAMES
def test_fairlearn_reduces_and_adjusts(name):
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    def gap(predicted):
        return abs(predicted[GROUP == "m"].mean() - predicted[GROUP == "f"].mean())

    before = gap(estimator(name).fit(X, Y).predict(X))
    reduced = ExponentiatedGradient(estimator(name), DemographicParity(), max_iter=5)
    reduced.fit(X, Y, sensitive_features=GROUP)
    adjusted = ThresholdOptimizer(
        estimator=estimator(name), constraints="demographic_parity", predict_method="predict_proba"
    ).fit(X, Y, sensitive_features=GROUP)
    after = gap(adjusted.predict(X, sensitive_features=GROUP, random_state=0))
    assert after <= max(before, 0.15)
    assert set(reduced.predict(X, random_state=0)) <= {0, 1}


@NAMES
def test_mapie_makes_sets_that_cover(name):
    from mapie.classification import SplitConformalClassifier

    half = np.arange(160) % 2 == 0
    sets = SplitConformalClassifier(estimator(name).fit(X[half], Y[half]), confidence_level=0.9, prefit=True)
    sets.conformalize(X[~half], Y[~half])
    _, found = sets.predict_set(X[~half])
    assert found[np.arange((~half).sum()), Y[~half], 0].mean() >= 0.9


@NAMES
def test_shapley_values_add_up_to_the_probability(name):
    import shap

    fitted = estimator(name).fit(X, Y)
    explainer = shap.Explainer(lambda rows: fitted.predict_proba(rows)[:, 1], X[:20], algorithm="permutation", seed=0)
    found = explainer(X[:3])
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, fitted.predict_proba(X[:3])[:, 1], atol=1e-8)


def test_optuna_tunes():
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def cost(trial):
        rounds, rate = trial.suggest_int("n_rounds", 2, 8), trial.suggest_float("learning_rate", 0.05, 0.5, log=True)
        loss = trial.suggest_categorical("loss", ["logistic", "matsushita"])
        model = pm.ULSClassifier(loss, n_rounds=rounds, learning_rate=rate, early_stopping=False).fit(X[:100], Y[:100])
        return pm.Reject(0.2).risk(Y[100:], model.predict_proba(X[100:]))

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(cost, n_trials=4)
    assert study.best_value < 0.2


@pytest.mark.parametrize("library", [pickle, cloudpickle], ids=lambda library: library.__name__)
@NAMES
def test_pickles_give_the_same_bits(name, library):
    for rows in (X, FRAME):
        fitted = estimator(name).fit(rows, Y)
        expected = fitted.predict_proba(rows)  # after a prediction, which keeps forms of the model for the kernels
        again = pickle.loads(library.dumps(fitted))
        np.testing.assert_array_equal(again.predict_proba(rows), expected)


@NAMES
def test_skops_stores_what_it_may_name(name):
    import skops.io

    fitted = estimator(name).fit(FRAME, Y)
    expected = fitted.predict_proba(FRAME)
    data = skops.io.dumps(fitted)
    named = skops.io.get_untrusted_types(data=data)
    assert all(
        one.startswith(("permissible.", "numpy.", "sklearn.", "builtins.", "functools.", "math.")) for one in named
    )
    again = skops.io.loads(data, trusted=named)
    np.testing.assert_array_equal(again.predict_proba(FRAME), expected)


@pytest.mark.parametrize("loss", losses.names())
def test_every_loss_of_the_catalogue_can_be_stored(loss):
    import skops.io

    made = losses.get(loss)
    at = np.linspace(-3, 3, 13)
    for again in (
        pickle.loads(pickle.dumps(made)),
        pickle.loads(cloudpickle.dumps(made)),
        skops.io.loads(skops.io.dumps(made), trusted=skops.io.get_untrusted_types(data=skops.io.dumps(made))),
    ):
        np.testing.assert_array_equal(again.value(at), made.value(at))


def test_a_phi_of_ones_own_goes_by_cloudpickle():
    mine = losses.from_phi(lambda p: np.sin(np.pi * p), name="sine")
    fitted = pm.UDTClassifier(mine, max_leaf_nodes=4).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = cloudpickle.loads(cloudpickle.dumps(fitted))
    assert accuracy_score(again.predict(X), fitted.predict(X)) == 1
