"""Counts the cases of the suites of promises, and prints them when the run ends: docs/reliability.md keeps these figures."""

from collections import Counter

PROMISES = {
    "faults/test_bad_input": "malformed input is refused in one sentence",
    "faults/test_bad_parameters": "malformed parameters are refused in one sentence",
    "faults/test_bad_losses": "malformed input of losses and decisions is refused in one sentence",
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
    "estimators/parameters/test_parameters": "no parameter is without effect, in any mode",
    "estimators/test_invariances": "models do not depend on orders, names, units, copies and types",
    "estimators/test_invariances_large": "the same on more tables",
    "meaning/test_one_meaning": "every place where a model runs says the same",
}
"""What is promised, by the file of its tests."""


def summary(terminalreporter):
    """Print passed, failed and skipped cases of each promise."""
    counts: Counter[tuple[str, str]] = Counter()
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            name = report.nodeid.split("::")[0].removeprefix("tests/").removesuffix(".py")
            if name in PROMISES and (outcome == "skipped" or report.when == "call"):
                counts[name, outcome] += 1
    if not counts:
        return
    terminalreporter.section("cases by promise")
    for name, promise in PROMISES.items():
        passed, failed, skipped = (counts[name, outcome] for outcome in ("passed", "failed", "skipped"))
        if passed + failed + skipped:
            terminalreporter.line(f"{passed:6d} passed, {failed} failed, {skipped} skipped: {promise}")
