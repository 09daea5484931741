"""pm.validate: out-of-fold probabilities are scikit-learn's, optimism is taken off, models are compared on the same rows."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, RepeatedKFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import permissible as pm
from permissible import metrics

QUICK = {"n_bootstrap": 40}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :8], np.where(y == 0, "ill", "well")


def logistic():
    return make_pipeline(StandardScaler(), LogisticRegression())


def test_cross_validated_probabilities_are_those_of_scikit_learn(cancer):
    X, y = cancer
    splitter = StratifiedKFold(4, shuffle=True, random_state=7)
    found = pm.validate({"logistic": logistic()}, X, y, cv=splitter, **QUICK)
    wanted = cross_val_predict(logistic(), X, y, cv=splitter, method="predict_proba")
    np.testing.assert_allclose(found.proba["logistic"], wanted, rtol=1e-12)
    table = metrics.calibration_summary(y, wanted, **QUICK)
    np.testing.assert_array_equal(found.tables["calibration"]["value"], table["value"])
    np.testing.assert_array_equal(found.tables["calibration"]["low"], table["low"])


def test_several_models_are_judged_side_by_side_with_paired_differences(cancer):
    X, y = cancer
    models = {"logistic": logistic(), "bayes": GaussianNB(), "tree": pm.UDTClassifier(max_leaf_nodes=4)}
    found = pm.validate(models, X, y, decision=pm.CostMatrix([[0, 9], [1, 0]]), thresholds=[0.2], **QUICK)
    assert list(dict.fromkeys(found.tables["thresholds"]["model"])) == list(models)
    difference = found.to_frame("difference")
    line = difference[(difference["model"] == "logistic minus bayes") & (difference["threshold"] == 0.9)].iloc[0]
    of = {name: metrics.net_benefit(y, found.proba[name], [0.9], n_bootstrap=0)["net_benefit"][0] for name in models}
    assert line["difference"] == pytest.approx(of["logistic"] - of["bayes"])
    assert line["low"] <= line["difference"] <= line["high"]
    costs = pm.CostMatrix([[0, 9], [1, 0]])
    codes = (y == "well").astype(int)
    paid = difference[(difference["model"] == "logistic minus tree") & (difference["measure"] == "cost")].iloc[0]
    wanted = costs.risk(codes, found.proba["logistic"]) - costs.risk(codes, found.proba["tree"])
    assert paid["difference"] == pytest.approx(wanted)


def test_a_model_beside_itself_differs_nowhere(cancer):
    X, y = cancer
    found = pm.validate([logistic(), logistic()], X, y, **QUICK)
    assert found.models == ("Pipeline 1", "Pipeline 2")
    for end in ("difference", "low", "high"):
        np.testing.assert_array_equal(found.tables["difference"][end], 0.0)


def test_paired_intervals_are_narrower_than_those_of_unrelated_rows():
    generator = np.random.default_rng(0)
    p = generator.beta(1, 2, 500)
    y = generator.random(500) < p
    other = np.clip(p + generator.normal(0, 0.03, 500), 0, 1)
    paired = metrics.net_benefit_difference(y, p, other, [0.3])
    alone = [metrics.net_benefit(y, one, [0.3]) for one in (p, other)]
    unrelated = np.hypot(*(one["net_benefit_high"] - one["net_benefit_low"] for one in alone))
    assert paired["difference_high"] - paired["difference_low"] < 0.6 * unrelated
    assert paired["difference"] == pytest.approx(alone[0]["net_benefit"] - alone[1]["net_benefit"])


def test_the_bootstrap_takes_optimism_off():
    generator = np.random.default_rng(3)
    X, y = generator.normal(size=(150, 8)), generator.integers(0, 2, 150)  # nothing to be learnt
    found = pm.validate(pm.UDTClassifier(max_leaf_nodes=12), X, y, cv="bootstrap", n_refits=25, **QUICK)
    value = dict(zip(found.tables["calibration"]["measure"], found.tables["calibration"]["value"], strict=True))
    seen = metrics.calibration_summary(y, found.proba["UDTClassifier"], n_bootstrap=0)
    apparent = dict(zip(seen["measure"], seen["value"], strict=True))
    assert apparent["auc"] > 0.75
    assert value["auc"] < 0.5 + 0.6 * (apparent["auc"] - 0.5)
    benefit = found.tables["net_benefit"]
    assert (benefit["net_benefit_low"] <= benefit["net_benefit_high"] + 1e-12).all()
    assert "tp" not in found.tables["thresholds"]


def test_optimism_is_that_of_harrell_by_hand(cancer):
    X, y = cancer[0][:120], cancer[1][:120]
    codes, costs = (y == "well").astype(int), np.array([[0, 1], [4, 0]])
    found = pm.validate(
        GaussianNB(), X, y, cv="bootstrap", decision=costs, n_refits=4, n_bootstrap=0, thresholds=[0.3], random_state=5
    )

    def figures(truth, p):
        flagged = p > 0.3
        benefit = (flagged & (truth == 1)).mean() - (flagged & (truth == 0)).mean() * 0.3 / 0.7
        slope = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
            logit(np.clip(p, 1e-10, 1 - 1e-10))[:, None], truth
        )
        paid = costs[truth, np.where(4 * p > 1 - p, 1, 0)].mean()
        brier, auc, sensitivity = ((truth - p) ** 2).mean(), roc_auc_score(truth, p), flagged[truth == 1].mean()
        return np.array([brier, auc, benefit, sensitivity, paid, slope.coef_[0, 0]])

    generator, optimism = np.random.default_rng(5), []
    for _ in range(4):
        rows = np.sort(generator.choice(120, 120, p=np.full(120, 1 / 120)))
        p = GaussianNB().fit(X[rows], y[rows]).predict_proba(X)[:, 1]
        optimism.append(figures(codes[rows], p[rows]) - figures(codes, p))
    wanted = figures(codes, GaussianNB().fit(X, y).predict_proba(X)[:, 1]) - np.mean(optimism, axis=0)
    calibration = found.to_frame("calibration").set_index("measure")["value"]
    at = found.to_frame("thresholds").set_index("threshold").loc[0.3]
    paid = found.to_frame("decision").set_index("strategy").loc["model", "cost"]
    told = [calibration["brier"], calibration["auc"], at["net_benefit"], at["sensitivity"], paid]
    np.testing.assert_allclose(told, wanted[:5], rtol=0, atol=1e-12)
    assert calibration["slope"] == pytest.approx(wanted[5], rel=1e-4)


def test_several_classes_have_costs_and_a_calibration_of_each_class():
    X, y = load_iris(return_X_y=True)
    found = pm.validate(
        [GaussianNB(), pm.UDTClassifier(max_leaf_nodes=3)], X, y, decision=pm.CostMatrix.ordinal(3), **QUICK
    )
    assert set(found.tables) == {"decision", "calibration", "difference"}
    assert set(found.tables["calibration"]["class"]) == {"0", "1", "2"}
    assert "always 1" in found.tables["decision"]["strategy"]


def test_renderings_say_the_same(cancer):
    X, y = cancer
    columns = {f"c{j}": column for j, column in enumerate(X.T)}
    columns["site"] = np.where(np.arange(len(y)) % 2, "north & <b>", "south")
    model = pm.UDTClassifier(max_leaf_nodes=4)
    found = pm.validate(model, columns, y, subgroups=["site"], **QUICK)
    text, html, frame = found.to_text(), found.to_html(), found.to_frame()
    assert "south" in text
    assert "<b>" not in html
    assert "north &amp; &lt;b&gt;" in html
    auc = frame[(frame["table"] == "calibration") & (frame["measure"] == "auc")]["value"].iloc[0]
    assert f"{auc:.3f} (" in text
    assert f"{auc:.3f} (" in html
    assert str(found) == text
    assert len(found.to_frame("subgroups")) == 10
    with pytest.raises(ValueError, match="`table` must be one of"):
        found.to_frame("nothing")


def test_data_frames_and_weights(cancer):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = cancer
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    options = {"sample_weight": weight, **QUICK}
    tables = [
        pm.validate(pm.UDTClassifier(max_leaf_nodes=4), made, y, **options).tables["calibration"]["value"]
        for made in (X, pandas.DataFrame(X), polars.DataFrame(X))
    ]
    np.testing.assert_array_equal(tables[0], tables[1])
    np.testing.assert_array_equal(tables[0], tables[2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": "loo"}, "`cv` must be a number of folds"),
        ({"cv": RepeatedKFold(n_splits=3, n_repeats=2)}, "hold each row out once"),
        ({"n_refits": 5}, "`n_refits` must be None without"),
        ({"cv": 500}, "`cv` must be at most"),
        ({"cv": KFold(2)}, "training rows have every class"),
        ({"subgroups": ["age"]}, "`subgroups` must be names of columns of X"),
        ({"cv": "bootstrap", "subgroups": {"a": np.zeros(569)}}, "None with the bootstrap"),
    ],
)
def test_what_cannot_be_validated_is_refused_in_one_sentence(options, message, cancer):
    X, y = cancer
    order = np.argsort(y, kind="stable") if "KFold(" in repr(options) else np.arange(len(y))
    rows = (
        order[100:320]
        if "`cv`" not in message and "KFold(" in repr(options) and "Repeated" not in repr(options)
        else order
    )
    with pytest.raises(ValueError, match=message):
        pm.validate(GaussianNB(), X[rows], y[rows], **QUICK, **options)


def test_an_estimator_without_probabilities_is_refused(cancer):
    with pytest.raises(TypeError, match="`estimator` must be a classifier with predict_proba"):
        pm.validate(StandardScaler(), *cancer)
