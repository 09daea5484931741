"""Pages: tables keep full precision, pages hold every block, the same chapter gives the same bytes."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from papers import published
from papers.pages import Chapter, Drawing, Prose, Table, claims, write
from papers.pages.facts import facts, this_version
from papers.pages.figures import cumulative_margins, lines_with_errors, ranked_bars, scatter_regression
from papers.pages.publish import publish
from papers.pages.verdict import RULE

FACTS = {"command": "permissible reproduce uls", "machine": "a machine"}


def chapter(name="uls", papers=("N", "I")):
    figure = ranked_bars("t", ["a", "b"], np.array([0.2, 0.1]), np.array([1.5, 1.5]), np.array([0, 1]))
    table = Table("errors", "Errors <all>", ["data set", "a|b"], [["iris", 1 / 3], ["empty", None], ["small", 1e-9]])
    said = claims("claims", [("M is better", "it is", True, ""), ("F* wins", "no", False, "because")])
    return Chapter(
        name, "A title", papers, [Prose("Some text & more."), table, said, Drawing("bars", "Bars", figure)], {"seed": 0}
    )


def test_csv_keeps_full_precision_and_page_rounds(tmp_path):
    write(chapter(), tmp_path, FACTS)
    with (tmp_path / "tables" / "uls-errors.csv").open() as file:
        rows = list(csv.reader(file))
    assert float(rows[1][1]) == 1 / 3
    assert "| iris | 0.333 |" in (tmp_path / "tables" / "uls-errors.md").read_text()
    assert "1.0e-09" in (tmp_path / "tables" / "uls-errors.md").read_text()


def test_one_page_a_paper_in_html_and_markdown(tmp_path):
    pages = write(chapter(), tmp_path, FACTS)
    assert sorted(page.name for page in pages) == ["icpr-2008.html", "icpr-2008.md", "nips-2008.html", "nips-2008.md"]
    html = (tmp_path / "nips-2008.html").read_text()
    for part in ("Some text &amp; more.", "Errors &lt;all&gt;", "<svg", "agrees", "differs", "a machine"):
        assert part in html
    assert (tmp_path / "figures" / "uls-bars.png").stat().st_size > 1000


def test_page_shows_protocols_that_ran_at_different_times(tmp_path):
    write(chapter("margins", ("T",)), tmp_path, FACTS)
    write(chapter("trees", ("T",)), tmp_path, FACTS)
    assert (tmp_path / "tpami-2009.md").read_text().count("## A title") == 2
    assert json.loads((tmp_path / "chapters" / "trees.json").read_text())["settings"] == {"seed": 0}


def test_same_chapter_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write(chapter(), tmp_path / name, FACTS)
    for path in sorted((tmp_path / "one").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes(), path.name


def test_published_files_are_small_and_complete(tmp_path):
    write(chapter(), tmp_path / "out", FACTS)
    kept = {path.relative_to(tmp_path / "kept").as_posix() for path in publish(tmp_path / "out", tmp_path / "kept")}
    assert {"nips-2008.md", "index.md", "tables/uls-errors.csv", "figures/uls-bars.svg"} <= kept
    assert not any(name.endswith((".png", ".html", ".sqlite", ".json")) for name in kept)


def test_every_kind_of_figure_draws(tmp_path):
    x = np.array([1.0, 2.0, 3.0])
    figures = [
        scatter_regression([("t", "x", "y", x, x + 0.1, 1.0, 0.1)]),
        cumulative_margins([("t", {"M": x / 4, "Q": -x / 4})]),
        lines_with_errors([("t", {"a": (x, x, x / 10)}, 0.5)], "x", "y"),
    ]
    blocks = [Drawing(f"d{number}", "c", figure) for number, figure in enumerate(figures)]
    write(Chapter("uls", "t", ("N",), blocks), tmp_path, FACTS)
    assert len(list((tmp_path / "figures").glob("*.svg"))) == 3


def test_facts_name_versions_and_machine_but_no_place():
    known = facts("permissible reproduce uls", 90.0, {this_version(): 4})
    assert known["made by"].startswith("permissible ")
    assert "numpy" in known["versions"]
    assert known["time"].startswith("1.5 minutes of CPU")
    assert "/" not in known["command"]


@pytest.mark.parametrize(
    "name", ["beijbom-table-2", "beijbom-ranks", "beijbom-mlc", "beijbom-mlc-cost", "tpami-regressions"]
)
def test_published_numbers_carry_their_source(name):
    assert published.read(name)
    assert any(word in published.source(name) for word in ("Beijbom", "Nock", "Kimes"))


def test_published_bayes_risks_are_those_of_the_printed_settings():
    assert [int(row["numerator"]) / int(row["denominator"]) for row in published.read("kimes-bayes")] == pytest.approx(
        [0.25, 0.222222, 0.208333, 0.191667, 0.208333, 0.158333], abs=1e-6
    )


def test_published_ranks_are_those_of_the_published_table_up_to_rounding():
    from permissible.evaluation.paired import average_ranks

    rows = published.read("beijbom-table-2")
    table = np.array([float(row["mean"]) for row in rows]).reshape(10, 6)
    printed = np.array([float(row["rank"]) for row in published.read("beijbom-ranks")])
    assert average_ranks(table) == pytest.approx(printed, abs=0.06)


KEPT = Path(__file__).parents[3] / "docs" / "results"


@pytest.mark.parametrize("page", ["nips-2008", "icpr-2008", "tpami-2009", "kimes", "beijbom-2014"])
def test_every_kept_table_of_verdicts_stands_under_its_rule(page):
    """The caption two lines above a table of verdicts, or a paragraph shortly before it, prints the rule of today."""
    lines = (KEPT / f"{page}.md").read_text(encoding="utf-8").splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("| the paper | here | verdict |")]
    assert heads
    for number in heads:
        above = " ".join(lines[max(number - 5, 0) : number])
        assert RULE in above or "Rules of the verdicts." in above
