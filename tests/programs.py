"""Programs outside of Python that some tests drive, and what happens where one is missing.

A test marked ``needs("chromium")`` is skipped where the program is not installed, and the last lines of the run say how many were
skipped and how to run them. With ``PERMISSIBLE_REQUIRE_PROGRAMS=1`` (set by ``.ci/run``) they fail instead, so that none is
skipped unnoticed.
"""

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

REASON = "not installed here: "


def chromium() -> str | None:
    """The browser, where its driver is installed too."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    return found if shutil.which("chromedriver") else None


def postgresql() -> str | None:
    """`initdb` of the newest PostgreSQL server; Debian keeps it outside of the search path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    return shutil.which("initdb") or next((str(folder / "initdb") for folder in reversed(folders)), None)


def node() -> str | None:
    """The JavaScript runtime."""
    return shutil.which("node")


FIND = {"chromium": chromium, "postgresql": postgresql, "node": node}


def skip_or_fail(item: pytest.Item) -> None:
    """Skip a test whose program is missing; fail it where programs are required."""
    for marker in item.iter_markers("needs"):
        (program,) = marker.args
        if FIND[program]() is None:
            answer = pytest.fail if os.environ.get("PERMISSIBLE_REQUIRE_PROGRAMS") else pytest.skip
            answer(REASON + program)


def summary(terminalreporter) -> None:
    """Say in the last lines which programs were missing and how to run what was skipped."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    counts = Counter(program for program in FIND for reason in reasons if f"{REASON}{program}'" in reason)
    if counts:
        terminalreporter.section("skipped, because a program is missing")
        for program, count in counts.items():
            terminalreporter.line(f"{count:6d} tests need {program}")
        terminalreporter.line("Run `make programs` to install what is missing (Debian), then `make test` again.")
