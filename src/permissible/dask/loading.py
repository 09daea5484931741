"""Load once, fit often: a table binned and held by the workers of a cluster.

Every estimator takes what `load` returns in place of X, here and in `permissible` itself. Predictions for a collection
are made partition by partition and stay a collection.
"""

from typing import Any

import numpy as np
from distributed import Client, default_client

from permissible.dask.partitions import partitions_of
from permissible.dask.passes import Plan, binned_futures, survey_of_all
from permissible.dask.rpc import RPCTransport
from permissible.distributed.data.dataset import BinnedDataset
from permissible.distributed.protocol.remote import RemoteSource
from permissible.estimators.input.training import seed
from permissible.rows.local import LocalSource
from permissible.rows.source import Source
from permissible.types import AnyArray
from permissible.validation import one_of, refusal_type
from permissible.validation.numbers import real_number, whole_number

TRANSPORTS = ("rpc", "serial")


class Loaded:
    """A table on a cluster: its rows, bins and classes. Fit any estimator on it, as often as you like."""

    def __init__(self, data: Source, valued: bool = True) -> None:
        self.data, self.valued = data, valued

    @property
    def n_rows(self) -> int:
        """Rows of positive weight."""
        return self.data.n_rows

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        return self.data.classes

    def source(self) -> Source:
        """How a fit reaches the rows."""
        return self.data


def load(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    target: str | None = None,
    weight: str | None = None,
    client: Client | None = None,
    categorical_features: object = None,
    max_bins: int = 255,
    keep_values: bool = False,
    random_state: object = None,
    timeout: float = 120.0,
    transport: str = "rpc",
) -> Loaded:
    """Read, bin and hold a table on the workers of a cluster.

    Parameters
    ----------
    X : dask DataFrame, dask Array, list of files, or BinnedDataset
        The blocks of a `BinnedDataset` are opened by the workers, which must see its folder.
    y, sample_weight : dask collections, or names of columns of X
    target, weight : str
        Column names, if X is a list of files.
    client : distributed.Client, optional
        The default client if None.
    categorical_features, max_bins, random_state
        As in the estimators; they decide the bins, and the splits by content.
    keep_values : bool
        Also keep the values, which linear learners need.
    timeout, transport
        As in :class:`permissible.dask.ULSClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> import permissible as pm
    >>> import permissible.dask
    >>> X = np.arange(40.0).reshape(20, 2)
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    ...     table = permissible.dask.load(da.from_array(X, chunks=(5, 2)), da.from_array(np.arange(20) // 10, chunks=5))
    ...     shallow, deep = (pm.UDTClassifier(max_leaf_nodes=leaves).fit(table) for leaves in (2, 4))
    >>> table.n_rows, shallow.score(X, np.arange(20) // 10)
    (20, 1.0)
    """
    one_of("transport", transport, TRANSPORTS)
    seconds, chosen = real_number("timeout", timeout), default_client() if client is None else client
    if isinstance(X, BinnedDataset):
        return Loaded(spread(chosen, X, seconds), X.valued)
    partitions = partitions_of(X, y, sample_weight, target, weight, categorical_features)
    bins, fit_seed = whole_number("max_bins", max_bins, 2, high=255) or 255, seed(random_state)
    surveyed = survey_of_all(chosen, partitions, bins, fit_seed)
    first = surveyed[0]
    classes, binning = first.classes(), first.binning()
    plan = Plan(binning, classes, first.weighted, fit_seed, keep_values)
    futures, known = binned_futures(chosen, partitions, surveyed, plan), (binning, classes, first.survey.n_rows)
    if transport == "serial":
        return Loaded(LocalSource(tuple(chosen.gather([*futures.values()])), *known, plan.weighted), keep_values)
    return Loaded(RemoteSource(RPCTransport(chosen, futures, seconds), *known, plan.weighted), keep_values)


def spread(client: Client, dataset: BinnedDataset, timeout: float) -> RemoteSource:
    """The blocks of a data set on disk, opened by the workers: only the name of a block travels."""
    local = dataset.source()
    futures = client.map(lambda part: part, local.parts, pure=False)  # as the worker has unpickled them
    known = (local.binning, local.classes, local.n_rows, local.weighted)
    return RemoteSource(RPCTransport(client, {str(future.key): future for future in futures}, timeout), *known)


def predict(model: Any, X: Any) -> Any:
    """The predicted class of each row of a dask collection, as a dask Array."""
    return _by_partition(model.predict, X, np.asarray(model.classes_).dtype, None)


def predict_proba(model: Any, X: Any) -> Any:
    """The probability of each class for each row of a dask collection, as a dask Array."""
    return _by_partition(model.predict_proba, X, np.dtype(np.float64), len(model.classes_))


def decide(model: Any, X: Any, decision: Any) -> Any:
    """The decision for each row of a dask collection, as a dask Array: class, region, or -1 for reject."""
    return _by_partition(lambda rows: model.decide(rows, decision), X, np.dtype(np.int64), None)


def _by_partition(call: Any, X: Any, dtype: np.dtype[Any], width: int | None) -> Any:
    """Call a method on each partition; an empty one has an empty answer."""
    shape = (0,) if width is None else (0, width)

    def rows_of(part: Any) -> AnyArray:
        return np.asarray(call(part)) if len(part) else np.zeros(shape, dtype=dtype)

    empty = np.zeros(shape, dtype=dtype)
    if not (hasattr(X, "chunks") or hasattr(X, "map_partitions")):
        raise refusal_type("X", "a dask DataFrame or a dask Array", X, "ask the model itself about rows in memory")
    if hasattr(X, "chunks"):
        columns = {} if width is None else {"chunks": (X.chunks[0], (width,))}
        return X.rechunk({1: -1}).map_blocks(
            rows_of, dtype=dtype, meta=empty, drop_axis=1 if width is None else None, **columns
        )
    return X.map_partitions(rows_of, meta=empty)
