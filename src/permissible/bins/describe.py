"""A literal in words: `age <= 41.5`, `colour in {red, blue}`, `age is missing`, `age > 41.5 or missing`.

Both bounds of a column are one interval, `40 < age <= 60`.
"""

from collections.abc import Callable

import numpy as np

from permissible.bins.literal import Literal, Rule
from permissible.table.schema import Category, Column, Schema
from permissible.types import Codes


def describe(
    literal: Literal, schema: Schema, code_of_category: Codes | None = None, *, has_missing: bool = True
) -> str:
    """Describe what a literal tests.

    `code_of_category` is the bin of each category, where it is not simply the category's position (more than 254 categories);
    `has_missing` says whether the column has missing values, so that they are mentioned.

    Examples
    --------
    >>> from permissible.bins.describe import describe
    >>> from permissible.bins.literal import Literal
    >>> from permissible.table import Column, Schema
    >>> schema = Schema((Column("age"), Column("colour", "categorical", ("blue", "green", "red"))))
    >>> describe(Literal(0, ">", 41.5, (3,), missing=True), schema)
    'age > 41.5 or missing'
    >>> describe(Literal(1, "in", codes=(0, 2)), schema)
    'colour in {blue, red}'
    """
    column = schema.columns[literal.column]
    if literal.test in ("missing", "present"):
        return f"{column.name} is {'missing' if literal.test == 'missing' else 'not missing'}"
    words = f"{column.name} {_comparison(literal, column, code_of_category)}"
    return f"{words} or missing" if literal.missing and has_missing else words


def describe_rule(rule: Rule, schema: Schema) -> str:
    """The literals of a rule joined by "and"; the empty rule covers everything.

    Examples
    --------
    >>> from permissible.bins.describe import describe_rule
    >>> from permissible.bins.literal import Literal
    >>> from permissible.table import Column, Schema
    >>> describe_rule((Literal(0, ">", 40.0, (3,)), Literal(0, "<=", 60.0, (7,))), Schema((Column("age"),)))
    '40 < age <= 60'
    """
    return " and ".join(described(rule, schema, lambda literal: describe(literal, schema))) or "always"


def described(rule: Rule, schema: Schema, words: Callable[[Literal], str]) -> list[str]:
    """Each literal in words, both bounds of a column as one interval."""
    found, done = [], set[Literal]()
    for literal in rule:
        other = next((one for one in rule if _bounds(literal, one)), None)
        if literal in done:
            continue
        if other is None:
            found.append(words(literal))
            continue
        lower, upper = (literal, other) if literal.test == ">" else (other, literal)
        tail = " or missing" if words(upper).endswith(" or missing") else ""
        name = schema.columns[literal.column].name
        found.append(f"{number(lower.threshold)} < {name} <= {number(upper.threshold)}{tail}")
        done.add(other)
    return found


def _bounds(one: Literal, other: Literal) -> bool:
    """Whether two literals are the bounds of one interval."""
    tests = {one.test, other.test}
    return one.column == other.column and tests == {"<=", ">"} and one.missing == other.missing


def _comparison(literal: Literal, column: Column, code_of_category: Codes | None) -> str:
    if column.kind == "boolean":
        return f"= {'true' if literal.test == '>' else 'false'}"
    if literal.test in ("<=", ">"):
        return f"{literal.test} {number(literal.threshold)}"
    names = [_category(category) for category in categories_of(literal, column, code_of_category)]
    if len(names) == 1:
        return f"{'=' if literal.test == 'in' else '!='} {names[0]}"
    return f"{literal.test} {{{', '.join(names)}}}"


def categories_of(literal: Literal, column: Column, code_of_category: Codes | None = None) -> list[Category]:
    """The categories that an "in" or "not in" literal names, in their order."""
    codes = np.arange(len(column.categories)) if code_of_category is None else code_of_category
    listed = set(literal.codes)
    return [category for category, code in zip(column.categories, codes.tolist(), strict=True) if code in listed]


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
