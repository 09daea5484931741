"""Data frames of any library (pandas, polars, pyarrow, ...) column by column, through narwhals.

A service predicts one row at a time, so plain columns of pandas, by far the most frequent ones, are read without narwhals.
"""

import sys
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from permissible.table.observe import Observed, from_factors, from_integers, observe
from permissible.types import AnyArray
from permissible.validation import Words, refusal, refusal_type


def frame_of(X: Any, *, collect: bool = True) -> Any | None:
    """`X` itself if it is of pandas, else the narwhals frame over it; None when `X` is no data frame.

    A lazy frame is computed if `collect`.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(X, arrow.RecordBatch):
        X = arrow.Table.from_batches([X])
    kind = type(X)
    if isinstance(X, Mapping) or not (hasattr(kind, "columns") or hasattr(kind, "column_names")):
        return None
    if hasattr(kind, "collect_schema"):  # polars, whose names always differ; asking a lazy frame for them costs
        names = []
    else:
        names = [*(X.column_names if hasattr(kind, "column_names") else X.columns)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise refusal("X", "a table whose column names differ", Words(f"{twice!r} twice"), "rename one of them")
    if is_pandas(X):
        return X
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame) and collect:
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame | nw.LazyFrame) else None


def frame_names(frame: Any) -> tuple[str, ...] | None:
    """The column names when all are strings, None when none is; a mixture is refused as scikit-learn does."""
    names = [*(frame.collect_schema().names() if isinstance(frame, nw.LazyFrame) else frame.columns)]
    text = [isinstance(name, str) for name in names]
    if all(text):
        return tuple(names)
    if any(text):
        remedy = "Feature names are only supported if all input features have string names: use X.columns.astype(str)"
        came = Words("names of several types")
        raise refusal_type("X", "a table whose column names are all strings", came, remedy)
    return None


def observe_columns(X: Any, names: tuple[str, ...]) -> list[Observed]:
    """What every column of a frame holds, a native one of pandas or one of narwhals; `names` are for errors."""
    if not is_pandas(X):
        return [observe_series(name, series) for name, series in zip(names, X.iter_columns(), strict=True)]
    if len(X) > FEW_ROWS:
        return [_observe_pandas(name, series) for name, (_, series) in zip(names, X.items(), strict=True)]
    return _observe_few(X, names)


def is_pandas(X: object) -> bool:
    """Whether it is a data frame of pandas itself."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(X) is pandas.DataFrame


FEW_ROWS = 1000
"""Up to this many rows a frame is read as one array of objects; for more, the library's own methods are faster by column."""


def _observe_few(X: Any, names: tuple[str, ...]) -> list[Observed]:
    """The columns of a few rows of pandas: taking a column out of the frame would cost more than all the rest."""
    dtypes = X.dtypes.tolist()
    if dtypes and isinstance(dtypes[0], np.dtype) and dtypes[0].kind == "f" and dtypes.count(dtypes[0]) == len(dtypes):
        return [observe(name, values) for name, values in zip(names, X.to_numpy().T, strict=True)]
    objects = X.to_numpy(dtype=object)
    found = []
    for j, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
        if isinstance(dtype, np.dtype) and dtype.kind in "fbiuO":
            found.append(observe(name, objects[:, j].astype(dtype)))
        elif hasattr(dtype, "categories"):
            found.append(from_factors(*_few_factors(objects[:, j].tolist())))
        else:
            found.append(_observe_pandas(name, X.iloc[:, j]))
    return found


def _observe_pandas(name: str, series: Any) -> Observed:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fbiu":
        return observe(name, series.to_numpy())
    return observe_series(name, nw.from_native(series, series_only=True))


def series_of(values: object) -> Any | None:
    """The narwhals series over a single column, or None when `values` is no column of a data frame library."""
    pandas, arrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    if pandas is not None and isinstance(values, (pandas.api.extensions.ExtensionArray, pandas.Index)):
        values = pandas.Series(values)
    elif arrow is not None and isinstance(values, arrow.Array):
        values = arrow.chunked_array([values])
    series = nw.from_native(values, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def observe_series(name: str, series: Any) -> Observed:
    """Return what one column of a data frame holds."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return Observed("boolean", _floats(series.cast(nw.Float64) if not series.is_null().any() else series, name))
    if dtype.is_decimal():
        series = series.cast(nw.Float64)
    if dtype.is_integer():
        return _from_integers(series, name)
    if dtype.is_numeric():
        return Observed("numeric", _floats(series, name))
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return from_factors(*_factors(series))
    if dtype in (nw.Object, nw.Binary):
        return observe(name, as_objects(series))
    if len(series) == series.null_count():
        return Observed("numeric", np.full(len(series), np.nan))
    if dtype == nw.Unknown:  # such as sparse columns: the values decide
        return observe(name, np.asarray(series.to_numpy()))
    remedy = "turn it into a number first, for instance days since a date"
    raise refusal_type("X", "numbers, truth values or categories", Words(f"{dtype} in column {name!r}"), remedy)


def as_objects(series: Any) -> AnyArray:
    """The values as Python objects, None where one is missing."""
    values = series.to_list()
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def has_array(series: Any) -> bool:
    """Whether NumPy has a type for the values: it has none for integers of 128 bits."""
    return series.dtype not in (nw.Int128, nw.UInt128)


def _from_integers(series: Any, name: str) -> Observed:
    if not has_array(series):
        return observe(name, as_objects(series))
    missing = series.is_null().any()
    return from_integers(_floats(series, name), np.asarray((series.drop_nulls() if missing else series).to_numpy()))


def _floats(series: Any, name: str) -> AnyArray:
    return observe(name, np.asarray(series.to_numpy())).values


def _factors(series: Any) -> tuple[AnyArray, list[Any]]:
    """Codes (-1 for missing) and the categories; for many rows by the library's own fast methods."""
    if len(series) <= FEW_ROWS:
        return _few_factors(series.to_list())
    native = series.to_native()
    if hasattr(native, "factorize"):  # pandas and libraries with its interface
        codes, categories = native.factorize()
        return np.asarray(codes), [*categories]
    if hasattr(native, "dictionary_encode"):  # pyarrow
        encoded = native if hasattr(getattr(native, "type", None), "index_type") else native.dictionary_encode()
        array = encoded.unify_dictionaries().combine_chunks() if hasattr(encoded, "unify_dictionaries") else encoded
        if hasattr(array, "chunks"):  # combine_chunks of an empty chunked array
            return np.zeros(0, dtype=np.int64), []
        codes = np.asarray(array.indices.fill_null(0)).astype(np.int64)  # indices may be unsigned
        return np.where(np.asarray(array.indices.is_null()), -1, codes), array.dictionary.to_pylist()
    texts = series.cast(nw.String)
    categories = texts.drop_nulls().unique().to_list()
    if not categories:
        return np.full(len(series), -1), []
    # Old versions of narwhals have no default for nulls, so they get some known text here and -1 below.
    known = texts.fill_null(categories[0])
    numbered = known.replace_strict(categories, list(range(len(categories))), return_dtype=nw.Int32)
    return np.where(texts.is_null().to_numpy(), -1, numbered.to_numpy()), categories


def _few_factors(values: list[object]) -> tuple[AnyArray, list[Any]]:
    place = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.array([place[value] for value in values], dtype=np.int64), [*place]
