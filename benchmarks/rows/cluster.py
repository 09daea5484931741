"""A fit on two workers of a LocalCluster against one process and two threads: processor time, messages, bytes a round."""

import atexit
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.row import Row

ROUNDS, COLUMNS = 20, 28


LEARNERS = {
    f"{ROUNDS} rounds": ("ULSClassifier", {"n_rounds": ROUNDS, "max_literals": 2, "early_stopping": False}),
    "rules by default settings": ("ULSClassifier", {}),
    "a boundary": ("BoundaryClassifier", {}),
}


def _cpu() -> float:
    """Processor time of this process and of those that it started, workers included."""
    import psutil

    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return float(sum(time.user + time.system for time in times))


def _timed(fit: Callable[[], Any]) -> tuple[float, float]:
    before = _cpu()
    model = fit()
    reached = model.objective_ if hasattr(model, "objective_") else model.history_["surrogate"][-1]
    return _cpu() - before, float(reached)


def _table(n_rows: int) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, COLUMNS)).astype(np.float32)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + random.standard_normal(n_rows) > 0).astype(np.int64)


@cache
def _client() -> Any:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    client = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


@cache
def _spread(n_rows: int) -> tuple[Any, Any]:
    """The rows on the workers, in four partitions."""
    import dask.array as da
    from distributed import wait

    X, y = _table(n_rows)
    chunk, client = -(-n_rows // 4), _client()
    found = client.persist([da.from_array(X, chunks=(chunk, COLUMNS)), da.from_array(y, chunks=chunk)])
    wait(found)
    return found[0], found[1]


def _prepare(n_rows: int, learner: str) -> dict[str, Any]:
    """Loading, both passes and the fit together."""
    import permissible as pm
    import permissible.dask

    (name, settings), (X, y), spread = LEARNERS[learner], _table(n_rows), _spread(n_rows)

    def local(n_jobs: int) -> tuple[float, float]:
        return _timed(lambda: getattr(pm, name)(random_state=0, n_jobs=n_jobs, **settings).fit(X, y))

    on_workers = getattr(permissible.dask, name)(client=_client(), random_state=0, **settings)
    return {
        "permissible": lambda: _timed(lambda: on_workers.fit(*spread)),
        "one process": lambda: local(1),
        "two threads": lambda: local(2),
    }


def _prepare_rounds(n_rows: int, learner: str) -> dict[str, Any]:
    """The fit alone, on a table that was loaded before."""
    import permissible as pm
    from permissible.dask import load

    (name, settings), spread = LEARNERS[learner], _spread(n_rows)
    tables = {
        "permissible": (load(*spread, client=_client(), random_state=0, keep_values=True), 1),
        "two threads": (
            load(*(of.rechunk(-1) for of in spread), client=_client(), transport="serial", keep_values=True),
            2,
        ),
    }

    def fit(where: str) -> tuple[float, float]:
        table, n_jobs = tables[where]
        return _timed(lambda: getattr(pm, name)(random_state=0, n_jobs=n_jobs, **settings).fit(table))

    return {where: partial(fit, where) for where in tables}


def traffic_of(n_rows: int = 100_000) -> dict[str, float]:
    """Rounds a second, messages and bytes a round of a fit on two workers, loading left out."""
    import time

    import dask.array as da
    from distributed import Client, LocalCluster

    from permissible.dask import load
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
        data = load(*arrays, client=client, random_state=0).data
        transport = data.transport
        data.survey(RowsByClass(2))  # waits until every partition is there
        before, start = transport.messages, time.perf_counter()
        received = transport.received
        task = Task(get("logistic"), (ULSOptions(n_rounds=ROUNDS, max_literals=2),), stopping=False)
        trace = fit_rules(data, 1, task).trace
        seconds, rounds = time.perf_counter() - start, len(trace.rounds)
        return {
            "rounds/s": rounds / seconds,
            "messages/round/worker": (transport.messages - before) / rounds / 2,
            "KiB/round": (transport.received - received) / rounds / 1024,
            "ms/message": 1000 * seconds / ((transport.messages - before) / 2),
        }


def rows(full: bool) -> Iterator[Row]:
    """Processor time of all processes; messages and bytes of the rounds: ``python -m benchmarks.rows.cluster``."""
    n_rows = 2_000_000 if full else 200_000
    for learner in LEARNERS:
        yield Row(
            name=f"two dask workers, loading and fit, {n_rows:.0e} x {COLUMNS}, {learner}",
            prepare=partial(_prepare, n_rows, learner),
            at_least={"one process": 0.5},
            quality="mean loss",
            threads=2,
            repeats=2,
            unit="CPU s",
        )
        yield Row(
            name=f"two dask workers, the fit of a loaded table, {n_rows:.0e} x {COLUMNS}, {learner}",
            prepare=partial(_prepare_rounds, n_rows, learner),
            at_least={"two threads": 0.7},
            quality="mean loss",
            threads=2,
            repeats=2,
            unit="CPU s",
        )


if __name__ == "__main__":
    for name, value in traffic_of().items():
        print(f"{name}: {value:.3g}")
