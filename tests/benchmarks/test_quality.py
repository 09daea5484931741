"""The quality benchmark: what its tables claim follows from the results, and sets held back stay apart."""

import numpy as np

from benchmarks.quality.measures import DECISIONS, measured
from benchmarks.quality.report import tables
from benchmarks.quality.sets import held_back

NAMES = [f"set{k}" for k in range(30)]
BACK = [name for name in NAMES if held_back(name)]


def results(better):
    """Results in which ULS has a smaller loss than CatBoost on the sets of `better`."""
    found = {}
    for name in NAMES:
        for peer, size in (("ULS", 40.0), ("CatBoost", 9000.0)):
            loss = 0.3 if (peer == "ULS") == (name in better) else 0.4
            costs = dict.fromkeys(DECISIONS, loss)
            found[name, peer] = {"log-loss": loss, "error": 0.1, "Brier": 0.1, "seconds": 1.0, "size": size, **costs}
        found[name, "ULS, seeds"] = {"flipped": 0.05}
    return found


def test_a_claim_holds_or_is_short_by_the_results():
    peers = ["ULS", "CatBoost", "ULS, seeds"]
    good, bad = tables(results(NAMES), peers), tables(results(NAMES[:3]), peers)
    assert f"{len(BACK)} of {len(BACK)}, p" in good
    assert "first by rank of log-loss | 1st of 2 (rank 1.00) | holds" in good
    assert "log-loss ahead of CatBoost on two thirds of the sets | 0 of" in bad or "2nd of 2" in bad
    assert "first by rank of log-loss | 2nd of 2" in bad
    assert "5.00% (largest 5.0%" in good
    assert good.count("labels of the median set") == good.count("**short**") == 2


def test_sets_held_back_have_tables_of_their_own():
    told = tables(results(NAMES), ["ULS", "CatBoost"])
    assert f"## {len(NAMES) - len(BACK)} sets on which settings were chosen" in told
    assert f"## {len(BACK)} sets held back" in told
    assert 0 < len(BACK) < len(NAMES)


def test_the_cost_of_a_decision_is_relative_to_the_best_constant_action():
    y = np.array([0] * 90 + [1] * 10)
    certain, blind = np.eye(2)[y], np.tile([0.9, 0.1], (100, 1))
    assert all(measured(y, certain)[name] == 0.0 for name in DECISIONS)
    found = measured(y, blind)
    assert all(found[name] >= 1.0 - 1e-12 for name in DECISIONS)
    assert np.isclose(found["log-loss"], -(0.9 * np.log(0.9) + 0.1 * np.log(0.1)))
