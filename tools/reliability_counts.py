"""Write the counts of the suite into docs/reliability.md: `python -m tools.reliability_counts` from the root of the project."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.faults.counting import PROMISES
from tests.house.test_reliability import COUNT, ROOT


def main() -> None:
    """Collect the tests of every promise, and replace the two counts of its row."""
    files = ["tests/faults", "tests/modes", *(f"tests/{name}.py" for name in PROMISES)]
    command = [sys.executable, "-c", COUNT, *sorted(set(files))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    counts = json.loads(re.search(r"^counts (.*)$", ran.stdout, re.M).group(1))
    page = Path(ROOT) / "docs" / "reliability.md"
    text = page.read_text()
    for name, (usual, large) in counts.items():
        row = rf"^(\|.*\| `tests/{name}\.py`[^|]*\| )[\d,]+ \| [\d,]+ \|$"
        text = re.sub(row, rf"\g<1>{usual:,} | {large:,} |", text, flags=re.M)
    page.write_text(text)


if __name__ == "__main__":
    main()
