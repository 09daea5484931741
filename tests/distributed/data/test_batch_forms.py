"""Batches are read as the same rows in memory, whatever library they come from."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import permissible as pm

GROUP = np.random.default_rng(0).integers(0, 4, 60)
FRAME = pd.DataFrame(
    {
        "id": pd.Categorical(np.array([30, 4, 200, 1])[GROUP]),
        "name": np.array(["d", "a", "c", "b"])[GROUP],
        "yes": GROUP > 1,
        "n": pd.array([None, *np.arange(59)], dtype="Int64"),
        "y": (GROUP + np.arange(60) % 2) % 2,
    }
)
TABLE = pa.table(
    {
        "id": pa.array(FRAME["id"].astype(int)).dictionary_encode(),
        **{name: pa.array(FRAME[name], from_pandas=True) for name in ("name", "yes", "n", "y")},
    }
)


@pytest.mark.parametrize(
    "batches",
    [
        [FRAME[:25], FRAME[25:]],
        [dict(FRAME[:25]), dict(FRAME[25:])],
        [TABLE[:25], TABLE[25:]],
        TABLE.to_batches(max_chunksize=25),
    ],
    ids=["pandas", "mappings", "arrow", "record batches"],
)
def test_columns_of_batches_are_those_of_memory(batches, tmp_path):
    X = FRAME.drop(columns="y")
    whole = pm.UDTClassifier(max_leaf_nodes=6).fit(X, FRAME["y"])
    data = pm.BinnedDataset.from_batches(batches, target="y", directory=tmp_path / "data")
    parts = pm.UDTClassifier(max_leaf_nodes=6).fit(data)
    assert parts.schema_ == whole.schema_
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
