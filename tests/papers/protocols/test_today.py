"""Today's methods on the trials of Table 2: the same rows and costs, a risk each, and a verdict that the numbers give."""

import numpy as np
import pytest

from papers import guess_averse as table_2
from papers.guess_averse import trial
from papers.protocols import today
from papers.scope import Scope
from papers.store import unit


@pytest.fixture
def small_tables(small_sets, monkeypatch):
    for name in ("ecoli", "vehicle"):
        monkeypatch.setitem(table_2.TRAINING_ROWS, name, 60)
    table_2._rows.cache_clear()
    yield
    table_2._rows.cache_clear()


def one_of(method, fold=0, name="ecoli"):
    return unit("guess-averse", name, method, fold, {"seed": 0, "source": "made up", "decision": "bayes"})


@pytest.mark.parametrize("method", today.METHODS)
def test_a_method_gives_the_same_risk_twice(small_tables, method):
    pytest.importorskip(today.MAKERS[method][0])
    payload = today.work(one_of(method))
    assert 0 <= payload["risk"] < 5
    assert payload == today.work(one_of(method))


def test_risk_is_the_mean_cost_of_decisions_at_least_expected_cost(small_tables):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    each = trial("ecoli", 3)
    scaler = StandardScaler().fit(each.train[0])
    model = LogisticRegression(max_iter=2000).fit(scaler.transform(each.train[0]), each.train[1])
    paid = [
        each.costs[true, min(range(3), key=lambda k, p=p: sum(p[j] * each.costs[j, k] for j in range(3)))]
        for true, p in zip(each.test[1], model.predict_proba(scaler.transform(each.test[0])), strict=True)
    ]
    assert today.work(one_of("logistic regression", 3))["risk"] == pytest.approx(np.mean(paid))


def made_up(auto, rival):
    units = {}
    for fold, (first, second) in enumerate(zip(auto, rival, strict=True)):
        units[one_of(today.AUTO, fold)] = {"risk": first, "chosen": "0.25 linear (10 rounds) + 0.75 tree (300 rounds)"}
        units[one_of("300 extra-trees", fold)] = {"risk": second}
    return units


@pytest.mark.parametrize(
    ("auto", "rival", "verdict"),
    [
        ([1.0, 1.1, 0.9, 1.0], [1.5, 1.4, 1.6, 1.5], "best"),
        ([1.0, 1.3, 0.7, 1.1], [1.0, 0.9, 1.2, 0.9], "tied"),
        ([1.0, 0.9, 1.2, 0.9], [1.0, 1.3, 0.7, 1.1], "tied"),
        ([1.5, 1.4, 1.6, 1.5], [1.0, 1.0, 1.0, 1.1], "behind"),
    ],
)
def test_verdict_is_that_of_the_paired_test(auto, rival, verdict):
    table, choices = (block for block in today.blocks(made_up(auto, rival)) if hasattr(block, "rows"))
    assert table.rows[0][-2] == verdict
    assert table.rows[-1][2:4] == [f"{np.mean(auto):.3f}", f"{np.mean(rival):.3f}"]
    assert choices.rows == [["ecoli", "linear + tree 4"]]


def test_a_predefined_split_is_judged_by_all_fifty_matrices(small_sets):
    found = Scope(data=str(small_sets), network=False).find(["ecoli", "vehicle"])
    units = today.plan(Scope(data=str(small_sets), network=False), found)
    assert {one.fold for one in units} == set(range(50))
    assert today.MATRICES * today._fits("pendigits", Scope()) == 50
