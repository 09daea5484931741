"""A mapping from names to columns of numbers where scikit-learn's own check of tables takes only matrices and data frames."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from permissible.types import AnyArray
from permissible.validation import Words, refusal


def validated(estimator: Any, X: Any, *arguments: Any, **options: Any) -> Any:
    """scikit-learn's `validate_data`, which for a mapping remembers and compares the names of its columns too."""
    if not isinstance(X, Mapping) or hasattr(X, "tocsr"):  # scipy's dictionary of keys is a mapping too
        return validate_data(estimator, X, *arguments, **options)
    names = [str(name) for name in X]
    matrix = np.column_stack([_numbers(name, values) for name, values in X.items()])
    if options.get("reset", True):
        found = validate_data(estimator, matrix, *arguments, **options)
        estimator.feature_names_in_ = np.array(names, dtype=object)
        return found
    known = list(getattr(estimator, "feature_names_in_", names))
    if known != names:
        raise refusal("X", f"the columns of fit, {', '.join(map(str, known[:5]))} ...", Words(", ".join(names[:5])))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")  # they were compared above
        return validate_data(estimator, matrix, *arguments, **options)


def _numbers(name: str, values: Any) -> AnyArray:
    array = np.asarray(values)
    if array.dtype == object:
        array = np.array([np.nan if value is None else value for value in array.tolist()])
    if array.dtype.kind not in "biuf":
        remedy = "leave it out, or fit rules or a tree, which take categories"
        raise refusal("X", "columns of numbers", Words(f"{array.tolist()[0]!r} in column {name!r}"), remedy)
    return array.astype(np.float64)
