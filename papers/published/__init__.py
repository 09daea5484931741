"""Numbers printed in the papers, as data files with their source in the first line. Nothing here is ours."""

import csv
import importlib.resources


def read(name: str) -> list[dict[str, str]]:
    """Read a file of published numbers; lines that start with # say where they are printed.

    Examples
    --------
    >>> len(read("beijbom-table-2"))
    60
    """
    text = importlib.resources.files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def source(name: str) -> str:
    """Give the file's statement of its source."""
    text = importlib.resources.files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
