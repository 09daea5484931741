"""Literals and rules in words: `age <= 41.5`, `colour in {red, blue}`, `age is missing`, `age > 41.5 or missing`.

Both bounds of a column are one interval, `40 < age <= 60`.
"""

from collections.abc import Mapping
from typing import Protocol

from permissible.bins.literal import Literal, Rule
from permissible.table.schema import Category, Column, Schema
from permissible.types import Codes


class Vocabulary(Protocol):
    """What a description of literals needs to know about a model; scorecards and trees provide it."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    @property
    def code_of_category(self) -> Mapping[int, Codes]:
        """The bin of each category, by column, where it is not simply the category's position."""

    @property
    def seen_missing(self) -> tuple[int, ...] | None:
        """The columns that had missing values in training; None: all may."""


def literal_words(literal: Literal, about: Vocabulary) -> str:
    """A literal in words; missing values are mentioned only where training had some."""
    column = about.schema.columns[literal.column]
    if literal.test in ("missing", "present"):
        return f"{column.name} is {'missing' if literal.test == 'missing' else 'not missing'}"
    words = f"{column.name} {_comparison(literal, column, about.code_of_category.get(literal.column))}"
    seen = about.seen_missing is None or literal.column in about.seen_missing
    return f"{words} or missing" if literal.missing and seen else words


def rule_words(rule: Rule, about: Vocabulary) -> str:
    """The literals of a rule joined by "and"; an "or missing" among others is bracketed. The empty rule covers everything."""
    parts, done = [], set[Literal]()
    for literal in rule:
        other = next((one for one in rule if _bounds(literal, one)), None)
        if literal in done:
            continue
        if other is None:
            parts.append(literal_words(literal, about))
            continue
        lower, upper = (literal, other) if literal.test == ">" else (other, literal)
        tail = " or missing" if literal_words(upper, about).endswith(" or missing") else ""
        name = about.schema.columns[literal.column].name
        parts.append(f"{number(lower.threshold)} < {name} <= {number(upper.threshold)}{tail}")
        done.add(other)
    if len(parts) > 1:
        parts = [f"({part})" if part.endswith(" or missing") else part for part in parts]
    return " and ".join(parts) or "always"


def _bounds(one: Literal, other: Literal) -> bool:
    """Whether two literals are the bounds of one interval."""
    tests = {one.test, other.test}
    return one.column == other.column and tests == {"<=", ">"} and one.missing == other.missing


def _comparison(literal: Literal, column: Column, code_of_category: Codes | None) -> str:
    if column.kind == "boolean":
        return f"= {'true' if literal.test == '>' else 'false'}"
    if literal.test in ("<=", ">"):
        return f"{literal.test} {number(literal.threshold)}"
    codes = range(len(column.categories)) if code_of_category is None else code_of_category.tolist()
    pairs = zip(column.categories, codes, strict=True)
    names = [_category(category) for category, code in pairs if code in literal.codes]
    if len(names) == 1:
        return f"{'=' if literal.test == 'in' else '!='} {names[0]}"
    return f"{literal.test} {{{', '.join(names)}}}"


def number(value: float) -> str:
    """The shortest decimal that reads back as the same float64, without a needless ".0"."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def _category(category: Category) -> str:
    if isinstance(category, bool):
        return "true" if category else "false"
    if isinstance(category, str):
        return category if category and category == category.strip() and category.isprintable() else repr(category)
    return number(category) if isinstance(category, float) else str(category)
