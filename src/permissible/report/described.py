"""The rows of a report described: each column with its kind, its missing values and its typical values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from permissible.models.card.scorecard import Scorecard
from permissible.table.schema import Column
from permissible.table.table import Table
from permissible.types import AnyArray


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """A column: its kind, whether the model uses it, the rows where it is missing, and its typical values in words."""

    name: str
    kind: str
    used: bool
    missing: int
    usual: str


def describe_columns(card: Scorecard, table: Table) -> tuple[ColumnDescription, ...]:
    """Describe every column that the model was given."""
    used = set(card.used_columns())
    return tuple(
        _described(column, np.asarray(values), place in used)
        for place, (column, values) in enumerate(zip(card.schema.columns, table.columns, strict=True))
    )


def _described(column: Column, values: AnyArray, used: bool) -> ColumnDescription:
    missing = values < 0 if column.kind == "categorical" else np.isnan(np.asarray(values, dtype=np.float64))
    known = values[~missing]
    if not len(known):
        usual = "no value is known"
    elif column.kind == "numeric":
        least, lower, middle, upper, most = np.quantile(np.asarray(known, dtype=np.float64), [0, 0.25, 0.5, 0.75, 1])
        usual = f"median {middle:.4g}, half of the rows {lower:.4g} to {upper:.4g}, all {least:.4g} to {most:.4g}"
    else:
        usual = _shares(column, known)
    return ColumnDescription(column.name, column.kind, used, int(missing.sum()), usual)


def _shares(column: Column, known: AnyArray) -> str:
    names = column.categories if column.kind == "categorical" else ("false", "true")
    counts = np.bincount(known.astype(np.int64), minlength=len(names))
    order = np.argsort(-counts, kind="stable")[:5]
    listed = [f"{names[k]} {100 * counts[k] / counts.sum():.0f} %" for k in order if counts[k]]
    more = int((counts > 0).sum()) - len(listed)
    return ", ".join(listed) + (f", and {more} others" if more else "")


def group_columns(card: Scorecard, table: Table, important: Sequence[str], most: int = 4) -> dict[str, AnyArray]:
    """The columns by whose values a report looks at groups where none are named: truth values and few categories.

    Where there are none, the two most important columns of numbers, which are cut at their quartiles.
    """
    found: dict[str, AnyArray] = {}
    for column, values in zip(card.schema.columns, table.columns, strict=True):
        if column.kind == "numeric" or len(column.categories) > 10 or len(found) == most:
            continue
        names = column.categories if column.kind == "categorical" else (False, True)
        texts = np.empty(len(values), dtype=object)
        texts[:] = [
            None if value != value or value < 0 else str(names[int(value)]) for value in np.asarray(values).tolist()
        ]
        if len({text for text in texts.tolist() if text is not None}) > 1:
            found[column.name] = texts
    return found or {name: np.asarray(table.columns[card.schema.names.index(name)]) for name in important[:2]}
