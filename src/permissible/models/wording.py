"""Literals and rules in words: `age <= 30 or missing`, `colour in {blue, red}`, `income is missing`. Words only, no layout.

Numbers are written with the fewest digits that give them back exactly, so that a printed rule covers what the model's covers.
"""

from collections.abc import Mapping

from permissible.bins.literal import OTHER, Literal, Rule
from permissible.table.schema import Category, Column, Schema
from permissible.types import Codes


def number_words(value: float) -> str:
    """A number with as few digits as identify it.

    Examples
    --------
    >>> number_words(3.0), number_words(0.1), number_words(1e-7)
    ('3', '0.1', '1e-07')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def literal_words(literal: Literal, schema: Schema, code_of_category: Mapping[int, Codes] | None = None) -> str:
    """A literal in words.

    Examples
    --------
    >>> schema = Schema((Column("age"), Column("colour", "categorical", ("blue", "green", "red"))))
    >>> literal_words(Literal(0, "<=", 30.0, (4,), missing=True), schema)
    'age <= 30 or missing'
    >>> literal_words(Literal(1, "in", codes=(0, 2)), schema)
    'colour in {blue, red}'
    """
    column = schema.columns[literal.column]
    if literal.test in ("missing", "present"):
        return f"{column.name} is {'missing' if literal.missing else 'not missing'}"
    if literal.test in ("in", "not in"):
        words = _set_words(literal, column, (code_of_category or {}).get(literal.column))
    elif column.kind == "boolean" and 0 <= literal.threshold < 1:
        words = f"{column.name} = {'false' if literal.test == '<=' else 'true'}"
    else:
        words = f"{column.name} {literal.test} {number_words(literal.threshold)}"
    return f"{words} or missing" if literal.missing else words


def rule_words(rule: Rule, schema: Schema, code_of_category: Mapping[int, Codes] | None = None) -> str:
    """A rule in words, its literals joined by "and"; an `or missing` keeps its brackets."""
    if not rule:
        return "always"
    parts = [literal_words(literal, schema, code_of_category) for literal in rule]
    if len(parts) > 1:
        parts = [f"({part})" if part.endswith(" or missing") else part for part in parts]
    return " and ".join(parts)


def _set_words(literal: Literal, column: Column, codes: Codes | None) -> str:
    own = range(len(column.categories)) if codes is None else codes.tolist()
    membership = literal.membership()
    others = bool(membership[OTHER])
    named: list[Category] = [
        category for category, code in zip(column.categories, own, strict=True) if membership[code] != others
    ]
    if not named:
        return f"{column.name} {'is anything' if others else 'in {}'}"
    if len(named) == 1:
        return f"{column.name} {'!=' if others else '='} {named[0]}"
    return f"{column.name} {'not in' if others else 'in'} {{{', '.join(map(str, named))}}}"
