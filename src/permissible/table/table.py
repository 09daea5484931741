"""A table as the learners' side takes it: one array per column, whatever library it came from."""

from dataclasses import dataclass

from permissible.table.schema import Schema
from permissible.types import AnyArray

MISSING_CATEGORY = -1
UNSEEN_CATEGORY = -2


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length.

    Numeric and boolean columns are float arrays with NaN for missing (strided views are fine); categorical ones are int32
    codes into the schema's categories, -1 for missing and -2 for a category that the schema does not know.
    `matrix` is the user's own 2-D float array when there was one and every column is numeric.
    """

    schema: Schema
    columns: tuple[AnyArray, ...]
    n_rows: int
    matrix: AnyArray | None = None
