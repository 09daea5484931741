"""All of scikit-learn's conventions about input: X, y, weights, names, counts, and the wording of its errors.

`training_rows` is for fit, `remember` stores what fit has seen, `rows` is for predict. Float matrices are not copied. Labels of
any type become codes 0, 1, ... in the order of the sorted classes.
"""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Protocol

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils import check_random_state

from permissible.bins.binning import BinnedTable
from permissible.bins.encoding import encode
from permissible.bins.find import find_bins
from permissible.decisions import class_codes
from permissible.estimators.exports import FittedClassifier
from permissible.estimators.fit_warning import outside
from permissible.estimators.input.weights import ClassWeight, row_weights, with_class_weight
from permissible.table.labels import labels_of
from permissible.table.reading import Categorical, names_of, read
from permissible.table.schema import Schema
from permissible.table.table import Table
from permissible.types import AnyArray, BoolArray, FloatArray, IntArray
from permissible.validation import Words, refusal, refusal_type


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """The training rows. Rows of weight 0 are removed.

    `target` holds codes into `classes`; `weight` is 1 throughout when `weighted` is False.
    """

    table: Table
    target: IntArray
    classes: AnyArray
    weight: FloatArray
    weighted: bool = False

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.table.schema

    def bins(self, max_bins: int = 255, seed: int = 0, n_threads: int = 1) -> BinnedTable:
        """Find the bins and encode the rows."""
        weight = self.weight if self.weighted else None
        return encode(find_bins(self.table, max_bins, seed, weight, n_threads), self.table, n_threads)


class Trainable(Protocol):
    """The parameters of an estimator that the reading of its training rows depends on."""

    class_weight: ClassWeight
    categorical_features: Categorical


def training_rows(
    estimator: Trainable, X: object, y: object, sample_weight: object = None, *, n_threads: int = 1
) -> TrainingRows:
    """Check and read what `fit` was given, by the class weights and categorical columns of the estimator.

    The estimator is named in the errors; nothing is stored in it (see `remember`).
    """
    name = type(estimator).__name__
    table = read(X, categorical_features=estimator.categorical_features, n_threads=n_threads)
    refuse_empty(name, table.n_rows, len(table.columns))
    classes, codes = decode_target(name, y, table.n_rows)
    weight = with_class_weight(row_weights(sample_weight, table.n_rows), estimator.class_weight, classes, codes)
    weighted = weight is not None
    if weight is None:
        weight = np.ones(table.n_rows)
    elif not weight.all():
        counts, classes, codes = positive_rows(classes, codes, weight)
        table, weight = table.take(counts), weight[counts]
    refuse_one_class(classes, table.n_rows, weighted)
    return TrainingRows(table, codes, classes, weight, weighted)


def refuse_empty(name: str, n_rows: int, n_columns: int) -> None:
    """Refuse a table without rows or without columns; scikit-learn's wording is part of the message."""
    if n_rows == 0:
        found = (
            f"none: Found array with 0 sample(s) (shape=(0, {n_columns})) while a minimum of 1 is required by {name}"
        )
        raise refusal("X", "a table of one row or more", Words(found))
    if n_columns == 0:
        found = f"none: Found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required by {name}"
        raise refusal("X", "a table of one column or more", Words(found))


def positive_rows(classes: AnyArray, codes: IntArray, weight: FloatArray) -> tuple[BoolArray, AnyArray, IntArray]:
    """The rows of positive weight, the classes among them, and the code of each of these rows."""
    counts = weight > 0
    kept = np.flatnonzero(np.bincount(codes[counts], minlength=len(classes)))
    return counts, classes[kept], np.searchsorted(kept, codes[counts])


def refuse_one_class(classes: AnyArray, n_rows: int, weighted: bool) -> None:
    """Refuse rows of one class only."""
    if len(classes) < 2:
        of = " of positive weight" if weighted else ""
        samples = "1 sample" if n_rows == 1 else f"{n_rows} samples"
        came = Words(f"one class only, {classes.tolist()[0]!r} ({samples}{of})")
        raise refusal("y", "labels of at least two classes", came)


def remember(estimator: FittedClassifier, classes: AnyArray, schema: Schema) -> None:
    """Store what predict needs of fit: `classes_`, `schema_`, `n_features_in_`, and `feature_names_in_` where there are names."""
    estimator.classes_, estimator.schema_ = classes, schema
    remember_names(estimator, schema.names if schema.named else None, len(schema.columns))


def remember_names(estimator: FittedClassifier, names: tuple[str, ...] | None, count: int) -> None:
    """Store the number of columns, and their names where they had some."""
    vars(estimator).pop("decision_", None)  # that of a file belongs to the model in it
    estimator.n_features_in_ = count
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def rows(estimator: FittedClassifier, X: object, *, n_threads: int = 1) -> Table:
    """Check and read what `predict` was given, and match it to the columns of fit."""
    schema: Schema | None = getattr(estimator, "schema_", None)
    if schema is None:
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
            "this estimator."
        )
    check_names(estimator, names_of(X))
    count = column_count(X)
    if count is not None:
        check_count(estimator, count)
    table = read(X, schema, n_threads=n_threads)
    if table.n_rows == 0:
        refuse_empty(type(estimator).__name__, 0, len(table.columns))
    return table


def column_count(X: object) -> int | None:
    """The number of columns where it is known without reading the table."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[1]) if len(shape) == 2 else None
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (list, tuple)):
        return len(X[0])
    return None


def check_names(estimator: FittedClassifier, names: tuple[str, ...] | None) -> None:
    """scikit-learn's check of feature names, with its message: the names of fit in the order of fit."""
    known = tuple(estimator.feature_names_in_) if hasattr(estimator, "feature_names_in_") else None
    if known == names:
        return
    who = type(estimator).__name__
    if names is None:
        said = f"X does not have valid feature names, but {who} was fitted with feature names"
        warnings.warn(said, UserWarning, stacklevel=outside())
    elif known is None:
        said = f"X has feature names, but {who} was fitted without feature names"
        warnings.warn(said, UserWarning, stacklevel=outside())
    else:
        raise ValueError(_name_mismatch(known, names))


def check_count(estimator: FittedClassifier, count: int) -> None:
    """scikit-learn's check of the number of columns, with its message."""
    if count != estimator.n_features_in_:
        who = type(estimator).__name__
        raise ValueError(
            f"X has {count} features, but {who} is expecting {estimator.n_features_in_} features as input."
        )


def _name_mismatch(known: tuple[str, ...], names: tuple[str, ...]) -> str:
    message = "The feature names should match those that were passed during fit.\n"
    for title, listed in (
        ("Feature names unseen at fit time:\n", sorted(set(names) - set(known))),
        ("Feature names seen at fit time, yet now missing:\n", sorted(set(known) - set(names))),
    ):
        if listed:
            message += title + "".join(f"- {name}\n" for name in listed[:5]) + ("- ...\n" if len(listed) > 5 else "")
    if set(known) == set(names):
        message += "Feature names must be in the same order as they were in fit.\n"
    if set(known) <= set(names):
        message += "Select them with X[model.feature_names_in_].\n"
    return message


MOST_THREADS = 256
"""The maximum: the runtime ends the process when it cannot start a thread."""


class Cores(int):
    """Number of threads for a negative `n_jobs`; on another machine it is computed again from the cores there."""

    n_jobs: int

    def __reduce__(self) -> tuple[Callable[[object], int], tuple[int]]:
        """Compute it again where it is unpickled."""
        return threads, (self.n_jobs,)


def threads(n_jobs: object) -> int:
    """Threads for `n_jobs`: None is 1 unless in a joblib context, -1 is every core.

    A worker of joblib or dask uses only its own cores, given by OMP_NUM_THREADS.
    """
    if n_jobs == 1:
        return 1
    from joblib import effective_n_jobs

    expected = "None, a positive number of threads, or -1 for every core"
    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise refusal_type("n_jobs", expected, n_jobs)
    if n_jobs == 0:
        raise refusal("n_jobs", expected, n_jobs)
    count = min(int(effective_n_jobs(n_jobs)), MOST_THREADS)
    if n_jobs is None or int(n_jobs) > 0:
        return count
    share = os.environ.get("OMP_NUM_THREADS", "")
    cores = Cores(min(count, int(share)) if share.isdecimal() and int(share) > 0 else count)
    cores.n_jobs = int(n_jobs)
    return cores


def seed(random_state: object) -> int:
    """A seed for one fit: an integer is itself, None is 0 so that fits repeat, a generator draws one."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise refusal("random_state", "None, an integer from 0 up, or a generator", int(random_state))
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except (TypeError, ValueError):
        raise refusal("random_state", "None, an integer from 0 up, or a generator", random_state) from None


def decode_target(name: str, y: object, n_rows: int) -> tuple[AnyArray, IntArray]:
    """The sorted classes and each row's code into them; anything but labels is refused in scikit-learn's wording."""
    labels = _as_labels(name, y)
    if len(labels) != n_rows:
        raise refusal("y", f"of the same length as X ({n_rows} rows)", Words(f"{len(labels)} labels"))
    if labels.dtype.kind in "biu":
        return _small_integers(labels)
    if labels.dtype.kind == "f":
        return _whole_floats(labels)
    return _sorted(labels)


def codes_among(classes: AnyArray, y: object, n_rows: int, name: str = "The classifier") -> IntArray:
    """Each row's code into known classes; a label that is not among them is refused."""
    found, codes = decode_target(name, y, n_rows)
    return class_codes(found, classes)[codes]


def _as_labels(name: str, y: object) -> AnyArray:
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        raise refusal("y", "a 1d array of labels", Words("a sparse matrix"), "use y.toarray().ravel()")
    labels = labels_of(y)
    if labels.ndim == 2:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
            "example using ravel().",
            DataConversionWarning,
            stacklevel=5,
        )
        labels = labels[:, 0]
    return labels


def _sorted(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def _small_integers(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    """Without sorting where the labels span few integers, the usual case."""
    if len(labels) == 0 or labels.dtype.kind == "b":
        return _sorted(labels)
    low, high = int(labels.min()), int(labels.max())
    if high - low > max(1000, len(labels)):
        return _sorted(labels)
    # The difference of two labels may not fit their own type (100 - -100 in int8), but it wraps around to the right
    # one in 64 bits, since it is small.
    offset = labels.astype(np.int64)
    offset -= np.array(low).astype(np.int64)
    present = np.bincount(offset) > 0
    classes = (np.flatnonzero(present) + np.array(low).astype(np.int64)).astype(labels.dtype)
    return classes, offset if present.all() else (np.cumsum(present) - 1)[offset]


def _whole_floats(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    if float(np.abs(labels).max(initial=0.0)) > 2**53:
        return _sorted(labels)
    classes, codes = _small_integers(labels.astype(np.int64))
    return classes.astype(labels.dtype), codes
