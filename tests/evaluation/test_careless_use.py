"""Mistakes that are easily made: labels in another order, ties, tiny groups, splits that overlap. None passes in silence."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import permissible as pm
from permissible import metrics
from permissible.evaluation.intervals import percentile
from permissible.report.displays.cost import CostDisplay
from permissible.report.summary import summarise
from tests.evaluation.test_net_benefit import judged_rows

BY_NAME = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9], [0.7, 0.3]])  # columns well, ill
QUICK = {"n_bootstrap": 20}


def test_labels_are_those_of_the_given_classes_in_any_order():
    for y, classes in ((["well", "ill", "ill", "well"], ["well", "ill"]), ([2, 1, 1, 2], [2, 1])):
        found = metrics.decision_benefit(y, BY_NAME, pm.Hard(), classes=classes, n_bootstrap=0)
        assert found["cost"][0] == 0.0
    with pytest.raises(ValueError, match="`y` must be labels among"):
        metrics.decision_benefit([0, 1, 1, 0], BY_NAME, pm.Hard(), classes=[1, 2])


BINARY = {
    "net_benefit": lambda y, p, **options: metrics.net_benefit(y, p, [0.2, 0.6], **QUICK, **options),
    "difference": lambda y, p, **options: metrics.net_benefit_difference(y, p, p, [0.2], **QUICK, **options),
    "cost_curve": lambda y, p, **options: metrics.expected_cost_curve(y, p, [0.2, 0.6], **QUICK, **options),
    "calibration": lambda y, p, **options: metrics.calibration_summary(y, p, **QUICK, **options),
    "thresholds": lambda y, p, **options: metrics.threshold_table(y, p, **QUICK, **options),
    "subgroups": lambda y, p, **options: metrics.subgroup_table(y, p, np.arange(len(y)) % 2, **QUICK, **options),
}


@pytest.mark.parametrize("name", BINARY)
def test_the_positive_label_may_come_first_in_sorted_order(name):
    y, p = judged_rows(150)
    texts, numbers = np.where(y, "ill", "well"), np.where(y, -1, 1)
    wanted = BINARY[name](y, p)
    for labels in (texts, numbers):
        positive = labels[np.argmax(y)].item()
        for proba in (p, np.column_stack([p, 1 - p])):  # ill and -1 come first in sorted order
            found = BINARY[name](labels, proba, pos_label=positive)
            for key, column in wanted.items():
                np.testing.assert_array_equal(found[key], column)
    with pytest.raises(ValueError, match="`pos_label` must be one of the two labels"):
        BINARY[name](texts, p, pos_label="sick")


def test_displays_take_the_positive_label_from_estimators_too():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    y, p = judged_rows(150)
    X, labels = p[:, None], np.where(y, "ill", "well")
    model = LogisticRegression().fit(X, labels)
    risk = model.predict_proba(X)[:, 0]
    curve = pm.DecisionCurveDisplay.from_estimator(model, X, labels, [0.3], pos_label="ill", **QUICK).curve
    assert curve["net_benefit"] == metrics.net_benefit(y, risk, [0.3], n_bootstrap=0)["net_benefit"]
    bins = pm.CalibrationDisplay.from_estimator(model, X, labels, pos_label="ill").bins
    assert sum(one.happened * one.count for one in bins) == pytest.approx(y.sum())
    for made in (pm.CostCurveDisplay, pm.SubgroupDisplay):
        extra = [np.arange(150) % 2] if made is pm.SubgroupDisplay else []
        made.from_estimator(model, X, labels, *extra, pos_label="ill", **QUICK)
    pyplot.close("all")


def test_costs_by_name_are_those_of_the_labels():
    y, p = judged_rows(80)
    labels = np.where(y, "ill", "well")
    costs = pm.CostMatrix([[0, 1], [5, 0]], classes=["well", "ill"])
    wanted = metrics.threshold_table(y, p, [0.3], costs=[[0, 1], [5, 0]], n_bootstrap=0)["cost"]
    assert metrics.threshold_table(labels, p, [0.3], costs=costs, pos_label="ill", n_bootstrap=0)["cost"] == wanted
    swapped = np.where(y, "yes", "no")
    named = pm.CostMatrix([[0, 5], [1, 0]], classes=["yes", "no"])
    assert metrics.threshold_table(swapped, p, [0.3], costs=named, n_bootstrap=0)["cost"] == wanted


def test_validate_judges_the_class_that_is_asked_for():
    y, p = judged_rows(200)
    X = np.column_stack([p, p**2])
    costs = pm.CostMatrix([[0, 5], [1, 0]], classes=["ill", "well"])
    labels = np.where(y, "ill", "well")
    first = pm.validate(LogisticRegression(), X, labels, decision=costs, pos_label="ill", **QUICK)
    second = pm.validate(LogisticRegression(), X, y, decision=[[0, 1], [5, 0]], **QUICK)
    assert first.classes == ("well", "ill")
    np.testing.assert_allclose(first.proba["LogisticRegression"], second.proba["LogisticRegression"], atol=1e-6)
    for table in ("thresholds", "net_benefit", "calibration", "decision"):
        for name, column in second.tables[table].items():
            if isinstance(column, np.ndarray):
                np.testing.assert_allclose(first.tables[table][name], column, atol=1e-4, err_msg=name)
    unnamed = pm.validate(LogisticRegression(), X, labels, decision=[[0, 5], [1, 0]], pos_label="ill", **QUICK)
    np.testing.assert_array_equal(unnamed.tables["decision"]["cost"], first.tables["decision"]["cost"])


def test_a_probability_of_one_half_is_counted_as_predict_counts_it():
    y, p = np.array([0, 1, 1, 0, 0, 1] * 10), np.array([0.5, 0.5, 0.9, 0.1, 0.5, 0.5] * 10)

    class Fixed(LogisticRegression):
        def predict_proba(self, X):
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    found = pm.validate(Fixed(), p[:, None], y, n_bootstrap=0)
    table = found.to_frame("thresholds").set_index("threshold")
    wrong = ((p >= 0.5) != y).mean()
    assert found.tables["decision"]["cost"][0] == pytest.approx(wrong)
    assert (table.loc[0.5, "fp"] + table.loc[0.5, "fn"]) / len(y) == pytest.approx(wrong)


def test_a_few_equal_rows_do_not_make_a_group_differ():
    y, p = judged_rows(400)
    groups = np.where(np.arange(400) < 3, "tiny", "big")
    y[:3], p[:3] = 1, 0.95  # sensitivity 1, net benefit 1: no resample of these rows differs
    found = metrics.subgroup_table(y, p, groups)
    assert not any(found["differs"])
    tiny = [
        k for k, name in enumerate(found["group"]) if name == "tiny" and found["measure"][k] in ("o_e", "net_benefit")
    ]
    assert np.isnan(found["low"][tiny]).all()
    assert np.isnan(found["difference_low"][tiny]).all()


def test_differences_of_shares_have_newcombes_interval():
    found = metrics.subgroup_table(
        [1] * 80 + [0], [0.9] * 56 + [0.1] * 25, ["a"] * 40 + ["b"] * 41, ["flagged"], level=0.95
    )
    # 40 of 40 flagged beside 16 of 41: Wilson's ends at z for two comparisons
    z = 2.241402727604947

    def wilson(k, n):
        centre, half = (k + z * z / 2) / (n + z * z), z / (n + z * z) * np.sqrt(k * (n - k) / n + z * z / 4)
        return centre - half, centre + half

    (l1, u1), (l2, u2) = wilson(40, 40), wilson(16, 41)
    d = 1 - 16 / 41
    assert found["difference_low"][0] == pytest.approx(d - np.hypot(1 - l1, u2 - 16 / 41))
    assert found["difference_high"][0] == pytest.approx(d + np.hypot(u1 - 1, 16 / 41 - l2), abs=1e-9)


def test_intervals_of_differences_hold_for_all_columns_at_once():
    y, p = judged_rows(600)
    X, group = p[:, None], np.arange(600) % 3
    one = pm.validate(LogisticRegression(), X, y, subgroups={"a": group}, n_bootstrap=100).to_frame("subgroups")
    both = pm.validate(LogisticRegression(), X, y, subgroups={"a": group, "b": group}, n_bootstrap=100)
    two = both.to_frame("subgroups").query("column == 'a'")
    wider = (two["difference_high"] - two["difference_low"]) / (one["difference_high"] - one["difference_low"])
    assert (wider[one["measure"] != "sensitivity"] > 1.03).all()


def test_infinite_resamples_count_in_an_interval():
    low, high = percentile(np.array([1.0, 2.0, 3.0, np.inf, np.inf, np.nan]), 0.5)
    assert (float(low), float(high)) == (2.0, np.inf)
    low, high = percentile(np.full((4, 1), -np.inf), 0.9)
    assert (low[0], high[0]) == (-np.inf, -np.inf)


ROWS = np.arange(60)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((ROWS[:, None], np.where(ROWS == 3, np.nan, ROWS % 2)), {}, "`y` must be labels without missing values"),
        ((ROWS[:50, None], ROWS % 2), {}, "`y` must be 1-D with 50 labels"),
        ((ROWS[:, None], (ROWS % 2)[:, None]), {}, "`y` must be 1-D with 60 labels"),
        ((ROWS[:, None], ROWS % 2), {"cv": [(ROWS, ROWS[:30]), (ROWS, ROWS[30:])]}, "60 rows in both parts"),
        ((ROWS[:, None], ROWS % 3), {"pos_label": 1}, "`pos_label` must be one of two classes"),
        ((ROWS[:, None], ROWS % 2), {"cv": []}, "`cv` must be pairs of training rows"),
        ((ROWS[:, None], ROWS % 2), {"cv": [1, 2]}, "`cv` must be pairs of training rows"),
        ((ROWS[:, None], ROWS % 2), {"cv": [(ROWS[30:], ROWS[:30] - 60)]}, "`cv` must be splits of rows 0 to 59"),
        (({"a": ROWS, "b": ROWS[1:]}, ROWS % 2), {}, "`X` must be columns of one length"),
    ],
)
def test_what_would_be_judged_wrongly_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        pm.validate(LogisticRegression(), *arguments, **options)


def test_models_whose_names_are_one_text_are_refused():
    with pytest.raises(ValueError, match="names that differ as text"):
        pm.validate({1: LogisticRegression(), "1": LogisticRegression()}, ROWS[:, None], ROWS % 2)


def test_a_class_may_be_called_refer():
    y, p = judged_rows(60)
    labels = np.where(y, "refer", "keep")
    told = metrics.decision_benefit(labels, p, pm.Reject(0.2), classes=["keep", "refer"], n_bootstrap=0)["strategy"]
    assert sorted(told) == ["always keep", "always leave to a person", "always refer", "model"]
    X = {"p": p}
    summary = summarise(pm.UDTClassifier(max_leaf_nodes=3).fit(X, labels), X, labels, decision=pm.Reject(0.2))
    named = {"always predicting keep", "always predicting refer", "always leaving the row to a person", "the model"}
    assert {one.name for one in summary.answer.strategies} == named
    with pytest.raises(ValueError, match="`proba` must be of shape"):
        summarise(pm.UDTClassifier(max_leaf_nodes=3).fit(X, labels), X, labels, proba=p[:5])


def test_splits_may_be_truth_values_and_folds_a_numpy_integer():
    X, y = ROWS[:, None] % 7, ROWS % 2
    masks = [(ROWS < 30, ROWS >= 30), (ROWS >= 30, ROWS < 30)]
    first, second = (
        pm.validate(LogisticRegression(), X, y, cv=cv, n_bootstrap=0).proba["LogisticRegression"]
        for cv in (masks, [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in masks])
    )
    np.testing.assert_array_equal(first, second)
    assert (
        pm.validate(LogisticRegression(), X, y, cv=np.int64(3), n_bootstrap=0).about
        == "60 rows, 3-fold cross-validation"
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: metrics.decision_benefit([0, 1, 1, 0], BY_NAME, pm.Hard(), classes=["a", "a"]),
            "`classes` must be dif",
        ),
        (lambda: pm.CalibrationDisplay.from_predictions([0, 1], [0.2, 0.9], n_bins=0), "`n_bins` must be an integer"),
        (lambda: pm.CalibrationDisplay.from_predictions([0, 1], [0.2, 0.9], n_bins="a"), "`n_bins` must be an integer"),
        (lambda: CostDisplay.of([0, 1, 1], [0, 1]), "`decided` must be one decision for each of the 3 rows"),
        (
            lambda: pm.UDTClassifier().fit([[0], [1]], [0, 1]).margin_distribution([[0], [1]], [0, 1], at="a"),
            "`at` must be an array of margins",
        ),
    ],
)
def test_what_would_pass_in_silence_or_fail_in_numpy_is_refused(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()
