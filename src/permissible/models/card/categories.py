"""Which categories a literal covers, in the user's own values: what every rendering of `in` and `not in` needs."""

from dataclasses import dataclass

from permissible.bins.literal import OTHER, Literal
from permissible.table.schema import Category, Column
from permissible.types import Codes


@dataclass(frozen=True, slots=True)
class Covered:
    """The covered categories; with `others`, every value outside of `named` is covered instead (unseen ones too)."""

    named: tuple[Category, ...]
    others: bool


def covered(literal: Literal, column: Column, code_of_category: Codes | None = None) -> Covered:
    """The categories for which a literal of a categorical column holds, missing values aside.

    >>> colour = Column("colour", "categorical", ("blue", "green", "red"))
    >>> covered(Literal(0, "not in", codes=(1,)), colour)
    Covered(named=('green',), others=True)
    """
    membership = literal.membership()
    others = bool(membership[OTHER])
    codes = range(len(column.categories)) if code_of_category is None else code_of_category.tolist()
    named = [
        value for value, code in zip(column.categories, codes, strict=True) if membership[min(code, OTHER)] != others
    ]
    return Covered(tuple(named), others)
