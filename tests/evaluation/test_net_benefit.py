"""Net benefit against dcurves and closed forms; its generalisation against the decisions' own risks."""

from pathlib import Path

import numpy as np
import pytest

import permissible as pm
from permissible import metrics

PUBLISHED = "dcurves"


def judged_rows(n_rows=300, seed=0, decimals=None):
    generator = np.random.default_rng(seed)
    p = generator.beta(1.2, 2.5, n_rows)
    y = (generator.random(n_rows) < p**1.3).astype(int)
    return y, p if decimals is None else p.round(decimals)


def dcurves_data():
    dcurves = pytest.importorskip(PUBLISHED)
    pandas = pytest.importorskip("pandas")
    return dcurves, pandas.read_csv(Path(dcurves.data) / "df_binary.csv").astype({"cancer": int})


@pytest.mark.filterwarnings("ignore")
def test_net_benefit_is_that_of_dcurves_on_its_own_data():
    dcurves, rows = dcurves_data()
    markers, thresholds = ["famhistory", "marker", "cancerpredmarker"], np.arange(0, 1, 0.01)
    theirs = dcurves.dca(
        data=rows, outcome="cancer", modelnames=markers, models_to_prob=["marker"], thresholds=thresholds
    )
    statsmodels = pytest.importorskip("statsmodels.api")
    risk = {name: rows[name].to_numpy(dtype=float) for name in markers}
    fitted = statsmodels.GLM(
        rows["cancer"], statsmodels.add_constant(rows["marker"]), family=statsmodels.families.Binomial()
    )
    risk["marker"] = np.asarray(fitted.fit().predict())  # dcurves turns a marker into a risk by a logistic regression
    for name in markers:
        found = metrics.net_benefit(rows["cancer"].to_numpy(), risk[name], thresholds, n_bootstrap=0)
        of = theirs[theirs["model"] == name].sort_values("threshold")
        np.testing.assert_allclose(found["net_benefit"], of["net_benefit"].to_numpy(), rtol=0, atol=1e-12)
        everybody = theirs[theirs["model"] == "all"].sort_values("threshold")["net_benefit"].to_numpy()
        np.testing.assert_allclose(found["treat_all"], everybody, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(found["treat_none"], 0.0)


def test_net_benefit_is_the_saving_of_weighted_in_units_of_a_miss():
    y, p = judged_rows(decimals=2)
    found = metrics.net_benefit(y, p, [0.1, 0.25, 0.5, 0.8], n_bootstrap=0)
    for t, benefit in zip(found["threshold"], found["net_benefit"], strict=True):
        never = 2 * (1 - t) * y.mean()
        assert benefit == pytest.approx((never - pm.Weighted(t).risk(y, p)) / (2 * (1 - t)), abs=1e-14)


def test_a_row_at_the_threshold_is_decided_as_weighted_decides():
    for t in (0.2, 0.25, 0.7):
        table = metrics.threshold_table([0, 1, 1], [t, t, 0.9], [t], n_bootstrap=0)
        assert table["tp"] + table["fp"] == pm.Weighted(t).decide([t, t, 0.9]).sum()


def test_standardised_net_benefit_of_a_perfect_model_is_one():
    found = metrics.net_benefit([0, 0, 1], [0.0, 0.0, 1.0], n_bootstrap=0)
    np.testing.assert_allclose(found["standardised_net_benefit"], 1.0, rtol=1e-12)


DECISIONS = [
    pm.Hard(),
    pm.Weighted(0.2),
    pm.Reject(0.15),
    pm.Boundaries([0.2, 0.5, 0.7]),
    pm.CostMatrix([[0, 1], [7, 0]], reject_cost=0.3),
    pm.Soft(),
]


@pytest.mark.parametrize("decision", DECISIONS, ids=repr)
def test_the_benefit_of_a_decision_is_its_risk_below_the_best_constant_action(decision):
    y, p = judged_rows()
    found = metrics.decision_benefit(y, p, decision, n_bootstrap=50)
    assert found["strategy"][0] == "model"
    assert found["cost"][0] == pytest.approx(decision.risk(y, p))
    # constant actions by brute force: every action that a constant probability can bring about
    constants = [decision.risk(y, np.full(len(y), q)) for q in (0.0, 1.0, *np.linspace(0.005, 0.995, 199), y.mean())]
    assert found["cost"][1] == pytest.approx(min(constants), abs=1e-12)
    assert found["saving"][1] == pytest.approx(min(constants) - decision.risk(y, p), abs=1e-12)
    assert (np.diff(found["cost"][1:]) >= 0).all()
    assert (found["saving_low"][1:] <= found["saving"][1:]).all()


def test_a_cost_matrix_of_several_classes():
    generator = np.random.default_rng(1)
    proba = generator.dirichlet([1, 2, 3], 200)
    y = np.array([generator.choice(3, p=row) for row in proba])
    costs = pm.CostMatrix([[0, 1, 5], [2, 0, 1], [4, 2, 0]], classes=["a", "b", "c"])
    found = metrics.decision_benefit(np.array(["a", "b", "c"])[y], proba, costs, classes=["a", "b", "c"])
    always = {f"always {name}": costs.matrix[y, k].mean() for k, name in enumerate("abc")}
    told = dict(zip(found["strategy"], found["cost"], strict=True))
    assert told == pytest.approx({"model": costs.risk(y, proba), **always})


def test_a_decision_of_ones_own_is_compared_with_equal_probabilities():
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Lateness(pm.decisions.Decision):
        def loss(self, y, proba):
            p = np.asarray(proba)[:, 1]
            return np.abs(np.asarray(y) - p)

    found = metrics.decision_benefit([0, 1], [0.2, 0.6], Lateness(), n_bootstrap=0)
    assert found["cost"].tolist() == pytest.approx([0.3, 0.5])


def test_the_area_under_the_cost_curve_is_the_brier_score():
    y, p = judged_rows(decimals=3)
    at = (np.arange(20_000) + 0.5) / 20_000
    found = metrics.expected_cost_curve(y, p, at, n_bootstrap=0)
    assert found["cost"].mean() == pytest.approx(((y - p) ** 2).mean(), abs=1e-6)
    parts = metrics.calibration_summary(y, p, n_bootstrap=0)
    value = dict(zip(parts["measure"], parts["value"], strict=True))
    assert found["best"].mean() == pytest.approx(value["brier"] - value["miscalibration"], abs=1e-6)
    assert (found["best"] <= found["cost"] + 1e-12).all()
    assert (found["best"] <= np.minimum(found["act_on_all"], found["act_on_none"]) + 1e-12).all()


def test_best_is_the_least_cost_over_every_cut_of_the_scores():
    y, p = judged_rows(60, seed=4)
    found = metrics.expected_cost_curve(y, p, [0.2, 0.5, 0.9], n_bootstrap=0)
    for t, best in zip(found["threshold"], found["best"], strict=True):
        cuts = [
            2 * t * ((p >= cut) & (y == 0)).mean() + 2 * (1 - t) * ((p < cut) & (y == 1)).mean() for cut in [*p, 2.0]
        ]
        assert best == pytest.approx(min(cuts), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.5, 1.5]), "probabilities in"),
        (([0, 1], [0.5, 0.6], [1.0]), "`thresholds` must be probabilities of at least 0 and below 1, got 1"),
        (([0, 2], [0.5, 0.6]), "`y` must be codes of classes"),
        ((["a", "b", "c"], [0.1, 0.2, 0.3]), "`y` must be labels of 2 classes, got 3 different ones"),
        (([], []), "`y` must be at least one row, got none"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        metrics.net_benefit(*arguments)
