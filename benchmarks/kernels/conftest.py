"""The option that files new ratios instead of comparing with the old ones."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("ratios.json")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of keeping what is measured."""
    parser.addoption("--keep-ratios", action="store_true", help="file the measured ratios as the new baselines")


@pytest.fixture(scope="session")
def kept(request: pytest.FixtureRequest) -> Iterator[dict[str, object]]:
    """The stored ratios; with --keep-ratios what the tests put into `measured` replaces them at the end."""
    stored = json.loads(FILE.read_text())
    stored["measured"] = {}
    yield stored
    measured = stored.pop("measured")
    if request.config.getoption("--keep-ratios"):
        stored["ratios"] |= {name: round(ratio, 4) for name, ratio in measured.items()}
        FILE.write_text(json.dumps(stored, indent=1) + "\n")
