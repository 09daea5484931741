"""What a protocol hands over: prose, tables and drawings, in order. Plain data, nothing is written here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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


def claims(name: str, rows: Sequence[tuple[str, str, bool | None, str]]) -> Table:
    """Set the paper's statements beside ours: statement, what we find, whether it agrees (None: cannot be told), and why.

    Examples
    --------
    >>> claims("claims", [("M beats Q", "M .10, Q .12", True, "")]).rows
    [['M beats Q', 'M .10, Q .12', 'agrees', '']]
    """
    verdicts = {True: "agrees", False: "differs", None: "cannot be told"}
    table = [[said, found, verdicts[agrees], why] for said, found, agrees, why in rows]
    return Table(name, "What the paper says, and what we find", ["the paper", "here", "verdict", "why"], table)
