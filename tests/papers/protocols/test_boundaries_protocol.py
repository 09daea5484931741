"""The protocol of [K]: both methods see the same rows, ties go to the largest lambda, the middle group is held out."""

import numpy as np
import pytest

from papers.protocols import boundaries, risk_groups
from papers.scope import Scope
from papers.store import unit


def one_of(method, fold=0, setting="1.1"):
    return unit("boundaries", setting, method, fold, {"features": 2, "seed": 0, "train": 100, "test": 500})


def test_same_unit_gives_the_same_numbers_and_another_replication_others():
    first = boundaries.work(one_of("piecewise linear"))
    assert first == boundaries.work(one_of("piecewise linear"))
    assert first != boundaries.work(one_of("piecewise linear", fold=1))


@pytest.mark.parametrize("method", boundaries.METHODS)
def test_loss_lies_between_bayes_and_chance(method):
    losses = [boundaries.work(one_of(method, fold))["loss"] for fold in range(3)]
    assert 0.2 < np.mean(losses) < 0.5


def test_constant_tuning_loss_keeps_the_largest_lambda():
    generator = np.random.default_rng(0)
    train = generator.standard_normal((40, 2)), np.tile([0, 1], 20)
    tune = np.zeros((2, 2)), np.array([0, 1])  # two equal rows of different label: every rule loses the same on them
    exponent, _ = boundaries._piecewise((0.5,), train, tune, train)
    assert exponent == 10


def test_plan_of_the_paper_has_eighteen_cells_of_a_hundred_replications():
    units, _ = boundaries.plan(Scope(quick=False, network=False))
    simulated = [one for one in units if one.method in boundaries.METHODS]
    assert len(simulated) == 6 * 3 * 100 * 2


def test_risk_groups_hold_the_middle_out_and_show_every_patient(monkeypatch):
    monkeypatch.delenv("PERMISSIBLE_DATA", raising=False)
    monkeypatch.setattr(risk_groups, "_tuned", lambda rows, label, seed: -3)
    (one,), missing = risk_groups.plan(Scope(network=False))
    payload = risk_groups.work(one)
    assert sorted(set(payload["group"])) == [0, 1, 2, 3]
    blocks = risk_groups.blocks({one: payload}, missing)
    table = next(block for block in blocks if getattr(block, "name", "") == "groups")
    assert sum(row[2] for row in table.rows) == len(payload["score"])
    medians = [row[-1] for row in table.rows]
    assert medians[0] < medians[3]


def test_verdicts_on_risk_groups_follow_from_their_statistics():
    group = np.repeat(np.arange(4), 10)
    assert risk_groups._peaks(group, group)[2] is True
    shifted = np.where(group == 1, 0, group)  # outcome 1 peaks in the first interval
    assert risk_groups._peaks(group, shifted)[2] is False
    tied = np.where((group == 1) & (np.arange(40) % 2 == 0), 0, group)
    assert risk_groups._peaks(group, tied)[2] is None
    score = group + np.linspace(0, 0.5, 40)
    assert risk_groups._order(group, score)[2] is True
    assert risk_groups._order(group, -score)[2] is False
    assert risk_groups._order(group, np.tile(np.arange(10.0), 4) + 0.01 * group)[2] is None
