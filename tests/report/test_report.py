"""The summary says what independent referees say, and the page escapes everything."""

import json
import re
from html import unescape

import numpy as np
import pytest
from plotly.offline import get_plotlyjs
from sklearn import metrics as referee

import permissible as pm
from permissible.evaluation.curves import cumulative, probability_margins, reliability, risk_coverage
from permissible.evaluation.metrics import metrics, wilson
from permissible.report.charts import charts
from permissible.report.page import embedded, page
from permissible.report.summary import summarise
from tests.report.pages import EVIL, EVIL_CATEGORY, models


@pytest.fixture(scope="module")
def fitted():
    return models()


def test_figures_agree_with_scikit_learn(fitted):
    estimator, X, y = fitted["rules"]
    proba = estimator.predict_proba(X)
    codes = np.searchsorted(estimator.classes_, y)
    found = {metric.key: metric.value for metric in metrics(codes, proba, pm.Reject(0.2))}
    assert found["error"] == pytest.approx(1 - referee.accuracy_score(y, estimator.predict(X)))
    assert found["log_loss"] == pytest.approx(referee.log_loss(y, proba))
    assert found["brier"] == pytest.approx(referee.brier_score_loss(y, proba[:, 1], pos_label=estimator.classes_[1]))
    assert found["cost"] == pytest.approx(pm.Reject(0.2).risk(codes, proba))


def test_weight_two_is_the_row_twice(fitted):
    estimator, X, y = fitted["tree"]
    codes, proba = np.searchsorted(estimator.classes_, y), estimator.predict_proba(X)
    weight = np.where(np.arange(len(codes)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(codes)), weight.astype(int))
    for weighted, repeated in zip(
        metrics(codes, proba, None, weight), metrics(codes[twice], proba[twice]), strict=True
    ):
        assert weighted.value == pytest.approx(repeated.value)


def test_wilson_is_the_published_interval():
    low, high = wilson(0.1, 100)  # Brown, Cai and DasGupta 2001 give (.0552, .1744) for 10 of 100
    assert (round(low, 4), round(high, 4)) == (0.0552, 0.1744)


def test_reliability_covers_every_row_once_and_keeps_equal_predictions_together():
    predicted = np.array([0.1, 0.1, 0.1, 0.4, 0.9, 0.9])
    bins = reliability(np.array([0, 0, 1, 1, 1, 1]), predicted, 3)
    assert [(b.count, round(b.predicted, 3), round(b.happened, 3)) for b in bins] == [(4, 0.175, 0.5), (2, 0.9, 1.0)]


def test_margins_below_zero_are_the_errors(fitted):
    estimator, X, y = fitted["additive"]
    codes, proba = np.searchsorted(estimator.classes_, y), estimator.predict_proba(X)
    margins = probability_margins(codes, proba)
    assert ((margins < 0) == (proba.argmax(axis=1) != codes)).all()
    grid, share = cumulative(margins)
    assert share[-1] == 1.0
    assert share[grid.index(0.0)] == pytest.approx((margins <= 0).mean())


def test_full_coverage_has_the_error_of_all_rows(fitted):
    estimator, X, y = fitted["rules"]
    codes, proba = np.searchsorted(estimator.classes_, y), estimator.predict_proba(X)
    coverage, risk = risk_coverage(codes, proba)
    assert coverage[-1] == 1.0
    assert risk[-1] == pytest.approx((estimator.predict(X) != y).mean())


@pytest.mark.parametrize("name", ["rules", "tree", "rules of three classes", "linear", "additive"])
def test_names_and_categories_are_escaped_and_nothing_is_fetched(name, fitted):
    text = page(summarise(*fitted[name]))
    assert EVIL not in text
    assert EVIL_CATEGORY not in text
    ours = text.replace(get_plotlyjs(), "")
    assert not re.search(r'(src|href)="?(https?:)?//', ours)


def test_embedded_data_cannot_end_its_element():
    text = embedded({"a": "</script><!-- & \u2028", "b": float("inf"), "c": [float("nan")]})
    assert "<" not in text
    assert "&" not in text
    assert json.loads(text) == {"a": "</script><!-- & \u2028", "b": "inf", "c": ["nan"]}


def test_the_page_is_the_same_for_the_same_input(fitted):
    assert page(summarise(*fitted["rules"])) == page(summarise(*fitted["rules"]))


def test_the_file_is_written_whole_or_not_at_all(fitted, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("permissible.report.page.page", lambda summary: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(MemoryError):
        pm.report(*fitted["rules"], path)
    assert path.read_text() == "old"


def test_labels_that_the_model_does_not_know_are_refused(fitted, tmp_path):
    estimator, X, y = fitted["rules"]
    with pytest.raises(ValueError, match="`y` must be labels among"):
        pm.report(estimator, X, np.where(np.arange(len(y)) == 3, "other", y), tmp_path / "r.html")


def test_importance_finds_the_column_that_made_the_labels():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(400, 3))
    y = (X[:, 1] > 0.2).astype(int)
    summary = summarise(pm.ULSClassifier(n_rounds=5, random_state=0).fit(X, y), X, y)
    assert summary.columns[0].name == "x1"
    assert summary.columns[0].value > 0.1


def test_labels_and_names_are_plain_text_in_charts():
    # plotly reads tags, links and entities in titles, ticks and hover labels
    link, bold = '<a href="javascript:alert(1)">click</a>', "<b>&lt;age</b>"
    x = np.arange(60.0)
    X, y = {bold: x, "other": x % 7}, np.where(x + 9 * (x % 7 > 3) > 30, link, "a")
    drawn = charts(
        summarise(
            pm.ULSClassifier(n_rounds=6, random_state=0).fit(X, np.where(y == "a", "a", "b")),
            X,
            np.where(y == "a", "a", "b"),
        )
    )
    assert "<b>" not in json.dumps(drawn)
    assert bold in {unescape(text) for text in drawn["columns"]["layout"]["yaxis"]["ticktext"]}
    model = pm.UDTClassifier(max_leaf_nodes=4).fit(X, np.where(y == "a", "", link))
    drawn = charts(summarise(model, X, np.where(y == "a", "", link)))
    assert "<a" not in json.dumps(drawn)
    assert unescape(drawn["reliability"]["layout"]["xaxis"]["title"]["text"]) == f"predicted P({link})"
    assert link not in page(summarise(model, X, np.where(y == "a", "", link)))
