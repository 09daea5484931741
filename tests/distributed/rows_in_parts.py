"""What the tests of data in parts share: a table with columns of every kind, model files as bytes, and rows cut into parts."""

from itertools import pairwise

import numpy as np
import pandas as pd

import permissible as pm
from permissible.bins.binning import BinnedTable
from permissible.distributed.data.block import MemoryPart
from permissible.distributed.parted import KINDS, Parted
from permissible.distributed.protocol.transport import SerialTransport
from permissible.distributed.uls_rows import NumberedPart


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


class InParts:
    """The rows of a data set in memory, in parts of given sizes."""

    def __init__(self, dataset, sizes, journal=None):
        store = dataset.store
        blocks = range(store.n_blocks)
        codes = np.concatenate([store.codes(block) for block in blocks], axis=1)
        target, hashes = store.target(), store.hashes()
        weight = store.weight() if store.weighted else None
        values = np.concatenate([store.values(block) for block in blocks]) if store.valued else None
        parts = {}
        for number, (a, b) in enumerate(pairwise(np.cumsum([0, *sizes]))):
            binned = BinnedTable(store.binning, np.ascontiguousarray(codes[:, a:b]), b - a)
            cut = [None if column is None else column[a:b] for column in (weight, hashes, values)]
            parts[str(number)] = NumberedPart(number, MemoryPart(binned, target[a:b], *cut))
        self.data = Parted(
            SerialTransport(parts, KINDS), store.binning, store.classes, store.n_rows, store.weighted, journal
        )

    def parted(self):
        return self.data
