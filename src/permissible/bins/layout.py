"""The columns of a binning in the form that the kernels need."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from permissible.bins.binning import Binning, ColumnBins
from permissible.types import Codes

Int32Array = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """One entry per column.

    Attributes
    ----------
    categorical : uint8, whether the column is one of categories. n_codes : int32, how many codes a value can have, the missing
    one not included. n_bins : int32, how many bins a literal may name: less than `n_codes` where rare categories share a code.
    has_missing : uint8, whether training rows have missing values there.
    """

    categorical: Codes
    n_codes: Int32Array
    n_bins: Int32Array
    has_missing: Codes

    @property
    def by_column(self) -> Int32Array:
        """An int32 array of `categorical`, `n_bins` and `has_missing`, one row per column."""
        return np.column_stack((self.categorical, self.n_bins, self.has_missing)).astype(np.int32)


def layout_of(binning: Binning) -> Layout:
    """The layout of the columns of a binning."""
    columns = binning.columns
    return Layout(
        np.array([column.kind == "categorical" for column in binning.schema.columns], dtype=np.uint8),
        np.array([_n_codes(bins) for bins in columns], dtype=np.int32),
        np.array([bins.n_bins for bins in columns], dtype=np.int32),
        np.array([bins.has_missing for bins in columns], dtype=np.uint8),
    )


def _n_codes(bins: ColumnBins) -> int:
    return int(bins.code_of_category.max()) + 1 if len(bins.code_of_category) else len(bins.thresholds) + 1
