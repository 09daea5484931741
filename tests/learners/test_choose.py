"""Choosing: the mean curve decides the stage, the least loss the candidate, and ties go to the simpler one."""

import numpy as np

from permissible.learners.choose import choose, mean_curve

CURVES = {"short": np.array([1.0, 0.6, 0.5, 0.7]), "long": np.array([1.0, 0.7, 0.497]), "best": np.array([1.0, 0.4])}


def test_the_first_candidate_stays_unless_another_is_clearly_better():
    assert choose(["short", "long"], CURVES.get, least_gain=0.01).chosen.candidate == "short"
    assert choose(["short", "long"], CURVES.get).chosen.candidate == "long"
    found = choose(["short", "long", "best"], CURVES.get, least_gain=0.01)
    assert (found.chosen.candidate, found.chosen.stage, found.chosen.loss) == ("best", 1, 0.4)
    assert [tried.stage for tried in found.tried] == [2, 2, 1]


def test_equal_stages_go_to_the_first_or_the_last():
    flat = np.array([0.5, 0.3, 0.3 * (1 + 1e-14), 0.4])
    assert choose([0], lambda _: flat).chosen.stage == 1
    assert choose([0], lambda _: flat, equals="last").chosen.stage == 2
    assert choose([0], lambda _: np.array([0.1, 0.2]), first_stage=1).chosen.stage == 1
    assert choose([0], lambda _: np.array([0.1]), first_stage=1).chosen.stage == 0


def test_the_mean_over_splits_is_weighted():
    sums = [(np.array([2.0, 1.0]), 1.0), (np.array([4.0, 8.0]), 3.0)]
    assert mean_curve([0, 1], lambda split: sums[split]).tolist() == [1.5, 2.25]
