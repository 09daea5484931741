"""Input that can be read twice, part by part: Parquet, Arrow and CSV files, or an iterable of tables.

A part is a table of features with the labels and weights of its rows. At most one part is in memory.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from permissible.table.files import open_table
from permissible.table.frames import frame_names, frame_of
from permissible.table.labels import labels_of
from permissible.table.match import told_once
from permissible.table.reading import read
from permissible.table.schema import Schema
from permissible.table.table import Table
from permissible.types import AnyArray, FloatArray
from permissible.validation import Words, real_numbers, refusal, refusal_type, shown

Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Columns: TypeAlias = dict[str, Any] | nw.DataFrame[Any]
"""Rows as read: a mapping from name to column, or a data frame, whose dtypes distinguish categories from numbers."""


@dataclass(frozen=True, slots=True)
class LabelledTable:
    """Some rows: features, labels and weights (None: 1 each)."""

    table: Table
    labels: AnyArray
    weight: FloatArray | None

    def __post_init__(self) -> None:
        """Require a label and a weight for each row, and at least one column."""
        if not self.table.columns:
            raise refusal("batches", "tables with a column to learn from", Words("none beside the target"))
        for name, values in (("target", self.labels), ("weight", self.weight)):
            if values is not None and values.shape != (self.table.n_rows,):
                raise refusal(
                    name, f"a column of {self.table.n_rows} rows, as the others", Words(f"one of {len(values)}")
                )


@dataclass(frozen=True, slots=True)
class Batches:
    """Rows that can be read again: `columns` starts a new pass over mappings from name to column."""

    columns: Callable[[], Iterator[Columns]]
    target: str
    weight: str | None = None
    drop: frozenset[str] = frozenset()
    categorical_features: tuple[str, ...] = field(default=())

    def parts(self, schema: Schema | None = None) -> Iterator[LabelledTable]:
        """Iterate over the parts, encoded by `schema` if it is given."""
        for columns in self.columns():
            yield part_of_columns(columns, self.target, self.weight, self.drop, self.categorical_features, schema)


def part_of_columns(
    columns: Columns,
    target: str,
    weight: str | None,
    drop: frozenset[str],
    categorical: Sequence[str],
    schema: Schema | None,
) -> LabelledTable:
    """Split columns by name into features, labels and weights."""
    names = [*(columns if isinstance(columns, dict) else columns.columns)]
    for name in (target, weight):
        if name is not None and name not in names:
            raise refusal("target" if name == target else "weight", f"a column of the data ({shown(names)})", name)
    labels = labels_of(_values(columns[target])).ravel()
    weights = None if weight is None else checked_weights(_values(columns[weight]))
    kept = [name for name in names if name not in drop and name not in (target, weight)]
    chosen = {k: columns[k] for k in kept} if isinstance(columns, dict) else columns.select(kept).to_native()
    return LabelledTable(features(chosen, schema, categorical or None), labels, weights)


def _values(column: object) -> Any:
    return column.to_numpy() if isinstance(column, nw.Series) else column


def features(X: Any, schema: Schema | None, categorical: Any) -> Table:
    """The table of a part; in the second pass encoded by the schema of the first.

    An unknown category causes no warning then: its row has weight 0, or the data have changed, which raises an error.
    """
    if schema is None:
        return read(X, None, categorical)
    with told_once(set(schema.names)):
        return read(X, schema)


def checked_weights(values: object) -> FloatArray:
    """Row weights: finite and not negative; a row of weight 0 is ignored."""
    expected = "a column of finite weights that are not negative"
    weight = real_numbers("weight", values, expected)
    odd = ~(np.isfinite(weight) & (weight >= 0))
    if odd.any():
        raise refusal("weight", expected, float(weight[odd][0]))
    return weight


def file_columns(paths: Paths, target: str) -> Callable[[], Iterator[Columns]]:
    """One pass over one file, or over several with the same columns."""
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else [*paths]
    sources = [open_table(Path(path)) for path in listed]
    if not sources:
        raise refusal("path", "at least one file", Words("none"))

    def columns() -> Iterator[Columns]:
        kinds = joint_kinds(sources)
        for source in sources:
            for chunk in source.chunks(kinds):
                yield {**chunk, target: typed_labels(chunk[target], kinds[target])} if target in chunk else chunk

    return columns


def typed_labels(values: AnyArray, kind: str) -> AnyArray:
    """Labels in the type of their values if none is missing: files give integers as floats and text as objects."""
    missing = [value is None for value in values] if values.dtype == object else np.isnan(values)
    if np.any(missing):
        return values
    if kind == "integer" and float(np.abs(values).max(initial=0.0)) >= 2.0**53:
        expected = "integers below 2^53, which floating-point numbers hold exactly"
        raise refusal("target", expected, Words("larger ones"), "store them as text")
    if kind in ("integer", "boolean"):
        return values.astype(np.int64 if kind == "integer" else bool)
    return values.astype(str) if all(isinstance(value, str) for value in values) else values


def joint_kinds(sources: Sequence[Any]) -> dict[str, Any]:
    """The kind of each column over all files; a file where the column is empty does not count."""
    from permissible.table.files.cells import joined

    kinds = dict(sources[0].kinds())
    for source in sources[1:]:
        found = source.kinds()
        if [*found] != [*kinds]:
            raise refusal("path", f"files with the same columns ({shown([*kinds])})", Words(shown([*found])))
        kinds = {name: joined(kind, found[name]) for name, kind in kinds.items()}
    return kinds


def batch_columns(batches: Iterable[object] | Callable[[], Iterable[object]]) -> Callable[[], Iterator[Columns]]:
    """One pass over frames or mappings, given as a list or as a function that returns a new iterator."""
    if iter_once(batches):
        raise refusal_type(
            "batches",
            "a list of tables, or a function that returns a new iterator over them",
            Words(f"a {type(batches).__name__}, which can be read only once"),
            "pass a function instead",
        )

    def columns() -> Iterator[Columns]:
        for batch in batches() if callable(batches) else batches:
            yield _columns_of(batch)

    return columns


def iter_once(batches: Any) -> bool:
    """Whether this is an iterator, exhausted after one pass."""
    return not callable(batches) and iter(batches) is batches


def _columns_of(batch: object) -> Columns:
    if isinstance(batch, dict):
        return batch
    frame = frame_of(batch)
    if frame is None or frame_names(frame) is None:
        raise refusal_type("batches", "data frames or mappings from column name to values", batch)
    found: nw.DataFrame[Any] = nw.from_native(frame)
    return found
