"""docs/reliability.md: the counts beside the promises are those of the tests, so that the page cannot promise what is not run."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.faults.counting import PROMISES

ROOT = Path(__file__).parents[2]
COUNT = """
import collections, json, pathlib, sys
import pytest

class Counter:
    def pytest_collection_modifyitems(self, items):
        tests = pathlib.Path("tests").resolve()
        counts = collections.Counter(
            (str(item.path.relative_to(tests).with_suffix("")), item.get_closest_marker("slow") is not None) for item in items
        )
        names = sorted({name for name, _ in counts})
        print("counts", json.dumps({name: [counts[name, False], counts[name, False] + counts[name, True]] for name in names}))

sys.exit(pytest.main(["--collect-only", "-q", "-s", "-p", "no:xdist", *sys.argv[1:]], plugins=[Counter()]))
"""


def test_the_page_gives_the_counts_of_the_suite():
    files = ["tests/faults", "tests/modes", *(f"tests/{name}.py" for name in PROMISES)]
    command = [sys.executable, "-c", COUNT, *sorted(set(files))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    counts = json.loads(re.search(r"^counts (.*)$", ran.stdout, re.M).group(1))
    page = (ROOT / "docs" / "reliability.md").read_text()
    rows = re.findall(r"^\|.*\| `tests/([\w/]+)\.py`[^|]*\| ([\d,]+) \| ([\d,]+) \|$", page, re.M)
    assert {name: [int(count.replace(",", "")) for count in both] for name, *both in rows} == counts
    assert set(counts) == set(PROMISES)
