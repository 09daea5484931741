"""A table as learners use it: one array per column, from any library."""

from dataclasses import dataclass, replace

import numpy as np

from permissible.table.schema import Column, Schema
from permissible.types import AnyArray, BoolArray
from permissible.validation import Words, refusal

MISSING_CATEGORY = -1
UNSEEN_CATEGORY = -2


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of equal length.

    Numeric and boolean columns are float arrays with NaN for missing (strided views are fine); categorical ones are
    int32 codes into the schema's categories, -1 for missing and -2 for a category that the schema does not know.
    `matrix` is the user's own 2-D float array when there was one and every column is numeric. `has_missing` says for
    each column whether a value is missing, where that is known.
    """

    schema: Schema
    columns: tuple[AnyArray, ...]
    n_rows: int
    matrix: AnyArray | None = None
    has_missing: BoolArray | None = None

    def take(self, rows: AnyArray) -> "Table":
        """The table of some rows, given by a mask or by row numbers. Categories without rows are dropped."""
        if self.matrix is not None:
            matrix = self.matrix[rows]
            return Table(self.schema, tuple(matrix.T), len(matrix), matrix)
        pairs = [_pruned(c, v[rows]) for c, v in zip(self.schema.columns, self.columns, strict=True)]
        n_rows = len(np.arange(self.n_rows)[rows])
        schema = replace(self.schema, columns=tuple(column for column, _ in pairs))
        return Table(schema, tuple(values for _, values in pairs), n_rows)

    def floats(self) -> AnyArray:
        """All columns as one float matrix: the user's own where there was one. Categorical columns are refused."""
        if self.matrix is not None:
            return self.matrix
        for column in self.schema.columns:
            if column.kind == "categorical":
                got = Words(f"the categorical column {column.name!r}")
                raise refusal("X", "numeric throughout for this learner", got, "one-hot encode it first")
        if not self.columns:
            return np.zeros((self.n_rows, 0))
        return np.column_stack(self.columns)


def _pruned(column: Column, values: AnyArray) -> tuple[Column, AnyArray]:
    if column.kind != "categorical":
        return column, values
    used = np.zeros(len(column.categories) + 2, dtype=bool)  # the last two are unseen (-2) and missing (-1)
    used[values] = True
    kept = np.flatnonzero(used[:-2])
    if len(kept) == len(column.categories):
        return column, values
    new = np.full(len(used), MISSING_CATEGORY, dtype=np.int32)
    new[kept] = np.arange(len(kept), dtype=np.int32)
    new[UNSEEN_CATEGORY] = UNSEEN_CATEGORY
    return replace(column, categories=tuple(column.categories[i] for i in kept)), new[values]
