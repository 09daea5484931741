"""Model and data become a Summary (plain data); text, plots and the HTML page are renderings of it.

`pm.report` is this package and its function: ``pm.report(estimator, X, y, path="report.html")`` writes the page.
"""

import sys
from types import ModuleType
from typing import Any

from permissible.report.page import report, write_report
from permissible.report.summary import Summary, summarise

__all__ = ["Summary", "report", "summarise", "write_report"]


class _Callable(ModuleType):
    """A package that can be called, since its one function has its name."""

    def __call__(self, *arguments: Any, **options: Any) -> str:
        return report(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
