"""Calibration, thresholds and subgroups against statsmodels, scikit-learn and counting; weights; seeds."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn import metrics as referee
from sklearn.isotonic import IsotonicRegression

import permissible as pm
from permissible import metrics
from permissible.evaluation.intervals import wilson
from tests.evaluation.test_net_benefit import judged_rows


def summary(*arguments, **options):
    found = metrics.calibration_summary(*arguments, **options)
    return dict(zip(found["measure"], found["value"], strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_intercept_and_slope_are_the_logistic_recalibration_of_statsmodels(seed):
    sm = pytest.importorskip("statsmodels.api")
    y, p = judged_rows(150 * (seed + 1), seed)
    generator = np.random.default_rng(seed)
    weight = [np.ones(len(y)), generator.integers(1, 4, len(y)).astype(float), generator.uniform(0.1, 5, len(y))][
        seed % 3
    ]
    family, x = sm.families.Binomial(), logit(p)
    options = {"tol": 1e-14, "maxiter": 200}
    large = sm.GLM(y, np.ones((len(y), 1)), family=family, offset=x, freq_weights=weight).fit(**options)
    both = sm.GLM(y, sm.add_constant(x), family=family, freq_weights=weight).fit(**options)
    found = summary(y, p, sample_weight=weight, n_bootstrap=0)
    assert found["intercept"] == pytest.approx(large.params[0], abs=1e-8)
    assert found["slope"] == pytest.approx(both.params[1], abs=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("decimals", [None, 1, 2])
def test_the_corp_parts_add_up_to_the_brier_score(decimals, weighted):
    y, p = judged_rows(400, seed=2, decimals=decimals)
    weight = np.random.default_rng(3).uniform(0.1, 4, 400) if weighted else np.ones(400)
    found = summary(y, p, sample_weight=weight, n_bootstrap=0)
    brier = referee.brier_score_loss(y, p, sample_weight=weight)
    parts = found["miscalibration"] - found["discrimination"] + found["uncertainty"]
    assert parts == pytest.approx(brier, abs=1e-12)
    recalibrated = np.clip(IsotonicRegression().fit(p, y, sample_weight=weight).predict(p), 0, 1)
    after = referee.brier_score_loss(y, recalibrated, sample_weight=weight)
    assert found["miscalibration"] == pytest.approx(brier - after, abs=1e-10)
    assert found["auc"] == pytest.approx(referee.roc_auc_score(y, p, sample_weight=weight), abs=1e-12)
    assert found["o_e"] == pytest.approx(np.average(y, weights=weight) / np.average(p, weights=weight))


def test_a_calibration_that_has_no_slope_says_so():
    separated = summary([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], n_bootstrap=0)
    assert separated["slope"] == np.inf
    assert summary([1, 1, 0, 0], [0.1, 0.2, 0.7, 0.9], n_bootstrap=0)["slope"] == -np.inf
    assert np.isnan(summary([0, 1, 1], [0.4, 0.4, 0.4], n_bootstrap=0)["slope"])
    alone = summary([1, 1], [0.4, 0.8], n_bootstrap=20)
    assert alone["intercept"] == np.inf
    assert np.isnan(alone["auc"])


def test_probabilities_of_zero_and_one_leave_the_figures_finite():
    y, p = judged_rows(200)
    p[:5], p[5:9] = 0.0, 1.0
    found = summary(y, p, n_bootstrap=0)
    assert np.isfinite(list(found.values())).all()


def test_the_threshold_table_counts():
    y, p = judged_rows(500, decimals=2)
    found = metrics.threshold_table(y, p, [0.1, 0.3, 0.6], costs=[[0, 2], [9, 0]], n_bootstrap=20)
    for k, t in enumerate(found["threshold"]):
        (tn, fp), (fn, tp) = referee.confusion_matrix(y, p > t)
        assert [found[name][k] for name in ("tn", "fp", "fn", "tp")] == [tn, fp, fn, tp]
        assert found["sensitivity"][k] == pytest.approx(referee.recall_score(y, p > t))
        assert found["ppv"][k] == pytest.approx(referee.precision_score(y, p > t))
        assert found["specificity"][k] == pytest.approx(tn / (tn + fp))
        assert found["npv"][k] == pytest.approx(tn / (tn + fn))
        assert found["flagged"][k] == pytest.approx((p > t).mean())
        assert found["cost"][k] == pytest.approx((2 * fp + 9 * fn) / 500)
        assert (found["ppv_low"][k], found["ppv_high"][k]) == pytest.approx(wilson(tp / (tp + fp), tp + fp))


def test_without_costs_a_threshold_is_judged_by_the_costs_at_which_it_is_right():
    y, p = judged_rows(300)
    found = metrics.threshold_table(y, p, [0.2], n_bootstrap=0)
    assert found["cost"][0] == pytest.approx(y.mean() - found["net_benefit"][0])


def test_a_share_of_no_rows_is_not_a_number():
    found = metrics.threshold_table([0, 1], [0.2, 0.3], [0.9])
    assert np.isnan(found["ppv"][0])
    assert np.isnan(found["ppv_low"][0])
    assert found["npv"][0] == 0.5


ALL = {
    "net_benefit": lambda y, p, w: metrics.net_benefit(y, p, [0.1, 0.3, 0.5], sample_weight=w, n_bootstrap=100),
    "cost_curve": lambda y, p, w: metrics.expected_cost_curve(y, p, [0.1, 0.5], sample_weight=w, n_bootstrap=100),
    "calibration": lambda y, p, w: metrics.calibration_summary(y, p, sample_weight=w, n_bootstrap=100),
    "thresholds": lambda y, p, w: metrics.threshold_table(y, p, sample_weight=w, n_bootstrap=100),
    "decision": lambda y, p, w: metrics.decision_benefit(y, p, pm.Reject(0.2), sample_weight=w, n_bootstrap=100),
    "soft": lambda y, p, w: metrics.decision_benefit(y, p, pm.Soft(), sample_weight=w, n_bootstrap=100),
}


def assert_same(first, second):
    assert list(first) == list(second)
    for name, column in first.items():
        if isinstance(column, np.ndarray) and column.dtype.kind == "f":
            np.testing.assert_allclose(column, second[name], rtol=1e-12, atol=1e-14, err_msg=name)
        else:
            assert list(column) == list(second[name])


@pytest.mark.parametrize("name", ALL)
def test_weight_two_is_the_row_twice_intervals_included(name):
    y, p = judged_rows(120, decimals=2)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    often = np.repeat(np.arange(len(y)), weight)
    shuffled = np.random.default_rng(1).permutation(often)
    assert_same(ALL[name](y, p, weight), ALL[name](y[shuffled], p[shuffled], None))


@pytest.mark.parametrize("name", ALL)
def test_the_seed_decides_the_intervals(name):
    y, p = judged_rows(100)
    assert_same(ALL[name](y, p, None), ALL[name](y, p, None))


def test_subgroups_by_weights_are_those_of_repeated_rows():
    y, p = judged_rows(200, decimals=2)
    generator = np.random.default_rng(5)
    weight, groups = generator.integers(1, 3, 200), generator.choice(["a", "b", "c"], 200)
    often = np.repeat(np.arange(200), weight)
    options = {"measures": ["o_e", "slope", "sensitivity", "miscalibration"], "n_bootstrap": 60}
    assert_same(
        metrics.subgroup_table(y, p, groups, sample_weight=weight, **options),
        metrics.subgroup_table(y[often], p[often], groups[often], **options),
    )


def test_a_subgroup_is_the_table_of_its_rows():
    y, p = judged_rows(600)
    groups = np.where(np.arange(600) % 3 == 0, "few", "many").astype(object)
    groups[:30] = None
    found = metrics.subgroup_table(y, p, groups, ["brier", "ppv"], threshold=0.3, min_events=30)
    assert found["group"][::2] == ["few", "many", "missing"]
    for k, name in enumerate(found["group"]):
        inside = np.array([g is None for g in groups]) if name == "missing" else groups == name
        if found["measure"][k] == "brier":
            assert found["value"][k] == pytest.approx(referee.brier_score_loss(y[inside], p[inside]))
            rest = referee.brier_score_loss(y[~inside], p[~inside])
            assert found["difference"][k] == pytest.approx(found["value"][k] - rest)
        else:
            assert found["value"][k] == pytest.approx(referee.precision_score(y[inside], p[inside] > 0.3))
        assert found["small"][k] == (min(y[inside].sum(), (1 - y[inside]).sum()) < 30)
        assert (found["rows"][k], found["events"][k]) == (inside.sum(), y[inside].sum())


@pytest.mark.parametrize("shift", [0.0, 0.15])
def test_a_group_that_is_served_worse_is_found_and_chance_is_not(shift):
    generator = np.random.default_rng(0)
    groups = generator.choice(list("abcdefgh"), 4000)
    p = generator.beta(2, 4, 4000)
    y = generator.random(4000) < np.where(groups == "c", np.clip(p + shift, 0, 1), p)
    found = metrics.subgroup_table(y, p, groups, ["o_e", "intercept"])
    differing = {name for name, differs in zip(found["group"], found["differs"], strict=True) if differs}
    assert differing == ({"c"} if shift else set())


def test_numbers_are_cut_at_their_quartiles():
    y, p = judged_rows(400)
    age = np.arange(400.0)
    age[7] = np.nan
    found = metrics.subgroup_table(y, p, age, ["auc"], n_bootstrap=10)
    assert found["group"] == ["up to 100", "100 to 200", "200 to 299", "above 299", "missing"]
    assert found["rows"].sum() == 400


def test_labels_may_be_texts():
    y, p = judged_rows(100)
    assert_same(
        metrics.net_benefit(np.where(y, "sick", "healthy"), p, [0.2]), metrics.net_benefit(y.astype(bool), p, [0.2])
    )


def test_many_distinct_probabilities_are_grouped_for_the_resamples_only():
    y, p = judged_rows(30_000)
    found = metrics.calibration_summary(y, p, n_bootstrap=200)
    assert dict(zip(found["measure"], found["value"], strict=True))["brier"] == pytest.approx(((y - p) ** 2).mean())
    halfway = (found["low"] + found["high"]) / 2
    width = found["high"] - found["low"]
    inside = [name not in ("uncertainty", "miscalibration", "discrimination") for name in found["measure"]]
    assert (np.abs(halfway - found["value"])[inside] < 0.25 * width[inside]).all()
    assert (found["low"] <= found["high"]).all()
