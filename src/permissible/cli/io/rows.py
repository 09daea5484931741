"""Rows for fit and for predict: which columns of a file are features, and their values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from permissible.cli.errors import UseError
from permissible.cli.options import ColumnOptions, FileOptions, listed
from permissible.cli.show import many
from permissible.distributed.data.batches import typed_labels
from permissible.evaluation.cross_validation import LabelledRows
from permissible.table.files import Chunk, FileReader, open_table
from permissible.table.files.cells import MISSING, CellKind
from permissible.table.files.reader import whole
from permissible.table.schema import Column, Schema
from permissible.types import AnyArray


def open_file(path: Path, options: FileOptions) -> FileReader:
    """Open a file with the given options."""
    tokens = MISSING if options.missing is None else frozenset({"", *listed(options.missing)})
    delimiter = {"\\t": "\t", "tab": "\t"}.get(options.delimiter or "", options.delimiter)
    if delimiter is not None and len(delimiter) != 1:
        raise UseError(f"--delimiter must be one character (or tab), got {options.delimiter!r}.")
    return open_table(path, delimiter, not options.no_header, tokens)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingFile(LabelledRows):
    """The rows of a file to learn from, and the inferred kind of each column."""

    kinds: dict[str, str] = field(default_factory=dict)
    target: str = ""


def check_folds(rows: TrainingFile, n_folds: int) -> None:
    """Refuse more folds than the smallest class has rows, before anything is fitted."""
    smallest = int(np.unique(rows.y, return_counts=True)[1].min())
    if smallest < n_folds:
        raise UseError(f"--cv must be at most {smallest}, the size of the smallest class, got {n_folds}.")


def training_file(path: Path, options: FileOptions, target: str, chosen: ColumnOptions) -> TrainingFile:
    """Read a file to learn from."""
    source = open_file(path, options)
    categorical, weight = listed(chosen.categorical), chosen.weight
    features = features_of(source, path, target, chosen)
    kinds = source.kinds()
    wanted = {name: kinds[name] for name in (*features, target)}
    if weight:
        wanted[weight] = "number"
    columns = whole(source, wanted)
    labels = as_labels(columns.pop(target), kinds[target], target, path)
    weights = columns.pop(weight) if weight else None
    names = identifiers([columns], features, kinds, categorical)
    shown = kinds_shown(features, kinds, categorical, names)
    return TrainingFile({n: v for n, v in columns.items() if n not in names}, labels, weights, shown, target)


def features_of(source: FileReader, path: Path, target: str, chosen: ColumnOptions) -> list[str]:
    """The columns to learn from; every column that an option names must be there."""
    categorical, left_out, weight = listed(chosen.categorical), chosen.left_out, chosen.weight
    for name in (target, *categorical, *left_out, *([weight] if weight else [])):
        require(name, source.names, path)
    features = [name for name in source.names if name not in {target, weight, *left_out}]
    if not features:
        raise UseError(f"{path} must have a column to learn from besides the target {target!r}, got none.")
    for name in categorical:
        if name not in features:
            raise UseError(f"--categorical must name columns to learn from, got {name!r}, which is left out.")
    return features


def kinds_shown(
    features: Sequence[str], kinds: Mapping[str, CellKind], categorical: Sequence[str], names: Sequence[str]
) -> dict[str, str]:
    """The inferred kind of each column, in words."""
    shown = {name: "categorical" if name in categorical else _WORDS[kinds[name]] for name in features}
    return shown | dict.fromkeys(names, IDENTIFIER)


IDENTIFIER = "left out, since every value differs (--categorical keeps it)"


def identifiers(
    chunks: Iterable[Mapping[str, AnyArray]],
    features: Sequence[str],
    kinds: Mapping[str, CellKind],
    kept: Sequence[str],
) -> list[str]:
    """The text columns that only identify the rows and therefore cannot generalise.

    None where no other column would be left. Of a long file the first million values are read.
    """
    seen: dict[str, set[Any]] = {name: set() for name in features if kinds[name] == "text" and name not in kept}
    for chunk in chunks if seen else ():
        for name in [*seen]:
            values = [value for value in chunk[name].tolist() if value is not None][: REMEMBERED - len(seen[name])]
            distinct = len(seen[name]) + len(values)
            seen[name].update(values)
            if len(seen[name]) < distinct:
                del seen[name]
        if all(len(values) >= REMEMBERED for values in seen.values()):
            break
    found = [name for name, values in seen.items() if len(values) >= ENOUGH_NAMES]
    return found if len(found) < len(features) else []


ENOUGH_NAMES = 20
"""Fewer different texts may be categories of a small table."""

REMEMBERED = 1_000_000
"""Values of a column that are remembered, so that memory does not grow with the file."""


_WORDS: dict[CellKind, str] = {
    "integer": "numeric",
    "number": "numeric",
    "boolean": "boolean",
    "text": "categorical",
    "empty": "numeric (all missing)",
}


def require(name: str, names: Sequence[str], path: Path) -> None:
    """Refuse a column that the file does not have, and name the nearest ones it has."""
    if name in names:
        return
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=3, cutoff=0.5) or list(names[:5])
    others = " and others." if len(names) > len(near) else "."
    has = ", ".join(map(repr, near)) + others
    raise UseError(f"{path} must have a column {name!r}, got none of that name; it has {has}")


def as_labels(values: AnyArray, kind: CellKind, target: str, path: Path) -> AnyArray:
    """The target as labels: integers where all are integers, text where they are text."""
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
    return typed_labels(values, kind)


def as_categories(values: AnyArray, kind: CellKind) -> AnyArray:
    """A column as categories: integers stay numbers, a missing one is None."""
    if values.dtype == object:
        return values
    result = np.empty(len(values), dtype=object)
    result[:] = [None if value != value else int(value) if kind == "integer" else value for value in values.tolist()]
    return result


# -- rows to predict --------------------------------------------------------------------------------------------------


def wanted_kinds(schema: Schema, source: FileReader, path: Path) -> dict[str, CellKind]:
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
    source = open_file(path, options)
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


def codes_of(values: AnyArray, classes: AnyArray, target: str, path: Path) -> AnyArray:
    """The positions of labels, read as text from a file, among the classes of a model: 1.0 in a file is the class 1."""
    known = {str(label): code for code, label in enumerate(classes.tolist())}
    try:
        return np.array([known[_label(value, classes.dtype.kind)] for value in values], dtype=np.int64)
    except KeyError as missing:
        raise UseError(
            f"the target {target!r} of {path} must hold the classes {', '.join(known)}, got {missing.args[0]!r}."
        ) from None


def _label(value: Any, kind: str) -> str:
    """A label of a file as the text of a class, whose array is of this kind."""
    if kind == "b":
        return str(value).capitalize()
    try:
        number = float(value) if kind in "iuf" else None
    except (TypeError, ValueError):
        number = None
    if number is None:
        return str(value)
    return str(int(number) if kind in "iu" and number.is_integer() else number)
