"""Binning: from a float matrix to codes of 255 bins, against the construction of LightGBM's and XGBoost's data sets."""

from collections.abc import Iterator, Mapping

import numpy as np

from benchmarks.data import higgs_like
from benchmarks.row import Row, Work


def contenders(n_rows: int, n_columns: int, threads: int) -> Mapping[str, Work]:
    X, y = higgs_like(n_rows, n_columns)

    def ours() -> float:
        from permissible.bins.encoding import encode
        from permissible.bins.find import find_bins
        from permissible.table import read

        table = read(X, n_threads=threads)
        binned = encode(find_bins(table, n_threads=threads), table, threads)
        return float(np.mean([column.n_bins for column in binned.binning.columns]))

    def lightgbm() -> float:
        import lightgbm as peer

        settings = {"verbose": -1, "num_threads": threads, "max_bin": 255}
        data = peer.Dataset(X, label=y, params=settings, free_raw_data=False).construct()
        return float(np.mean([data.feature_num_bin(j) for j in range(n_columns)]))

    def xgboost() -> float:
        import xgboost as peer

        data = peer.QuantileDMatrix(X, label=y, max_bin=255, nthread=threads)
        return float(np.mean(np.diff(data.get_quantile_cut()[0].astype(np.int64))))

    return {"permissible": ours, "LightGBM": lightgbm, "XGBoost": xgboost}


def rows(full: bool) -> Iterator[Row]:
    """Yield a small, a middling and (with `full`) a large table."""
    sizes = [(300, 10), (100_000, 28), *([(1_000_000, 28)] if full else [])]
    for n_rows, n_columns in sizes:
        yield Row(
            name=f"binning {n_rows:,} x {n_columns}",
            prepare=lambda n=n_rows, d=n_columns: contenders(n, d, 1),
            at_least=dict.fromkeys(("LightGBM", "XGBoost"), 1.5 if n_rows == 300 else 6.0),
            quality="bins a column",
            repeats=20 if n_rows == 300 else 5,
        )
