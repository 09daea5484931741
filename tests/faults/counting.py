"""Counts the cases of the suites of promises, and prints them when the run ends: docs/reliability.md keeps these figures."""

from collections import Counter
from pathlib import Path

PROMISES = {
    "faults/test_bad_input": "malformed input is refused in one sentence",
    "faults/test_extremes": "extreme but legal input fits, or is refused in one sentence",
    "faults/test_interruption": "interrupted work leaves no half-written file",
    "faults/test_concurrency": "threads and processes agree with one thread",
    "faults/test_memory": "fits do not leak",
    "faults/test_fuzz": "random estimators on random tables keep their word",
    "faults/test_hostile_files": "hostile files are refused",
    "faults/test_honesty": "doubtful fits say so once",
    "modes/test_uls": "boosted rules and columns reach the optimum over their features, in every mode",
    "modes/test_leaves": "boosted leaves have their exact values, in every mode",
    "modes/test_boundary": "boundary classifiers reach the optimum within their gap, in every mode",
    "modes/test_udt": "trees are greedy and pruned as brute force does it, in every mode",
    "modes/test_mcboost": "multiclass rounds lower the surrogate by exact steps, in every mode",
    "modes/test_doubts": "each kind of doubt and warning is raised where it is due, and only there",
}
"""What is promised, by folder and file of the tests."""


def summary(terminalreporter):
    """Print passed, failed and skipped cases of each promise."""
    counts: Counter[tuple[str, str]] = Counter()
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            path = Path(report.nodeid.split("::")[0])
            name = f"{path.parent.name}/{path.stem}"
            if name in PROMISES and (outcome == "skipped" or report.when == "call"):
                counts[name, outcome] += 1
    if not counts:
        return
    terminalreporter.section("cases by promise")
    for name, promise in PROMISES.items():
        passed, failed, skipped = (counts[name, outcome] for outcome in ("passed", "failed", "skipped"))
        if passed + failed + skipped:
            terminalreporter.line(f"{passed:6d} passed, {failed} failed, {skipped} skipped: {promise}")
