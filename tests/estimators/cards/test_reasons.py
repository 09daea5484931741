"""Reasons add up to the score they explain and are the same in SQL and Python; recourse is that of exhaustive search."""

import itertools
import json
import sqlite3
import subprocess
import time
from importlib import resources

import numpy as np
import pandas as pd
import pytest

import permissible as pm
from permissible.estimators.classifier import card_of
from permissible.models.render.browser import plain_card


def rows(n, seed):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": random.normal(50, 12, n).round(1), "debt": random.exponential(2, n).round(2)})
    frame["rate"] = random.normal(size=n).round(2)
    frame.loc[random.random(n) < 0.2, "debt"] = np.nan
    frame["job"] = random.choice(["none", "part", "full"], n)
    return frame


def labels(frame, seed=0):
    random = np.random.default_rng(seed)
    score = (frame["age"] - 48) * 0.08 - frame["debt"].fillna(3) * 0.5 + (frame["job"] == "full") * 1.2 - frame["rate"]
    return np.where(random.random(len(frame)) < 1 / (1 + np.exp(-score)), "pays", "defaults")


MODELS = {
    "card": lambda: pm.ULSClassifier.points(n_rules=5),
    "conjunctions": lambda: pm.ULSClassifier.points(n_rules=4, max_literals=2),
    "rules": lambda: pm.ULSClassifier.compact(5),
    "matsushita": lambda: pm.ULSClassifier("matsushita", n_rounds=6, max_literals=2, early_stopping=False),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    frame = rows(400, 0)
    return MODELS[request.param]().fit(frame, labels(frame))


@pytest.mark.parametrize("decision", [None, pm.Reject(0.3), pm.Weighted(0.7)])
def test_reasons_add_up_to_the_difference_they_explain(model, decision):
    frame = rows(60, 1)
    found = model.reasons(frame, k=2, decision=decision)
    scores = model.decision_function(frame)
    effects = [abs(term) for term in 2 * model.coefficients_]
    for one, score in zip(found, scores, strict=True):
        lost = sum(reason.score for reason in one.reasons) + one.rest
        assert one.score == score
        assert len(one.reasons) <= 2
        assert abs(one.reference - one.score) == pytest.approx(lost, abs=1e-9)
        assert (one.reference >= one.score) != one.favourable or lost == 0
    best = model.intercept_ + sum(effects) / 2  # every rule at its better value
    refused = [one for one in found if not one.favourable]
    assert all(one.reference == pytest.approx(best) for one in refused)


def test_reasons_of_a_card_are_its_lost_points():
    frame = rows(400, 0)
    card = pm.ULSClassifier.points(n_rules=5).fit(frame, labels(frame))
    totals = card.model_.totals(card._rows(frame))
    for one, total in zip(card.reasons(frame, k=10), totals.tolist(), strict=True):
        points = sum(reason.points for reason in one.reasons)
        assert points == (total if one.favourable else card.model_.most - total)


def test_sql_and_python_give_the_same_reasons(model):
    frame = rows(80, 2)
    told = [[reason.words for reason in one.reasons] for one in model.reasons(frame, k=3)]
    space = {}
    exec(model.to_python(reasons=True), space)
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    assert [space["reasons"](row, 3) for row in records] == told
    with sqlite3.connect(":memory:") as base:
        frame.to_sql("data", base, index=False)
        query = model.to_sql(dialect="sqlite", reasons=3)
        found = base.execute(f"SELECT decision, reasons_for, reasons_against FROM ({query})").fetchall()
    for (decision, good, bad), words in zip(found, told, strict=True):
        assert (good if decision == "pays" else bad) == "".join(f"{one}; " for one in words)


def every_change(model, row, max_columns, fixed=()):
    """Brute force: the least cost of a change of few columns to any value between or at thresholds that changes the decision."""
    before = model.predict(row)[0]
    used = sorted({literal.column for rule in model.rules_ for literal in rule})
    names = [model.schema_.names[column] for column in used]
    values = {}
    for column, name in zip(used, names, strict=True):
        ends = sorted(
            {x.threshold for rule in model.rules_ for x in rule if x.column == column and x.threshold == x.threshold}
        )
        if model.schema_.columns[column].kind == "categorical":
            values[name] = list(model.schema_.columns[column].categories)
        else:
            values[name] = [*ends, *(end + 1e-4 for end in ends)] or [0.0]
    for size in range(1, max_columns + 1):
        for chosen in itertools.combinations([name for name in names if name not in fixed], size):
            for combined in itertools.product(*(values[name] for name in chosen)):
                changed = row.copy()
                for name, value in zip(chosen, combined, strict=True):
                    changed[name] = value
                if model.predict(changed)[0] != before:
                    return size
    return None


@pytest.mark.parametrize("fixed", [(), ("age",)])
def test_recourse_is_that_of_exhaustive_search(model, fixed):
    frame = rows(12, 3)
    for place in range(len(frame)):
        row = frame.iloc[[place]]
        found = model.recourse(row, fixed=fixed, max_columns=2)
        size = every_change(model, row, 2, fixed)
        assert found.proved
        assert found.found == (size is not None)
        if size is not None:
            assert len(found.changes) == size
            assert not set(found.changes) & set(fixed)


def test_a_recourse_changes_the_decision_in_python_sql_and_onnx(model):
    onnxruntime = pytest.importorskip("onnxruntime")
    frame, space = rows(20, 4), {}
    exec(model.to_python(), space)
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    for place in range(len(frame)):
        row = frame.iloc[[place]]
        found = model.recourse(row)
        if not found.found:
            continue
        changed = row.copy()
        for name, (_, new) in found.changes.items():
            changed[name] = new
        assert model.predict(row)[0] == found.before != found.after == model.predict(changed)[0]
        record = changed.astype(object).where(changed.notna(), None).to_dict("records")[0]
        assert space["decide"](record) == found.after
        with sqlite3.connect(":memory:") as base:
            changed.to_sql("data", base, index=False)
            assert base.execute(f"SELECT decision FROM ({model.to_sql(dialect='sqlite')})").fetchone()[0] == found.after
        numbers = {name: changed[[name]].to_numpy().astype(np.float32) for name in ("age", "debt", "rate")}
        given = {**numbers, "job": changed[["job"]].to_numpy().astype(object)}
        assert session.run(["label"], given)[0].tolist() == [found.after]


def test_costs_choose_the_column():
    frame = rows(400, 0)
    card = pm.ULSClassifier.points(n_rules=5).fit(frame, labels(frame))
    refused = frame[card.predict(frame) == "defaults"]
    names = set()
    for place in range(30):
        row = refused.iloc[[place]]
        found = card.recourse(row, costs={"age": 1000.0, "debt": 0.001, "rate": 1000.0, "job": 1000.0})
        names |= set(found.changes) if found.found and len(found.changes) == 1 else set()
    assert "debt" in names


def cheapest_change(model, row, costs, max_columns):
    """Brute force: the least cost of moving few columns to the nearest values of other cells."""
    before, used = model.predict(row)[0], sorted({literal.column for rule in model.rules_ for literal in rule})
    moves = {}
    for column in used:
        name, old = model.schema_.names[column], row[model.schema_.names[column]].iloc[0]
        if model.schema_.columns[column].kind == "categorical":
            moves[name] = [(value, costs[name]) for value in model.schema_.columns[column].categories]
            continue
        ends = {x.threshold for rule in model.rules_ for x in rule if x.column == column and x.threshold == x.threshold}
        values = [value for end in ends for value in (end, end + 1e-9)]
        gone = pd.isna(old)
        moves[name] = [(value, costs[name] * (1.0 if gone else abs(value - old))) for value in values]
    best = np.inf
    for size in range(1, max_columns + 1):
        for chosen in itertools.combinations(moves, size):
            for combined in itertools.product(*(moves[name] for name in chosen)):
                cost = sum(price for _, price in combined)
                if cost < best:
                    changed = row.assign(**{name: value for name, (value, _) in zip(chosen, combined, strict=True)})
                    best = cost if model.predict(changed)[0] != before else best
    return best


def test_the_cost_of_a_recourse_is_that_of_exhaustive_search(model):
    frame, costs = rows(8, 6), {"age": 0.1, "debt": 0.7, "rate": 1.3, "job": 0.9}
    for place in range(len(frame)):
        row = frame.iloc[[place]]
        found, least = model.recourse(row, costs=costs, max_columns=2), cheapest_change(model, row, costs, 2)
        assert found.proved
        assert found.found == np.isfinite(least)
        if found.found:
            assert (
                least - 1e-6 <= found.cost <= least + 0.02
            )  # a short decimal above a threshold, not the nearest float


def test_a_target_and_a_time_limit():
    frame = rows(400, 0)
    card = pm.ULSClassifier.points(n_rules=5).fit(frame, labels(frame))
    row = frame[card.predict(frame) == "defaults"].iloc[[0]]
    groups = card.recourse(row, pm.Boundaries([0.3, 0.6, 0.8]), target=3, max_columns=4)
    assert not groups.found or groups.after == 3
    large = pm.ULSClassifier(n_rounds=60, early_stopping=False).fit(frame, labels(frame))
    begun = time.monotonic()
    large.recourse(row, max_columns=4, max_time=0.5)
    assert time.monotonic() - begun < 0.5 * 1.1 + 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fixed": ["height"]}, "unknown column 'height'"),
        ({"costs": {"height": 1.0}}, "unknown column 'height'"),
        ({"target": "maybe"}, "`target` must be one of the decisions"),
        ({"decision": pm.Soft()}, "finitely many actions"),
    ],
)
def test_a_recourse_that_cannot_be_is_refused(options, words):
    frame = rows(200, 0)
    card = pm.ULSClassifier.points(n_rules=3).fit(frame, labels(frame))
    with pytest.raises(ValueError, match=words):
        card.recourse(frame.iloc[[0]], **options)
    with pytest.raises(ValueError, match="`x` must be one row"):
        card.recourse(frame)
    with pytest.raises(ValueError, match="sum of rules"):
        pm.UDTClassifier().fit(frame, labels(frame)).recourse(frame.iloc[[0]])


@pytest.mark.needs("node")
def test_the_page_gives_the_same_reasons(model):
    frame = rows(25, 5)
    script = resources.files("permissible.report").joinpath("assets", "model.js").read_text()
    script += """;const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
    console.log(JSON.stringify(given.rows.map((row, i) =>
      permissible.reasons(given.card, row, given.wins[i], 3).map((one) => one.words))));"""
    told = model.reasons(frame, k=3)
    table = [[None if value != value else value for value in row] for row in frame.itertuples(index=False)]
    data = {"card": plain_card(card_of(model)), "rows": table, "wins": [one.favourable for one in told]}
    done = subprocess.run(["node", "-e", script], input=json.dumps(data), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[reason.words for reason in one.reasons] for one in told]
