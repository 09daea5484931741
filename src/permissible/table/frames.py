"""Data frames of any library (pandas, polars, pyarrow, ...) column by column, through narwhals; none of them is imported here."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from permissible.table.observe import Observed, from_factors, observe
from permissible.types import AnyArray
from permissible.validation import Words, refusal, refusal_type


def frame_of(X: Any) -> Any | None:
    """The narwhals frame over `X`, or None when `X` is no data frame."""
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
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_names(frame: Any) -> tuple[str, ...] | None:
    """The column names when all are strings, None when none is; a mixture is refused as scikit-learn does."""
    names = [*frame.columns]
    text = [isinstance(name, str) for name in names]
    if all(text):
        return tuple(names)
    if any(text):
        raise refusal_type(
            "X", "a table whose column names are all strings", Words("names of several types"),
            "Feature names are only supported if all input features have string names: use X.columns.astype(str)",
        )  # fmt: skip
    return None


def observe_series(name: str, series: Any) -> Observed:
    """Tell what one column of a data frame holds."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return Observed("boolean", _floats(series.cast(nw.Float64) if not series.is_null().any() else series, name))
    if dtype.is_decimal():
        series = series.cast(nw.Float64)
    if dtype.is_numeric():
        return Observed("numeric", _floats(series, name))
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return from_factors(*_factors(series))
    if dtype == nw.Object:
        return observe(name, np.asarray(series.to_numpy(), dtype=object))
    if len(series) == series.null_count():
        return Observed("numeric", np.full(len(series), np.nan))
    remedy = "turn it into a number first, for instance days since a date"
    raise refusal_type("X", "numbers, truth values or categories", Words(f"{dtype} in column {name!r}"), remedy)


def _floats(series: Any, name: str) -> AnyArray:
    return observe(name, np.asarray(series.to_numpy())).values


def _factors(series: Any) -> tuple[AnyArray, list[Any]]:
    """Codes (-1 for missing) and the categories, by the library's own fast means."""
    native = series.to_native()
    if hasattr(native, "factorize"):  # pandas and its kin
        codes, categories = native.factorize()
        return np.asarray(codes), [*categories]
    if hasattr(native, "dictionary_encode"):  # pyarrow
        encoded = native if hasattr(getattr(native, "type", None), "index_type") else native.dictionary_encode()
        array = encoded.unify_dictionaries().combine_chunks() if hasattr(encoded, "unify_dictionaries") else encoded
        if hasattr(array, "chunks"):  # combine_chunks of an empty chunked array
            return np.zeros(0, dtype=np.int64), []
        return np.asarray(array.indices.fill_null(-1)), array.dictionary.to_pylist()
    texts = series.cast(nw.String)
    categories = texts.drop_nulls().unique().to_list()
    if not categories:
        return np.full(len(series), -1), []
    known = texts.fill_null(
        categories[0]
    )  # nulls as some text for a moment: old narwhals has no default for the others
    numbered = known.replace_strict(categories, list(range(len(categories))), return_dtype=nw.Int32)
    return np.where(texts.is_null().to_numpy(), -1, numbered.to_numpy()), categories
