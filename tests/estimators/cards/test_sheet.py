"""The printed card: text, HTML, Excel and credit points say what the model says; SQL, ONNX and Python score alike."""

import re
import sqlite3

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from permissible.bins.describe import rule_words
from permissible.estimators.classifier import card_of
from permissible.estimators.exports import FORMATS
from permissible.models.card.scorecard import holds


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(3)
    n = 500
    frame = pd.DataFrame({"age": random.normal(50, 12, n).round(1), "debt": random.exponential(2, n).round(2)})
    frame.loc[random.random(n) < 0.2, "debt"] = np.nan
    frame["=job <b>"] = random.choice(["none", "part", "full"], n)
    score = (frame["age"] > 45) * 1.5 - frame["debt"].fillna(5) * 0.5 + (frame["=job <b>"] == "full") * 1.2
    return frame, np.where(random.random(n) < 1 / (1 + np.exp(-score)), "pays", "defaults")


@pytest.fixture(scope="module")
def model(rows):
    return pm.ULSClassifier.points(n_rules=5).fit(*rows)


def test_the_card_lists_conditions_points_and_totals(model, rows):
    card, X = model.card(), rows[0]
    assert sorted(line.points for line in card.lines) == sorted(model.model_.points.tolist())
    totals = model.model_.totals(model._rows(X))
    assert {line.total for line in card.totals} >= set(totals.tolist())
    for line in card.totals:
        here = totals == line.total
        assert (line.cases, line.positives) == (here.sum(), (here & (rows[1] == "pays")).sum())
        if here.any():
            assert model.predict_proba(X)[here, 1].tolist() == [line.probability] * here.sum()


@pytest.mark.parametrize("decision", [pm.Reject(0.2), pm.Weighted(0.3), pm.Boundaries([0.25, 0.5])])
def test_the_decision_at_each_total_is_that_of_decide(model, rows, decision):
    X, totals = rows[0], model.model_.totals(model._rows(rows[0]))
    told = {line.total: line.decision for line in model.card(decision=decision).totals}
    decided = model.decide_labels(X, decision, refer=None)
    shown = [told[total] for total in totals.tolist()]
    if isinstance(decision, pm.Boundaries):
        assert shown == model.decide(X, decision).tolist()
    else:
        assert shown == list(decided)


def test_risk_groups_have_names(model, rows):
    groups, names = pm.Boundaries([0.25, 0.5]), ["low", "medium", "high"]
    told = {line.total: line.words for line in model.card(decision=groups, names=names).totals}
    totals = model.model_.totals(model._rows(rows[0])).tolist()
    assert [told[total] for total in totals] == model.decide_labels(rows[0], groups, names=names).tolist()
    assert {line.words for line in model.card(decision=groups).totals} <= {"P <= 0.25", "0.25 < P <= 0.5", "P > 0.5"}
    assert "medium" in model.to_text(decision=groups, names=names)
    assert "medium" in model.to_html(decision=groups, names=names)
    with pytest.raises(ValueError, match="one name for each risk group"):
        model.card(decision=groups, names=["low", "high"])
    with pytest.raises(ValueError, match="`names` must be left out"):
        model.card(names=names)


def test_text_and_html_show_every_condition_escaped(model):
    text, html = model.to_text(decision=pm.Reject(0.2)), model.to_html()
    for line in model.card().lines:
        assert line.condition in text
    assert "refer" in text
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_credit_points_double_the_odds(model):
    scaled = model.card(points_to_double_odds=60, base_points=500, base_odds=10)
    plain = model.card()
    step = {
        (one.total - scaled.start) / other.total for one, other in zip(scaled.totals[1:], plain.totals[1:], strict=True)
    }
    assert len(step) == 1
    for line in scaled.totals:
        odds = line.probability / (1 - line.probability)
        assert line.total == pytest.approx(500 + 60 * np.log2(odds / 10), rel=0.06, abs=6)
        assert line.total - scaled.start in {sum(chosen) for chosen in subsets([one.points for one in scaled.lines])}


def subsets(points):
    found = [()]
    for one in points:
        found += [(*chosen, one) for chosen in found]
    return found


@pytest.mark.parametrize("options", [{"points_to_double_odds": 0}, {"base_odds": 0}, {"points_to_double_odds": "x"}])
def test_a_scale_that_is_none_is_refused_in_one_sentence(model, options):
    (name,) = options
    with pytest.raises((ValueError, TypeError), match=f"`{name}` must be a finite positive number|`{name}` must be"):
        model.card(**{"points_to_double_odds": 60, **options})


def test_credit_points_need_odds_that_are_linear_in_the_total(rows):
    card = pm.ULSClassifier.points(n_rules=2, loss="matsushita").fit(*rows)
    with pytest.raises(ValueError, match="`points_to_double_odds` must be None"):
        card.card(points_to_double_odds=20)


def test_a_workbook_holds_the_card_and_no_formula_of_the_user(model, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    model.to_excel(tmp_path / "card.xlsx", decision=pm.Reject(0.2))
    page = openpyxl.load_workbook(tmp_path / "card.xlsx").active
    card = model.card(decision=pm.Reject(0.2))
    for row, line in enumerate(card.lines, start=4):
        assert (page.cell(row, 1).value, page.cell(row, 2).value) == (line.condition, line.points)
        assert page.cell(row, 1).data_type == "s"
    formulas = [cell.value for row in page.iter_rows() for cell in row if cell.data_type == "f"]
    assert [formula.split("(")[0] for formula in formulas] == ["=SUMPRODUCT", "=INDEX", "=INDEX"]
    assert FORMATS["excel"](model)[:2] == b"PK"


@pytest.mark.parametrize("scaled", [False, True])
def test_the_formulas_of_a_workbook_give_the_total_the_risk_and_the_decision(model, rows, tmp_path, scaled):
    """The formulas, read as Excel reads them, for the answers of real rows."""
    openpyxl = pytest.importorskip("openpyxl")
    card = model.card(decision=pm.Reject(0.2), **({"points_to_double_odds": 60} if scaled else {}))
    card.to_excel(tmp_path / "card.xlsx")
    page = openpyxl.load_workbook(tmp_path / "card.xlsx").active
    table = {row[0].value: row for row in reversed([*page.iter_rows()])}  # the first one of a name
    total = re.fullmatch(r"=(?:B(\d+)\+)?SUMPRODUCT\(B4:B(\d+),C4:C\2\)", table["total"][1].value)
    assert ("for everybody" in table) == (total[1] is not None) == scaled
    start = page.cell(int(total[1]), 2).value if scaled else 0
    assert start == card.start
    looked = re.fullmatch(r"=INDEX\(E(\d+):E(\d+),MATCH\(B(\d+),A\1:A\2,1\)\)", table["decision"][1].value)
    assert int(total[2]) == len(card.lines) + 3
    assert page.cell(int(looked[3]), 1).value == "total"
    shown = [[cell.value for cell in row] for row in page.iter_rows(int(looked[1]), int(looked[2]))]
    assert [row[0] for row in shown] == [line.total for line in card.totals]
    frame, conditions = rows[0][:40], {line.condition: line.points for line in card.lines}
    held = [[page.cell(row, 1).value, page.cell(row, 2).value] for row in range(4, int(total[2]) + 1)]
    assert dict(held) == conditions
    by_words = dict(zip(model.rules_table()["rule"], model.rules_table()["coefficient"], strict=True))
    assert set(by_words) == set(conditions)
    truth = {words: holds(rule, card_of(model), model._rows(frame)) for words, rule in worded_rules(model)}
    decided = model.decide_labels(frame, pm.Reject(0.2))
    for place in range(len(frame)):
        added = start + sum(points for words, points in held if truth[words][place])
        found = [row for row in shown if row[0] <= added][-1]  # MATCH(..., 1)
        assert found[0] == added
        assert found[1] == pytest.approx(model.predict_proba(frame)[place, 1], abs=1e-12)
        assert found[4] == decided[place]


def worded_rules(model):
    return [(rule_words(rule, model.model_), rule) for rule in model.rules_]


def test_sql_python_and_onnx_give_the_same_scores(model, rows):
    X, scores = rows[0], model.decision_function(rows[0])
    space = {}
    exec(model.to_python(), space)
    records = X.astype(object).where(X.notna(), None).to_dict("records")
    assert [space["score"](row) for row in records] == scores.tolist()
    with sqlite3.connect(":memory:") as base:
        X.to_sql("data", base, index=False)
        found = [row[0] for row in base.execute(f"SELECT score FROM ({model.to_sql(dialect='sqlite')})")]
    assert found == scores.tolist()
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(model.to_onnx(dtype="float64").SerializeToString())
    given = {"age": X[["age"]].to_numpy(), "debt": X[["debt"]].to_numpy()}
    given["=job <b>"] = X[["=job <b>"]].to_numpy().astype(object)
    assert session.run(["scores"], given)[0].ravel().tolist() == scores.tolist()


def test_only_a_card_has_a_card(rows):
    rules = pm.ULSClassifier.compact(2).fit(*rows)
    with pytest.raises(ValueError, match="must be a point card"):
        rules.card()
    assert "score is the sum of" in rules.to_text()
    with pytest.raises(ValueError, match="must be a point card"):
        FORMATS["excel"](pm.UDTClassifier(max_leaf_nodes=2).fit(*rows))


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("decision", lambda rules, _: rules.to_text(decision=pm.Reject(0.2))),
        ("names", lambda rules, _: rules.to_html(names=["low", "high"])),
        ("base_points", lambda _, card: card.card(base_points=700)),
        ("base_odds", lambda _, card: card.card(base_odds=20)),
        ("max_rules", lambda _, card: card.to_text(max_rules=1)),
        ("max_rules", lambda *_: pm.UDTClassifier(max_leaf_nodes=3).fit(*two_columns()).to_text(max_rules=1)),
    ],
)
def test_what_a_model_is_not_written_with_is_refused(argument, call):
    X, y = two_columns()
    rules = pm.ULSClassifier.compact(2, early_stopping=False).fit(X, y)
    with pytest.raises(ValueError, match=f"`{argument}` must be left out"):
        call(rules, pm.ULSClassifier.points(n_rules=2, max_points=2).fit(X, y))


def two_columns():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    return X, (X.sum(axis=1) + random.normal(size=200) > 0).astype(int)
