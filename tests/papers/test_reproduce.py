"""The one command: taken up after a kill it writes the same tables; the same seed, the same numbers; bad use is refused."""

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from papers import PROTOCOLS, run

SCRIPT = Path(__file__).parent / "slow_protocol.py"
CHECKOUT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def start(output: Path, seed: int = 0) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, str(SCRIPT), str(output), str(seed)], env=CHECKOUT)


def done(output: Path) -> int:
    try:
        with sqlite3.connect(f"file:{output / 'results.sqlite'}?mode=ro", uri=True, timeout=5) as connection:
            return connection.execute("SELECT COUNT(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def tables(output: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((output / "tables").iterdir())}


def test_killed_run_taken_up_again_writes_the_same_tables(tmp_path):
    assert start(tmp_path / "whole").wait(timeout=300) == 0
    process = start(tmp_path / "killed")
    deadline = time.monotonic() + 300
    while done(tmp_path / "killed") < 8 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    kept = done(tmp_path / "killed")
    assert 8 <= kept < 40
    assert not (tmp_path / "killed" / "tables").exists()
    assert start(tmp_path / "killed").wait(timeout=300) == 0
    assert tables(tmp_path / "killed") == tables(tmp_path / "whole")


def test_same_seed_same_tables_and_another_seed_others(tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        assert start(tmp_path / name, seed).wait(timeout=300) == 0
    assert tables(tmp_path / "one") == tables(tmp_path / "two")
    assert tables(tmp_path / "one") != tables(tmp_path / "three")


def test_unknown_protocol_is_refused_with_the_list():
    with pytest.raises(ValueError, match=r"`protocol` must be one of uls, margins, .*, all, got 'nonsense'"):
        run("nonsense")


def test_protocols_are_those_of_the_command_line():
    assert PROTOCOLS == ("uls", "margins", "trees", "boundaries", "guess-averse", "peers")


def test_trees_run_end_to_end_on_a_small_folder(small_sets, tmp_path, monkeypatch):
    from papers.protocols import trees

    monkeypatch.setattr(trees, "suite", lambda name: ("glass", "iris"))
    monkeypatch.setattr(trees, "SIZES", (8, 32))
    pages = run("trees", quick=True, data=small_sets, output=tmp_path / "out", jobs=1)
    assert [page.name for page in pages] == ["tpami-2009.html", "tpami-2009.md"]
    text = (tmp_path / "out" / "tpami-2009.md").read_text()
    assert "2 domains" in text
    assert "permissible reproduce trees --quick --data DIR" in text
    again = run("trees", quick=True, data=small_sets, output=tmp_path / "again", jobs=1)
    assert len(again) == 2
    assert tables(tmp_path / "out") == tables(tmp_path / "again")


def test_the_verb_finds_the_checkout_of_an_editable_install_or_asks_for_one(tmp_path, monkeypatch, capsys):
    import permissible
    from permissible.cli.main import main

    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "no-such-protocol"]) == 2
    assert "WHAT must be one of" in capsys.readouterr().err
    monkeypatch.setattr(permissible, "__file__", str(tmp_path / "site-packages" / "permissible" / "__init__.py"))
    assert main(["reproduce", "trees"]) == 1
    assert "need a checkout of the source" in capsys.readouterr().err
