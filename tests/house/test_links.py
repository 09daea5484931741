"""Links have targets: between the Markdown files of the repository, and in a site, where the checker finds what is broken."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if not {"_build", "gallery", "generated"} & set(path.relative_to(ROOT).parts)
]
MADE = ("gallery/", "/gallery/", "generated/", "/generated/")
"""What the build makes; the links to it are checked in the built site."""


def checker():
    made = importlib.util.spec_from_file_location("check_links", ROOT / "tools" / "check_links.py")
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_of_the_page_has_its_file(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert [link for link in links if link and not link.startswith(MADE) and not (page.parent / link).exists()] == []
    for name in re.findall(r"\{doc\}`(?:[^`<]*<)?/?([^`>]+)>?`", text):
        around = [(folder / f"{name}.md").exists() for folder in (page.parent, ROOT / "docs")]
        assert any(around) or name.startswith(MADE), name


def test_the_checker_names_missing_files_anchors_and_pictures(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">b</a><a href="#here">a</a><a href="c.html">c</a><img src="d.png">'
    )
    (tmp_path / "b.html").write_text('<p id="elsewhere"><a href="https://example.org/none">out</a>')
    assert checker().broken(tmp_path) == ["a.html: b.html#there", "a.html: c.html", "a.html: d.png"]
    (tmp_path / "b.html").write_text('<p id="there">')
    (tmp_path / "c.html").write_text("")
    (tmp_path / "d.png").write_bytes(b"")
    assert checker().broken(tmp_path) == []
