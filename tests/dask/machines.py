"""Clusters of real processes."""

from contextlib import contextmanager

from distributed import Client, LocalCluster


@contextmanager
def workers(number: int):
    with (
        LocalCluster(
            n_workers=number, processes=True, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
