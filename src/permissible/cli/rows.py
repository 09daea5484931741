"""Rows for learning and for asking: which columns of a file are features, and their values in the form the library reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from permissible.cli.errors import UseError
from permissible.cli.options import listed
from permissible.cli.show import many
from permissible.table.files import Chunk, Source, open_table
from permissible.table.files.cells import MISSING, CellKind
from permissible.table.files.source import whole
from permissible.table.schema import Column, Schema
from permissible.types import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How to read a file: what the user said about it."""

    delimiter: str | None = None
    no_header: bool = False
    missing: str | None = None

    def open(self, path: Path) -> Source:
        """Open the file so."""
        tokens = MISSING if self.missing is None else frozenset({"", *listed(self.missing)})
        delimiter = {"\\t": "\t", "tab": "\t"}.get(self.delimiter or "", self.delimiter)
        if delimiter is not None and len(delimiter) != 1:
            raise UseError(f"--delimiter must be one character (or tab), got {self.delimiter!r}.")
        return open_table(path, delimiter, not self.no_header, tokens)


@dataclass(frozen=True, slots=True)
class TrainingFile:
    """What a file gave to learn from: columns by name, labels, weights, and what each column was taken to be."""

    X: Chunk
    y: AnyArray
    weight: FloatArray | None
    kinds: dict[str, str]
    target: str


def training_file(
    path: Path,
    options: FileOptions,
    target: str,
    categorical: Sequence[str] = (),
    left_out: Sequence[str] = (),
    weight: str | None = None,
) -> TrainingFile:
    """Read a file to learn from."""
    source = options.open(path)
    for name in (target, *categorical, *left_out, *([weight] if weight else [])):
        require(name, source.names, path)
    kinds = source.kinds()
    features = [name for name in source.names if name not in {target, weight, *left_out}]
    if not features:
        raise UseError(f"{path} must have a column to learn from besides the target {target!r}, got none.")
    for name in categorical:
        if name not in features:
            raise UseError(f"--categorical must name columns to learn from, got {name!r}, which is left out.")
    wanted = {name: kinds[name] for name in (*features, target)}
    if weight:
        wanted[weight] = "number"
    columns = whole(source, wanted)
    labels = as_labels(columns.pop(target), kinds[target], target, path)
    weights = columns.pop(weight) if weight else None
    grouped = {name: as_categories(columns[name], kinds[name]) for name in categorical}
    shown = {name: "categorical" if name in grouped else _WORDS[kinds[name]] for name in features}
    names = [name for name in features if name not in grouped and kinds[name] == "text" and identifies(columns[name])]
    if len(names) < len(features):
        shown |= dict.fromkeys(names, IDENTIFIER)
        columns = {name: values for name, values in columns.items() if name not in names}
    return TrainingFile({**columns, **grouped}, labels, weights, shown, target)


IDENTIFIER = "left out, since every value differs (--categorical keeps it)"


def identifies(values: AnyArray) -> bool:
    """Whether text names the row and nothing else: what was learnt from it would say nothing of new rows."""
    known = [value for value in values.tolist() if value is not None]
    return len(known) >= ENOUGH_NAMES and len(set(known)) == len(known)


ENOUGH_NAMES = 20
"""Fewer different texts may be categories of a small table."""


_WORDS: dict[CellKind, str] = {
    "integer": "numeric", "number": "numeric", "boolean": "boolean", "text": "categorical", "empty": "numeric (all missing)",
}  # fmt: skip


def require(name: str, names: Sequence[str], path: Path) -> None:
    """Refuse a column that the file does not have, and name the nearest ones it has."""
    if name in names:
        return
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=3, cutoff=0.5) or list(names[:5])
    raise UseError(f"{path} must have a column {name!r}, got none of that name; it has {', '.join(map(repr, near))}" + (
        " and others." if len(names) > len(near) else "."
    ))  # fmt: skip


def as_labels(values: AnyArray, kind: CellKind, target: str, path: Path) -> AnyArray:
    """The target as labels: integers where all are whole, text where they are text."""
    if values.dtype == object:
        missing = np.array([value is None for value in values])
    else:
        missing = np.isnan(values)
    if missing.any():
        row = int(np.argmax(missing)) + 1
        raise UseError(
            f"the target {target!r} must be known in every row of {path}, "
            f"got nothing in {many(int(missing.sum()), 'row')}, the first is row {row}."
        )
    if kind == "integer":
        return values.astype(np.int64)
    if kind == "boolean":
        return values.astype(bool)
    return values.astype(str) if values.dtype == object and all(isinstance(v, str) for v in values) else values


def as_categories(values: AnyArray, kind: CellKind) -> AnyArray:
    """A column as categories: whole numbers stay numbers, a missing one is None."""
    if values.dtype == object:
        return values
    result = np.empty(len(values), dtype=object)
    result[:] = [None if value != value else int(value) if kind == "integer" else value for value in values.tolist()]
    return result


# -- rows to ask about ------------------------------------------------------------------------------------------------------


def wanted_kinds(schema: Schema, source: Source, path: Path) -> dict[str, CellKind]:
    """How the columns of a model must be read from a file, which must have them all."""
    for name in schema.names:
        require(name, source.names, path)
    return {column.name: _cell_kind(column) for column in schema.columns}


def asked(chunk: Mapping[str, AnyArray], schema: Schema) -> Chunk:
    """A chunk in the terms of the model's columns, in their order."""
    return {column.name: _as_column(chunk[column.name], column) for column in schema.columns}


def chunks_of(
    path: Path, options: FileOptions, schema: Schema, extra: Mapping[str, CellKind]
) -> Iterator[tuple[Chunk, Chunk]]:
    """The model's columns and the `extra` ones, a chunk at a time."""
    source = options.open(path)
    kinds = wanted_kinds(schema, source, path)
    for name in extra:
        require(name, source.names, path)
    for chunk in source.chunks({**extra, **kinds}):
        yield asked(chunk, schema), {name: chunk[name] for name in extra}


def _cell_kind(column: Column) -> CellKind:
    if column.kind == "numeric":
        return "number"
    if column.kind == "boolean" or (column.categories and all(isinstance(value, bool) for value in column.categories)):
        return "boolean"
    numbers = column.categories and all(isinstance(value, int | float) for value in column.categories)
    return "number" if numbers else "text"


def _as_column(values: AnyArray, column: Column) -> AnyArray:
    if column.kind != "categorical" or values.dtype == object:
        return values
    whole_numbers = all(isinstance(value, int) for value in column.categories)
    return as_categories(values, "integer" if whole_numbers else "number")


def codes_of(y: AnyArray, classes: Any, target: str, path: Path) -> AnyArray:
    """The positions of labels among the classes of a model."""
    known = {str(label): code for code, label in enumerate(np.asarray(classes).tolist())}
    try:
        return np.array([known[str(label)] for label in y.tolist()], dtype=np.int64)
    except KeyError as missing:
        raise UseError(
            f"the target {target!r} of {path} must hold the classes {', '.join(known)}, got {missing.args[0]!r}."
        ) from None
