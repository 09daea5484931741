"""Any input as a `Table`: a NumPy matrix without a copy, data frames of any library, lists, and mappings."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from permissible.kernels._core import binning as kernels
from permissible.table.frames import (
    as_objects,
    frame_names,
    frame_of,
    has_array,
    observe_columns,
    observe_series,
    series_of,
)
from permissible.table.match import fit_column, positions, refuse_other_than_truth, warn_of_unseen
from permissible.table.observe import Observed, categorise, native_floats, observe, refuse_rounded
from permissible.table.schema import Column, Schema
from permissible.table.table import Table
from permissible.types import AnyArray, BoolArray
from permissible.validation import Words, refusal, refusal_type

Categorical: TypeAlias = Sequence[str] | Sequence[int] | Sequence[bool] | AnyArray | None


def read(
    X: object, schema: Schema | None = None, categorical_features: Categorical = None, *, n_threads: int = 1
) -> Table:
    """Read a table of numbers, truth values and categories, with None, NaN and NA as missing.

    A float32 or float64 matrix is not copied; integers become float64 (beyond 2^53: the nearest one). Text and category
    columns are categorical; `categorical_features` lists or masks numeric ones to be taken so. To the `schema` of fit
    the table is matched: columns by name where both are named, categories by value; one never seen gets code -2 and an
    `UnseenCategoryWarning`.

    >>> table = read({"age": [41, None, 30], "colour": ["red", "blue", "red"]})
    >>> [(column.name, column.kind, column.categories) for column in table.schema.columns]
    [('age', 'numeric', ()), ('colour', 'categorical', ('blue', 'red'))]
    >>> table.columns[1]
    array([1, 0, 1], dtype=int32)
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind == "f" and categorical_features is None:
        table = _from_matrix(native_floats(X), schema)
    else:
        table = _from_columns(*_columns_of(X), schema, categorical_features)
    return checked(table, n_threads)


def names_of(X: object) -> tuple[str, ...] | None:
    """The column names of a table, or None: a matrix has none, and names other than strings are ignored."""
    if isinstance(X, np.ndarray) or _is_sparse(X):
        return None
    if isinstance(X, Mapping):
        return _mapping_names(X)
    frame = frame_of(X, collect=False)
    return None if frame is None else frame_names(frame)


@lru_cache(maxsize=64)
def unnamed(n_columns: int) -> Schema:
    """The schema of a float matrix: x0, x1, ..."""
    return Schema(tuple(Column(f"x{j}") for j in range(n_columns)), named=False)


def checked(table: Table, n_threads: int = 1) -> Table:
    """The table with `has_missing` filled in; infinite values are refused."""
    if table.n_rows == 0 or not table.columns:
        return Table(table.schema, table.columns, table.n_rows, table.matrix, np.zeros(len(table.columns), dtype=bool))
    missing, infinite = missing_and_infinite(table, n_threads)
    if infinite.any():
        j = int(np.argmax(infinite))
        row = int(np.argmax(np.isinf(table.columns[j])))
        name = table.schema.columns[j].name
        came = Words(f"{table.columns[j][row]} in column {name!r}, row {row}")
        raise refusal("X", "finite (missing values may be NaN)", came, "replace infinity by a large number or NaN")
    return Table(table.schema, table.columns, table.n_rows, table.matrix, missing)


def missing_and_infinite(table: Table, n_threads: int = 1) -> tuple[BoolArray, BoolArray]:
    """For each column, whether a value is missing and whether one is infinite."""
    matrix = table.matrix
    if matrix is not None and (matrix.flags.c_contiguous or matrix.flags.f_contiguous):
        # Most matrices have neither, which one pass over all values shows.
        whole = kernels.survey([matrix.reshape(-1, order="A")], n_threads)
        if not (whole[0][0] or whole[1][0]):
            nothing = np.zeros(len(table.columns), dtype=bool)
            return nothing, nothing
    return kernels.survey([*table.columns], n_threads)


def _from_matrix(X: AnyArray, schema: Schema | None) -> Table:
    if schema is None:
        schema = unnamed(X.shape[1])
    else:
        positions(schema, None, X.shape[1])
        if any(column.kind == "categorical" for column in schema.columns):
            return _from_columns(None, [Observed("numeric", column) for column in X.T], X.shape[0], schema, None)
        for column, values in zip(schema.columns, X.T, strict=True):
            if column.kind == "boolean":
                refuse_other_than_truth(column.name, values)
    return Table(schema, tuple(X.T), X.shape[0], X)


def _columns_of(X: object) -> tuple[tuple[str, ...] | None, list[Observed], int]:
    """Names, observed columns, number of rows."""
    _refuse_sparse(X)
    if isinstance(X, Mapping):
        return _from_mapping(X)
    frame = frame_of(X)
    if frame is not None:
        names = frame_names(frame)
        shown_names = names or tuple(str(name) for name in frame.columns)
        return names, observe_columns(frame, shown_names), frame.shape[0]
    X = _matrix_of(X)
    return None, [observe(f"x{j}", column) for j, column in enumerate(X.T)], X.shape[0]


def _mapping_names(X: Mapping[object, object]) -> tuple[str, ...]:
    names = tuple(str(name) for name in X)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        same = ", ".join(repr(name) for name in X if str(name) == twice)
        raise refusal("X", "columns whose names differ as text", Words(same), "rename one of them")
    return names


def _from_mapping(X: Mapping[object, object]) -> tuple[tuple[str, ...], list[Observed], int]:
    names = _mapping_names(X)
    columns = [_column(name, values) for name, values in zip(names, X.values(), strict=True)]
    lengths = {len(column.values) for column in columns}
    if len(lengths) > 1:
        raise refusal("X", "columns of equal length", Words(f"lengths {sorted(lengths)}"))
    return names, columns, lengths.pop() if lengths else 0


def _column(name: str, values: object) -> Observed:
    series = series_of(values)
    if series is not None:
        return observe_series(name, series)
    expected = "a column: a list or a 1-D array with a value for each row"
    try:
        array = as_array(values)
    except ValueError:  # lists of unequal length
        raise refusal_type(f"X[{name!r}]", expected, values) from None
    if array.ndim != 1:
        came = values if array.ndim == 0 else Words(f"a {array.ndim}-D array of shape {array.shape}")
        raise refusal_type(f"X[{name!r}]", expected, came)
    return observe(name, array)


def as_array(values: object) -> AnyArray:
    """The input as an array; text mixed with numbers becomes an array of objects, large integers stay exact."""
    if isinstance(values, np.ma.MaskedArray):
        return _unmasked(values)
    series = None if isinstance(values, np.ndarray | list | tuple) else series_of(values)
    if series is not None and not has_array(series):
        return as_objects(series)
    array = np.asarray(values)
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        array = np.asarray(values, dtype=object)
    elif array.dtype.kind == "f" and isinstance(values, list | tuple) and (np.abs(array) >= 2**53).any():
        array = np.asarray(values, dtype=object)  # NumPy makes floats of integers when they need more than 63 bits
    return array


def _unmasked(values: Any) -> AnyArray:
    """Masked values as missing ones: NaN among numbers, None among everything else."""
    mask = np.ma.getmaskarray(values)
    if not mask.any() or values.dtype.names is not None:
        return np.asarray(values.data)
    array = values.data.astype(np.float64 if values.dtype.kind in "iuf" else object)
    array[mask] = np.nan if array.dtype.kind == "f" else None
    return np.asarray(array)


def _is_sparse(X: object) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _refuse_sparse(X: object) -> None:
    if _is_sparse(X):
        came = Words("a sparse matrix: Sparse input is not supported")
        raise refusal_type("X", "a dense table here", came, "use X.toarray()")


def _matrix_of(X: object) -> AnyArray:
    try:
        array = as_array(X)
    except ValueError as error:
        raise refusal("X", "a table whose rows have equal length", Words(f"rows that differ ({error})")) from None
    if array.dtype.names is not None:
        came = Words("a structured array")
        raise refusal_type("X", "a plain 2-D array or a data frame", came, "use pandas.DataFrame(X)")
    if array.ndim != 2:
        came = Words("a single value" if array.ndim == 0 else f"a {array.ndim}-D array of shape {array.shape}")
        remedy = "Reshape your data with X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row"
        raise refusal("X", "a table (a 2-D array or a data frame)", came, remedy)
    return array


def _from_columns(
    names: tuple[str, ...] | None,
    observed: list[Observed],
    n_rows: int,
    schema: Schema | None,
    categorical_features: Categorical,
) -> Table:
    if schema is not None:
        place = positions(schema, names, len(observed))
        unseen: dict[str, str] = {}
        values = tuple(fit_column(c, observed[i], unseen) for c, i in zip(schema.columns, place, strict=True))
        warn_of_unseen(unseen)
        return Table(schema, values, n_rows)
    named = names is not None
    names = names or tuple(f"x{j}" for j in range(len(observed)))
    for j in chosen(names, categorical_features):
        refuse_rounded(names[j], observed[j])
        observed[j] = categorise(observed[j])
    columns = tuple(Column(name, o.kind, o.categories) for name, o in zip(names, observed, strict=True))
    return Table(Schema(columns, named), tuple(o.values for o in observed), n_rows)


def chosen(names: tuple[str, ...], given: Categorical, argument: str = "categorical_features") -> list[int]:
    """The positions of the columns that are listed by names or positions, or by a mask."""
    if given is None:
        return []
    if not isinstance(given, Iterable):
        raise refusal_type(argument, "names or positions of columns of X", given)
    listed = [given] if isinstance(given, str) else [*given]
    if listed and all(isinstance(item, (bool, np.bool_)) for item in listed):
        if len(listed) != len(names):
            came = Words(f"{len(listed)} of them")
            raise refusal(argument, f"a mask of {len(names)} truth values", came)
        return [j for j, item in enumerate(listed) if item]
    place = {name: j for j, name in enumerate(names)}
    found: list[int] = []
    for item in listed:
        if isinstance(item, str) and item in place:
            found.append(place[item])
        elif isinstance(item, (int, np.integer)) and not isinstance(item, bool) and -len(names) <= item < len(names):
            found.append(int(item) % len(names))
        else:
            raise refusal(argument, "names or positions of columns of X", item)
    return found
