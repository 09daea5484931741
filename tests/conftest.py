"""One profile for all property tests: the same examples on every run, and no deadline on a busy machine.

The summaries are asked for here: of several processes, the one that prints them reads no conftest.py further down.
"""

from hypothesis import settings

from tests import programs
from tests.faults import counting

settings.register_profile("permissible", deadline=None, derandomize=True, max_examples=30, database=None)
settings.load_profile("permissible")


def pytest_runtest_setup(item):
    programs.skip_or_fail(item)


def pytest_terminal_summary(terminalreporter):
    counting.summary(terminalreporter)
    programs.summary(terminalreporter)
