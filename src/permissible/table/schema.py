"""What is known about the columns of a table: name, kind, and the categories of a categorical column. Data only."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["numeric", "boolean", "categorical"]
Category: TypeAlias = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Column:
    """One column. A boolean column holds 0.0, 1.0 and NaN; a categorical one holds codes into `categories`."""

    name: str
    kind: Kind = "numeric"
    categories: tuple[Category, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns in order, and whether their names are the user's (`named`) or x0, x1, ..."""

    columns: tuple[Column, ...]
    named: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The column names in order."""
        return tuple(column.name for column in self.columns)
