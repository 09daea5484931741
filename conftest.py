"""Figures that a test or an example opened are closed after it; twenty open ones are a warning, and warnings are errors."""

import sys


def pytest_runtest_teardown(item):
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
