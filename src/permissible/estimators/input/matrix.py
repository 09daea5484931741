"""Rows for linear and kernel learners: one matrix of numbers, dense or sparse, with the same checks as tables."""

import numpy as np
from scipy import sparse

from permissible.estimators.exports import FittedClassifier
from permissible.estimators.input.training import check_count, check_names, column_count, refuse_empty, remember_names
from permissible.table.reading import names_of, read
from permissible.table.schema import Column, Schema
from permissible.types import AnyArray, Matrix
from permissible.validation import Words, refusal, refusal_type, squarable


def matrix(estimator: FittedClassifier, X: object, *, reset: bool) -> Matrix:
    """A C-ordered float32 or float64 matrix, or a CSR one, without missing or infinite values.

    With `reset` the columns are stored as those of fit, else compared with them.
    """
    names, count = names_of(X), column_count(X)
    if not reset:
        check_names(estimator, names)
        if count is not None:  # a wrong number of columns is reported before wrong values
            check_count(estimator, count)
    numbers = _numbers(X, estimator if reset else None)
    refuse_empty(type(estimator).__name__, *numbers.shape)
    if reset:
        remember_names(estimator, names, numbers.shape[1])
    else:
        check_count(estimator, numbers.shape[1])
    return numbers


def remember_kinds(estimator: FittedClassifier, schema: Schema) -> None:
    """Keep which columns held truth values: numbers for the learner, but not for a database."""
    estimator.column_kinds_ = tuple(column.kind for column in schema.columns)


def numeric_schema(estimator: FittedClassifier) -> Schema:
    """The columns of a fit on a matrix, named x0, x1, ... where there were no names."""
    names = getattr(estimator, "feature_names_in_", None)
    listed = [f"x{j}" for j in range(estimator.n_features_in_)] if names is None else [str(name) for name in names]
    kinds = getattr(estimator, "column_kinds_", ("numeric",) * len(listed))
    columns = tuple(Column(name, kind) for name, kind in zip(listed, kinds, strict=True))
    return Schema(columns, names is not None)


def refuse_huge(estimator: FittedClassifier, X: Matrix) -> None:
    """Refuse values whose squares overflow, by the names of their columns."""
    by_column = X.tocsc() if sparse.issparse(X) else None
    columns = X.T if by_column is None else np.split(by_column.data, by_column.indptr[1:-1])
    for column, values in zip(numeric_schema(estimator).columns, columns, strict=True):
        squarable(values, column.name)


def _numbers(X: object, fitting: FittedClassifier | None = None) -> Matrix:
    """The matrix; the kinds of its columns are stored in the estimator while `fitting`, for its exports."""
    if fitting is not None:
        fitting.__dict__.pop("column_kinds_", None)
    if sparse.issparse(X):
        return _sparse(X)
    table = read(X)
    for column in table.schema.columns:
        if column.kind == "categorical":
            remedy = "leave it out, or fit rules or a tree, which take categories"
            came = Words(f"text or categories in column {column.name!r}: could not convert string to float")
            raise refusal("X", "columns of numbers for this classifier", came, remedy)
    if table.has_missing is not None and table.has_missing.any():
        column = table.schema.columns[int(np.argmax(table.has_missing))]
        came = Words(f"NaN in column {column.name!r}: Input X contains NaN")
        raise refusal("X", "without missing values for this classifier", came, "fill them in first")
    if fitting is not None:
        remember_kinds(fitting, table.schema)
    return np.ascontiguousarray(table.floats())


def _sparse(X: Matrix) -> Matrix:
    if X.dtype.kind == "c":
        raise refusal("X", "made of real numbers", Words("complex ones: Complex data not supported"))
    if X.dtype.kind not in "biuf":
        raise refusal_type("X", "made of numbers", Words(f"a sparse matrix of {X.dtype}"))
    if X.ndim != 2:
        raise refusal("X", "a table (2-D)", Words(f"a sparse array of shape {X.shape}"))
    rows = X.tocsr()
    if rows.dtype not in (np.float64, np.float32):
        rows = rows.astype(np.float64)
    if rows.nnz and max(rows.indices.max(), len(rows.indptr)) > np.iinfo(np.int32).max:
        raise refusal("X", "indexed by 32-bit integers", Words(f"a sparse matrix of shape {X.shape}"))
    if not rows.has_canonical_format:  # duplicated entries would break sums of squares
        rows = rows.copy()
        rows.sum_duplicates()
    values: AnyArray = rows.data
    if not np.isfinite(values).all():
        odd = "NaN" if np.isnan(values).any() else "infinity"
        came = Words(f"{values[~np.isfinite(values)][0]}: Input X contains {odd}")
        raise refusal("X", "finite and without missing values for this classifier", came, "fill them in first")
    return rows
