"""Rows for fit and for predict: which columns of a file are features, and their values."""

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from permissible.cli.errors import UseError
from permissible.cli.io.columns import Reading, converted, read_columns
from permissible.cli.options import ColumnOptions, FileOptions, listed
from permissible.distributed.data.batches import typed_labels
from permissible.evaluation.cross_validation import LabelledRows
from permissible.models.model import counted
from permissible.table.files import Chunk, FileReader, open_table
from permissible.table.files.cells import MISSING, CellKind
from permissible.table.files.reader import whole
from permissible.table.schema import Column, Schema
from permissible.types import AnyArray

if TYPE_CHECKING:
    from permissible.estimators.classifier import Classifier
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from permissible.estimators.classifier import Classifier


def open_file(path: Path, options: FileOptions) -> FileReader:
    """Open a file with the given options."""
    tokens = MISSING if options.missing is None else frozenset({"", *listed(options.missing)})
    delimiter = {"\\t": "\t", "tab": "\t"}.get(options.delimiter or "", options.delimiter)
    if delimiter is not None and len(delimiter) != 1:
        raise UseError(f"--delimiter must be one character (or tab), got {options.delimiter!r}.")
    if options.encoding is not None:
        try:
            codecs.lookup(options.encoding)
        except LookupError:
            raise UseError(f"--encoding must be known, such as latin-1 or utf-16, got {options.encoding!r}.") from None
    return open_table(path, delimiter, not options.no_header, tokens, encoding=options.encoding)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingFile(LabelledRows):
    """The rows of a file to learn from, and how its columns were read.

    `classes` are the labels, the positive one last. `y` holds the labels, or their positions in `classes` where the user
    chose the positive one against the order of the labels (`coded`).
    """

    target: str = ""
    reading: Reading = field(default_factory=Reading)
    classes: AnyArray = field(default_factory=lambda: np.zeros(0))
    coded: bool = False

    @property
    def codes(self) -> AnyArray:
        """The position of each row's class in `classes`."""
        return self.y if self.coded else np.searchsorted(self.classes, self.y)

    @property
    def labels(self) -> AnyArray:
        """The label of each row."""
        return self.classes[self.y] if self.coded else self.y

    def named(self, fitted: "Classifier") -> "Classifier":
        """A fitted estimator with the labels of the file."""
        if self.coded:
            fitted.classes_ = self.classes
        return fitted


def check_folds(rows: TrainingFile, n_folds: int) -> None:
    """Refuse more folds than the smallest class has rows, before anything is fitted."""
    smallest = int(np.unique(rows.y, return_counts=True)[1].min())
    if smallest < n_folds:
        raise UseError(f"--cv must be at most {smallest}, the size of the smallest class, got {n_folds}.")


def training_file(path: Path, options: FileOptions, target: str, chosen: ColumnOptions) -> TrainingFile:
    """Read a file to learn from."""
    source = open_file(path, options)
    categorical, numeric, weight = listed(chosen.categorical), listed(chosen.numeric), chosen.weight
    features = features_of(source, path, target, chosen)
    kinds = source.kinds()
    # With a decimal comma the dot of 1.234 separates thousands, so such cells are read as text first.
    as_text = {name for name in features if options.decimal == "," and kinds[name] == "number"}
    wanted: dict[str, CellKind] = {name: "text" if name in as_text else kinds[name] for name in (*features, target)}
    if weight:
        wanted[weight] = "number"
    columns = whole(source, wanted)
    labels = as_labels(columns.pop(target), kinds[target], target, path)
    weights = columns.pop(weight) if weight else None
    X, reading = read_columns(columns, kinds, options, (categorical, numeric))
    classes, y, coded = _ordered(labels, chosen.positive, target)
    return TrainingFile(X, y, weights, target, reading, classes, coded)


def _ordered(labels: AnyArray, positive: str | None, target: str) -> tuple[AnyArray, AnyArray, bool]:
    """The classes with the positive one last, and the labels, or their positions where they are not in order."""
    classes = np.unique(labels)
    if positive is None:
        return classes, labels, False
    found = [label for label in classes.tolist() if _label(positive, classes.dtype.kind) == str(label)]
    if not found:
        raise UseError(
            f"--positive must be a label of {target!r}, {', '.join(map(str, classes.tolist()))}, got {positive!r}."
        )
    if len(classes) != 2:
        raise UseError(f"--positive needs two classes, {target!r} has {len(classes)}.")
    if classes[1] == found[0]:
        return classes, labels, False
    swapped = classes[::-1].copy()
    return swapped, (labels == found[0]).astype(np.int64), True


def features_of(source: FileReader, path: Path, target: str, chosen: ColumnOptions) -> list[str]:
    """The columns to learn from; every column that an option names must be there."""
    categorical, left_out, weight = listed(chosen.categorical), chosen.left_out, chosen.weight
    for name in (target, *categorical, *listed(chosen.numeric), *left_out, *([weight] if weight else [])):
        require(name, source.names, path)
    features = [name for name in source.names if name not in {target, weight, *left_out}]
    if not features:
        raise UseError(f"{path} must have a column to learn from besides the target {target!r}, got none.")
    for name in categorical:
        if name not in features:
            raise UseError(f"--categorical must name columns to learn from, got {name!r}, which is left out.")
    return features


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
    if not len(values):
        raise UseError(f"{path} must have rows below its first line, got none.")
    if values.dtype == object:
        missing = np.array([value is None for value in values])
    else:
        missing = np.isnan(values)
    if missing.any():
        row = int(np.argmax(missing)) + 1
        raise UseError(
            f"the target {target!r} must be known in every row of {path}, "
            f"got nothing in {counted(int(missing.sum()), 'row')}, the first is row {row}."
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


def asked(chunk: Mapping[str, AnyArray], schema: Schema) -> Chunk:
    """A chunk in the terms of the model's columns, in their order."""
    return {column.name: _as_column(chunk[column.name], column) for column in schema.columns}


def chunks_of(
    path: Path, options: FileOptions, fitted: "Classifier", extra: Mapping[str, CellKind]
) -> Iterator[tuple[Chunk, Chunk]]:
    """The columns of a model and the `extra` ones, a chunk at a time, in the notations of its training file."""
    from permissible.estimators.classifier import schema_of

    source, schema = open_file(path, options), schema_of(fitted)
    notations = notes_of(fitted).get("notations", {})
    for name in (*schema.names, *extra):
        require(name, source.names, path)
    kinds = {column.name: _cell_kind(column) for column in schema.columns} | dict.fromkeys(notations, "text")
    for chunk in source.chunks({**extra, **kinds}):
        ours = {name: chunk[name] for name in kinds}
        ours |= {name: converted(name, ours[name], notation) for name, notation in notations.items()}
        yield asked(ours, schema), {name: chunk[name] for name in extra}


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


def _label(value: str, kind: str) -> str:
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


def load_model(path: Path) -> "Classifier":
    """Load a model file."""
    from permissible.estimators.files.save_load import load

    if not path.exists():
        raise UseError(f"the file {path} does not exist.")
    try:
        fitted: Classifier = load(path)
    except ValueError as error:
        raise UseError(str(error)) from None
    return fitted


def notes_of(model: object) -> dict[str, Any]:
    """What `permissible fit` wrote into the model file about its training file."""
    return dict(getattr(model, "notes_", {}))


def target_of(model: object, given: str | None) -> str:
    """The target column: as given, or as stored in the model file."""
    known = notes_of(model).get("target")
    if given is None and not known:
        raise UseError("--target must name the column with the truth: the model file does not know it.")
    return str(given or known)
