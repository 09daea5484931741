"""The time of a full run: the mean of the measured units of a kind stands for the others of that kind, and for no other."""

import pytest

from papers import estimate, reproduce
from papers.scope import Scope
from papers.store import Store, unit


def units_of(sizes):
    return [
        unit("trees", name, method, fold, {"seed": 0})
        for name, count in sizes
        for method in "MQ"
        for fold in range(count)
    ]


def test_one_unit_of_each_kind_that_the_store_lacks_is_measured(tmp_path):
    units = units_of([("iris", 3), ("wine", 2)])
    with Store(tmp_path / "results.sqlite") as store:
        store.put(units[1], {}, seconds=1.0)
        wanted = estimate.missing_kinds(units, store)
    assert [(one.dataset, one.method, one.fold) for one in wanted] == [
        ("iris", "Q", 0),
        ("wine", "M", 0),
        ("wine", "Q", 0),
    ]


def test_a_kind_counts_with_the_mean_of_its_measured_units(tmp_path):
    units = units_of([("iris", 10), ("wine", 5)])
    times = {("iris", "M"): (1.0, 3.0), ("iris", "Q"): (0.5,), ("wine", "M"): (4.0,), ("wine", "Q"): (0.0, 0.0, 3.0)}
    with Store(tmp_path / "results.sqlite") as store:
        for (name, method), seconds in times.items():
            own = [one for one in units if (one.dataset, one.method) == (name, method)]
            for one, spent in zip(own, seconds, strict=False):
                store.put(one, {}, seconds=spent)
        assert estimate.expected_seconds(units, store) == pytest.approx(10 * 2.0 + 10 * 0.5 + 5 * 4.0 + 5 * 1.0)


def test_what_was_measured_is_not_done_again_by_the_run(small_sets, tmp_path, monkeypatch):
    scope = Scope(data=str(small_sets), network=False, only=("iris",))
    monkeypatch.setenv("PERMISSIBLE_DATA", str(small_sets))
    with Store(tmp_path / "results.sqlite") as store:
        table = estimate.estimate(scope, store, ["trees"])
    (name, units, measured, minutes), whole = table.rows
    assert (name, units, measured) == ("trees", 350, 35)
    assert minutes > 0
    assert whole[1:] == [units, measured, minutes]
    assert set(reproduce.PROTOCOLS) >= {name}
    with Store(tmp_path / "results.sqlite") as store:
        assert estimate.estimate(scope, store, ["trees"]).rows[0][2] == 35
