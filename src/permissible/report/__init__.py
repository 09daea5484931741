"""Model and data become a Summary (plain data); text, plots and the HTML page are renderings of it."""

from permissible.report.page import report, write_report

__all__ = ["report", "write_report"]
