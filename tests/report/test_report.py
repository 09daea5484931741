"""The summary says what independent referees say, and the page escapes everything."""

import json
import re
from html import unescape

import numpy as np
import pytest
from sklearn import metrics as referee

import permissible as pm
from permissible.evaluation.curves import cumulative, reliability, risk_coverage
from permissible.evaluation.intervals import wilson
from permissible.evaluation.metrics import metrics
from permissible.models.model import lead
from permissible.report.charts import charts
from permissible.report.checklist import checklist
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
    assert [(b.count, round(b.predicted, 3), round(b.happened, 3)) for b in bins] == [
        (3, 0.1, 0.333),
        (1, 0.4, 1.0),
        (2, 0.9, 1.0),
    ]


def test_margins_below_zero_are_the_errors(fitted):
    estimator, X, y = fitted["additive"]
    codes, proba = np.searchsorted(estimator.classes_, y), estimator.predict_proba(X)
    margins = lead(proba, codes)
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
    assert not re.search(r'(src|href)="?(https?:)?//', text)


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
    monkeypatch.setattr("permissible.report.page.page", lambda *_: (_ for _ in ()).throw(MemoryError()))
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


def test_labels_and_names_are_plain_text_everywhere():
    link, bold = '<a href="javascript:alert(1)">click</a>', "<b>&lt;age</b>"
    x = np.arange(60.0)
    X, y = {bold: x, "other": x % 7}, np.where(x + 9 * (x % 7 > 3) > 30, link, "")
    summary = summarise(pm.UDTClassifier(max_leaf_nodes=4).fit(X, y), X, y)
    drawn = charts(summary)
    assert bold in drawn["columns"]["series"][0]["labels"]
    assert drawn["reliability"]["x"] == f"predicted probability of {link}"
    text = page(summary)
    assert link not in text
    assert bold not in text


def test_the_answer_is_the_saving_against_the_best_constant_action(fitted):
    estimator, X, y = fitted["rules"]
    costs = pm.CostMatrix([[0, 1], [5, 0]])
    summary = summarise(estimator, X, y, decision=costs)
    codes, proba = np.searchsorted(estimator.classes_, y), estimator.predict_proba(X)
    always = {name: costs.matrix[codes, k].mean() for k, name in enumerate(estimator.classes_)}
    first, best, *_ = summary.answer.strategies
    assert first.cost == pytest.approx(costs.risk(codes, proba))
    assert (best.name, best.cost) == (
        f"always predicting {min(always, key=always.get)}",
        pytest.approx(min(always.values())),
    )
    assert best.saving == pytest.approx(min(always.values()) - costs.risk(codes, proba))
    text = unescape(page(summary))
    assert f"{1000 * best.saving:,.0f}" in text
    assert (
        "Predicting “well” for a row that is “sick” costs 1; predicting “sick” for one that is “well” costs 5." in text
    )


def test_the_class_that_is_flagged_may_be_named(fitted):
    estimator, X, y = fitted["rules"]  # its classes are sick and well
    costs = pm.CostMatrix([[0, 1], [5, 0]], classes=["well", "sick"])
    summary = summarise(estimator, X, y, decision=costs, pos_label="sick")
    ill, risk = (y == "sick").astype(int), estimator.predict_proba(X)[:, 0]
    assert summary.classes == ("well", "sick")
    assert summary.answer.strategies[0].cost == pytest.approx(pm.CostMatrix([[0, 1], [5, 0]]).risk(ill, risk))
    found = summary.tables["thresholds"]
    wanted = pm.metrics.threshold_table(ill, risk, found["threshold"], costs=[[0, 1], [5, 0]], n_bootstrap=0)
    for name in ("tp", "fp", "net_benefit", "cost"):
        np.testing.assert_array_equal(found[name], wanted[name])
    text = unescape(page(summary))
    assert "Predicting “sick” for a row that is “well” costs 1" in text
    assert "the more probable is well" in text  # the score stays that of the model
    boundaries = pm.BoundaryClassifier([0.2, 0.7]).fit(*(part for part in fitted["linear"][1:]))
    told = summarise(boundaries, *fitted["linear"][1:], pos_label=0).explorer["decision"]
    assert told["boundaries"] == pytest.approx([0.3, 0.8])
    own = summarise(boundaries, *fitted["linear"][1:])  # without a decision the page is about that of the fit
    codes, proba = fitted["linear"][2], boundaries.predict_proba(fitted["linear"][1])
    assert own.answer.strategies[0].cost == pytest.approx(pm.Boundaries([0.2, 0.7]).risk(codes, proba))
    with pytest.raises(ValueError, match="`pos_label` must be one of two classes"):
        summarise(estimator, X, y, pos_label="ill")


def test_weights_that_are_no_counts_are_said_to_be_weights(fitted):
    estimator, X, y = fitted["tree"]
    text = unescape(page(summarise(estimator, X, y, sample_weight=np.full(len(y), 0.5))))
    assert re.search(r"evaluated on 240 rows \(\d+ sick, \d+ well by weight\)", text)


def test_no_word_of_the_theory_comes_before_the_model(fitted):
    text = page(summarise(*fitted["rules"]))
    above = text[text.index("<body>") : text.index('id="words"')].lower()
    for word in ("phi", "surrogate", "leverage", "edge ", "bregman", "loss"):
        assert word not in re.sub(r'(class|id|style)="[^"]*"', "", above), word


@pytest.mark.parametrize("name", ["rules", "rules of three classes", "tree", "linear", "additive"])
def test_the_checklist_answers_at_least_fifteen_of_its_27_items(name, fitted):
    items = checklist(summarise(*fitted[name]), "1.0")
    assert [item.number for item in items] == list(range(1, 28))
    assert sum(bool(item.answer) for item in items) >= 15
    assert all(item.answer or item.question for item in items)


def test_a_point_card_is_shown_as_a_card(fitted):
    estimator, X, y = fitted["point card"]
    summary = summarise(estimator, X, y, decision=pm.Weighted(0.2))
    (sheet,) = summary.sheets
    assert sheet.lines == estimator.card().lines
    text = unescape(page(summary))
    assert "What a total means" in text
    assert text.index("What a total means") < text.index("Is it worth using?")  # the card is the first thing one sees
    assert all(f'<td class="n">{line.points}</td>' in text for line in sheet.lines)


def test_columns_are_described_with_their_missing_values(fitted):
    estimator, X, y = fitted["rules"]
    age, colour, smoker = summarise(estimator, X, y).described
    assert age.missing == np.isnan(X[age.name]).sum()
    assert colour.missing == sum(value is None for value in X["colour"])
    assert (smoker.missing, smoker.kind) == (0, "boolean")
    assert f"true {100 * X['smoker'].mean():.0f} %" in smoker.usual


def test_groups_are_those_of_categories_and_truth_values_or_those_named(fitted):
    estimator, X, y = fitted["rules"]
    assert list(dict.fromkeys(summarise(estimator, X, y).tables["subgroups"]["column"])) == ["colour", "smoker"]
    told = summarise(estimator, X, y, subgroups={"half": np.arange(len(y)) % 2}).tables["subgroups"]
    assert set(told["column"]) == {"half"}


def test_two_models_are_compared_on_the_same_rows(fitted, tmp_path):
    first, X, y = fitted["rules"]
    second = fitted["tree"][0]
    summary = summarise([first, second], X, y)
    codes = np.searchsorted(first.classes_, y)
    (other,) = summary.rivals
    gap = pm.Hard().risk(codes, second.predict_proba(X)) - pm.Hard().risk(codes, first.predict_proba(X))
    assert other.saving[0] == pytest.approx(gap)
    assert other.saving[1] <= gap <= other.saving[2]
    pm.report([first, second], X, y, tmp_path / "two.html")
    assert "Two models on the same rows" in (tmp_path / "two.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="models of the same classes"):
        pm.report([first, fitted["linear"][0]], X, y, tmp_path / "no.html")


def test_a_page_of_many_rows_is_small_and_says_that_it_holds_a_sample(monkeypatch):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(30_000, 3))
    y = X[:, 0] + generator.normal(size=30_000) > 1
    model = pm.BoundaryClassifier([0.3]).fit(X[:500], y[:500])
    small = page(summarise(model, X[:10_000], y[:10_000]))
    assert len(small.encode()) < 2_000_000
    assert "random sample" not in small
    large = page(summarise(model, X, y))
    assert len(large.encode()) < 2_000_000
    assert "a random sample of 10,000 of the 30,000 rows" in large
    assert "evaluated on 30,000 rows" in large


def test_weights_count_rows_in_every_part_of_the_page(fitted):
    estimator, X, y = fitted["tree"]
    weight = np.where(np.arange(len(y)) % 3 == 0, 2, 1)
    twice = np.repeat(np.arange(len(y)), weight)
    weighted = summarise(estimator, X, y, sample_weight=weight)
    repeated = summarise(estimator, {name: column[twice] for name, column in X.items()}, y[twice])
    assert weighted.answer == repeated.answer
    assert weighted.reliability == repeated.reliability
    assert weighted.class_counts == repeated.class_counts
    assert weighted.explorer["positive"] == repeated.explorer["positive"]
    np.testing.assert_allclose(weighted.margins, repeated.margins)
    np.testing.assert_allclose(weighted.tables["calibration"]["value"], repeated.tables["calibration"]["value"])


def test_what_survives_resampling_is_on_the_page_where_it_is_given():
    X, y = pm.datasets.german_credit()
    model = pm.ULSClassifier(n_rounds=3, early_stopping=False).fit(X, y)
    found = model.stability(X, y, n_resamples=3)
    words = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page(summarise(model, X, y), found))))
    assert "Would other rows give the same model?" in words
    assert all(line in words for line in str(found).splitlines())
    for rule, same, shape in zip(*(found.rules[name] for name in ("rule", "same", "shape")), strict=True):
        assert f"{rule} {100 * same:.0f} % {100 * shape:.0f} %" in words
    assert "Would other rows give the same model?" not in page(summarise(model, X, y))
