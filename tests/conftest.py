"""One profile for all property tests: the same examples on every run, and no deadline on a busy machine. Fault cases are counted.

The count has to be asked for here: of several processes, the one that prints the summary reads no conftest.py further down.
"""

from hypothesis import settings

from tests.faults.counting import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

settings.register_profile("permissible", deadline=None, derandomize=True, max_examples=30, database=None)
settings.load_profile("permissible")
