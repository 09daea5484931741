"""Clusters of real processes, and the data of the tests of this folder."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import permissible as pm


@contextmanager
def workers(number: int):
    with (
        LocalCluster(
            n_workers=number, processes=True, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def make(n_rows: int = 3000, classes: int = 2) -> tuple[pd.DataFrame, pd.Series]:
    """Numbers with gaps, counts, truth values and categories, one of them rare."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "real": np.where(random.random(n_rows) < 0.1, np.nan, random.standard_normal(n_rows)),
            "count": random.integers(0, 9, n_rows),
            "colour": random.choice(["red", "green", "blue"], n_rows),
            "truth": random.random(n_rows) < 0.5,
        }
    )
    frame.loc[n_rows - 40 :, "colour"] = "rare"
    score = frame["real"].fillna(1) + 0.3 * frame["count"] + (frame["colour"] == "red") + random.standard_normal(n_rows)
    return frame, pd.Series(np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)), name="label")


def document(model: object, folder) -> bytes:
    """The file of a model, as bytes."""
    pm.save(model, folder / "model.json")
    return (folder / "model.json").read_bytes()
