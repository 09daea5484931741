"""The report as one HTML page."""

from typing import Any


def write_report(*arguments: Any, **options: Any) -> None:
    """Write the page."""


def report(*arguments: Any, **options: Any) -> None:
    """Write the page."""
