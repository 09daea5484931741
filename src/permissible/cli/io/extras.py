"""What an option needs that may not be installed: checked before anything is fitted, not after."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from permissible.cli.errors import CommandError
from permissible.table.files.opening import ARROW


def needs(what: str, extra: str, modules: Sequence[str]) -> None:
    """Refuse where a module is missing, with the line that installs it."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise CommandError(f"{what} needs {' and '.join(missing)}: pip install 'permissible[{extra}]'.")


def needs_report(path: Path | None) -> None:
    """Refuse a page that could not be drawn."""
    if path is not None:
        needs("a report", "report", ("jinja2",))


def needs_table(path: Path | None) -> None:
    """Refuse a file of rows that could not be written."""
    if path is not None and path.suffix.lower() in ARROW:
        needs(f"writing {path.name}", "arrow", ("pyarrow",))
