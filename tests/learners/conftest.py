"""Binned rows straight from NumPy: every distinct value is a bin, thresholds lie in the middle."""

import numpy as np
import pytest

from permissible.bins.binning import BinnedTable, Binning, ColumnBins
from permissible.table.schema import Column, Schema
from permissible.table.table import Table


@pytest.fixture(scope="session")
def bin_rows():
    def make(values, categorical=()):
        values = np.asarray(values, dtype=float)
        n_rows, n_columns = values.shape
        blocks = np.zeros(((n_columns + 7) // 8, n_rows, 8), dtype=np.uint8)
        columns, bins, arrays = [], [], []
        for j in range(n_columns):
            known = np.unique(values[:, j][~np.isnan(values[:, j])])
            missing = np.isnan(values[:, j])
            codes = np.searchsorted(known, values[:, j]).astype(np.uint8)
            codes[missing] = 255
            blocks[j // 8, :, j % 8] = codes
            if j in categorical:
                columns.append(Column(f"x{j}", "categorical", tuple(f"c{int(v)}" for v in known)))
                bins.append(ColumnBins(len(known), missing.any(), np.empty(0), np.arange(len(known), dtype=np.uint8)))
                arrays.append(np.where(missing, -1, codes.astype(np.int32)).astype(np.int32))
            else:
                columns.append(Column(f"x{j}"))
                middles = (known[1:] + known[:-1]) / 2
                bins.append(ColumnBins(len(known), missing.any(), middles, np.empty(0, dtype=np.uint8)))
                arrays.append(values[:, j])
        schema = Schema(tuple(columns), named=False)
        binned = BinnedTable(Binning(schema, tuple(bins)), blocks, n_rows)
        return binned, Table(schema, tuple(arrays), n_rows)

    return make
