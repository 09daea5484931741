"""What the tests of data in parts share: a table with columns of every kind, model files as bytes, and rows cut into parts."""

from itertools import pairwise

import numpy as np
import pandas as pd

import permissible as pm
from permissible.bins.binning import BinnedTable
from permissible.distributed.protocol.remote import RemoteSource
from permissible.distributed.protocol.session import Batch, Holder
from permissible.rows.local import LocalSource
from permissible.rows.part import MemoryPart
from permissible.rows.source import NoJournal


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


class OneWorker:
    """A transport to one holder of all parts; `asked` has the name of every question."""

    def __init__(self, parts):
        self.holder, self.asked = Holder({str(part.number): part for part in parts}), []

    def send(self, request):
        self.asked.append(question_of(request))
        return [self.holder.answer(request)]


def question_of(request):
    """The name of a question; "batch" or "close"."""
    if isinstance(request, Batch):
        return "batch"
    return "close" if request.closes else named(request.question)


def named(question):
    return getattr(question, "method", type(question).__name__)


class InParts:
    """The rows of a data set in memory, in parts of given sizes; `remote`: held by a worker, whose transport is kept."""

    def __init__(self, dataset, sizes, journal=None, remote=False):
        store = dataset.store
        blocks = range(store.n_blocks)
        codes = np.concatenate([store.codes(block) for block in blocks], axis=1)
        target, hashes = store.target(), store.hashes()
        weight = store.weight() if store.weighted else None
        values = np.concatenate([store.values(block) for block in blocks]) if store.valued else None
        parts = []
        for number, (a, b) in enumerate(pairwise(np.cumsum([0, *sizes]))):
            binned = BinnedTable(store.binning, np.ascontiguousarray(codes[:, a:b]), b - a)
            cut = [None if column is None else column[a:b] for column in (weight, hashes, values)]
            parts.append(MemoryPart(binned, target[a:b], *cut, number=number))
        known = store.binning, store.classes, store.n_rows, store.weighted
        self.transport = OneWorker(parts)
        if remote:
            self.data = RemoteSource(self.transport, *known, journal or NoJournal())
        else:
            self.data = LocalSource(tuple(parts), *known, journal or NoJournal())

    def source(self):
        return self.data
