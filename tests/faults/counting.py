"""Counts the cases of the fault suite by promise, and prints them when the run ends: docs/reliability.md keeps these figures."""

from collections import Counter
from pathlib import Path

PROMISES = {
    "test_bad_input": "malformed input is refused in one sentence",
    "test_extremes": "extreme but legal input fits, or is refused in one sentence",
    "test_interruption": "interrupted work leaves no half-written file",
    "test_concurrency": "threads and processes agree with one thread",
    "test_memory": "fits do not leak",
    "test_fuzz": "random estimators on random tables keep their word",
    "test_hostile_files": "hostile files are refused",
    "test_honesty": "doubtful fits say so once",
}


def summary(terminalreporter):
    """Print passed, failed and skipped cases of each promise."""
    counts: Counter[tuple[str, str]] = Counter()
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            path = Path(report.nodeid.split("::")[0])
            if path.parent.name == "faults" and (outcome == "skipped" or report.when == "call"):
                counts[path.stem, outcome] += 1
    if not counts:
        return
    terminalreporter.section("the fault suite: cases by promise")
    for stem, promise in PROMISES.items():
        passed, failed, skipped = (counts[stem, outcome] for outcome in ("passed", "failed", "skipped"))
        if passed + failed + skipped:
            terminalreporter.line(f"{passed:6d} passed, {failed} failed, {skipped} skipped: {promise}")
