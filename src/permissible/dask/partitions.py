"""Partitions of a dask DataFrame or Array, or of a list of Parquet files.

A partition is a small loader, which is sent to a worker, and the delayed values that it reads. Rows are numbered in the
order of the partitions.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from permissible.distributed.data.batches import (
    LabelledTable,
    checked_weights,
    features,
    joint_kinds,
    part_of_columns,
    typed_labels,
)
from permissible.table.files import open_table
from permissible.table.labels import labels_of
from permissible.table.schema import Schema
from permissible.validation import Words, refusal, refusal_type

BESIDE = {"y": "permissible: y", "sample_weight": "permissible: sample_weight"}
"""The columns in which labels and weights are joined to a frame that they are not partitioned like."""


class Loader(Protocol):
    """Reads the rows of a partition from the values of its inputs."""

    in_memory: ClassVar[bool]
    """Whether the inputs hold the rows, which then stay on the worker between the passes."""

    def parts(self, inputs: Sequence[object], schema: Schema | None) -> Iterator[LabelledTable]:
        """The rows as one or more parts, encoded by `schema` if it is given."""


@dataclass(frozen=True, slots=True)
class Partition:
    """A loader with its inputs (dask's delayed values)."""

    loader: Loader
    inputs: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionLoader:
    """A partition of a collection: features, labels and optional weights, or one frame with all of them."""

    in_memory: ClassVar[bool] = True
    target: str | None = None
    weight: str | None = None
    categorical_features: object = None

    def parts(self, inputs: Sequence[Any], schema: Schema | None) -> Iterator[LabelledTable]:
        """The partition as one part."""
        frame, labels, weight = ([*inputs, None, None])[:3]
        named = [name for name in (self.target, self.weight) if name is not None]
        for name in named:
            if name not in frame.columns:
                raise refusal("y" if name == self.target else "sample_weight", "a column of X", name)
        labels = labels if self.target is None else frame[self.target]
        weight = weight if self.weight is None else frame[self.weight]
        table = features(frame.drop(columns=named) if named else frame, schema, self.categorical_features)
        found = labels_of(labels).ravel()
        if len(found) != table.n_rows:
            came, remedy = Words(f"{len(found)} labels for {table.n_rows} rows"), "partition X and y in the same way"
            raise refusal("y", "of the same length as X in every partition", came, remedy)
        yield LabelledTable(table, found, None if weight is None else checked_weights(weight))


@dataclass(frozen=True, slots=True)
class FileLoader:
    """A file, read in chunks. `kinds` are those of the columns over all files."""

    in_memory: ClassVar[bool] = False
    path: str
    kinds: dict[str, Any]
    target: str
    weight: str | None = None
    categorical_features: tuple[str, ...] = field(default=())

    def parts(self, inputs: Sequence[Any], schema: Schema | None) -> Iterator[LabelledTable]:
        """The chunks of the file."""
        for chunk in open_table(Path(self.path)).chunks(self.kinds):
            if self.target in chunk:
                chunk[self.target] = typed_labels(chunk[self.target], self.kinds[self.target])
            yield part_of_columns(chunk, self.target, self.weight, frozenset(), self.categorical_features, schema)


def partitions_of(
    X: Any, y: Any, sample_weight: Any, target: str | None, weight: str | None, categorical: object
) -> list[Partition]:
    """The partitions of the data given to `fit`, in row order."""
    if _is_paths(X):
        return _files(
            X, target if target is not None else y, weight if weight is not None else sample_weight, categorical
        )
    if not (hasattr(X, "to_delayed") and (hasattr(X, "columns") or hasattr(X, "chunks"))):
        expected = "a dask DataFrame, a dask Array, a list of files or a BinnedDataset"
        raise refusal_type("X", expected, X, "fit data in memory with the local estimator of the same name")
    target, y = (y, None) if isinstance(y, str) else (target, y)
    weight, sample_weight = (sample_weight, None) if isinstance(sample_weight, str) else (weight, sample_weight)
    if y is None and target is None:
        raise refusal("y", "the labels: a dask collection partitioned like X, or a column name", None)
    if y is None and sample_weight is not None:
        raise refusal("sample_weight", "a column name where y is one", Words("a collection"))
    beside = {"y": y, "sample_weight": sample_weight}
    columns = _delayed_alike(X, {name: given for name, given in beside.items() if given is not None})
    if columns is None:
        columns = [_delayed("X", _joined(X, beside))]
        target, weight = BESIDE["y"], None if sample_weight is None else BESIDE["sample_weight"]
    loader = CollectionLoader(target, weight, categorical)
    return [Partition(loader, inputs) for inputs in zip(*columns, strict=True)]


def _delayed_alike(X: Any, beside: dict[str, Any]) -> list[list[Any]] | None:
    """The delayed partitions of X and of the collections beside it; None if they are not cut in the same way.

    Arrays are cut like X. Columns of one frame may be read in larger pieces than the frame.
    """
    for name, given in beside.items():
        if not (hasattr(X, "chunks") and hasattr(given, "chunks")):
            continue
        if given.ndim == 2 and given.shape[1] == 1:
            beside[name] = given = given[:, 0]
        if given.shape == X.shape[:1]:
            beside[name] = given.rechunk((X.chunks[0],))
        elif not np.isnan([given.shape[0], X.shape[0]]).any():
            expected = f"of one value for each of the {X.shape[0]} rows of X"
            raise refusal(name, expected, Words(f"{given.shape[0]} values"))
    columns = [_delayed("X", X), *(_delayed(name, given) for name, given in beside.items())]
    return columns if len({len(column) for column in columns}) == 1 else None


def _joined(X: Any, beside: dict[str, object]) -> Any:
    """X with the collections beside it as columns, which dask aligns: they come from one frame, or have known divisions."""
    counts = [given.npartitions for given in (X, *beside.values()) if given is not None]
    refused = refusal("y", "partitioned like X", Words(f"{counts} partitions"), "rechunk or repartition it")
    if any(hasattr(given, "chunks") for given in (X, *beside.values())):
        raise refused
    try:
        return X.assign(**{BESIDE[name]: given for name, given in beside.items() if given is not None})
    except (ValueError, NotImplementedError):  # divisions that are not known
        raise refused from None


def _delayed(name: str, collection: Any) -> list[Any]:
    """The delayed partitions of a collection, in order; an array keeps its columns together."""
    if not hasattr(collection, "to_delayed"):
        remedy = "make one of it, with dask.array.from_array or dask.dataframe.from_pandas"
        raise refusal_type(name, "a dask collection partitioned like X", collection, remedy)
    if hasattr(collection, "chunks") and collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    delayed = collection.to_delayed()
    return list(delayed.ravel()) if isinstance(delayed, np.ndarray) else list(delayed)


def _is_paths(X: Any) -> bool:
    path = (str, os.PathLike)
    return isinstance(X, path) or (isinstance(X, (list, tuple)) and bool(X) and all(isinstance(x, path) for x in X))


def _files(paths: Any, target: Any, weight: Any, categorical: Any) -> list[Partition]:
    if not isinstance(target, str) or not (weight is None or isinstance(weight, str)):
        raise refusal("target", "the name of the column of labels, since X is a list of files", target)
    listed = [os.path.abspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    kinds = joint_kinds([open_table(Path(path)) for path in listed])
    return [Partition(FileLoader(path, kinds, target, weight, tuple(categorical or ()))) for path in listed]
