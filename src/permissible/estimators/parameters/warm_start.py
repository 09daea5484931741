"""warm_start of ULSClassifier: when a fit continues from the last one, and what must not have changed since."""

import numpy as np
from sklearn.base import BaseEstimator

from permissible.table.schema import Schema
from permissible.types import AnyArray
from permissible.validation import Words, refusal

KEPT = ("loss", "learner", "fit_intercept", "max_bins")
"""Parameters that the rounds so far depend on; the others hold for the rounds to come."""


def goes_on(estimator: BaseEstimator) -> bool:
    """Whether a fit continues from the last one; refused where that is not possible."""
    if not estimator.warm_start or not hasattr(estimator, "model_"):
        return False
    if getattr(estimator, "_traces", None) is None:
        came = Words("True for a model read from a file, which keeps no rounds")
        raise refusal("warm_start", "False for the first fit of an estimator", came)
    return True


def refuse_other_data(estimator: BaseEstimator, schema: Schema, classes: AnyArray) -> None:
    """Refuse other classes, columns, kinds, categories or settings than those of the last fit, and fewer rounds."""
    if not np.array_equal(estimator.classes_, classes):
        expected = f"made of the classes of the last fit, {estimator.classes_.tolist()}, with warm_start=True"
        raise refusal("y", expected, classes.tolist())
    last: Schema = estimator.schema_
    if schema != last:
        raise refusal("X", "of the columns of the last fit with warm_start=True", _difference(last, schema))
    for name, before in estimator._fitted_with.items():
        now = getattr(estimator, name)
        if now is not before and now != before:
            raise refusal(name, f"that of the last fit, {before!r}, with warm_start=True", now)
    done = max(len(trace.rounds) for trace in estimator._traces)
    if estimator.n_rounds < done:
        came = estimator.n_rounds
        raise refusal("n_rounds", f"at least the {done} rounds already fitted, with warm_start=True", came)


def _difference(last: Schema, now: Schema) -> Words:
    if len(last.columns) != len(now.columns):
        return Words(f"{len(now.columns)} columns for {len(last.columns)}")
    if last.named != now.named:
        return Words("columns with names for some without" if now.named else "columns without names")
    for before, after in zip(last.columns, now.columns, strict=True):
        if before.name != after.name:
            return Words(f"column {after.name!r} in the place of {before.name!r}")
        if before.kind != after.kind:
            return Words(f"a {after.kind} column {after.name!r} for a {before.kind} one")
        if before != after:
            return Words(f"other categories in column {after.name!r}")
    return Words("other columns")
