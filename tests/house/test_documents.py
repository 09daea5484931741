"""What the documents say is true: the steps of CONTRIBUTING run, named tests exist."""

import re
from pathlib import Path

from permissible import losses
from permissible.decisions import documents
from permissible.estimators import exports

ROOT = Path(__file__).parents[2]


WALKS = ("Add a phi in five steps", "Add a decision", "Add an export", "Add a question of a learner")


def test_the_walks_of_contributing_run_as_written():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert re.findall(r"^## (Add .*)$", text, flags=re.MULTILINE) == [*WALKS]
    space: dict[str, object] = {"__name__": "walk"}
    try:
        for walk in WALKS:
            section = text.split(f"## {walk}\n")[1].split("\n## ")[0]
            for step in re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL):
                exec(step, space)
    finally:
        losses.unregister("sine")
        documents.KINDS.pop("Capacity", None)
        exports.FORMATS.pop("columns", None)


def test_every_test_that_the_errata_name_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / "errata.md").read_text())
    assert len(named) >= 17
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(), (path, name)


def test_every_file_that_architecture_names_exists():
    table = (ROOT / "ARCHITECTURE.md").read_text().split("## The path of one row")[1].split("\n## ")[0]
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+)`", table))
    assert len(named) > 25
    package = ROOT / "src" / "permissible"
    for name in named:
        places = [package / f"{name}.py", package / "learners" / f"{name}.py", *ROOT.glob(f"{name}.[ch]pp")]
        assert any(place.exists() for place in places), name
