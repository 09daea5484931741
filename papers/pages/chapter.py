"""What a protocol hands over: prose, tables and drawings, in order. Plain data, nothing is written here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from papers.pages.verdict import AGREES, DIFFERS, RULE, UNTOLD, Statement

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table with full-precision cells; the pages round, the CSV does not. `name` becomes the file's name."""

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    decimals: int = 3


@dataclass(frozen=True, slots=True)
class Drawing:
    """A matplotlib figure; `name` becomes the file's name."""

    name: str
    caption: str
    figure: Any


@dataclass(frozen=True, slots=True)
class Chapter:
    """One protocol's results, the papers they belong to, the settings that made them, and the tables a terminal shows."""

    protocol: str
    title: str
    papers: Sequence[str]
    blocks: Sequence[Prose | Table | Drawing]
    settings: dict[str, Any] = field(default_factory=dict)
    headline: Sequence[str] = ()


def shown(cell: Cell, decimals: int) -> str:
    """Write a cell as a reader wants it: rounded, small values with an exponent, nothing where there is nothing.

    Examples
    --------
    >>> shown(1 / 3, 3), shown(1e-9, 3), shown(None, 3), shown(7, 3)
    ('0.333', '1.0e-09', '', '7')
    """
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, float):
        return f"{cell:.1e}" if 0 < abs(cell) < 0.5 * 10**-decimals else f"{cell:.{decimals}f}"
    return str(cell)


def claims(name: str, rows: Sequence[Statement | tuple[str, str, bool | None, str]]) -> Table:
    """Set the paper's statements beside ours: statement, what we find, whether it agrees (None: cannot be told), and why.

    Examples
    --------
    >>> claims("claims", [("M beats Q", "M .10, Q .12", True, "")]).rows
    [['M beats Q', 'M .10, Q .12', 'agrees', '']]
    """
    verdicts = {True: AGREES, False: DIFFERS, None: UNTOLD}
    table: list[list[Cell]] = []
    for row in rows:
        if isinstance(row, Statement):
            table.append([row.said, row.found, row.verdict, row.why])
        else:
            table.append([row[0], row[1], verdicts[row[2]], row[3]])
    said = "What the paper says, and what we find"
    caption = f"{said}. {RULE}" if any(isinstance(row, Statement) for row in rows) else said
    return Table(name, caption, ["the paper", "here", "verdict", "why"], table)
