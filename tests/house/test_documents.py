"""What the documents say is true: the steps of CONTRIBUTING run, named tests exist."""

import re
from pathlib import Path

from permissible import losses

ROOT = Path(__file__).parents[2]


def test_add_a_phi_in_five_steps_runs_as_written():
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## Add a phi in five steps")[1].split("\n## ")[0]
    steps = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert len(steps) == 4
    space: dict[str, object] = {}
    try:
        for step in steps:
            exec(step, space)
    finally:
        losses.unregister("sine")


def test_every_test_that_the_errata_name_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / "errata.md").read_text())
    assert len(named) >= 17
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(), (path, name)
