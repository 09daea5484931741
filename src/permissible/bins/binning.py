"""How values become codes, and the codes. The order of codes is the order of values; `MISSING` is always 255."""

from dataclasses import dataclass

from permissible.table.schema import Schema
from permissible.types import Codes, FloatArray

BLOCK_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class ColumnBins:
    """Bins of one column.

    A numeric or boolean value x has code = number of `thresholds` strictly below x (so x <= thresholds[k] iff code <=
    k); at most 254 thresholds. A categorical value with category c has code `code_of_category[c]` (254 = OTHER when
    rare). `n_bins` counts the bins that a literal may name: thresholds + 1, or the categories with a code of their own.
    """

    n_bins: int
    has_missing: bool
    thresholds: FloatArray
    code_of_category: Codes


@dataclass(frozen=True, slots=True)
class Binning:
    """The bins of every column, found on the training rows."""

    schema: Schema
    columns: tuple[ColumnBins, ...]


@dataclass(frozen=True, slots=True)
class BinnedTable:
    """The training rows as codes: shape (n_blocks, n_rows, 8), column j in block j // 8, lane j % 8, padded with 0."""

    binning: Binning
    blocks: Codes
    n_rows: int

    @property
    def n_columns(self) -> int:
        """Number of real columns."""
        return len(self.binning.columns)

    def column_codes(self, column: int) -> Codes:
        """The codes of one column, one per row (a strided view)."""
        return self.blocks[column // BLOCK_COLUMNS, :, column % BLOCK_COLUMNS]
