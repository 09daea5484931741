"""Matching new rows to the columns of fit: by name where both are named, categories by value; a mismatch is refused."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from permissible.table.observe import Observed, categorise
from permissible.table.schema import Category, Column, Schema
from permissible.table.table import MISSING_CATEGORY, UNSEEN_CATEGORY, Table
from permissible.types import AnyArray
from permissible.validation import Words, refusal, shown


class UnseenCategoryWarning(UserWarning):
    """A category that no training row had; it is treated as different from every known one."""


def positions(schema: Schema, names: tuple[str, ...] | None, n_columns: int) -> list[int]:
    """The position of each column of the schema in the table. Extra columns are ignored where columns have names."""
    if names is None or not schema.named:
        if n_columns != len(schema.columns):
            raise refusal("X", f"a table of {len(schema.columns)} columns", Words(f"{n_columns} columns"))
        return list(range(n_columns))
    place = {name: i for i, name in enumerate(names)}
    missing = [name for name in schema.names if name not in place]
    if missing:
        listed = ", ".join(repr(name) for name in missing[:5]) + (" ..." if len(missing) > 5 else "")
        raise refusal("X", f"a table with the columns of fit, {listed} among them", Words("a table without"))
    return [place[name] for name in schema.names]


def fit_column(column: Column, observed: Observed, unseen: dict[str, str]) -> AnyArray:
    """The values converted to the schema's column; categories never seen are noted in `unseen`."""
    if column.kind == "categorical":
        return _recode(column, categorise(observed), unseen)
    if observed.kind != "categorical":
        if column.kind == "boolean" and observed.kind == "numeric":
            refuse_other_than_truth(column.name, observed.values)
        return observed.values
    if not observed.categories:  # every value is missing
        return np.full(len(observed.values), np.nan)
    first = observed.categories[0]
    got = Words(f"the {'text' if isinstance(first, str) else 'category'} {shown(first)}")
    raise refusal(f"X[{column.name!r}]", f"{column.kind} as in fit", got)


def refuse_other_than_truth(name: str, values: AnyArray) -> None:
    """Refuse numbers other than 0, 1 and NaN in a column that held truth values in fit."""
    other = (values != 0) & (values != 1) & (values == values)
    if other.any():
        remedy = "encode it as in fit"
        raise refusal(f"X[{name!r}]", "boolean as in fit (true, false, 1 or 0)", float(values[other][0]), remedy)


def matched(table: Table, schema: Schema) -> Table:
    """A table converted to another schema of the same columns: the joint schema of the parts of a table.

    There is no warning about a category that the schema does not know.
    """
    pairs = zip(schema.columns, table.schema.columns, table.columns, strict=True)
    columns = [fit_column(joint, Observed(own.kind, values, own.categories), {}) for joint, own, values in pairs]
    kept = table.matrix if all(new is old for new, old in zip(columns, table.columns, strict=True)) else None
    return Table(schema, tuple(columns), table.n_rows, kept, table.has_missing)


def _recode(column: Column, observed: Observed, unseen: dict[str, str]) -> AnyArray:
    if observed.categories == column.categories:
        return observed.values
    known = {category: i for i, category in enumerate(column.categories)}
    new = [known.get(category, UNSEEN_CATEGORY) for category in observed.categories]
    strange = [observed.categories[i] for i, code in enumerate(new) if code == UNSEEN_CATEGORY]
    if strange:
        unseen[column.name] = _told_of(column, strange)
    lookup: AnyArray = np.array([*new, MISSING_CATEGORY], dtype=np.int32)
    return np.asarray(lookup[observed.values])


def _told_of(column: Column, strange: list[Category]) -> str:
    """The first of them and their column, and whether they are of another type than the categories of fit."""
    listed = ", ".join(shown(value) for value in strange[:3]) + (" ..." if len(strange) > 3 else "")
    came, known = ({isinstance(value, str) for value in values} for values in (strange, column.categories))
    hint = ""
    if came == {True} and known == {False}:
        hint = " (text, where fit had numbers)"
    elif came == {False} and known == {True}:
        hint = " (numbers, where fit had text)"
    return f"{listed} in column {column.name!r}{hint}"


_told: ContextVar[set[str] | None] = ContextVar("columns told of", default=None)


@contextmanager
def told_once(columns: set[str]) -> Iterator[None]:
    """A context in which each column is warned of once, over all parts of a table: `columns` are those warned of."""
    token = _told.set(columns)
    try:
        yield
    finally:
        _told.reset(token)


def warn_of_unseen(unseen: dict[str, str]) -> None:
    """One warning for the table."""
    told = _told.get()
    if told is not None:
        unseen = {name: words for name, words in unseen.items() if name not in told}
        told.update(unseen)
    if not unseen:
        return
    parts = [*unseen.values()][:5]
    more = " and further columns" if len(unseen) > 5 else ""
    warnings.warn(
        f"categories never seen in fit: {'; '.join(parts)}{more}; they count as different from every known category.",
        UnseenCategoryWarning,
        stacklevel=4,
    )
