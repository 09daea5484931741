"""What the verbs print: plain sentences and small tables, or one JSON object."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import typer

from permissible.models.model import counted


def say(text: str = "") -> None:
    """Print a line."""
    typer.echo(text)


def size_of(name: str, n_rows: int, n_columns: int, target: str, n_classes: int) -> str:
    """What a file to learn from holds."""
    rows, columns = counted(n_rows, "row"), counted(n_columns, "column")
    return f"{name}: {rows}, {columns}, target {target!r} with {counted(n_classes, 'class', 'classes')}"


def as_json(data: object) -> None:
    """Print one JSON object; numbers that JSON cannot hold become null."""
    typer.echo(json.dumps(_finite(data), ensure_ascii=False, allow_nan=False, indent=2))


def _finite(data: object) -> object:
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if hasattr(data, "tolist"):
        return _finite(data.tolist())
    if isinstance(data, float) and (data != data or abs(data) == float("inf")):
        return None
    return data


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[int] = ()) -> None:
    """Print a small table; the columns numbered in `right` are aligned to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if title:
        say(title)
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(header):
        drawn.add_column(Text(name), justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(str(cell)) for cell in row))
    width = None if sys.stdout.isatty() else 160
    Console(width=width, highlight=False).print(drawn)


def columns(kinds: dict[str, str]) -> None:
    """Print the inferred kind of each column."""
    groups: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        groups.setdefault(kind, []).append(name)
    for kind, names in groups.items():
        many = len(names) > 12
        say(f"  {kind}: {', '.join(names[:10])}" + (f" and {len(names) - 10} more" if many else ""))


@contextmanager
def progress(title: str, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """A progress bar on the terminal's error stream, for anything that may take more than a second."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn())
    disable = quiet or not sys.stderr.isatty()
    shown = Progress(*columns, console=Console(stderr=True), transient=True, disable=disable)
    with shown:
        task = shown.add_task(title, total=None)

        def advance(done: float, total: float | None = None) -> None:
            shown.update(task, completed=done, total=total)

        yield advance
