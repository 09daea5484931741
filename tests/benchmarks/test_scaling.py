"""The curves of scaling: every axis is measured, exponents are slopes, a run takes up where it stopped."""

import json
import sys

import pytest

from benchmarks.scaling import __main__ as command
from benchmarks.scaling.axes import ALL, AXES
from benchmarks.scaling.exponents import exponent, exponents


def test_the_exponent_of_a_power_is_the_power_and_overhead_of_small_fits_does_not_bend_it():
    sizes = [10**k for k in range(1, 8)]
    assert exponent(sizes, [3e-6 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    assert exponent(sizes, [0.01 + 1e-6 * n for n in sizes]) == pytest.approx(1.0, abs=0.1)


def test_every_size_that_is_named_has_a_curve_over_its_range():
    spans = {axis.name: (min(axis.values), max(axis.values)) for axis in AXES}
    assert spans["rows"] == (1000, 10_000_000)
    assert spans["columns"] == (10, 10_000)
    assert set(spans) == {"rows", "columns", "rounds", "literals", "classes", "boundaries", "threads"}
    assert {name for axis in AXES for name in axis.estimators} == set(ALL)


def test_a_run_files_its_points_and_the_next_goes_on(tmp_path, monkeypatch, capsys):
    asked = ["scaling", "--only", "boundaries", "--up-to", "3", "-o", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", asked)
    monkeypatch.setattr(command, "measure", lambda spec: {"seconds": spec["boundaries"], "mib": 9, "error": 0})
    assert command.main() == 0
    assert len(json.loads((tmp_path / "scaling.json").read_text())["points"]) == 2
    monkeypatch.setattr(sys, "argv", [*asked, "--up-to", "9"])
    taken = []
    monkeypatch.setattr(
        command, "measure", lambda spec: taken.append(spec) or {"seconds": spec["boundaries"], "mib": 9, "error": 0}
    )
    assert command.main() == 0
    assert [spec["boundaries"] for spec in taken] == [9]
    assert (tmp_path / "scaling.svg").exists()
    assert "| boundaries | Boundary | 1.00 | 0.00 |" in capsys.readouterr().out


def test_one_point_is_measured_in_a_process_of_its_own():
    point = next(iter(AXES[0].points()))
    measured = command.measure(point)
    assert measured["seconds"] > 0
    assert 0 <= measured["error"] < 0.5


def test_curves_too_short_for_a_slope_are_left_out():
    assert exponents([{"axis": "rows", "estimator": "ULS", "rows": 10, "seconds": 1.0, "mib": 1.0}]) == []
