"""The store: what was done is found again, whatever the order of the settings; what was not, is not."""

import sqlite3

from papers.store import Store, unit


def test_results_are_found_by_another_process_of_the_same_settings(tmp_path):
    one = unit("p", "d", "m", 0, {"seed": 0, "rules": 10})
    with Store(tmp_path / "r.sqlite") as store:
        store.put(one, {"error": 1 / 3}, 0.1)
    with Store(tmp_path / "r.sqlite") as store:
        assert store.get([unit("p", "d", "m", 0, {"rules": 10, "seed": 0})])[one] == {"error": 1 / 3}


def test_another_setting_finds_nothing(tmp_path):
    with Store(tmp_path / "r.sqlite") as store:
        store.put(unit("p", "d", "m", 0, {"seed": 0}), {"error": 0.5}, 0.1)
        assert store.get([unit("p", "d", "m", 0, {"seed": 1}), unit("p", "d", "m", 1, {"seed": 0})]) == {}


def test_seconds_are_summed_over_the_units_of_a_run(tmp_path):
    units = [unit("p", "d", "m", fold, {}) for fold in range(3)]
    with Store(tmp_path / "r.sqlite") as store:
        for one in units:
            store.put(one, {}, 0.5)
        store.put(unit("p", "d", "m", 0, {"seed": 1}), {}, 9.0)
        assert store.seconds([*units, unit("p", "d", "m", 3, {})]) == 1.5


def test_every_result_names_the_version_that_made_it(tmp_path):
    units = [unit("p", "d", "m", fold, {}) for fold in range(3)]
    with Store(tmp_path / "r.sqlite", "1.0, commit a") as store:
        store.put(units[0], {}, 0.5)
    with Store(tmp_path / "r.sqlite", "1.0, commit b") as store:
        store.put(units[1], {}, 0.5)
        assert store.versions(units) == {"1.0, commit a": 1, "1.0, commit b": 1}


def test_a_file_without_versions_is_taken_up(tmp_path):
    connection = sqlite3.connect(tmp_path / "r.sqlite")
    connection.execute(
        "CREATE TABLE results (protocol TEXT, dataset TEXT, method TEXT, fold INTEGER, digest TEXT, settings TEXT,"
        " payload TEXT, seconds REAL, PRIMARY KEY (protocol, dataset, method, fold, digest)) WITHOUT ROWID"
    )
    one = unit("p", "d", "m", 0, {})
    connection.execute("INSERT INTO results VALUES ('p', 'd', 'm', 0, ?, '{}', '{\"error\": 1}', 0.5)", (one.digest,))
    connection.commit()
    connection.close()
    with Store(tmp_path / "r.sqlite", "1.0") as store:
        assert store.get([one])[one] == {"error": 1}
        assert store.versions([one]) == {"": 1}
