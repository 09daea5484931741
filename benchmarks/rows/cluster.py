"""A fit on two workers of a LocalCluster against one process with the same rows: seconds, rounds a second, bytes a round."""

import atexit
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.row import Row

ROUNDS, COLUMNS = 20, 28


def _prepare(n_rows: int) -> dict[str, Any]:
    import dask.array as da
    from distributed import Client, LocalCluster

    import permissible as pm
    from permissible.dask import ULSClassifier

    cluster = LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    client = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, COLUMNS)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + random.standard_normal(n_rows) > 0).astype(np.int64)
    chunk = -(-n_rows // 4)
    spread = da.from_array(X, chunks=(chunk, COLUMNS)).persist(), da.from_array(y, chunks=chunk).persist()
    settings = {"n_rounds": ROUNDS, "max_literals": 2, "early_stopping": False, "random_state": 0}

    def on_workers() -> float:
        model = ULSClassifier(client=client, **settings).fit(*spread)
        return float(model.history_["surrogate"][-1])

    def local() -> float:
        return float(pm.ULSClassifier(**settings).fit(X, y).history_["surrogate"][-1])

    return {"permissible": on_workers, "one process": local}


def traffic_of(n_rows: int = 100_000) -> dict[str, float]:
    """Rounds a second, messages and bytes a round of a fit on two workers, loading left out."""
    import time

    import dask.array as da
    from distributed import Client, LocalCluster

    from permissible.dask.partitions import partitions_of
    from permissible.dask.passes import binned_futures, survey_of_all
    from permissible.dask.rpc import RPCTransport
    from permissible.distributed.protocol.remote import RemoteSource
    from permissible.learners.uls.fit import Task, fit_rules
    from permissible.learners.uls.options import ULSOptions
    from permissible.losses import get
    from permissible.rows.totals import RowsByClass

    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, COLUMNS)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + random.standard_normal(n_rows) > 0).astype(np.int64)
    with (
        LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        chunk = -(-n_rows // 4)
        arrays = da.from_array(X, chunks=(chunk, COLUMNS)), da.from_array(y, chunks=chunk)
        partitions = partitions_of(*arrays, None, None, None, None)
        surveyed = survey_of_all(client, partitions, 255, 0)
        seen, binning = surveyed.first, surveyed.first.binning()
        transport = RPCTransport(client, binned_futures(client, partitions, surveyed, binning, 0), 120.0)
        data = RemoteSource(transport, binning, seen.classes(), seen.survey.n_rows, seen.weighted)
        data.survey(RowsByClass(2))  # waits until every partition is there
        before, start = transport.traffic.messages, time.perf_counter()
        received = transport.traffic.received
        task = Task(get("logistic"), (ULSOptions(n_rounds=ROUNDS, max_literals=2),), stopping=False)
        trace = fit_rules(data, 1, task).trace
        seconds, rounds = time.perf_counter() - start, len(trace.rounds)
        return {
            "rounds/s": rounds / seconds,
            "messages/round/worker": (transport.traffic.messages - before) / rounds / 2,
            "KiB/round": (transport.traffic.received - received) / rounds / 1024,
            "ms/message": 1000 * seconds / ((transport.traffic.messages - before) / 2),
        }


def rows(full: bool) -> Iterator[Row]:
    """Loading, both passes and the fit together; the figures of the rounds alone: ``python -m benchmarks.rows.cluster``."""
    n_rows = 2_000_000 if full else 200_000
    yield Row(
        name=f"two dask workers against one process, {n_rows:.0e} x {COLUMNS}, {ROUNDS} rounds",
        prepare=lambda: _prepare(n_rows),
        at_least={},
        quality="mean loss",
        threads=2,
        repeats=3,
    )


if __name__ == "__main__":
    for name, value in traffic_of().items():
        print(f"{name}: {value:.3g}")
