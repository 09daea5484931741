"""A named data set as plain columns: what every source gives and every protocol takes. No file is read here.

Numeric columns are float arrays with NaN for missing; categorical ones are object arrays of strings with None for missing.
`frame` hands it to an estimator in whichever data-frame library is installed, `matrix` to one that wants numbers only.
"""

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from permissible.types import AnyArray

Kind = Literal["numeric", "categorical"]


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Columns, kinds, labels, and where they came from.

    Attributes
    ----------
    name : str
    columns : mapping of str to array
        Floats with NaN (numeric) or strings with None (categorical).
    kinds : mapping of str to {"numeric", "categorical"}
    categories : mapping of str to tuple of str
        The categories of each categorical column, in sorted order, over the whole set.
    target : array of str
        One label a row.
    source, licence : str
        Said on every page that shows a number computed on the set.
    train_rows : int or None
        The first so many rows are the predefined training part.
    """

    name: str
    columns: Mapping[str, AnyArray]
    kinds: Mapping[str, Kind]
    categories: Mapping[str, tuple[str, ...]]
    target: AnyArray
    source: str
    licence: str
    train_rows: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels in sorted order."""
        return tuple(sorted(set(self.target.tolist())))

    def take(self, rows: AnyArray) -> "Dataset":
        """Keep `rows`, in that order; the categories stay those of the whole set."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return replace(self, columns=columns, target=self.target[rows], train_rows=None)

    def frame(self) -> Any:
        """Give the columns as a pandas, polars or pyarrow frame, whichever is installed, else as `matrix()`."""
        for library, build in (("pandas", _pandas), ("polars", _polars), ("pyarrow", _pyarrow)):
            if importlib.util.find_spec(library):
                return build(self)
        return self.matrix()

    def matrix(self, *, impute: bool = False) -> AnyArray:
        """Give a float matrix: a 0/1 column per category, `impute` fills what is missing with the column's median."""
        parts: list[AnyArray] = []
        for name, column in self.columns.items():
            if self.kinds[name] == "numeric":
                filled = column.astype(np.float64)
                if impute:
                    known = filled[~np.isnan(filled)]
                    filled = np.where(np.isnan(filled), np.median(known) if known.size else 0.0, filled)
                parts.append(filled)
            else:
                parts += [(column == category).astype(np.float64) for category in self.categories[name]]
        return np.column_stack(parts) if parts else np.zeros((self.n_rows, 0))


def dataset(
    name: str,
    columns: Mapping[str, AnyArray],
    target: AnyArray,
    *,
    source: str,
    licence: str,
    train_rows: int | None = None,
) -> Dataset:
    """Build a `Dataset`, kinds read off the arrays: floats are numeric, anything else is categorical."""
    kinds: dict[str, Kind] = {
        key: "numeric" if column.dtype.kind == "f" else "categorical" for key, column in columns.items()
    }
    categories = {
        key: tuple(sorted({value for value in columns[key].tolist() if value is not None}))
        for key, kind in kinds.items()
        if kind == "categorical"
    }
    return Dataset(name, columns, kinds, categories, target.astype(object), source, licence, train_rows)


def as_binary(data: Dataset) -> AnyArray:
    """Code the labels: 1 for the first label in sorted order, 0 for the rest, as the papers' class 1 against all others.

    Examples
    --------
    >>> from papers.datasets import load
    >>> sorted(set(as_binary(load("parity5")).tolist()))
    [0, 1]
    """
    return np.asarray(data.target == data.classes[0], dtype=np.int64)


def _codes(data: Dataset, name: str) -> AnyArray:
    place = {category: code for code, category in enumerate(data.categories[name])}
    return np.array([-1 if value is None else place[value] for value in data.columns[name]], dtype=np.int32)


def _pandas(data: Dataset) -> Any:
    pandas = importlib.import_module("pandas")
    columns = {
        name: column
        if data.kinds[name] == "numeric"
        else pandas.Categorical.from_codes(_codes(data, name), categories=list(data.categories[name]))
        for name, column in data.columns.items()
    }
    return pandas.DataFrame(columns)


def _polars(data: Dataset) -> Any:
    polars = importlib.import_module("polars")
    columns = [
        polars.Series(name, column).fill_nan(None)
        if data.kinds[name] == "numeric"
        else polars.Series(name, column.tolist(), dtype=polars.Enum(list(data.categories[name])))
        for name, column in data.columns.items()
    ]
    return polars.DataFrame(columns)


def _pyarrow(data: Dataset) -> Any:
    pyarrow = importlib.import_module("pyarrow")
    columns = {
        name: pyarrow.array(column, from_pandas=True)
        if data.kinds[name] == "numeric"
        else pyarrow.DictionaryArray.from_arrays(
            pyarrow.array([None if code < 0 else int(code) for code in _codes(data, name)], pyarrow.int32()),
            pyarrow.array(list(data.categories[name])),
        )
        for name, column in data.columns.items()
    }
    return pyarrow.table(columns)
