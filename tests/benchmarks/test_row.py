"""The benchmark runner compares like with like: interleaved, minima, verdicts against the stated figure."""

import json
from types import SimpleNamespace

import pytest

from benchmarks.row import Measured, Outcome, Row, measure, measure_all
from benchmarks.tables import as_json, as_markdown, as_picture, from_json


class Clock:
    """A clock that work moves on by itself: a verdict must not depend on what else the machine does."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("benchmarks.row.time", SimpleNamespace(process_time=made, perf_counter=made))
    return made


def busy_row(clock: Clock, at_least: float) -> Row:
    def contender(seconds):
        def work() -> float:
            clock.now += seconds
            return 0.5

        return work

    return Row("busy", lambda: {"permissible": contender(0.001), "peer": contender(0.01)}, {"peer": at_least}, "loss")


def test_a_slower_peer_gives_a_ratio_above_one_and_a_verdict(clock):
    outcome = measure(busy_row(clock, at_least=1.5))
    assert outcome.ratio("peer") == pytest.approx(10.0)
    assert outcome.verdict("peer") == "pass"
    assert measure(busy_row(clock, at_least=11.0)).verdict("peer") == "short"


def test_contenders_take_turns_so_that_drift_hits_both():
    order = []
    row = Row(
        "turns",
        lambda: {"permissible": lambda: order.append("a") or 0.0, "peer": lambda: order.append("b") or 0.0},
        {},
        "none",
        repeats=3,
    )
    measure(row)
    assert order == ["a", "b"] * 4


def test_a_contender_may_report_its_own_amount():
    row = Row(
        "memory",
        lambda: {"permissible": lambda: (10.0, 0.1), "peer": lambda: (20.0, 0.1)},
        {"peer": 2.0},
        "x",
        unit="MiB",
    )
    outcome = measure(row)
    assert outcome.ratio("peer") == pytest.approx(2.0)
    assert outcome.verdict("peer") == "pass"


def test_a_failing_row_is_shown_and_does_not_stop_the_others(tmp_path, clock):
    def fail():
        raise RuntimeError("no such peer")

    outcomes = measure_all([Row("bad", fail, {}, "x"), busy_row(clock, 1.0)], progress=lambda _: None)
    assert outcomes[0].failure == "RuntimeError: no such peer"
    assert "failed: RuntimeError" in as_markdown(outcomes)
    kept = json.loads(as_json(outcomes))
    assert kept["rows"][1]["contenders"]["peer"]["verdict"] == "pass"
    as_picture(outcomes, tmp_path / "bench.svg")
    assert (tmp_path / "bench.svg").read_text().startswith("<?xml")


def test_the_minimum_counts_and_the_spread_is_shown():
    measured = Measured((2.0, 1.0, 1.5), 0.0)
    assert measured.best == 1.0
    assert measured.spread == pytest.approx(1.0)
    assert Outcome(Row("r", dict, {}, "q"), {"permissible": measured, "p": measured}).verdict("p") == "shown"


def test_a_harder_problem_of_ours_may_take_so_many_times_the_easier_one():
    row = Row("harder", dict, {}, "x", at_most={"permissible, K=3": 2.5})
    for seconds, verdict in ((2.0, "pass"), (3.0, "short")):
        outcome = Outcome(row, {"permissible": Measured((1.0,), 0.0), "permissible, K=3": Measured((seconds,), 0.0)})
        assert outcome.verdict("permissible, K=3") == verdict
        assert "at most 2.5x" in as_markdown([outcome])


def test_outcomes_are_read_back_as_they_were_filed(clock):
    outcomes = measure_all([Row("bad", list, {}, "x"), busy_row(clock, 1.0)], progress=lambda _: None)
    again = from_json(as_json(outcomes))
    assert as_markdown(again) == as_markdown(outcomes)
    assert as_json(again) == as_json(outcomes)
