"""The protocol of [B]: every algorithm runs, the printed Table 2 is set beside ours, corals have the printed costs."""

import numpy as np
import pytest

from papers import guess_averse as table_2
from papers.protocols import corals, guess_averse
from papers.scope import Scope
from papers.store import unit


def one_of(method, fold=0, name="ecoli"):
    return unit("guess-averse", name, method, fold, {"rounds": 5, "seed": 0, "source": "made up"})


@pytest.fixture
def small_tables(small_sets, monkeypatch):
    for name in ("ecoli", "vehicle"):
        monkeypatch.setitem(table_2.TRAINING_ROWS, name, 60)
    table_2._rows.cache_clear()
    table_2._POSTERIORS.clear()
    yield
    table_2._rows.cache_clear()
    table_2._POSTERIORS.clear()


@pytest.mark.parametrize("method", guess_averse.METHODS)
def test_risk_is_between_nothing_and_the_largest_cost(small_tables, method):
    payload = guess_averse.work(one_of(method))
    assert 0 <= payload["risk"] < 5
    assert payload == guess_averse.work(one_of(method))


def test_chapter_sets_the_printed_table_beside_ours(small_tables):
    units = [
        one_of(method, fold, name)
        for name in ("ecoli", "vehicle")
        for fold in range(2)
        for method in guess_averse.METHODS
    ]
    chapter = guess_averse.chapter(
        {one: guess_averse.work(one) for one in units}, Scope(quick=True), {"shuttle": "not here"}
    )
    tables = {block.name: block for block in chapter.blocks if hasattr(block, "rows")}
    assert tables["table-2"].rows[0][:3] == ["ecoli", "paper", "0.96 ± 0.03"]
    assert len(tables["table-2"].rows) == 4
    assert any("shuttle (not here)" in getattr(block, "text", "") for block in chapter.blocks)


def test_corals_have_the_printed_costs_and_every_method_runs():
    cost = corals.cost_matrix()
    assert cost.shape == (9, 9)
    assert np.array_equal(cost, cost.T)
    assert cost[0, 4] == 4
    assert cost[0, 3] == 2
    settings = {"rounds": 10, "rows": 300, "seed": 0}
    results = {
        one: corals.work(one) for one in [unit("guess-averse", corals.SET, m, 0, settings) for m in corals.METHODS]
    }
    assert all(0 < payload["risk"] < 3 for payload in results.values())
    assert len(corals.blocks(results)) == 4
