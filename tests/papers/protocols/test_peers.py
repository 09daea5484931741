"""The protocol of the peers: measures against scikit-learn, failures counted and not hidden, a table for each budget."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from papers.protocols import peers, rivals
from papers.scope import Scope
from papers.store import unit

CHEAP = (
    "logistic regression",
    "tree of 11 leaves",
    "L1 logistic, 10 terms",
    "AdaBoost, 10 stumps",
    "HistGradientBoosting",
)


def units_of(names, methods, count=2):
    settings = {"folds": count, "seed": 0, "source": "made up"}
    return [
        unit("peers", name, method, fold, settings) for name in names for method in methods for fold in range(count)
    ]


def test_measures_are_scikit_learns():
    target = np.array([1, 0, 1, 1])
    probability = np.array([0.9, 0.4, 0.2, 1.0])
    ours = peers._measures(target, probability)
    assert ours["log_loss"] == pytest.approx(log_loss(target, probability))
    assert ours["brier"] == pytest.approx(brier_score_loss(target, probability))
    assert ours["error"] == 0.25


@pytest.mark.parametrize("method", CHEAP)
def test_rival_learns_the_small_set(small_sets, method):
    payload = peers.work(units_of(["glass"], [method])[0])
    assert "failed" not in payload
    assert payload["error"] < 0.4
    assert payload["size"] >= 1


def test_l1_logistic_keeps_at_most_ten_terms(small_sets):
    assert peers.work(units_of(["glass"], ["L1 logistic, 10 terms"])[0])["size"] <= 10


def test_failing_rival_predicts_the_base_rate_and_is_counted(small_sets, monkeypatch):
    def fail(table, target, seed):
        raise RuntimeError("cannot")

    broken = rivals.Rival("broken", "full", "sklearn", "onehot", fail, lambda model: 0)
    monkeypatch.setitem(rivals.BY_NAME, "broken", broken)
    payload = peers.work(units_of(["glass"], ["broken"])[0])
    assert payload["failed"] == "RuntimeError: cannot"
    assert payload["brier"] == pytest.approx(0.25, abs=0.01)


def test_chapter_has_a_quality_table_for_each_budget(small_sets, monkeypatch):
    kept = tuple(rival for rival in rivals.RIVALS if rival.name in CHEAP[:-1])
    monkeypatch.setattr(peers, "RIVALS", kept)
    units, missing = peers.plan(Scope(quick=True, data=str(small_sets), network=False))
    results = {one: peers.work(one) for one in units if one.dataset in ("glass", "iris")}
    chapter = peers.chapter(results, Scope(quick=True), missing)
    tables = {block.name: block for block in chapter.blocks if hasattr(block, "rows")}
    assert [len(tables[f"quality-{group}"].rows) for group in ("full", "compact", "over")] == [1, 2, 1]
    assert all(0 <= row[2] <= 0.5 for row in tables["quality-full"].rows)
