"""The protocol of [B]: costs are symmetric on [1, 10], all algorithms of a trial share them, Table 2 is set beside ours."""

import numpy as np
import pytest

from permissible.experiments.protocols import corals, guess_averse
from permissible.experiments.scope import Scope
from permissible.experiments.store import unit


def one_of(method, fold=0, name="ecoli"):
    return unit("guess-averse", name, method, fold, {"rounds": 5, "seed": 0, "source": "made up"})


def test_costs_are_symmetric_with_entries_in_one_to_ten():
    cost = guess_averse.costs(6, np.random.default_rng(0))
    off = cost[~np.eye(6, dtype=bool)]
    assert np.array_equal(cost, cost.T)
    assert np.all(np.diag(cost) == 0)
    assert off.min() >= 1
    assert off.max() <= 10


def test_algorithms_of_a_trial_share_costs_and_split(small_sets):
    first, second = guess_averse.trial_of(one_of("GLL")), guess_averse.trial_of(one_of("Lt"))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not np.array_equal(first[0], guess_averse.trial_of(one_of("GLL", fold=1))[0])


@pytest.mark.parametrize("method", guess_averse.METHODS)
def test_risk_is_between_nothing_and_the_largest_cost(small_sets, monkeypatch, method):
    monkeypatch.setitem(guess_averse.TRAIN_ROWS, "ecoli", 60)
    guess_averse._numbers.cache_clear()
    payload = guess_averse.work(one_of(method))
    assert 0 <= payload["risk"] < 5
    assert payload == guess_averse.work(one_of(method))


def test_chapter_sets_the_printed_table_beside_ours(small_sets, monkeypatch):
    monkeypatch.setitem(guess_averse.TRAIN_ROWS, "ecoli", 60)
    monkeypatch.setitem(guess_averse.TRAIN_ROWS, "vehicle", 60)
    guess_averse._numbers.cache_clear()
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
